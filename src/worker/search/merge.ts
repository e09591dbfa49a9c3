/**
 * Several segments as one, without the documents that are gone: words of theirs alone are in no
 * part of it any more.
 */
import type { Segment, Term } from './segment-read.ts';
import { createSegmentWriter, type Part, type SegmentInfo } from './segment-write.ts';

export interface MergeDeps {
  readonly id: number;
  readonly segments: readonly Segment[];
  readonly isGone: (docId: string) => boolean;
  /** Stores parts of a segment that nobody reads yet. */
  readonly put: (parts: readonly Part[]) => Promise<void>;
  /** Lets others have their turn, where it is time. */
  readonly pause: () => Promise<void>;
}

/** Marks a document that is gone. */
const GONE = 0xffffffff;

/** Terms of one segment, one at a time. */
async function createCursor(segment: Segment) {
  const parts = segment.terms('');
  let terms: readonly Term[] = [];
  let at = 0;
  const cursor = {
    segment,
    now: (): Term | undefined => terms[at],
    async next() {
      at += 1;
      while (at >= terms.length) {
        const part = await parts.next();
        if (part.done) return;
        terms = part.value;
        at = 0;
      }
    },
  };
  await cursor.next();
  return cursor;
}

/** Answers the new segment; null where nothing is left of them. */
export async function mergeSegments({ id, segments, isGone, put, pause }: MergeDeps): Promise<SegmentInfo | null> {
  const writer = createSegmentWriter(id);
  let written = 0;
  const renumbered = new Map<Segment, Uint32Array>();
  for (const segment of segments) {
    const numbers = new Uint32Array(segment.info.documents);
    for await (const { from, ids } of segment.allIds()) {
      ids.forEach((docId, i) => {
        const gone = isGone(docId);
        numbers[from + i] = gone ? GONE : written++;
        if (!gone) writer.document({ id: docId, time: segment.times[from + i] ?? 0 });
      });
      await pause();
    }
    renumbered.set(segment, numbers);
  }
  if (written === 0) return null;

  const cursors = await Promise.all(segments.map(createCursor));
  const merged = new Uint32Array(written);
  for (;;) {
    let least: string | undefined;
    for (const cursor of cursors) {
      const text = cursor.now()?.text;
      if (text !== undefined && (least === undefined || text < least)) least = text;
    }
    if (least === undefined) break;
    let count = 0;
    for (const cursor of cursors) {
      const term = cursor.now();
      if (term?.text !== least) continue;
      const numbers = renumbered.get(cursor.segment);
      const [list] = await cursor.segment.lists([term]);
      for (const document of list ?? []) {
        const number = numbers?.[document] ?? GONE;
        if (number !== GONE) merged[count++] = number;
      }
      await cursor.next();
    }
    writer.term(least, merged, count);
    const ready = writer.ready();
    if (ready.length > 0) await put(ready);
    await pause();
  }
  const { parts, info } = writer.end();
  await put(parts);
  return info;
}
