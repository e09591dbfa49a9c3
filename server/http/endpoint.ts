/** How a part of the relay implements its endpoints, and how they are mounted in the app. */
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import type { Answered, Endpoint, Endpoints, Given } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { PROBLEMS } from '../../src/shared/protocol/problems.ts';
import type { Scope } from '../../src/shared/protocol/scopes.ts';
import { readBody } from './body.ts';
import { readConfig } from './config-text.ts';
import { misfit, problem } from './problem.ts';

/** A program that calls with a credential. */
export interface ApiClient {
  /** Null: an application. */
  readonly agentId: AgentId | null;
  readonly credentialId: string;
  /** The person's name for it. */
  readonly label: string;
  /** The application's scopes. */
  readonly scopes: readonly Scope[];
  /** The run that the relay has given the credential to. Left out: the person gave it. */
  readonly run?: { readonly runId: RunId };
}

export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** The sign-in of a browser, by hash. */
    readonly browser?: string;
    /** The token of a second sign-in that this call was given. */
    readonly given?: string;
    /** The caller's credential. Left out: the call came from a browser. */
    readonly client?: ApiClient;
    /** The caller's address, as far as it is known. */
    readonly address?: string;
    /**
     * Counts a call of this caller, and answers the seconds after which the next may come; 0: now.
     * Endpoints that check a secret themselves count right ones by what they open, and wrong ones
     * by `strangers`. So nobody with a right one is refused for what others guess.
     */
    readonly limit?: (caller: string) => number;
    /** All callers without a right secret at this caller's address. */
    readonly strangers?: string;
    /** A `raw` endpoint has begun to answer. */
    readonly raw?: true;
  };
}

/** Returns the body of one of the endpoint's successes, null for none, or a response of its own. */
export type Handler<E extends Endpoint> = (
  given: Given<E>,
  context: Context<Env>,
) => Answered<E> | Response | Promise<Answered<E> | Response>;

/** An endpoint with its handler. */
export interface Handled {
  readonly endpoint: Endpoint;
  readonly handle: (context: Context<Env>) => Promise<Response>;
}

/**
 * The error for an invalid value in a path or query: a 404 where it names something, else a 400.
 */
function refused(error: z.ZodError): HTTPException {
  for (const issue of error.issues) {
    const nothing: unknown = issue.code === 'custom' ? issue.params?.['nothing'] : undefined;
    const name = PROBLEMS.find((each) => each === nothing);
    if (name !== undefined) return problem(404, name, issue.message);
  }
  return misfit(error);
}

function handled<E extends Endpoint>(endpoint: E, handler: Handler<E>): Handled {
  const params = z.object(endpoint.params ?? {});
  const query = z.object(endpoint.query ?? {});
  const read = <Value>(schema: z.ZodType<Value>, value: unknown): Value => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) throw refused(parsed.error);
    return parsed.data;
  };
  const bounds = {
    bytes: endpoint.bodyBytes ?? LIMITS.callBytes,
    values: endpoint.bodyValues ?? LIMITS.callValues,
  };
  const successStatus = endpoint.answers.find(({ status, body }) => status < 400 && body !== undefined)?.status;
  const silent = endpoint.answers.find(({ status, body }) => status < 400 && body === undefined)?.status;
  return {
    endpoint,
    async handle(context) {
      if (endpoint.raw) context.set('raw', true);
      const inputs = { ...read(params, context.req.param()), ...read(query, context.req.query()) };
      if (endpoint.body)
        Object.assign(inputs, { body: await (endpoint.yaml ? readConfig : readBody)(context, endpoint.body, bounds) });
      // The values are those that this endpoint's schemas have parsed, so the handler's type fits.
      const answer = await handler(inputs as Given<E>, context);
      if (answer instanceof Response) return answer;
      return answer === null
        ? new Response(null, { status: silent ?? 204 })
        : new Response(JSON.stringify(answer), {
            status: successStatus ?? 200,
            headers: { 'content-type': 'application/json' },
          });
    },
  };
}

/** Each endpoint of the table with its handler, and no other. */
export function answer<const Table extends Endpoints>(
  table: Table,
  handlers: { readonly [Name in keyof Table]: Handler<Table[Name]> },
): readonly Handled[] {
  return Object.keys(table).map((name: keyof Table) => handled(table[name], handlers[name]));
}

/** First path segments of calls. Only the page, or a credential, may call them. */
export const CALL_ROOTS = ['api', 'v1', 'sessions'] as const;
export const isCallPath = (path: string): boolean => CALL_ROOTS.some((root) => path.split('/')[1] === root);

const routeOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

function byPath(all: readonly Handled[]): ReadonlyMap<string, readonly Handled[]> {
  const paths = new Map<string, Handled[]>();
  for (const each of all)
    for (const path of [each.endpoint.path, ...(each.endpoint.aliases ?? [])])
      paths.set(routeOf(path), [...(paths.get(routeOf(path)) ?? []), each]);
  return paths;
}

/** A method that a path does not have is a 405 that lists the existing ones. */
function refuseAt(app: Hono<Env>, path: string, there: readonly Handled[]): void {
  const allow = there.map(({ endpoint }) => endpoint.method).join(', ');
  app.all(path, () => {
    throw problem(405, 'method', `This address accepts ${allow}.`, { headers: { allow } });
  });
}

const isForAnyone = ({ endpoint }: Handled) => endpoint.access === 'anyone';

/**
 * Mounts the endpoints and refuses other methods of their paths. Other methods of public paths are
 * not refused yet, because the caller is unknown.
 */
export function mount(app: Hono<Env>, all: readonly Handled[]): void {
  for (const [path, there] of byPath(all)) {
    for (const { endpoint, handle } of there) app.on(endpoint.method, path, handle);
    if (!there.every(isForAnyone)) refuseAt(app, path, there);
  }
}

/** Refuses the other methods of public paths, for signed-in callers. */
export function refuseOthers(app: Hono<Env>, all: readonly Handled[]): void {
  for (const [path, there] of byPath(all.filter(isForAnyone))) refuseAt(app, path, there);
}

/**
 * Throws where an endpoint has no handler, or two. The relay does not start with an incomplete API.
 */
export function checkWhole(table: Endpoints, all: readonly Handled[]): void {
  const there = new Set<Endpoint>();
  for (const { endpoint } of all) {
    if (there.has(endpoint)) throw new Error(`${endpoint.method} ${endpoint.path} has two handlers`);
    there.add(endpoint);
  }
  for (const endpoint of Object.values(table))
    if (!there.delete(endpoint)) throw new Error(`${endpoint.method} ${endpoint.path} has no handler`);
  for (const { method, path } of there) throw new Error(`${method} ${path} stands in no table of endpoints`);
}

/** Throws a problem for a HEAD, which would open a stream that nobody reads. */
export function refuseHead(context: Context, allow = 'GET'): void {
  if (context.req.method === 'HEAD')
    throw problem(405, 'method', `This address accepts ${allow}.`, { headers: { allow } });
}

/** Why an application's call is refused, as a sentence. */
export const lacks = (scopes: readonly Scope[]): string =>
  `This application may not do that. It needs ${scopes.map((scope) => `“${scope}”`).join(' or ')}: make a credential with that scope in Settings → API clients.`;

/** Throws a problem where the calling application lacks this scope. */
export function refuseWithout(context: Context<Env>, scope: Scope): void {
  const client = context.get('client');
  if (client?.agentId === null && !client.scopes.includes(scope)) throw problem(403, 'no-scope', lacks([scope]));
}

/**
 * The calling application. Null: the person, from a page. Throws a problem for an agent's own
 * credential.
 */
export function applicationOf(context: Context<Env>): ApiClient | null {
  const client = context.get('client') ?? null;
  if (client !== null && client.agentId !== null)
    throw problem(403, 'other-agent', 'An agent’s credential may not do this. Make a credential for an application.');
  return client;
}

/** The caller's sign-in. Throws a problem where the caller is not a signed-in browser. */
export function browserOf(context: Context<Env>): string {
  const browser = context.get('browser');
  if (browser === undefined)
    throw problem(
      401,
      'not-signed-in',
      'This browser is not signed in. Open the link that Roost printed when it started.',
    );
  return browser;
}
