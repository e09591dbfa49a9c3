/**
 * Limits the depth and the number of values of a JSON text by scanning its bytes before they are
 * parsed. A long string costs a parser nothing. Twenty million empty lists block the only thread
 * for many seconds.
 */
import { sentence } from '../../src/shared/domain/names.ts';

export interface JsonBounds {
  /** Nesting of lists and objects. */
  readonly depth: number;
  /** Values of every kind. Names of fields do not count. */
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `{` and `[` differ in this bit, and so do `}` and `]`. */
const CASE = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The limit that a JSON text exceeds. */
export type TooMuchJson = 'depth' | 'values';

export interface JsonCount {
  /** Scans the next bytes of the text. Null: within the limits so far. */
  take(bytes: Uint8Array, from?: number, to?: number): TooMuchJson | null;
  /** A line has ended. A string does not continue over lines. */
  endLine(): void;
  /** Starts another text. */
  restart(): void;
}

/** Counts a JSON text as it arrives. It does not check the syntax, which is left to the parser. */
export function createJsonCount({ depth: deepest, values: most }: JsonBounds): JsonCount {
  let depth = 0;
  let values = 1;
  let inText = false;
  let isEscaped = false;
  return {
    take(bytes, from = 0, to = bytes.length) {
      const part = bytes.subarray(from, to);
      for (let i = 0; i < part.length; i++) {
        if (inText) {
          // Most bytes of a long body are within strings, so the next mark is searched natively.
          const mark = part.indexOf(QUOTE, i);
          const end = mark < 0 ? part.length : mark;
          let slashes = 0;
          while (slashes < end - i && part[end - slashes - 1] === BACKSLASH) slashes += 1;
          // The backslashes may go on from the bytes before these.
          if (slashes === end - i && isEscaped) slashes += 1;
          isEscaped = slashes % 2 === 1;
          if (mark < 0) return null;
          inText = isEscaped;
          isEscaped = false;
          i = mark;
          continue;
        }
        const byte = part[i] ?? 0;
        if (byte === QUOTE) inText = true;
        else if (byte === COMMA) {
          values += 1;
          if (values > most) return 'values';
        } else if ((byte | CASE) === OPEN) {
          depth += 1;
          // The first value in it. Each later value has a comma.
          values += 1;
          if (depth > deepest) return 'depth';
          if (values > most) return 'values';
        } else if ((byte | CASE) === CLOSE) depth -= 1;
      }
      return null;
    },
    endLine() {
      inText = false;
      isEscaped = false;
    },
    restart() {
      depth = 0;
      values = 1;
      inText = false;
      isEscaped = false;
    },
  };
}

// A server or a program wrote more than the relay reads: the reason, and its text for people.

/** Limits of one message. */
export interface MessageBounds {
  /** Bytes. */
  readonly messageBytes: number;
  readonly json: JsonBounds;
}

export type TooMuch = TooMuchJson | 'length' | 'flood';

export const FLOODED = sentence`it writes more than anybody could read`;

export const TOO_LARGE = sentence`it sent a message that is too large`;

export class TooMuchError extends Error {
  readonly what: TooMuch;
  constructor(what: TooMuch) {
    super(what === 'flood' ? FLOODED : TOO_LARGE);
    this.what = what;
  }
}

/**
 * A string may contain half a surrogate pair. JSON can carry it (`\ud800`), but some servers refuse
 * it. These functions have the semantics of `String.prototype.isWellFormed` and `toWellFormed`.
 */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const LONE_ALL = new RegExp(LONE.source, 'g');

export function isWellFormed(text: string): boolean {
  return !LONE.test(text);
}

export function toWellFormed(text: string): string {
  return text.replace(LONE_ALL, '\ufffd');
}

/**
 * Characters of all strings in a JSON value. This is about the length of its text, and much faster
 * to count.
 */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + charactersIn(each), 0);
}

type Change = (text: string) => string;

/** The same JSON value with `change` applied to every string in it, and `ofKey` to every key. */
export function mapStrings(value: unknown, change: Change, ofKey: Change = (key) => key): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, ofKey));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [ofKey(key), mapStrings(item, change, ofKey)]),
    );
  return value;
}
