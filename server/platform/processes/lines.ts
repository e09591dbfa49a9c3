/**
 * Reads a program's output line by line. Limits apply to the bytes and the JSON of each line, and
 * to the rate of all lines. Lines are read as they arrive and returned one by one. Other requests
 * run in between.
 */
import type { Readable } from 'node:stream';
import { createJsonCount, type MessageBounds, type TooMuch, TooMuchError } from '../json-bounds.ts';
import { createFlood, createPace, type FloodLimits } from '../pace.ts';

/** Limits of one line, and of all lines per time. */
export type LineBounds = MessageBounds & FloodLimits;

const NEWLINE = 0x0a;
const FIRST_BYTES = 65_536;

/**
 * A byte buffer that grows at its end. Each byte is copied only a few times, however small the
 * pieces are.
 */
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
    /** Returns all bytes and empties the buffer. */
    take(): Buffer {
      const all = Buffer.from(bytes.subarray(0, length));
      length = 0;
      if (bytes.length > FIRST_BYTES) bytes = Buffer.alloc(FIRST_BYTES);
      return all;
    },
  };
}

/**
 * Starts reading at once, and ends with the output. Throws a `TooMuchError`, even for lines that
 * have not been taken yet.
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
      problem = new TooMuchError(what);
      lines = [];
    }
    ended = true;
    output.off('data', read);
    wake();
  }
  /** False: a limit was exceeded. */
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
