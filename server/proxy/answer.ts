/** One request from the moment it may go: it is sent, what comes back passes through, and what it took is counted. */
import type { CostHold, Costs } from '../contracts.ts';
import type { ProxyError } from './errors.ts';
import { responseHeaders } from './headers.ts';
import { PROXY_LIMITS } from './settings.ts';
import type { Upstream, UpstreamAnswer, UpstreamRequest } from './upstream.ts';
import { createJsonReader, createStreamReader, type UsageReader } from './usage.ts';

/** Whose request it is, for the costs; null where nothing is counted. */
export interface Account {
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly model: string;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Rejects with the upstream's error where it breaks off. */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
  /** Counts what was said so far and gives the hold back. Called by the body at its end, and by whoever stops before; a repeat changes nothing. */
  close(): Promise<void>;
}

export interface AnswerDeps {
  readonly upstream: Upstream;
  readonly key: string | null;
  readonly costs: Pick<Costs, 'note'>;
  /** What could not be counted is ours to know; whoever asked has its answer all the same. */
  readonly onError: (error: unknown) => void;
}

export type Ask = (request: UpstreamRequest, account: Account | null, hold: CostHold | null) => Promise<{ readonly ok: true; readonly answer: ProxyAnswer } | { readonly ok: false; readonly error: ProxyError }>;

const isOk = (status: number) => status >= 200 && status < 300;

/** A refusal, whole, without the key that it may repeat. */
async function refusal(body: AsyncIterable<Uint8Array>, key: string | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > PROXY_LIMITS.refusalBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  if (key === null || !bytes.includes(key)) return bytes;
  return Buffer.from(bytes.toString('utf8').replaceAll(key, '[key]'), 'utf8');
}

export function createAsk({ upstream, key, costs, onError }: AnswerDeps): Ask {
  function counting(reader: UsageReader, account: Account | null, hold: CostHold | null): ProxyAnswer['close'] {
    let closing: Promise<void> | null = null;
    async function close(): Promise<void> {
      const counted = account && reader.counted();
      if (account && counted) await costs.note({ agentId: account.agentId, sessionId: account.sessionId, messageId: null, via: 'proxy', ...counted }).catch(onError);
      hold?.release();
    }
    return () => (closing ??= close());
  }

  async function* passed({ body }: UpstreamAnswer, reader: UsageReader, close: ProxyAnswer['close']): ProxyAnswer['body'] {
    try {
      for await (const bytes of body) {
        reader.read(bytes);
        yield bytes;
      }
    } finally {
      await close();
    }
  }

  async function* whole(bytes: Uint8Array): ProxyAnswer['body'] {
    yield await Promise.resolve(bytes);
  }

  return async (request, account, hold) => {
    let kept = hold;
    try {
      const sent = await upstream.send(request);
      if (sent.status === 401)
        return { ok: false, error: { kind: 'bad-key', message: `${upstream.host} did not accept the relay’s own API key. Check ANTHROPIC_API_KEY where the relay runs, and start it again. Your credential is fine.` } };
      if (sent.status < 200 || (sent.status >= 300 && sent.status < 400))
        return { ok: false, error: { kind: 'unreachable', message: `${upstream.host} answered ${sent.status}, which is not the Messages API. Check ANTHROPIC_BASE_URL where the relay runs.` } };
      const headers = responseHeaders(sent.headers, key);
      if (!isOk(sent.status)) {
        const bytes = await refusal(sent.body, key);
        return { ok: true, answer: { status: sent.status, headers: { ...headers, 'content-length': String(bytes.byteLength) }, body: whole(bytes), close: () => Promise.resolve() } };
      }
      const model = account?.model ?? '';
      const reader = headers['content-type']?.includes('text/event-stream') ? createStreamReader(model) : createJsonReader(model);
      const close = counting(reader, account, hold);
      // It is given back when the answer is over.
      kept = null;
      return { ok: true, answer: { status: sent.status, headers, body: passed(sent, reader, close), close } };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { ok: false, error: { kind: 'unreachable', message: `${upstream.host} cannot be reached from the relay: ${error.message}. Is it running, and is the relay’s machine online?` } };
    } finally {
      kept?.release();
    }
  };
}
