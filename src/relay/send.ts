/** One call of the relay and its answer: a typed value, or what went wrong and what to do. */
import type { z } from 'zod';
import { parseJson, problemOf, SENTENCES, type RelayProblem, type RelayResult } from './problem.ts';

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
  /** The answer as the schema for its status reads it; null where there is none. */
  answered<Value>(
    call: SentCall,
    schemaFor: (status: number) => z.ZodType<Value> | undefined,
  ): Promise<RelayResult<Value | null>>;
  /** For calls whose answer says nothing. */
  done(call: SentCall): Promise<RelayResult<null>>;
  words(call: SentCall): Promise<RelayResult<string>>;
}

interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
}

const bodyOf = ({ body, text }: SentCall) => {
  if (text) return { body: text.body, type: text.type };
  return body === undefined ? null : { body: JSON.stringify(body), type: 'application/json' };
};

export function createSender({ fetch, baseUrl }: SendDeps): Sender {
  /** The whole answer. Nothing of ours runs in here that could fail and be taken for the line. */
  async function exchange(call: SentCall, sent: ReturnType<typeof bodyOf>): Promise<Answer | RelayProblem> {
    const signal = AbortSignal.timeout(call.timeout);
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
      return { kind: 'answer', status: response.status, ok: response.ok, text: await response.text() };
    } catch (error) {
      // fetch rejects with a TypeError where there is no answer, and with the signal's reason where we gave up.
      if (signal.aborted) return { kind: 'timeout', message: SENTENCES.timeout };
      if (error instanceof TypeError) return { kind: 'unreachable', message: SENTENCES.unreachable };
      throw error;
    }
  }

  async function send<Value>(
    call: SentCall,
    read: (answer: Answer) => RelayResult<Value>,
  ): Promise<RelayResult<Value>> {
    const answer = await exchange(call, bodyOf(call));
    if (answer.kind !== 'answer') return { ok: false, problem: answer };
    return answer.ok ? read(answer) : { ok: false, problem: problemOf(answer) };
  }

  return {
    answered: (call, schemaFor) =>
      send(call, ({ status, text }) => {
        const schema = schemaFor(status);
        if (!schema) return { ok: true, value: null };
        const parsed = schema.safeParse(parseJson(text));
        return parsed.success
          ? { ok: true, value: parsed.data }
          : { ok: false, problem: { kind: 'unreadable', status, message: SENTENCES.unreadable } };
      }),
    done: (call) => send(call, () => ({ ok: true, value: null })),
    words: (call) => send(call, ({ text }) => ({ ok: true, value: text })),
  };
}
