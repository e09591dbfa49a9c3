/**
 * Typed HTTP client of the relay. It has one method for each endpoint of a table. A call resolves
 * with the parsed value, with the relay's refusal, or with the problem and what to do about it.
 */
import type { z } from 'zod';
import { parseJson } from '../domain/platform/json.ts';
import { problemSchema } from '../protocol/http.ts';
import { sentence } from '../domain/names.ts';
import type { Callable, Endpoint, Endpoints, Heard, Said } from '../protocol/endpoints/endpoint.ts';
import type { RelayProblem, RelayResult } from './result.ts';
import { RELAY_TIMES } from './settings.ts';

// The sentences of problems between page and relay. Each says what to do.

const SENTENCES = {
  unreachable: sentence`The relay cannot be reached. Start it again with "npm start", then try once more.`,
  timeout: sentence`The relay did not answer in time. Try again; if it stays silent, start it again with "npm start".`,
  lockedOut: sentence`This browser is not signed in. Press Enter in the terminal where Roost runs, and open the link that it prints.`,
  unreadable: sentence`The relay gave an answer that this page cannot read. Reload the page; if that does not help, start the relay again.`,
} as const;

/** Maps a response that is not 2xx to a problem. */
function problemOf({ status, text }: { readonly status: number; readonly text: string }): RelayProblem {
  if (status === 401) return { kind: 'locked-out', message: SENTENCES.lockedOut };
  const problem = problemSchema.safeParse(parseJson(text));
  if (!problem.success) return { kind: 'unreadable', status, message: SENTENCES.unreadable };
  return { kind: 'refused', status, problem: problem.data, message: problem.data.detail };
}

// Sends one call and reads its response.

export interface SendDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Base URL of the relay without a trailing slash. Empty for the page's own origin. */
  readonly baseUrl: string;
}

export interface SentCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, with its own content type. */
  readonly text?: { readonly type: string; readonly body: string | Blob };
  readonly accept?: string;
  /** ms */
  readonly timeout: number;
}

interface Sender {
  /** The response, parsed with the schema for its status. Null where there is no schema. */
  answered<Value>(
    call: SentCall,
    schemaFor: (status: number) => z.ZodType<Value> | undefined,
  ): Promise<RelayResult<Value | null>>;
  /** For calls whose response has no content. */
  done(call: SentCall): Promise<RelayResult<null>>;
  words(call: SentCall): Promise<RelayResult<string>>;
  /** The raw body. */
  blob(call: SentCall): Promise<RelayResult<Blob>>;
}

interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
  /** Set instead of `text` where the caller asked for a blob and the relay did not refuse. */
  readonly blob?: Blob;
}

const bodyOf = ({ body, text }: SentCall) => {
  if (text) return { body: text.body, type: text.type };
  return body === undefined ? null : { body: JSON.stringify(body), type: 'application/json' };
};

/**
 * Characters. Browsers refuse more than 64 KB, summed over all requests under way, for requests
 * that outlive their page (Fetch, HTTP-network-or-cache fetch).
 */
const OUTLIVING_MOST = 2_000;
const isSmall = (body: string | Blob) => typeof body === 'string' && body.length <= OUTLIVING_MOST;

export function createSender({ fetch, baseUrl }: SendDeps): Sender {
  /**
   * Sends the request and reads the whole response. Only platform calls run inside, so every error
   * here is a network error.
   */
  async function exchange(
    call: SentCall,
    sent: ReturnType<typeof bodyOf>,
    wants: 'text' | 'blob',
  ): Promise<Answer | RelayProblem> {
    const signal = AbortSignal.timeout(call.timeout);
    const headers = { ...(sent ? { 'content-type': sent.type } : {}), ...(call.accept ? { accept: call.accept } : {}) };
    try {
      const response = await fetch(`${baseUrl}${call.path}`, {
        method: call.method,
        signal,
        cache: 'no-store',
        credentials: 'same-origin',
        ...(sent ? { body: sent.body } : {}),
        // Small writes are sent even while the person leaves the page.
        ...(call.method !== 'GET' && isSmall(sent?.body ?? '') ? { keepalive: true } : {}),
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
      });
      const { status, ok } = response;
      if (wants === 'blob' && ok) return { kind: 'answer', status, ok, text: '', blob: await response.blob() };
      return { kind: 'answer', status, ok, text: await response.text() };
    } catch (error) {
      // `fetch` rejects with a TypeError without a response. After our abort it rejects with the
      // signal's reason.
      if (signal.aborted) return { kind: 'timeout', message: SENTENCES.timeout };
      if (error instanceof TypeError) return { kind: 'unreachable', message: SENTENCES.unreachable };
      throw error;
    }
  }

  async function send<Value>(
    call: SentCall,
    read: (answer: Answer) => RelayResult<Value>,
    wants: 'text' | 'blob' = 'text',
  ): Promise<RelayResult<Value>> {
    const answer = await exchange(call, bodyOf(call), wants);
    if (answer.kind !== 'answer') return { ok: false, problem: answer };
    return answer.ok ? read(answer) : { ok: false, problem: problemOf(answer) };
  }

  return {
    async answered(call, schemaFor) {
      const result = await send(call, ({ status, text }) => {
        const schema = schemaFor(status);
        if (!schema) return { ok: true, value: null };
        const parsed = schema.safeParse(parseJson(text));
        return parsed.success
          ? { ok: true, value: parsed.data }
          : { ok: false, problem: { kind: 'unreadable', status, message: SENTENCES.unreadable } };
      });
      if (result.ok || result.problem.kind !== 'refused' || result.problem.problem.current === undefined) return result;
      const newer = schemaFor(200)?.safeParse(result.problem.problem.current);
      return newer?.success ? { ok: false, problem: { ...result.problem, newer: newer.data } } : result;
    },
    done: (call) => send(call, () => ({ ok: true, value: null })),
    words: (call) => send(call, ({ text }) => ({ ok: true, value: text })),
    blob: (call) => send(call, ({ blob = new Blob() }) => ({ ok: true, value: blob }), 'blob'),
  };
}

export interface RelayClientDeps extends SendDeps {
  /** Time-outs in ms. For tests. */
  readonly times?: { readonly call: number; readonly heavy: number };
}

/**
 * Path parameters and query are passed by name, the body as `body`. Calls without any of these take
 * no argument.
 */
type Arguments<E extends Endpoint> = object extends Said<E> ? [said?: Said<E>] : [said: Said<E>];

export type RelayClient<Table extends Endpoints> = {
  readonly [Name in Callable<Table>]: (...said: Arguments<Table[Name]>) => Promise<RelayResult<Heard<Table[Name]>>>;
};

const text = (value: unknown) =>
  (Array.isArray(value) ? value : [value]).map((each) => encodeURIComponent(String(each))).join(',');

/** The URL of a call, relative to its origin. */
export function pathOf({ path, query = {} }: Endpoint, said: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => text(said[name]));
  const asked = Object.keys(query)
    .filter((name) => said[name] !== undefined && said[name] !== null)
    .map((name) => `${name}=${text(said[name])}`);
  return asked.length > 0 ? `${filled}?${asked.join('&')}` : filled;
}

export function createRelayClient<const Table extends Endpoints>(
  table: Table,
  { fetch, baseUrl, times = RELAY_TIMES }: RelayClientDeps,
): RelayClient<Table> {
  const sender = createSender({ fetch, baseUrl });
  const methods = Object.entries<Endpoint>(table)
    .filter(([, { raw }]) => raw !== true)
    .map(([name, endpoint]) => {
      const call = (said: Readonly<Record<string, unknown>> = {}) => {
        const { method, answers, heavy } = endpoint;
        const sent: SentCall = {
          method,
          path: pathOf(endpoint, said),
          ...(endpoint.body ? { body: said['body'] } : {}),
          timeout: heavy ? times.heavy : times.call,
        };
        return sender.answered(sent, (status) => (answers.find((each) => each.status === status) ?? answers[0])?.body);
      };
      return [name, call];
    });
  // The methods come from the same table as the type.
  return Object.fromEntries(methods) as RelayClient<Table>;
}
