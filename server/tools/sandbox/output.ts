/** What a program writes: its beginning and its end, in memory, whatever it floods. */

export interface Output {
  /** Answers with the bytes of all so far. */
  take(chunk: Buffer): number;
  /** Characters from `offset` on, at most `most`; `total`: of what is kept. */
  read(offset: number, most: number): { readonly text: string; readonly total: number };
}

/** `kept`: bytes of its beginning, and of its end. */
export function createOutput(kept: number): Output {
  let head = Buffer.alloc(0);
  const tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;

  function text(): string {
    const end = Buffer.concat(tail);
    const shown = end.subarray(Math.max(0, end.length - kept));
    const left = total - head.length - shown.length;
    return head.toString('utf8') + (left > 0 ? `\n[… ${left} bytes were not kept …]\n` : '') + shown.toString('utf8');
  }
  return {
    take(chunk) {
      total += chunk.length;
      const room = kept - head.length;
      if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
      if (chunk.length > room) {
        const rest = room > 0 ? chunk.subarray(room) : chunk;
        tail.push(rest);
        tailBytes += rest.length;
        while (tail.length > 1 && tailBytes - (tail[0]?.length ?? 0) >= kept) tailBytes -= tail.shift()?.length ?? 0;
      }
      return total;
    },
    read(offset, most) {
      const all = text();
      return { text: all.slice(offset, offset + most), total: all.length };
    },
  };
}
