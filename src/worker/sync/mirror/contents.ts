/**
 * What each full segment holds, in a small file beside them: so an ordinary start reads the segment
 * that still grows, and of the others only their names and lengths, whatever the years behind it.
 * It is believed where the length is as it was; a segment that it does not know, or knows
 * otherwise, is read. Bytes that turn without a new length are found where segments are read after
 * all: each at one start of many.
 */
import { z } from 'zod';
import { addOne, type Ranges } from '../../../shared/domain/ranges.ts';
import type { EntryKey, Have } from '../../../shared/protocol/sync/page.ts';
import type { Files } from './files.ts';
import { MIRROR } from './settings.ts';

const rangesSchema = z.array(z.tuple([z.number(), z.number()]));
const schema = z.object({
  starts: z.number(),
  segments: z.array(
    z.object({ number: z.number(), bytes: z.number(), have: z.array(z.tuple([z.string(), rangesSchema])) }),
  ),
});

export interface Contents {
  /** Before anything is asked. */
  load(): Promise<void>;
  /**
   * What a full segment of this length holds; null: it is not known, or this is the start at which
   * it is looked at.
   */
  of(number: number, bytes: number): Have | null;
  /** The segment holds these and no others. */
  set(number: number, entries: readonly EntryKey[]): void;
  /** The segment holds these too. */
  grew(number: number, entries: readonly EntryKey[]): void;
  /** What the segment holds is not known any more. */
  forget(number: number): void;
  /** Writes down what is known of these full segments, with their lengths. */
  save(full: ReadonlyMap<number, number>): Promise<void>;
  clear(): Promise<void>;
}

function withEntries(have: Map<string, Ranges>, entries: readonly EntryKey[]): Map<string, Ranges> {
  for (const { writer, counter } of entries) have.set(writer, addOne(have.get(writer) ?? [], counter));
  return have;
}

export function createContents(files: Files): Contents {
  let starts = 0;
  /** As of the start before, with the lengths that they had. */
  let recorded = new Map<number, { readonly bytes: number; readonly have: Map<string, Ranges> }>();
  /** Of what was read or written since. */
  const known = new Map<number, Map<string, Ranges>>();

  return {
    async load() {
      const bytes = await files.read(MIRROR.contentsFile).catch(() => null);
      try {
        const read = bytes && schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
        if (!read) return;
        starts = read.starts + 1;
        recorded = new Map(read.segments.map(({ number, bytes, have }) => [number, { bytes, have: new Map(have) }]));
      } catch {
        // Whatever it was, it is no account of ours: everything is read.
      }
    },
    of(number, bytes) {
      const before = recorded.get(number);
      return before?.bytes === bytes && (starts + number) % MIRROR.lookEvery !== 0 ? before.have : null;
    },
    set: (number, entries) => void known.set(number, withEntries(new Map(), entries)),
    grew(number, entries) {
      const have = known.get(number);
      if (have) withEntries(have, entries);
    },
    forget(number) {
      known.delete(number);
      recorded.delete(number);
    },
    async save(full) {
      const segments = [...full].flatMap(([number, bytes]) => {
        const before = recorded.get(number);
        const have = known.get(number) ?? (before?.bytes === bytes ? before.have : undefined);
        return have ? [{ number, bytes, have: [...have] }] : [];
      });
      await files.write(MIRROR.contentsFile, new TextEncoder().encode(JSON.stringify({ starts, segments })));
    },
    async clear() {
      known.clear();
      recorded.clear();
      await files.remove(MIRROR.contentsFile);
    },
  };
}
