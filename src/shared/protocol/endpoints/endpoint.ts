/**
 * An endpoint of the relay, defined once: its route and what a handler is given
 * (`server/http/endpoint.ts`), the client's call (`src/shared/relay-client/client.ts`) and its
 * section of the reference (`npm run wire`) all come from this value.
 */
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import type { ProblemName } from '../problems.ts';
import type { Scope } from '../scopes.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Who may call. `page`: a browser that is signed in, from the page itself. `agent`: besides, with a
 * credential as Bearer, the agent that `agentId` names. `client`: besides, with the credential of
 * any agent; whom it lets do what, the handler decides. `credential`: it asks for a credential
 * itself, and for no cookie. `anyone`: before anybody is asked for anything.
 */
type Access = 'page' | 'agent' | 'client' | 'credential' | 'anyone';

interface EndpointAnswer {
  readonly status: number;
  readonly when: string;
  /** What a success carries; every status from 400 on carries a problem document. */
  readonly body?: z.ZodType;
}

type Fields = Readonly<Record<string, z.ZodType>>;

export interface Endpoint {
  readonly method: Method;
  /** Parameters stand in braces: `/api/agents/{agentId}/stop`. */
  readonly path: string;
  /** Paths under which the same is answered. */
  readonly aliases?: readonly string[];
  /** A sentence. */
  readonly does: string;
  /** Left out: `page`. */
  readonly access?: Access;
  /** An application may call it whose credential has one of these. Left out: none may. */
  readonly scopes?: readonly Scope[];
  /** By name in the path; what their schemas refuse is a 404. */
  readonly params?: Fields;
  readonly query?: Fields;
  /** Headers that it reads, with what they are for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /**
   * Bytes of the body, and values in it, at most. Left out: as many as calls usually carry
   * (`LIMITS`).
   */
  readonly bodyBytes?: number;
  readonly bodyValues?: number;
  /** The body may be YAML as well, and so may the answer, where `Accept` says so. */
  readonly yaml?: true;
  /** May carry a whole team's souls and transcripts: it is given longer. */
  readonly heavy?: true;
  /**
   * It is no JSON call: a stream, a page, a socket, another protocol. The client has no method for
   * it.
   */
  readonly raw?: true;
  /** It is answered also while the relay cannot reach its database. */
  readonly storeless?: true;
  /** By itself it begins no household: who has only looked in does not live anywhere yet. */
  readonly beginsNothing?: true;
  /** The first is the usual one. */
  readonly answers: readonly EndpointAnswer[];
}
export type Endpoints = Readonly<Record<string, Endpoint>>;

type Named<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;

/** `params` has exactly the names that stand in the path. */
export function endpoint<const Definition extends Endpoint>(
  definition: Definition &
    ([Named<Definition['path']>] extends [never]
      ? { readonly params?: never }
      : { readonly params: Readonly<Record<Named<Definition['path']>, z.ZodType>> }) & {
      readonly params?: {
        readonly [Name in keyof Definition['params']]: Name extends Named<Definition['path']> ? unknown : never;
      };
    },
): Definition {
  return definition;
}

type Read<Shape> = Shape extends Fields ? { readonly [Name in keyof Shape]: z.output<Shape[Name]> } : unknown;
type Asked<Shape> = Shape extends Fields
  ? { readonly [Name in keyof Shape]?: z.output<Shape[Name]> | null | undefined }
  : unknown;

/**
 * What a handler is given: parameters and query by name, and the body, each as its schema has read
 * it.
 */
export type Given<E extends Endpoint> = Read<E['params']> &
  Read<E['query']> &
  (E['body'] extends z.ZodType ? { readonly body: z.output<E['body']> } : unknown);

/** What a client says: the same, before it was read; every part of the query may be left out. */
export type Said<E extends Endpoint> = Read<E['params']> &
  Asked<E['query']> &
  (E['body'] extends z.ZodType ? { readonly body: z.input<E['body']> } : unknown);

type Success<E extends Endpoint> = Extract<E['answers'][number], { readonly status: 200 | 201 | 202 | 204 }>;
type Carried<Answer> = Answer extends { readonly body: infer Schema extends z.ZodType } ? Schema : never;
/** `null` where one of these carries nothing. */
type Silent<Answer> = Answer extends { readonly body: z.ZodType } ? never : null;
type Frozen<Value> = Value extends readonly (infer Each)[]
  ? readonly Frozen<Each>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** What a handler answers: the body of one of its successes, or null for one without. */
export type Answered<E extends Endpoint> = Frozen<z.input<Carried<Success<E>>>> | Silent<Success<E>>;

/** What a client hears: the usual answer, or null for a success that carries nothing. */
export type Heard<E extends Endpoint> =
  | (E['answers'] extends readonly [infer First, ...unknown[]] ? z.output<Carried<First>> : never)
  | Silent<Success<E>>;

/** Those that a client has a method for. */
type Plain<Table extends Endpoints> = {
  [Name in keyof Table]: Table[Name] extends { readonly raw: true } ? never : Name;
}[keyof Table];

/** The names of those. */
export type Callable<Table extends Endpoints> = Plain<Table> & string;
/** The problem of an address that can name nothing. */
interface Nothing {
  readonly type: ProblemName;
  readonly detail: string;
}
const NOTHING: Nothing = { type: 'unknown', detail: 'There is nothing under such an id.' };

/**
 * A part of the address that names something. What `schema` refuses can name nothing: a 404 of this
 * kind.
 */
export function named<Value>(schema: z.ZodType<Value>, does: string, nothing: Nothing = NOTHING): z.ZodType<Value> {
  return z
    .custom<Value>((text) => schema.safeParse(text).success, {
      message: nothing.detail,
      params: { nothing: nothing.type },
    })
    .describe(does);
}

/** An id as an address has it: what can be no id is not looked for. */
export const idText = z
  .string()
  .min(1)
  .max(LIMITS.id)
  .refine((id) => !id.includes('\0'));

/** Null where it is left out, or empty. */
export const optional = <Value>(schema: z.ZodType<Value>): z.ZodType<Value | null> =>
  z
    .preprocess((text) => (text === undefined || text === '' ? null : text), schema.nullable())
    .describe(schema.description ?? '');

/** A whole number in a query. */
export function wholeNumber(
  { min, max, otherwise }: { readonly min: number; readonly max: number; readonly otherwise: number },
  does: string,
): z.ZodType<number> {
  return z
    .preprocess(
      (text) => (text === undefined || text === '' ? otherwise : /^\d{1,15}$/.test(String(text)) ? Number(text) : NaN),
      z.custom<number>((value) => typeof value === 'number' && value >= min && value <= max, {
        message: `must be a whole number from ${min} to ${max}`,
      }),
    )
    .meta({ description: does, type: 'integer', minimum: min, maximum: max, default: otherwise });
}
