/** One call of the relay and its answer: a typed value, or what went wrong and what to do. */
import type { z } from 'zod';
import { parseJson } from '../domain/platform/json.ts';
import { problemOf, SENTENCES, type RelayProblem, type RelayResult } from './problem.ts';

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
  readonly text?: { readonly type: string; readonly body: string | Blob };
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
  /** The answer as it is. */
  blob(call: SentCall): Promise<RelayResult<Blob>>;
}

interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
  /** In the place of `text`, where it was asked for and is no refusal. */
  readonly blob?: Blob;
}

const bodyOf = ({ body, text }: SentCall) => {
  if (text) return { body: text.body, type: text.type };
  return body === undefined ? null : { body: JSON.stringify(body), type: 'application/json' };
};

/**
 * Characters: browsers refuse more than 64 KB, of all that is under way at once, to outlive its
 * page (Fetch, HTTP-network-or-cache fetch).
 */
const OUTLIVING_MOST = 2_000;
const isSmall = (body: string | Blob) => typeof body === 'string' && body.length <= OUTLIVING_MOST;

export function createSender({ fetch, baseUrl }: SendDeps): Sender {
  /** The whole answer. Nothing of ours runs in here that could fail and be taken for the line. */
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
        // What changes something goes out also where the page is being left.
        ...(call.method !== 'GET' && isSmall(sent?.body ?? '') ? { keepalive: true } : {}),
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
      });
      const { status, ok } = response;
      if (wants === 'blob' && ok) return { kind: 'answer', status, ok, text: '', blob: await response.blob() };
      return { kind: 'answer', status, ok, text: await response.text() };
    } catch (error) {
      // fetch rejects with a TypeError where there is no answer, and with the signal's reason where
      // we gave up.
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
    blob: (call) => send(call, ({ blob = new Blob() }) => ({ ok: true, value: blob }), 'blob'),
  };
}
