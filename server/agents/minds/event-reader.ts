/**
 * Reads the events of one answer out of its body: a stream of server-sent events, however it is
 * written, or one JSON text. Which of the two it is, its first character says: headers are wrong
 * about it too often. An answer is counted before it is parsed, and read in steps, so that no
 * server can hold the relay.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { parseJson } from '../../../src/shared/domain/platform/json.ts';
import { createJsonCount } from '../../platform/json-bounds.ts';
import { createPace, inSteps } from '../../platform/pace.ts';
import { MIND_LIMITS } from './settings.ts';
import type { WireEvent } from './wire-events.ts';

/**
 * The server sent something that cannot be read, or all too much. What stood in it is not known.
 */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/**
 * Reads one event of a protocol. `named`: the name of the event, where the server gave one. May
 * throw what ends the answer.
 */
export type ReadEvent<Event> = (value: unknown, named: string | undefined) => Event;

/**
 * An event whose data is no JSON. Servers write marks of their own between events, such as
 * `[DONE]`; a torn object is no mark.
 */
function eventsIn<Event>({ data, event: named }: EventSourceMessage, eventOf: ReadEvent<Event>): Event[] {
  const text = data.trim();
  if (text === '') return [];
  if (createJsonCount(MIND_LIMITS.json).take(Buffer.from(text)) !== null)
    throw new UnreadableAnswer('an event of the stream holds too much');
  const value = parseJson(text);
  if (value !== undefined) return [eventOf(value, named)];
  // Some servers write no blank line between two events.
  const lines = text.split('\n', MIND_LIMITS.eventLines + 1).map((line) => parseJson(line));
  if (lines.length > MIND_LIMITS.eventLines) throw new UnreadableAnswer('an event of the stream has too many lines');
  if (lines.length > 1 && lines.every((line) => line !== undefined))
    return lines.map((line) => eventOf(line, undefined));
  if (named === 'error') return [eventOf({ type: 'error', error: { message: text } }, named)];
  if (text.startsWith('{')) throw new UnreadableAnswer('an event of the stream is torn');
  return [];
}

/** Feeds the parser. What came before something unreadable is given first. */
function createEvents<Event>(eventOf: ReadEvent<Event>) {
  let found: Event[] = [];
  const parser = createParser({
    maxBufferSize: MIND_LIMITS.eventCharacters,
    onEvent: (message) => void found.push(...eventsIn(message, eventOf)),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new UnreadableAnswer('an event of the stream is too long');
    },
  });
  return function* read(text: string): Generator<Event, void, undefined> {
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

const charactersOf = (event: WireEvent): number => {
  if (event.kind === 'block' && event.block.kind === 'text') return event.block.text.length;
  if (event.kind === 'block' && event.block.kind === 'thinking') return event.block.thinking.length;
  if (event.kind !== 'delta') return 0;
  const { delta } = event;
  return delta.kind === 'text' ? delta.text.length : delta.kind === 'thinking' ? delta.thinking.length : 0;
};

/** Counts the words of an answer. Throws where they are too much. */
function createWordCount(): (event: WireEvent) => void {
  let characters = 0;
  return (event) => {
    characters += charactersOf(event);
    if (characters > MIND_LIMITS.wordCharacters) throw new UnreadableAnswer('the answer has too many words');
  };
}

/** The same words in pieces: some servers send a whole answer in one event. */
function* inPieces(event: WireEvent): Generator<WireEvent, void, undefined> {
  if (event.kind !== 'delta' || event.delta.kind !== 'text') return yield event;
  const { text } = event.delta;
  for (let from = 0; from === 0 || from < text.length; from += MIND_LIMITS.stepCharacters)
    yield { ...event, delta: { kind: 'text', text: text.slice(from, from + MIND_LIMITS.stepCharacters) } };
}

/**
 * `patience`: asked before each read, ms to wait for what comes next; after that the stream counts
 * as ended. Rejects with the connection's own failure, or with `UnreadableAnswer`. A caller may
 * leave the loop early. Then the rest is read for a moment, so that the connection can be used
 * again, and after that it is closed.
 */
export async function* eventsOf<Event>(
  body: ReadableStream<Uint8Array> | null,
  patience: () => number,
  eventOf: ReadEvent<Event>,
): AsyncGenerator<Event, void, undefined> {
  if (!body) return;
  const [mine, rest] = withEnd(body, patience);
  const decoder = new TextDecoder();
  const events = createEvents(eventOf);
  const json = createJsonCount(MIND_LIMITS.json);
  let whole: string | null = null;
  let begun = false;
  let bytes = 0;
  try {
    for await (const chunk of inSteps(mine, MIND_LIMITS.stepBytes)) {
      bytes += chunk.byteLength;
      if (bytes > MIND_LIMITS.answerBytes) throw new UnreadableAnswer('the answer is too long');
      let text = decoder.decode(chunk, { stream: true });
      if (!begun) {
        text = text.trimStart();
        if (text === '') continue;
        begun = true;
        if (text.startsWith('{')) whole = '';
      }
      if (whole === null) {
        yield* events(text);
        continue;
      }
      whole += text;
      if (whole.length > MIND_LIMITS.eventCharacters || json.take(chunk) !== null)
        throw new UnreadableAnswer('the answer holds too much');
    }
    const last = decoder.decode();
    // The last event may lack the blank line that ends it.
    if (whole === null) yield* events(`${last}\n\n`);
    else yield* eventsIn({ id: undefined, event: undefined, data: whole + last }, eventOf);
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

/**
 * The events of an answer, whichever protocol they came by: its words are counted, and come in
 * steps.
 */
export async function* inBounds(events: AsyncIterable<WireEvent>): AsyncGenerator<WireEvent, void, undefined> {
  const pace = createPace();
  const count = createWordCount();
  for await (const event of events) {
    count(event);
    for (const piece of inPieces(event)) {
      await pace();
      yield piece;
    }
  }
}
