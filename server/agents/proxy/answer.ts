/**
 * One request from the moment it may go: it is sent, what comes back passes through, and what it
 * took is counted.
 */
import type { CostHold, Took } from '../../contracts/index.ts';
import { isUnsent } from '../../platform/unsent.ts';
import { createLeaving, type Leaving } from '../minds/leave.ts';
import { writtenWithin } from '../minds/wire.ts';
import { createKeyFilter, withoutKey } from '../../platform/key-filter.ts';
import { inSteps } from '../../platform/pace.ts';
import type { ProxyError } from './errors.ts';
import { responseHeaders } from './headers.ts';
import { PROXY_LIMITS } from './settings.ts';
import type { Upstream, UpstreamRequest, UpstreamAnswer } from './upstream.ts';
import { createJsonReader, createStreamReader, type UsageReader } from './usage.ts';
import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { SessionId } from '../../../src/shared/domain/ids.ts';

/**
 * Bodies as they are, where a server packs them although it was asked not to: in a packed one
 * nothing can be counted or taken out.
 */
const UNPACKERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;
const isPacking = (name: string): name is keyof typeof UNPACKERS => Object.hasOwn(UNPACKERS, name);

/** Throws where it is packed in a way that is not known here. */
function unpacked({ headers, body }: UpstreamAnswer): AsyncIterable<Uint8Array> {
  const ways = (headers['content-encoding'] ?? '')
    .split(',')
    .map((way) => way.trim().toLowerCase())
    .filter((way) => way !== '' && way !== 'identity');
  return ways.reduceRight<AsyncIterable<Uint8Array>>((packed, way) => {
    if (!isPacking(way)) throw new Error(`it packs its answers as “${way.slice(0, 40)}”`);
    // What breaks off is told by reading the last of them.
    return pipeline(Readable.from(packed), UNPACKERS[way](), () => undefined);
  }, body);
}

/** Where a request is counted, and the money that is held for it. */
export interface Account {
  readonly sessionId: SessionId | null;
  /** The one that was asked for. */
  readonly model: string;
  /** It comes as it is written: a server that is left then notices. */
  readonly stream: boolean;
  readonly hold: CostHold;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Rejects with the upstream's error where it breaks off. */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Counts what it took, and gives the hold back. Called by the body at its end, and by whoever
   * stops before; a repeat changes nothing.
   */
  close(): Promise<void>;
}

async function* once(bytes: Uint8Array): ProxyAnswer['body'] {
  yield await Promise.resolve(bytes);
}
/** One that is there already, and took nothing. */
export const wholeAnswer = (status: number, headers: ProxyAnswer['headers'], bytes: Uint8Array): ProxyAnswer => ({
  status,
  headers: { ...headers, 'content-length': String(bytes.byteLength) },
  body: once(bytes),
  close: () => Promise.resolve(),
});

export interface AnswerDeps {
  readonly upstream: Upstream;
  /** It writes no more, and charges for no more, when it is left. */
  readonly stopsWhenLeft: boolean;
  readonly key: string | null;
  /** What could not be counted is ours to know; whoever asked has its answer all the same. */
  readonly onError: (error: unknown) => void;
}

export type Ask = (
  request: UpstreamRequest,
  account: Account | null,
) => Promise<{ readonly ok: true; readonly answer: ProxyAnswer } | { readonly ok: false; readonly error: ProxyError }>;

interface Passing {
  /** Whoever asked has gone. */
  readonly gone: AbortSignal;
  readonly leaving: Leaving;
  /** `left`: our leaving has ended it. */
  readonly close: (left: boolean) => Promise<void>;
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
const isOk = (status: number) => status >= 200 && status < 300;

/** A refusal, whole. */
async function refusal(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > PROXY_LIMITS.refusalBytes) break;
  }
  return Buffer.concat(chunks);
}

/**
 * Of one that was left before it said anything: all that it was to read, and what any model writes
 * in that time.
 */
const saidNothing = (model: string, leftAfterMs: number): Took => ({
  usage: { model, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  whole: false,
  untold: { input: true, output: true },
  outputMost: writtenWithin(leftAfterMs),
});
/**
 * What it took; of one that was left while it wrote, no more than any model writes in that time.
 */
function tookOf(reader: UsageReader, { model, stream }: Account, leftAfterMs: number | null): Took {
  const took = reader.took();
  if (leftAfterMs === null || took?.whole === true) return took;
  return took ? { ...took, outputMost: writtenWithin(leftAfterMs) } : stream ? saidNothing(model, leftAfterMs) : null;
}

async function* passed(
  body: AsyncIterable<Uint8Array>,
  reader: UsageReader,
  { gone, leaving, close }: Passing,
): ProxyAnswer['body'] {
  const pieces = body[Symbol.asyncIterator]();
  let over = false;
  let left = false;
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      over = done === true;
      if (over) return;
      reader.read(value);
      yield value;
    }
  } catch (error) {
    over = true;
    // How it is told of, an abort of ours looks as one of theirs: whether it had broken before that
    // was looked at then.
    left = leaving.signal.aborted;
    throw error;
  } finally {
    if (!over) {
      // Whoever asked has gone while it was written: see leave.ts for why that takes a moment.
      left = gone.aborted && (await aborted(leaving.signal).then(() => true));
      await pieces.return?.();
    }
    leaving.done();
    await close(left);
  }
}

export function createAsk({ upstream, stopsWhenLeft, key, onError }: AnswerDeps): Ask {
  const filter = createKeyFilter(key);

  const settle = async ({ hold, sessionId }: Account, took: Took) => {
    await hold.settle({ sessionId, messageId: null, via: 'proxy', took }).catch(onError);
  };

  return async (request, account) => {
    const free = () => account?.hold.release();
    let isBroken = () => false;
    let brokeBefore = false;
    const leaving = createLeaving(request.signal, () => (brokeBefore = isBroken()));
    const begun = performance.now();
    try {
      const onLost = account ? { onLost: () => account.hold.again() } : {};
      const sent = await upstream.send({ ...request, signal: leaving.signal, ...onLost });
      ({ isBroken } = sent);
      if (sent.status === 401) {
        free();
        return {
          ok: false,
          error: {
            kind: 'bad-key',
            message: `${upstream.host} did not accept the relay’s own API key. Change it on Roost’s page, under “Connect a model”, or where the relay is started. Your credential is fine.`,
          },
        };
      }
      if (sent.status < 200 || (sent.status >= 300 && sent.status < 400)) {
        free();
        return {
          ok: false,
          error: {
            kind: 'unreachable',
            message: `${upstream.host} answered ${sent.status}, which is not the Messages API. Check its address on Roost’s page, under “Connect a model”, or where the relay is started.`,
          },
        };
      }
      const headers = responseHeaders(sent.headers, filter);
      const body = withoutKey(inSteps(unpacked(sent), PROXY_LIMITS.pieceBytes), filter);
      if (!isOk(sent.status)) {
        // A model that refuses charges nothing.
        free();
        const bytes = await refusal(body);
        return {
          ok: true,
          answer: wholeAnswer(sent.status, headers, bytes),
        };
      }
      const model = account?.model ?? '';
      const reader = headers['content-type']?.includes('text/event-stream')
        ? createStreamReader(model)
        : createJsonReader(model);
      let closing: Promise<void> | null = null;
      const close = (left: boolean) => {
        const leftAfterMs = left && !brokeBefore && stopsWhenLeft ? performance.now() - begun : null;
        return (closing ??= account ? settle(account, tookOf(reader, account, leftAfterMs)) : Promise.resolve());
      };
      const passing = { gone: request.signal, leaving, close };
      return {
        ok: true,
        answer: { status: sent.status, headers, body: passed(body, reader, passing), close: () => close(false) },
      };
    } catch (error) {
      leaving.done();
      if (!(error instanceof Error)) throw error;
      // It went out, and nobody will tell what it took. Only where our leaving is what ended it, it
      // has heard of that.
      const left = leaving.signal.aborted && error.name === 'AbortError' && stopsWhenLeft && account?.stream === true;
      if (account && !isUnsent(error))
        await settle(account, left ? saidNothing(account.model, performance.now() - begun) : null);
      else free();
      return {
        ok: false,
        error: {
          kind: 'unreachable',
          message: `${upstream.host} cannot be reached from the relay: ${filter.words(error.message)}. Is it running, and is the relay’s machine online?`,
        },
      };
    }
  };
}
