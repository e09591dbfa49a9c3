/**
 * Reads the values of a JSON file one by one: the elements of a list, or objects that follow each
 * other (JSON Lines). Only one value is in memory at a time, so a file may be larger than memory.
 * Size and depth of a value are checked before it is parsed.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { joined } from '../bytes.ts';
import { IMPORTS } from './settings.ts';

type JsonValue =
  | { readonly kind: 'value'; readonly value: unknown }
  /** This value could not be read. `reason`: for people. */
  | { readonly kind: 'fault'; readonly reason: string };

const TOO_LARGE = sentence`too large`;
const NOT_JSON = sentence`not valid JSON`;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LINE_END = 0x0a;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
const LIST = 0x5b;
const LIST_END = 0x5d;
/** White space, and the bytes of a byte order mark. */
const BLANK = new Set([0x20, 0x09, LINE_END, 0x0d, 0xef, 0xbb, 0xbf]);

function parsed(parts: readonly Uint8Array[]): JsonValue {
  try {
    return { kind: 'value', value: JSON.parse(new TextDecoder().decode(joined(parts))) };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'fault', reason: NOT_JSON };
    throw error;
  }
}

/** Does this file begin as JSON does? `head`: its first bytes. */
export function looksLikeJson(head: Uint8Array): boolean {
  const first = head.find((byte) => !BLANK.has(byte));
  return first !== undefined && OPENING.has(first);
}

export async function* jsonValues(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonValue, void, undefined> {
  let inList = false;
  let began = false;
  let depth = 0;
  let inString = false;
  let escaped = false;
  /** A number or a literal, which ends at the next comma, bracket or blank. */
  let inScalar = false;
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let fault: string | null = null;
  const isOpen = () => depth > 0 || inString || inScalar;
  const reset = () => {
    depth = 0;
    inString = false;
    escaped = false;
    inScalar = false;
    parts = [];
    bytes = 0;
    fault = null;
  };

  for await (const chunk of chunks) {
    let start = 0;
    const keep = (end: number) => {
      bytes += end - start;
      if (bytes > IMPORTS.valueBytes) fault ??= TOO_LARGE;
      if (fault === null) parts.push(chunk.subarray(start, end));
      else parts = [];
    };
    const ended = (): JsonValue => {
      const value: JsonValue = fault === null ? parsed(parts) : { kind: 'fault', reason: fault };
      reset();
      return value;
    };
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inString = false;
          if (depth > 0) continue;
          keep(at + 1);
          yield ended();
        } else if (byte === LINE_END && !inList) {
          // A line that was cut off. The next one is whole again.
          reset();
          yield { kind: 'fault', reason: NOT_JSON };
        }
        continue;
      }
      if (inScalar && (byte === COMMA || BLANK.has(byte) || CLOSING.has(byte))) {
        keep(at);
        yield ended();
      }
      if (!isOpen()) {
        if (BLANK.has(byte) || byte === COMMA) continue;
        if (byte === LIST && !began) {
          began = true;
          inList = true;
          continue;
        }
        began = true;
        if (inList && byte === LIST_END) {
          inList = false;
          continue;
        }
        start = at;
      }
      if (byte === QUOTE) inString = true;
      else if (OPENING.has(byte)) {
        depth += 1;
        if (depth > IMPORTS.depth) fault ??= TOO_LARGE;
      } else if (CLOSING.has(byte) && depth > 0) {
        depth -= 1;
        if (depth > 0) continue;
        keep(at + 1);
        yield ended();
      } else if (depth === 0) inScalar = true;
    }
    if (isOpen()) keep(chunk.length);
  }
  if (inScalar && depth === 0 && !inString) yield fault === null ? parsed(parts) : { kind: 'fault', reason: fault };
  else if (isOpen() || inList) yield { kind: 'fault', reason: NOT_JSON };
}
