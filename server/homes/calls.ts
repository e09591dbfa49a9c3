/** The calls of homes. Each home has all of them; the app has each once, and gives it to the home of whoever calls. */
import type { Context } from 'hono';
import type { Env, Method, Route, Routes } from '../route.ts';

/** By path, in the order in which they are tried. */
export type CallTable = ReadonlyMap<string, Parameters<Route>[1]>;

export function tableOf(parts: readonly Routes[]): CallTable {
  const table = new Map<string, Parameters<Route>[1]>();
  for (const add of parts) add((path, methods) => void table.set(path, methods));
  return table;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE'];

/** `any` is the table of one home: all have the same paths and methods. `tableFor` throws a problem where the caller has no home to call. */
export function eachAtHome(any: CallTable, tableFor: (context: Context<Env>) => Promise<CallTable>): Routes {
  return (route) => {
    for (const [path, methods] of any) {
      const passed = METHODS.filter((method) => methods[method] !== undefined).map(
        (method) =>
          [
            method,
            async (context: Context<Env>, next: () => Promise<void>) => {
              const handler = (await tableFor(context)).get(path)?.[method];
              if (!handler) throw new Error(`a home has no ${method} ${path}`);
              return await handler(context, next);
            },
          ] as const,
      );
      route(path, Object.fromEntries(passed));
    }
  };
}
