/** Cuts bytes into lines. */
import { joined } from '../bytes.ts';
import { ArchiveError } from '../problem.ts';

const LINE_BREAK = 0x0a;

export interface LineCutter {
  /** The lines that are whole now, without their line breaks. */
  push(chunk: Uint8Array): Uint8Array[];
  /** What came after the last line break. */
  rest(): Uint8Array;
}

/** A line longer than `maxBytes` is refused: no file of ours has one, and it must not fill the memory. */
export function createLineCutter(maxBytes: number): LineCutter {
  let parts: Uint8Array[] = [];
  let held = 0;
  const keep = (part: Uint8Array) => {
    held += part.length;
    if (held > maxBytes)
      throw new ArchiveError(
        'too-large',
        'This file has a line that is longer than any Roost writes. It is not a copy of a household.',
      );
    parts.push(part);
  };
  const take = () => {
    const line = parts.length === 1 ? parts[0] : undefined;
    const whole = line ?? joined(parts);
    parts = [];
    held = 0;
    return whole;
  };
  return {
    push(chunk) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, from)) {
        keep(chunk.subarray(from, at));
        lines.push(take());
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      return lines;
    },
    rest: take,
  };
}
