/**
 * `fetch` for servers of strangers. What they answer is bounded before anything parses it: in
 * bytes, in the JSON of each message, and, where it is a stream, in how many messages come at once.
 * It is handed on in small pieces, between which every other call has its turn.
 */
import { createJsonCount } from './json-bounds.ts';
import { createPace, nextTurn } from './pace.ts';
import { createFlood, type FloodLimits } from './flood.ts';
import { TooMuchError, type MessageBounds, type TooMuch } from './too-much.ts';

/** A message is a whole body, or one event of a stream. */
export interface AnswerBounds extends MessageBounds {
  /** Bytes of a stream in all; left out: it may go on. */
  readonly streamBytes?: number;
  /** Of a stream; left out: as many events as come. */
  readonly flood?: FloodLimits;
  /** A stream exceeded its bounds and was ended. Nothing more comes on it. */
  readonly onTooMuch?: ((error: Error) => void) | undefined;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const isStream = ({ headers }: Response) => /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '');

/** Looks at each piece of a body; null: it is not too much yet. */
type Look = (piece: Uint8Array) => TooMuch | null;

function lookAtBody({ messageBytes, json }: AnswerBounds): Look {
  const count = createJsonCount(json);
  let bytes = 0;
  return (piece) => {
    bytes += piece.length;
    return bytes > messageBytes ? 'length' : count.take(piece);
  };
}

/** Server-sent events: an empty line ends one, and a line ends with CR, LF or both. */
function lookAtEvents({ messageBytes, streamBytes = Infinity, json, flood }: AnswerBounds): Look {
  const count = createJsonCount(json);
  const isFlooded = flood ? createFlood(flood) : () => false;
  let bytes = 0;
  let eventBytes = 0;
  let lineBytes = 0;
  let afterReturn = false;
  return (piece) => {
    bytes += piece.length;
    if (bytes > streamBytes || isFlooded(0, piece.length)) return 'flood';
    for (let from = 0; from < piece.length;) {
      let to = from;
      while (to < piece.length && piece[to] !== NEWLINE && piece[to] !== RETURN) to++;
      lineBytes += to - from;
      eventBytes += to - from;
      if (to > from) afterReturn = false;
      const tooMuch = count.take(piece, from, to);
      if (tooMuch) return tooMuch;
      if (eventBytes > messageBytes) return 'length';
      if (to < piece.length) {
        const isSecondHalf = afterReturn && piece[to] === NEWLINE;
        afterReturn = piece[to] === RETURN;
        count.endLine();
        if (!isSecondHalf && lineBytes === 0) {
          if (eventBytes > 0 && isFlooded(1, 0)) return 'flood';
          eventBytes = 0;
          count.restart();
        }
        lineBytes = 0;
      }
      from = to + 1;
    }
    return null;
  };
}

/** The same bytes, looked at piece by piece. They are read no faster than they are taken. */
function lookedAt(
  body: ReadableStream<Uint8Array>,
  look: Look,
  bounds: AnswerBounds,
  pieceBytes: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const pace = createPace();
  let rest: Uint8Array = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          while (rest.length === 0) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            rest = value;
          }
          await pace();
          const piece = rest.subarray(0, pieceBytes);
          rest = rest.subarray(pieceBytes);
          const tooMuch = look(piece);
          if (tooMuch !== null) throw new TooMuchError(tooMuch, bounds);
          controller.enqueue(piece);
        } catch (error) {
          controller.error(error);
          void reader.cancel().catch(() => undefined);
          if (error instanceof TooMuchError) bounds.onTooMuch?.(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The first bytes of a body. */
function beginningOf(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = most;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value.subarray(0, left));
          left -= value.length;
        }
        if (!done && left > 0) return;
        controller.close();
        void reader.cancel().catch(() => undefined);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export const BOUNDED_FETCH = {
  /**
   * Bytes that are handed on in one step: of a stream, which may have a message every few bytes,
   * and of a body.
   */
  eventPieceBytes: 4_096,
  bodyPieceBytes: 65_536,
  /** Characters of a request that is handed on as bytes. */
  bytesFrom: 100_000,
  /** Bytes of a refusal. What is beyond tells nobody anything. */
  refusalBytes: 64_000,
} as const;

function boundedBody(answer: Response, bounds: AnswerBounds): ReadableStream<Uint8Array> | null {
  const { body, ok } = answer;
  if (!body) return null;
  if (!ok) return beginningOf(body, BOUNDED_FETCH.refusalBytes);
  if (isStream(answer)) return lookedAt(body, lookAtEvents(bounds), bounds, BOUNDED_FETCH.eventPieceBytes);
  const { messageBytes, json } = bounds;
  return lookedAt(body, lookAtBody(bounds), { messageBytes, json }, BOUNDED_FETCH.bodyPieceBytes);
}

export function createBoundedFetch(bounds: AnswerBounds, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    // As a text it would be copied three times, and looked at once for halves of letters.
    const isLong = typeof init?.body === 'string' && init.body.length > BOUNDED_FETCH.bytesFrom;
    if (isLong) await nextTurn();
    const answer = await inner(input, isLong ? { ...init, body: Buffer.from(String(init.body)) } : init);
    if (!answer.body) return answer;
    // Made anew, an answer loses where it came from.
    const bounded = new Response(boundedBody(answer, bounds), {
      status: answer.status,
      statusText: answer.statusText,
      headers: answer.headers,
    });
    Object.defineProperty(bounded, 'url', { value: answer.url });
    return bounded;
  };
}
