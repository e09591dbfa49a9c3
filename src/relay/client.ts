/** The relay's calls, each answered by a typed value: the relay's answer, or what went wrong and what to do. */
import type { z } from 'zod';
import {
  healthSchema,
  messagePostedSchema,
  rehearsalSchema,
  sessionStartedSchema,
  type Health,
  type PostMessage,
  type Rehearsal,
  type StartSession,
} from '../protocol/http.ts';
import { parseJson, problemOf, SENTENCES, type RelayResult } from './problem.ts';
import { RELAY_TIMES } from './settings.ts';

export interface RelayClientDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Where the relay is, without a slash at the end; empty for the page's own origin. */
  readonly baseUrl: string;
  /** Time-outs in ms; for tests. */
  readonly times?: { readonly call: number; readonly postMessage: number };
}

export interface RelayClient {
  health(): Promise<RelayResult<Health>>;
  startSession(request: StartSession): Promise<RelayResult<{ readonly sessionId: string }>>;
  /** Ends the session that runs; `refused` with 409 where none does. */
  endSession(): Promise<RelayResult<null>>;
  postMessage(message: PostMessage): Promise<RelayResult<{ readonly eventId: number }>>;
  /** Stops what this agent is saying. */
  stop(agentId: string): Promise<RelayResult<null>>;
  /** Puts one agent to sleep, or gives up one egg. */
  sleep(agentId: string): Promise<RelayResult<null>>;
  /** How the rehearsal mind is told to behave; `refused` with 404 where a real mind is in use. */
  getRehearsal(): Promise<RelayResult<Rehearsal>>;
  putRehearsal(rehearsal: Rehearsal): Promise<RelayResult<Rehearsal>>;
  /** Everything up to this event is stored in this browser. */
  ack(upTo: number): Promise<RelayResult<null>>;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly timeout?: number;
}

export function createRelayClient({ fetch, baseUrl, times = RELAY_TIMES }: RelayClientDeps): RelayClient {
  async function send<Value>(call: Call, read: (response: Response) => Promise<RelayResult<Value>>): Promise<RelayResult<Value>> {
    const signal = AbortSignal.timeout(call.timeout ?? times.call);
    try {
      const response = await fetch(`${baseUrl}${call.path}`, {
        method: call.method,
        signal,
        cache: 'no-store',
        credentials: 'same-origin',
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body), headers: { 'content-type': 'application/json' } }),
      });
      return response.ok ? await read(response) : { ok: false, problem: await problemOf(response) };
    } catch (error) {
      // fetch rejects with a TypeError where there is no answer, and with the signal's reason where we gave up.
      if (signal.aborted) return { ok: false, problem: { kind: 'timeout', message: SENTENCES.timeout } };
      if (error instanceof TypeError) return { ok: false, problem: { kind: 'unreachable', message: SENTENCES.unreachable } };
      throw error;
    }
  }

  const answered = <Value>(call: Call, schema: z.ZodType<Value>) =>
    send(call, async (response): Promise<RelayResult<Value>> => {
      const parsed = schema.safeParse(parseJson(await response.text()));
      return parsed.success
        ? { ok: true, value: parsed.data }
        : { ok: false, problem: { kind: 'unreadable', status: response.status, message: SENTENCES.unreadable } };
    });

  const done = (call: Call) =>
    send(call, async (response): Promise<RelayResult<null>> => {
      await response.body?.cancel();
      return { ok: true, value: null };
    });

  const agent = (agentId: string) => `/api/agents/${encodeURIComponent(agentId)}`;

  return {
    health: () => answered({ method: 'GET', path: '/api/health' }, healthSchema),
    startSession: (body) => answered({ method: 'POST', path: '/api/sessions', body, timeout: times.postMessage }, sessionStartedSchema),
    endSession: () => done({ method: 'DELETE', path: '/api/sessions/current' }),
    postMessage: (body) => answered({ method: 'POST', path: '/api/messages', body, timeout: times.postMessage }, messagePostedSchema),
    stop: (agentId) => done({ method: 'POST', path: `${agent(agentId)}/stop` }),
    sleep: (agentId) => done({ method: 'POST', path: `${agent(agentId)}/sleep` }),
    getRehearsal: () => answered({ method: 'GET', path: '/api/rehearsal' }, rehearsalSchema),
    putRehearsal: (body) => answered({ method: 'PUT', path: '/api/rehearsal', body }, rehearsalSchema),
    ack: (upTo) => done({ method: 'POST', path: '/api/events/ack', body: { upTo } }),
  };
}
