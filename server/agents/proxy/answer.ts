/** One admitted request: it is sent, its answer is passed on, and its usage is counted. */
import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { z } from 'zod';
import { isRecord, parseJson } from '../../../src/shared/domain/platform/json.ts';
import type { SessionId } from '../../../src/shared/domain/ids.ts';
import type { CostHold, Took } from '../../team/costs/contract.ts';
import { createJsonCount } from '../../platform/json-bounds.ts';
import { isUnsent } from '../../platform/unsent.ts';
import { createKeyFilter, withoutKey } from '../../platform/key-filter.ts';
import { inSteps } from '../../platform/pace.ts';
import { createReportedUsage, type ReportedUsage } from '../minds/token-limits.ts';
import { createLeaving, type Leaving } from '../minds/leave.ts';
import { writtenWithin } from '../minds/wire.ts';
import { PROXY_LIMITS } from './settings.ts';
import {
  type ProxyError,
  responseHeaders,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './upstream.ts';

// Reads the usage from an answer while it passes: from the events `message_start` and
// `message_delta` of a stream, or from a whole JSON answer. No byte is changed or delayed.

const messageShape = z.object({ usage: z.unknown().optional() });
const eventShape = z.object({
  type: z.string(),
  message: messageShape.nullish().catch(null),
  usage: z.unknown().optional(),
});

const NOTHING = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Of hundreds of events in an answer only these report usage. The others need not be parsed. */
const TELLS = /"(?:message_start|message_delta|error)"/;

interface UsageReader {
  read(bytes: Uint8Array): void;
  /** Called once, at the end. */
  took(): Took;
}

/** `model`: the requested one. The name in the answer does not decide the price. */
function usageTaken(model: string, reported: ReportedUsage, whole: boolean): Took {
  if (!reported.isReported()) return null;
  const counts = reported.counts();
  const input = !reported.inputReported();
  // Without known input, an output of zero means nothing either.
  const output = !reported.outputReported() || (input && counts.outputTokens === 0);
  return {
    usage: { model, ...counts },
    whole,
    hourCacheWrites: reported.hourCacheWrites(),
    searches: reported.searches(),
    terms: reported.terms(),
    ...(input || output ? { untold: { input, output } } : {}),
  };
}

export function createStreamReader(model: string): UsageReader {
  const reported = createReportedUsage();
  const decoder = new TextDecoder();
  let line = '';
  let tooLong = false;
  let ended = false;
  let refused = false;

  function take(text: string): void {
    if (!text.startsWith('data:') || !TELLS.test(text)) return;
    if (createJsonCount(PROXY_LIMITS.eventJson).take(Buffer.from(text)) !== null) return;
    const event = eventShape.safeParse(parseJson(text.slice('data:'.length)));
    if (!event.success) return;
    const { type, message, usage } = event.data;
    if (type === 'message_start') reported.add(message?.usage);
    if (type === 'message_delta' && isRecord(usage)) {
      reported.add(usage);
      ended = true;
    }
    // A model that refuses charges nothing.
    if (type === 'error') refused = true;
  }

  return {
    read(bytes) {
      const lines = decoder.decode(bytes, { stream: true }).split('\n');
      const last = lines.pop() ?? '';
      for (const part of lines) {
        if (!tooLong && line.length + part.length <= PROXY_LIMITS.eventBytes) take(line + part);
        line = '';
        tooLong = false;
      }
      if (!tooLong) line += last;
      if (line.length > PROXY_LIMITS.eventBytes) {
        line = '';
        tooLong = true;
      }
    },
    took: () => usageTaken(model, reported, ended) ?? (refused ? { usage: { model, ...NOTHING }, whole: true } : null),
  };
}

export function createJsonReader(model: string): UsageReader {
  const json = createJsonCount(PROXY_LIMITS.json);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let tooMuch = false;
  return {
    read(bytes) {
      size += bytes.byteLength;
      tooMuch ||= size > PROXY_LIMITS.readBytes || json.take(bytes) !== null;
      if (!tooMuch) chunks.push(bytes);
    },
    took() {
      if (tooMuch) return null;
      const message = messageShape.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
      const told = createReportedUsage();
      told.add(message.data?.usage);
      return usageTaken(model, told, true);
    },
  };
}

/**
 * Decompresses bodies where a server compresses them although it was asked not to. In a compressed
 * body nothing can be counted or removed.
 */
const UNPACKERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;
const isPacking = (name: string): name is keyof typeof UNPACKERS => Object.hasOwn(UNPACKERS, name);

/** Throws for an unknown compression. */
function unpacked({ headers, body }: UpstreamAnswer): AsyncIterable<Uint8Array> {
  const ways = (headers['content-encoding'] ?? '')
    .split(',')
    .map((way) => way.trim().toLowerCase())
    .filter((way) => way !== '' && way !== 'identity');
  return ways.reduceRight<AsyncIterable<Uint8Array>>((packed, way) => {
    if (!isPacking(way)) throw new Error(`it packs its answers as “${way.slice(0, 40)}”`);
    // A failure reaches the reader of the last stream.
    return pipeline(Readable.from(packed), UNPACKERS[way](), () => undefined);
  }, body);
}

/** Where a request is counted, and the money that is reserved for it. */
export interface Account {
  readonly sessionId: SessionId | null;
  /** The requested model. */
  readonly model: string;
  /** The answer is streamed, so a server notices a disconnect. */
  readonly stream: boolean;
  readonly hold: CostHold;
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Rejects with the upstream's error where the answer breaks off. */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Counts the usage and releases the hold. The body calls it at its end, and a caller that stops
   * earlier calls it too. Further calls do nothing.
   */
  close(): Promise<void>;
}

async function* once(bytes: Uint8Array): ProxyAnswer['body'] {
  yield await Promise.resolve(bytes);
}
/** An answer that is complete and used nothing. */
export const wholeAnswer = (status: number, headers: ProxyAnswer['headers'], bytes: Uint8Array): ProxyAnswer => ({
  status,
  headers: { ...headers, 'content-length': String(bytes.byteLength) },
  body: once(bytes),
  close: () => Promise.resolve(),
});

interface AnswerDeps {
  readonly upstream: Upstream;
  /** The server stops writing, and charges nothing more, on a disconnect. */
  readonly stopsWhenLeft: boolean;
  readonly key: string | null;
  /** A failure to count. The client receives its answer all the same. */
  readonly onError: (error: unknown) => void;
}

export type Ask = (
  request: UpstreamRequest,
  account: Account | null,
) => Promise<{ readonly ok: true; readonly answer: ProxyAnswer } | { readonly ok: false; readonly error: ProxyError }>;

interface Passing {
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
  readonly leaving: Leaving;
  /** `left`: our disconnect ended it. */
  readonly close: (left: boolean) => Promise<void>;
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
const isOk = (status: number) => status >= 200 && status < 300;

/** Reads an error body, up to a limit. */
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
 * Usage of a request that was stopped before its first byte: its whole input, and the most that any
 * model writes in that time.
 */
const saidNothing = (model: string, leftAfterMs: number): Took => ({
  usage: { model, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  whole: false,
  untold: { input: true, output: true },
  outputMost: writtenWithin(leftAfterMs),
});
/**
 * The usage. For an answer that was stopped in mid-stream, at most what any model writes in that
 * time.
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
  let isLeft = false;
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
    // An abort of ours looks like one of theirs. Whether the connection had broken before was
    // checked then.
    isLeft = leaving.signal.aborted;
    throw error;
  } finally {
    if (!over) {
      // The client disconnected in mid-answer. See leave.ts for why that takes a moment.
      isLeft = gone.aborted && (await aborted(leaving.signal).then(() => true));
      await pieces.return?.();
    }
    leaving.done();
    await close(isLeft);
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
      // The request was sent, and its usage will stay unknown. Only where our disconnect ended it
      // has the server noticed that.
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
