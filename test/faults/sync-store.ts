/**
 * A store on a disk that outlives the process which uses it, takes its time, and fails now and
 * then.
 */
import type { Entry, EntryKey, EntryStore, PutOutcome } from '../../src/shared/protocol/sync/page.ts';
import type { MemoryEntries } from '../support/memory-entries.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

/** One life of a device or relay: what it began and did not finish is lost with it. */
export interface Life {
  alive: boolean;
  /** Until when, in ms of virtual time, everything that it asks of its disk fails. */
  failsUntil: number;
}

export interface StoreWorld {
  readonly time: VirtualTime;
  readonly random: () => number;
  readonly life: Life;
}

const SLOWEST_MS = 12;
/** How often a single piece of work fails. */
const FAILS = 0.01;

/**
 * Runs `work` at once some ms from now, whole or not at all; never answers where the process died
 * meanwhile.
 */
export function inTime<T>({ time, random, life }: StoreWorld, work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    time.after(1 + Math.floor(random() * SLOWEST_MS), () => {
      if (!life.alive) return;
      if (time.now() < life.failsUntil || random() < FAILS) reject(new Error('The disk is full.'));
      else resolve(work());
    });
  });
}

/** `onStored`: what else is written in the same stroke. */
export function storeOn(
  disk: MemoryEntries,
  world: StoreWorld,
  onStored: (entry: Entry) => void = () => undefined,
): EntryStore {
  const later = <T>(work: () => T) => inTime(world, work);
  return {
    have: () => later(() => disk.haveNow()),
    put: (entries, options) =>
      later((): PutOutcome => {
        const outcome = disk.putNow(entries, options);
        const stored = new Set(outcome.stored.map(({ writer, counter }: EntryKey) => `${writer}/${counter}`));
        for (const entry of entries) if (stored.has(`${entry.writer}/${entry.counter}`)) onStored(entry);
        return outcome;
      }),
    read: (writer, from, to, options) => later(() => disk.readNow(writer, from, to, options)),
    drop: (key, digest) => later(() => disk.dropNow(key, digest)),
  };
}
