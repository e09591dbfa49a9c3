/**
 * Reads the events of one answer out of its body: a stream of server-sent events, however it is written, or one JSON text.
 * Which of the two it is, its first character says: headers are wrong about it too often.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { parseJson } from '../../src/domain/platform/json.ts';
import { MIND_LIMITS } from './settings.ts';
import { eventOf, type WireEvent } from './wire-events.ts';

/** The server sent something that cannot be read, or all too much. What stood in it is not known. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/** An event whose data is no JSON. Servers write marks of their own between events, such as `[DONE]`; a torn object is no mark. */
function eventsIn({ data, event: named }: EventSourceMessage): WireEvent[] {
  const text = data.trim();
  if (text === '') return [];
  const value = parseJson(text);
  if (value !== undefined) return [eventOf(value, named)];
  // Some servers write no blank line between two events.
  const lines = text.split('\n').map((line) => parseJson(line));
  if (lines.length > 1 && lines.every((line) => line !== undefined))
    return lines.map((line) => eventOf(line, undefined));
  if (named === 'error') return [{ kind: 'error', body: { type: 'error', error: { message: text } } }];
  if (text.startsWith('{')) throw new UnreadableAnswer('an event of the stream is torn');
  return [];
}

/** Feeds the parser. What came before something unreadable is given first. */
function createEvents() {
  let found: WireEvent[] = [];
  const parser = createParser({
    maxBufferSize: MIND_LIMITS.eventCharacters,
    onEvent: (message) => void found.push(...eventsIn(message)),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new UnreadableAnswer('an event of the stream is too long');
    },
  });
  return function* read(text: string): Generator<WireEvent, void, undefined> {
    let failure: unknown = null;
    try {
      parser.feed(text);
    } catch (error) {
      failure = error;
    }
    const events = found;
    found = [];
    yield* events;
    if (failure !== null) throw failure;
  };
}

/**
 * `patience`: asked before each read, ms to wait for what comes next; after that the stream counts as ended.
 * Rejects with what the line's own failure is, or with `UnreadableAnswer`. Whoever leaves the loop early leaves the line: it
 * is read to its end for a moment, so that it can be used again, and closed then.
 */
export async function* eventsOf(
  body: ReadableStream<Uint8Array> | null,
  patience: () => number = () => Infinity,
): AsyncGenerator<WireEvent, void, undefined> {
  if (!body) return;
  const [mine, rest] = withEnd(body, patience);
  const decoder = new TextDecoder();
  const events = createEvents();
  let whole: string | null = null;
  let begun = false;
  let bytes = 0;
  try {
    for await (const chunk of mine) {
      bytes += chunk.byteLength;
      if (bytes > MIND_LIMITS.answerBytes) throw new UnreadableAnswer('the answer is too long');
      let text = decoder.decode(chunk, { stream: true });
      if (!begun) {
        text = text.trimStart();
        if (text === '') continue;
        begun = true;
        if (text.startsWith('{')) whole = '';
      }
      if (whole === null) yield* events(text);
      else whole += text;
    }
    const last = decoder.decode();
    // The last event may lack the blank line that ends it.
    if (whole === null) yield* events(`${last}\n\n`);
    else yield* eventsIn({ id: undefined, event: undefined, data: whole + last });
  } finally {
    rest();
  }
}

/** The chunks of a body, and the way to leave them. */
function withEnd(
  body: ReadableStream<Uint8Array>,
  patience: () => number,
): readonly [AsyncIterable<Uint8Array>, () => void] {
  const reader = body.getReader();
  let isOver = false;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const ms = patience();
      const giveUp = ms === Infinity ? null : setTimeout(() => void reader.cancel().catch(() => undefined), ms);
      const { done, value } = await reader
        .read()
        .catch((error: unknown) => {
          isOver = true;
          throw error;
        })
        .finally(() => giveUp && clearTimeout(giveUp));
      isOver ||= done;
      if (done) return;
      yield value;
    }
  }
  async function drain(): Promise<void> {
    while (!(await reader.read()).done);
  }
  return [
    chunks(),
    () => {
      if (isOver) return;
      const close = setTimeout(() => void reader.cancel().catch(() => undefined), MIND_LIMITS.afterEndMs);
      void drain()
        .catch(() => undefined)
        .finally(() => clearTimeout(close));
    },
  ];
}
