/** How a part of the relay puts its calls into the app. */
import type { HttpBindings } from '@hono/node-server';
import type { Context, Handler, Hono } from 'hono';
import { LIMITS } from '../src/protocol/limits.ts';
import { problem } from './problem.ts';

export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** The sign-in of a browser that is let in, by hash. */
    readonly browser?: string;
    /** Of whoever calls, as far as it is known. */
    readonly address?: string;
  };
}
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One path and what it does by method; every other method is a 405 that says which there are. */
export type Route = (path: string, methods: Readonly<Partial<Record<Method, Handler<Env>>>>) => void;

/** The calls of one part: it is given the way to add them. */
export type Routes = (route: Route) => void;

export function createRoute(app: Hono<Env>): Route {
  return (path, methods) => {
    for (const [method, handler] of Object.entries(methods)) app.on(method, path, handler);
    const allow = Object.keys(methods).join(', ');
    app.all(path, () => {
      throw problem(405, 'method', `This address takes ${allow}.`, { headers: { allow } });
    });
  };
}

/** Throws a 404 where no id can be so long, or holds what no store can look for. */
function checked(id: string): string {
  if (id === '' || id.length > LIMITS.id || id.includes('\0'))
    throw problem(404, 'unknown', 'There is nothing under such an id.');
  return id;
}

/** An id in the path. Throws a 404 where there can be none such. */
export const idOf = (context: Context, name = 'id'): string => checked(context.req.param(name) ?? '');

/** An id in the query, null where there is none. Throws a 404 where there can be none such. */
export function optionalIdOf(context: Context, name: string): string | null {
  const id = context.req.query(name) ?? '';
  return id === '' ? null : checked(id);
}

/** A whole number in the query. Throws a 400 that names it where it does not fit. */
export function numberOf(
  context: Context,
  name: string,
  { min, max, otherwise }: { min: number; max: number; otherwise: number },
): number {
  const text = context.req.query(name);
  if (text === undefined || text === '') return otherwise;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  const message = `must be a whole number from ${min} to ${max}`;
  throw problem(400, 'misfit', `${name}: ${message}`, { fields: { errors: [{ field: name, message }] } });
}
