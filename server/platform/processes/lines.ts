/**
 * What a program writes to its output, line by line. A line is bounded in bytes and in the JSON
 * that it may be, and all of them in how many come at once. Lines are read as they come, and given
 * one by one: between two of them every other call has its turn.
 */
import type { Readable } from 'node:stream';
import { createJsonCount, type MessageBounds, type TooMuch, TooMuchError } from '../json-bounds.ts';
import { createFlood, createPace, type FloodLimits } from '../pace.ts';

/** Of one line, and of all in a while. */
export type LineBounds = MessageBounds & FloodLimits;

const NEWLINE = 0x0a;
const FIRST_BYTES = 65_536;

/** Bytes that grow at their end, each copied a few times at most, however small the pieces are. */
function createGrowing() {
  let bytes = Buffer.alloc(FIRST_BYTES);
  let length = 0;
  return {
    length: () => length,
    add(piece: Buffer): void {
      if (length + piece.length > bytes.length) {
        const larger = Buffer.alloc(Math.max(bytes.length * 2, length + piece.length));
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      piece.copy(bytes, length);
      length += piece.length;
    },
    /** All of them. It is empty then. */
    take(): Buffer {
      const all = Buffer.from(bytes.subarray(0, length));
      length = 0;
      if (bytes.length > FIRST_BYTES) bytes = Buffer.alloc(FIRST_BYTES);
      return all;
    },
  };
}

/**
 * Reads at once, and ends with the output. Throws a `TooMuchError`, also for what nobody has taken
 * yet.
 */
export function linesOf(output: Readable, bounds: LineBounds): AsyncGenerator<Buffer, void, undefined> {
  const isFlooded = createFlood(bounds);
  const begun = createGrowing();
  const count = createJsonCount(bounds.json);
  let lines: Buffer[] = [];
  let waitingBytes = 0;
  let problem: TooMuchError | null = null;
  let ended = false;
  let wake: () => void = () => undefined;

  function end(what: TooMuch | null): void {
    if (what !== null) {
      problem = new TooMuchError(what, bounds);
      lines = [];
    }
    ended = true;
    output.off('data', read);
    wake();
  }
  /** False: it was too much. */
  function add(piece: Buffer): boolean {
    const tooMuch = begun.length() + piece.length > bounds.messageBytes ? 'length' : count.take(piece);
    if (tooMuch !== null) end(tooMuch);
    else begun.add(piece);
    return tooMuch === null;
  }
  function read(chunk: Buffer): void {
    waitingBytes += chunk.length;
    if (isFlooded(0, chunk.length) || waitingBytes > bounds.windowBytes) return end('flood');
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      if (!add(chunk.subarray(from, at))) return;
      from = at + 1;
      if (isFlooded(1, 0)) return end('flood');
      count.restart();
      lines.push(begun.take());
    }
    if (add(chunk.subarray(from))) wake();
  }
  output.on('data', read);
  output.on('error', () => end(null));
  output.on('close', () => end(null));

  async function* taken(): AsyncGenerator<Buffer, void, undefined> {
    const pace = createPace();
    for (;;) {
      if (problem) throw problem;
      const line = lines.shift();
      if (line) {
        waitingBytes -= line.length + 1;
        await pace();
        yield line;
      } else if (ended) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return taken();
}
