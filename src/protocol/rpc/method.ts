/**
 * Calls between a page and its workers: a table of methods, from which the server that answers them and the proxy that
 * makes them both have their types. No Comlink: it neither repeats a call on a new connection nor parses one, and holds
 * objects that nobody lets go of.
 */
import { z } from 'zod';

export interface Method {
  /** The arguments, parsed before they are answered: the page may be of another version than its worker. */
  readonly in: z.ZodType<readonly unknown[]>;
  /** What it answers; both sides are told by types alone, and it is not read a second time. */
  readonly out: z.ZodType;
}
export type Methods = Readonly<Record<string, Method>>;

export const method = <In extends readonly unknown[], Out>(read: z.ZodType<In>, out: z.ZodType<Out>) => ({
  in: read,
  out,
});
/** A value that only types know: of our own making, or parsed where it is used. */
export const typed = <Value>(): z.ZodType<Value> => z.custom<Value>();
/** No arguments. */
export const none = z.tuple([]);

/** A table as functions. */
export type CallsOf<Table extends Methods> = {
  [Name in keyof Table]: (...args: Readonly<z.output<Table[Name]['in']>>) => z.output<Table[Name]['out']>;
};
/** The same, each in its own time. */
export type AnswersOf<Table extends Methods> = {
  readonly [Name in keyof Table]: (
    ...args: Readonly<z.output<Table[Name]['in']>>
  ) => Promise<z.output<Table[Name]['out']>>;
};

/** A call from the page. The id stays when it is repeated on a new connection. */
export interface Call<Name extends string = string> {
  readonly call: Name;
  readonly id: string;
  readonly args: readonly unknown[];
}
export type ToServer<Name extends string = string> =
  | Call<Name>
  /** Are you there? Asked where a call has been under way for a while. */
  | { readonly ping: true };

/** What is told without being asked is `news`. */
export type FromServer<News extends { readonly news: string }> =
  | News
  | { readonly pong: true }
  | { readonly reply: string; readonly ok: true; readonly value: unknown }
  | { readonly reply: string; readonly ok: false; readonly error: { readonly name: string; readonly message: string } };

/** Answers of a part that opens later, each passed on under its own name. */
export function answersOf<Table extends Methods>(
  table: Table,
  part: () => Promise<AnswersOf<Table>>,
): AnswersOf<Table> {
  const answers = Object.keys(table).map((name: keyof Table) => [
    name,
    async (...args: Readonly<z.output<Table[typeof name]['in']>>) => (await part())[name](...args),
  ]);
  // One function for each name of the table.
  return Object.fromEntries(answers) as AnswersOf<Table>;
}
