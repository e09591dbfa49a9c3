/**
 * How much JSON a body may be: depth and number of values, looked for in its bytes before anything
 * is made of them. A long text costs a parser nothing; twenty million empty lists hold the only
 * thread for many seconds.
 */

export interface JsonBounds {
  /** Lists and objects in each other. */
  readonly depth: number;
  /** Values of every kind, the names of fields not counted. */
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `{` and `[` differ in one bit, as `}` and `]` do. */
const CASE = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** What is too much of one JSON text. */
export type TooMuchJson = 'depth' | 'values';

export interface JsonCount {
  /** The next bytes of the text, from one place up to another. Null: it is not too much yet. */
  take(bytes: Uint8Array, from?: number, to?: number): TooMuchJson | null;
  /** A line has ended: no text within it goes on in the next. */
  endLine(): void;
  /** Another text begins. */
  restart(): void;
}

/** Counts a JSON text as it comes. Whether it is JSON at all, the parser says. */
export function createJsonCount({ depth: deepest, values: most }: JsonBounds): JsonCount {
  let depth = 0;
  let values = 1;
  let inText = false;
  let isEscaped = false;
  return {
    take(bytes, from = 0, to = bytes.length) {
      for (let i = from; i < to; i++) {
        const byte = bytes[i] ?? 0;
        if (inText) {
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) inText = false;
        } else if (byte === QUOTE) inText = true;
        else if (byte === COMMA) {
          values += 1;
          if (values > most) return 'values';
        } else if ((byte | CASE) === OPEN) {
          depth += 1;
          // The first value in it; those that follow each have a comma.
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
