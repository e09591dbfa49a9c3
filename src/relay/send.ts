/** One call of the relay and its answer: a typed value, or what went wrong and what to do. */
import type { z } from 'zod';
import { parseJson, problemOf, SENTENCES, type RelayResult } from './problem.ts';

export interface SendDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Where the relay is, without a slash at the end; empty for the page's own origin. */
  readonly baseUrl: string;
}

export interface SentCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, under its own type. */
  readonly text?: { readonly type: string; readonly body: string };
  readonly accept?: string;
  /** ms */
  readonly timeout: number;
}

export interface Sender {
  /** The answer as this schema reads it. */
  answered<Value>(call: SentCall, schema: z.ZodType<Value>): Promise<RelayResult<Value>>;
  /** For calls whose answer says nothing. */
  done(call: SentCall): Promise<RelayResult<null>>;
  words(call: SentCall): Promise<RelayResult<string>>;
}

const bodyOf = ({ body, text }: SentCall) => {
  if (text) return { body: text.body, type: text.type };
  return body === undefined ? null : { body: JSON.stringify(body), type: 'application/json' };
};

export function createSender({ fetch, baseUrl }: SendDeps): Sender {
  async function send<Value>(call: SentCall, read: (response: Response) => Promise<RelayResult<Value>>): Promise<RelayResult<Value>> {
    const signal = AbortSignal.timeout(call.timeout);
    const sent = bodyOf(call);
    const headers = { ...(sent ? { 'content-type': sent.type } : {}), ...(call.accept ? { accept: call.accept } : {}) };
    try {
      const response = await fetch(`${baseUrl}${call.path}`, {
        method: call.method,
        signal,
        cache: 'no-store',
        credentials: 'same-origin',
        ...(sent ? { body: sent.body } : {}),
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
      });
      return response.ok ? await read(response) : { ok: false, problem: await problemOf(response) };
    } catch (error) {
      // fetch rejects with a TypeError where there is no answer, and with the signal's reason where we gave up.
      if (signal.aborted) return { ok: false, problem: { kind: 'timeout', message: SENTENCES.timeout } };
      if (error instanceof TypeError) return { ok: false, problem: { kind: 'unreachable', message: SENTENCES.unreachable } };
      throw error;
    }
  }

  return {
    answered: (call, schema) =>
      send(call, async (response) => {
        const parsed = schema.safeParse(parseJson(await response.text()));
        return parsed.success
          ? { ok: true, value: parsed.data }
          : { ok: false, problem: { kind: 'unreadable', status: response.status, message: SENTENCES.unreadable } };
      }),
    done: (call) =>
      send(call, async (response) => {
        await response.body?.cancel();
        return { ok: true, value: null };
      }),
    words: (call) => send(call, async (response) => ({ ok: true, value: await response.text() })),
  };
}
