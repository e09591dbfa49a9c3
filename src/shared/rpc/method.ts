/**
 * Calls between a page and its workers. Either may serve the other. One table of methods types both
 * the server and the client's proxy.
 *
 * Comlink does not fit: it does not repeat calls on a new connection, does not parse arguments, and
 * holds objects that are never released.
 */
import { z } from 'zod';

interface Method {
  /**
   * Schema of the arguments. They are parsed before the call, because page and worker may have
   * different versions.
   */
  readonly in: z.ZodType<readonly unknown[]>;
  /** Type of the result. It is not parsed again. */
  readonly out: z.ZodType;
}
export type Methods = Readonly<Record<string, Method>>;

export const method = <In extends readonly unknown[], Out>(read: z.ZodType<In>, out: z.ZodType<Out>) => ({
  in: read,
  out,
});
/**
 * A schema that checks nothing. For values of our own code, or values that are parsed where they
 * are used.
 */
export const typed = <Value>(): z.ZodType<Value> => z.custom<Value>();
/** No arguments. */
export const none = z.tuple([]);

/** The table as functions. */
export type CallsOf<Table extends Methods> = {
  [Name in keyof Table]: (...args: Readonly<z.output<Table[Name]['in']>>) => z.output<Table[Name]['out']>;
};
export type ArgsOf<Table extends Methods, Name extends keyof Table> = Parameters<CallsOf<Table>[Name]>;
export type OutOf<Table extends Methods, Name extends keyof Table> = ReturnType<CallsOf<Table>[Name]>;
/** The table as asynchronous functions. */
export type AnswersOf<Table extends Methods> = {
  readonly [Name in keyof Table]: (...args: ArgsOf<Table, Name>) => Promise<OutOf<Table, Name>>;
};

/** A call from the page. The id stays the same when the call is repeated on a new connection. */
export interface Call<Name extends string = string> {
  readonly call: Name;
  readonly id: string;
  readonly args: readonly unknown[];
}
export type ToServer<Name extends string = string> =
  | Call<Name>
  /** Asks whether the server is alive, while a call has been under way for some time. */
  | { readonly ping: true };

/** The result of a call. `kind` is the error's machine-readable kind, if it had one. */
export type Reply =
  | { readonly reply: string; readonly ok: true; readonly value: unknown }
  | {
      readonly reply: string;
      readonly ok: false;
      readonly error: { readonly name: string; readonly message: string; readonly kind?: string };
    };

/** Messages of the server. `news` are those that nobody asked for. */
export type FromServer<News extends { readonly news: string } = never> = News | { readonly pong: true } | Reply;

/** A function that calls any method of a table by name. */
export type CallOf<Table extends Methods> = <Name extends keyof Table & string>(
  name: Name,
  ...args: ArgsOf<Table, Name>
) => Promise<OutOf<Table, Name>>;

/** A proxy of the table whose functions all use `call`. */
export function proxyOf<Table extends Methods>(table: Table, call: CallOf<Table>): AnswersOf<Table> {
  const answers = Object.keys(table).map((name: keyof Table & string) => [
    name,
    (...args: ArgsOf<Table, typeof name>) => call(name, ...args),
  ]);
  // There is one function for each name of the table.
  return Object.fromEntries(answers) as AnswersOf<Table>;
}

/**
 * Answers of a part that opens later. Each call waits for the part and is passed on under its name.
 */
export const answersOf = <Table extends Methods>(
  table: Table,
  part: () => Promise<AnswersOf<Table>>,
): AnswersOf<Table> => proxyOf<Table>(table, async (name, ...args) => (await part())[name](...args));
