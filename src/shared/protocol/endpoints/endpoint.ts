/**
 * An endpoint of the relay, defined once. The route and the handler's arguments
 * (`server/http/endpoint.ts`), the client's method (`src/shared/relay-client/client.ts`) and the
 * section of the reference (`npm run wire`) are all derived from this value.
 */
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import type { ProblemName } from '../problems.ts';
import type { Scope } from '../scopes.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Who may call.
 *
 * - `page`: a signed-in browser, from the page itself.
 * - `agent`: also the agent that `agentId` names, with its credential as a bearer token.
 * - `client`: also any credential; the handler decides what it may do.
 * - `credential`: the endpoint checks a credential itself, and needs no cookie.
 * - `anyone`: called without any check.
 */
type Access = 'page' | 'agent' | 'client' | 'credential' | 'anyone';

interface EndpointAnswer {
  readonly status: number;
  readonly when: string;
  /** The body of a success. Every status from 400 on has a problem document. */
  readonly body?: z.ZodType;
}

type Fields = Readonly<Record<string, z.ZodType>>;

export interface Endpoint {
  readonly method: Method;
  /** Parameters are in braces: `/api/agents/{agentId}/stop`. */
  readonly path: string;
  /** Other paths with the same answers. */
  readonly aliases?: readonly string[];
  /** A sentence for the reference. */
  readonly does: string;
  /** Left out: `page`. */
  readonly access?: Access;
  /**
   * An application may call it if its credential has one of these scopes. Left out: no application
   * may.
   */
  readonly scopes?: readonly Scope[];
  /** Parameters of the path by name. A value that its schema refuses is a 404. */
  readonly params?: Fields;
  readonly query?: Fields;
  /** Headers that the endpoint reads, with their purpose. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType;
  /**
   * Maximum bytes of the body, and maximum number of values in it. Left out: the usual limits of
   * calls (`LIMITS`).
   */
  readonly bodyBytes?: number;
  readonly bodyValues?: number;
  /** The body may be YAML, and so may the answer if `Accept` asks for it. */
  readonly yaml?: true;
  /**
   * May carry the souls and transcripts of a whole team, or wait for agents, so it has a longer
   * timeout.
   */
  readonly heavy?: true;
  /**
   * Not a JSON call: a stream, a page, a socket, another protocol. The client has no method for it.
   */
  readonly raw?: true;
  /** Another website may call it. It reads no cookie, and its answer is for no page. */
  readonly fromAnywhere?: true;
  /** Answered also while the relay cannot reach its database. */
  readonly storeless?: true;
  /** Does not begin a household by itself: a visitor does not live anywhere yet. */
  readonly beginsNothing?: true;
  /** The first is the usual one. */
  readonly answers: readonly EndpointAnswer[];
}
export type Endpoints = Readonly<Record<string, Endpoint>>;

type Named<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never;

/** The answer to a caller that is no browser. */
export const browsersOnly = { status: 403, when: 'the caller is not a browser' } as const;

/** `params` must have exactly the names in the path. */
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
 * The handler's arguments: parameters and query by name, and the body, each as parsed by its
 * schema.
 */
export type Given<E extends Endpoint> = Read<E['params']> &
  Read<E['query']> &
  (E['body'] extends z.ZodType ? { readonly body: z.output<E['body']> } : unknown);

/** The client's arguments: the same before parsing. Every part of the query may be left out. */
export type Said<E extends Endpoint> = Read<E['params']> &
  Asked<E['query']> &
  (E['body'] extends z.ZodType ? { readonly body: z.input<E['body']> } : unknown);

type Success<E extends Endpoint> = Extract<E['answers'][number], { readonly status: 200 | 201 | 202 | 204 }>;
type Carried<Answer> = Answer extends { readonly body: infer Schema extends z.ZodType } ? Schema : never;
/** `null` if one of these answers has no body. */
type Silent<Answer> = Answer extends { readonly body: z.ZodType } ? never : null;
type Frozen<Value> = Value extends readonly (infer Each)[]
  ? readonly Frozen<Each>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** What a handler returns: the body of one of its successes, or null for one without a body. */
export type Answered<E extends Endpoint> = Frozen<z.input<Carried<Success<E>>>> | Silent<Success<E>>;

/** What a client receives: the usual answer, or null for a success without a body. */
export type Heard<E extends Endpoint> =
  | (E['answers'] extends readonly [infer First, ...unknown[]] ? z.output<Carried<First>> : never)
  | Silent<Success<E>>;

/** Endpoints that the client has a method for. */
type Plain<Table extends Endpoints> = {
  [Name in keyof Table]: Table[Name] extends { readonly raw: true } ? never : Name;
}[keyof Table];

/** Names of the endpoints that the client has a method for. */
export type Callable<Table extends Endpoints> = Plain<Table> & string;
/** The problem for an id in an address that cannot exist. */
interface Nothing {
  readonly type: ProblemName;
  readonly detail: string;
}
const NOTHING: Nothing = { type: 'unknown', detail: 'There is nothing under such an id.' };

/**
 * A path parameter that names something. A value that `schema` refuses cannot exist, and is a 404
 * of this kind.
 */
export function named<Value>(schema: z.ZodType<Value>, does: string, nothing: Nothing = NOTHING): z.ZodType<Value> {
  return z
    .custom<Value>((text) => schema.safeParse(text).success, {
      message: nothing.detail,
      params: { nothing: nothing.type },
    })
    .describe(does);
}

/** An id in an address. A text that cannot be an id is not looked up. */
export const idText = z
  .string()
  .min(1)
  .max(LIMITS.id)
  .refine((id) => !id.includes('\0'));

/** Null if left out or empty. */
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
