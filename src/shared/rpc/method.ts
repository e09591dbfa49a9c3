/**
 * Calls between a page and its workers, either of which may serve the other: a table of methods,
 * from which the server that answers them and the proxy that makes them both have their types. No
 * Comlink: it neither repeats a call on a new connection nor parses one, and holds objects that
 * nobody lets go of.
 */
import { z } from 'zod';

interface Method {
  /**
   * The arguments, parsed before they are answered: the page may be of another version than its
   * worker.
   */
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
export type ArgsOf<Table extends Methods, Name extends keyof Table> = Parameters<CallsOf<Table>[Name]>;
export type OutOf<Table extends Methods, Name extends keyof Table> = ReturnType<CallsOf<Table>[Name]>;
/** A table as functions that answer in their own time. */
export type AnswersOf<Table extends Methods> = {
  readonly [Name in keyof Table]: (...args: ArgsOf<Table, Name>) => Promise<OutOf<Table, Name>>;
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

/** What became of a call. `kind`: what a program tells it apart by, where the error had one. */
export type Reply =
  | { readonly reply: string; readonly ok: true; readonly value: unknown }
  | {
      readonly reply: string;
      readonly ok: false;
      readonly error: { readonly name: string; readonly message: string; readonly kind?: string };
    };

/** What is told without being asked is `news`. */
export type FromServer<News extends { readonly news: string } = never> = News | { readonly pong: true } | Reply;

/** One way to call each method of a table, by its name. */
export type CallOf<Table extends Methods> = <Name extends keyof Table & string>(
  name: Name,
  ...args: ArgsOf<Table, Name>
) => Promise<OutOf<Table, Name>>;

/** A table as functions, each of which goes that way. */
export function proxyOf<Table extends Methods>(table: Table, call: CallOf<Table>): AnswersOf<Table> {
  const answers = Object.keys(table).map((name: keyof Table & string) => [
    name,
    (...args: ArgsOf<Table, typeof name>) => call(name, ...args),
  ]);
  // One function for each name of the table.
  return Object.fromEntries(answers) as AnswersOf<Table>;
}

/** Answers of a part that opens later, each passed on under its own name. */
export const answersOf = <Table extends Methods>(
  table: Table,
  part: () => Promise<AnswersOf<Table>>,
): AnswersOf<Table> => proxyOf<Table>(table, async (name, ...args) => (await part())[name](...args));
