/**
 * How much JSON a body may be: depth and number of values, looked for in its bytes before anything is made of them. A
 * long text costs a parser nothing; twenty million empty lists hold the only thread for many seconds.
 */
import { LIMITS } from '../src/protocol/limits.ts';

export interface JsonBounds {
  /** Lists and objects in each other. */
  readonly depth: number;
  /** Values of every kind, the names of fields not counted. */
  readonly values: number;
}

const JSON_BOUNDS: JsonBounds = { depth: LIMITS.jsonDepth, values: LIMITS.jsonValues };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `{` and `[` differ in one bit, as `}` and `]` do. */
const CASE = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * A sentence about what is too much in these bytes of JSON text; null where nothing is. One pass, which ends at the first
 * thing that is too much. Whether it is JSON at all, the parser says.
 */
export function refuseJson(
  bytes: Uint8Array,
  { depth: deepest, values: most }: JsonBounds = JSON_BOUNDS,
): string | null {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === QUOTE) {
      for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
    } else if (byte === COMMA) {
      values += 1;
      if (values > most)
        return `The body holds more than ${most.toLocaleString('en')} values. Send it in smaller parts.`;
    } else if ((byte | CASE) === OPEN) {
      depth += 1;
      // The first value in it; those that follow each have a comma.
      values += 1;
      if (depth > deepest)
        return `The body holds lists or objects more than ${deepest} deep in each other. Send it flatter.`;
      if (values > most)
        return `The body holds more than ${most.toLocaleString('en')} values. Send it in smaller parts.`;
    } else if ((byte | CASE) === CLOSE) depth -= 1;
  }
  return null;
}
