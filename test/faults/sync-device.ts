/**
 * A device of a household, as far as its entries go: what its owner does with what the replica
 * tells it.
 */
import { createReplica, type Replica, type ReplicaDeps } from '../../src/shared/replication/index.ts';
import type { Entry } from '../../src/shared/protocol/sync/page.ts';
import type { HouseholdKeys, Stream, RandomBytes } from '../../src/worker/sync/contract.ts';
import { digestOf, streamOf, newWriter, openEntry, sealEntry } from '../../src/worker/sync/crypto/index.ts';
import { createMemoryEntries, type MemoryEntries } from '../support/memory-entries.ts';
import { inTime, storeOn, type StoreWorld } from './sync-store.ts';

export interface Doc {
  readonly id: string;
  readonly text: string;
}

/** What a device keeps, all of it changed in one stroke or not at all. */
export interface DeviceDisk {
  readonly entries: MemoryEntries;
  /** By id. */
  readonly docs: Map<string, string>;
  readonly writers: Record<Stream, string>;
  /** Every writer that it ever wrote under. */
  readonly mine: Set<string>;
  /** Those of them that others had other entries of. */
  readonly left: Set<string>;
  /** Digests of what lay in a place together with something else, and was written anew. */
  readonly settled: Set<string>;
}

/** What is known of every entry that was ever sealed. */
export interface Truth {
  /** Documents that a device said it has kept. */
  readonly acknowledged: Map<string, string>;
  /** The documents in an entry, by its digest. */
  readonly sealed: Map<string, Doc>;
  /** The digests that were ever sealed at a place. */
  readonly places: Map<string, Set<string>>;
}

export const placeOf = ({ writer, counter }: { readonly writer: string; readonly counter: number }) =>
  `${writer}/${counter}`;
const STREAMS: readonly Stream[] = ['people', 'talk', 'attachments'];

const newWriters = (keys: HouseholdKeys, random: RandomBytes): Record<Stream, string> => ({
  people: newWriter(keys, 'people', random),
  talk: newWriter(keys, 'talk', random),
  attachments: newWriter(keys, 'attachments', random),
});

export function createDisk(keys: HouseholdKeys, random: RandomBytes): DeviceDisk {
  const writers = newWriters(keys, random);
  const forged = (entry: Entry) => {
    const opened = openEntry({ ...entry, keys });
    return !opened.ok && opened.reason === 'forged';
  };
  return {
    entries: createMemoryEntries(forged),
    docs: new Map(),
    writers,
    mine: new Set(STREAMS.map((stream) => writers[stream])),
    left: new Set(),
    settled: new Set(),
  };
}

export const copyOf = (disk: DeviceDisk): DeviceDisk => ({
  entries: disk.entries.copy(),
  docs: new Map(disk.docs),
  writers: { ...disk.writers },
  mine: new Set(disk.mine),
  left: new Set(disk.left),
  settled: new Set(disk.settled),
});

export interface Device {
  readonly replica: Replica;
  /** Rejects where the disk fails; nothing is kept then. */
  write(stream: Stream, docs: readonly Doc[]): Promise<void>;
}

/**
 * The device wakes with this disk. `blind`: it goes on under its writers without asking the relay
 * whether they end where it thinks.
 */
export function startDevice({
  disk,
  keys,
  bytes,
  truth,
  world,
  settings,
  blind,
  onTrouble,
}: {
  readonly disk: DeviceDisk;
  readonly keys: HouseholdKeys;
  readonly bytes: RandomBytes;
  readonly truth: Truth;
  readonly world: StoreWorld;
  readonly settings: NonNullable<ReplicaDeps['settings']>;
  readonly blind: boolean;
  readonly onTrouble: (error: unknown) => void;
}): Device {
  const { time, life } = world;
  const docOf = (entry: Entry): Doc | null => {
    const opened = openEntry({ ...entry, keys });
    if (!opened.ok) return null;
    const doc: unknown = JSON.parse(new TextDecoder().decode(opened.payload));
    if (typeof doc !== 'object' || doc === null || !('id' in doc) || !('text' in doc))
      throw new Error('an entry was opened to something that nobody wrote');
    return { id: String(doc.id), text: String(doc.text) };
  };
  const keep = (entry: Entry) => {
    const doc = docOf(entry);
    if (doc) disk.docs.set(doc.id, doc.text);
  };

  const isCurrent = (writer: string) => STREAMS.some((stream) => disk.writers[stream] === writer);
  function begin(stream: Stream): void {
    disk.writers[stream] = newWriter(keys, stream, bytes);
    disk.mine.add(disk.writers[stream]);
    sure.add(disk.writers[stream]);
  }
  /** Nobody else can write under these. */
  const sure = new Set<string>();
  function isSure(writer: string): boolean {
    if (blind || replica.agrees(writer)) sure.add(writer);
    return sure.has(writer);
  }

  /** Seals and keeps, at once. */
  function sealNow(stream: Stream, docs: readonly Doc[]): Entry[] {
    if (!isSure(disk.writers[stream])) begin(stream);
    const writer = disk.writers[stream];
    const before = Math.max(0, ...(disk.entries.all.get(writer)?.keys() ?? []));
    const entries = docs.map((doc, i) => {
      const place = { writer, counter: before + 1 + i };
      const entry = {
        ...place,
        sealed: sealEntry({ ...place, keys, payload: new TextEncoder().encode(JSON.stringify(doc)), random: bytes }),
      };
      truth.sealed.set(digestOf(entry.sealed), doc);
      truth.places.set(placeOf(entry), (truth.places.get(placeOf(entry)) ?? new Set()).add(digestOf(entry.sealed)));
      return entry;
    });
    disk.entries.write(entries);
    for (const doc of docs) disk.docs.set(doc.id, doc.text);
    return entries;
  }

  function fork(): void {
    for (const stream of STREAMS) disk.left.add(disk.writers[stream]);
    for (const stream of STREAMS) begin(stream);
  }

  let shown: Entry[] = [];
  /**
   * What lies here and what lies there are both kept, and written anew where this device wrote: all
   * of it in one stroke.
   */
  function settle(): void {
    const all = shown;
    shown = [];
    const docs = new Map<string, Doc>();
    for (const theirs of all) {
      keep(theirs);
      if (!disk.mine.has(theirs.writer)) continue;
      if (isCurrent(theirs.writer)) fork();
      disk.left.add(theirs.writer);
      const lies = disk.entries.all.get(theirs.writer)?.get(theirs.counter);
      for (const entry of [theirs, ...(lies ? [{ ...theirs, sealed: lies }] : [])]) {
        const doc = docOf(entry);
        if (doc && !disk.settled.has(digestOf(entry.sealed))) docs.set(doc.id, doc);
        disk.settled.add(digestOf(entry.sealed));
      }
      disk.entries.write([theirs]);
    }
    const anew = sealNow('talk', [...docs.values()]);
    if (anew.length > 0) replica.wrote(anew);
  }

  const untilDone = (work: () => void): void => {
    inTime(world, work).catch(() => untilDone(work));
  };

  const replica = createReplica({
    store: storeOn(disk.entries, world, keep),
    timers: { after: (ms, run) => time.after(ms, () => (life.alive ? run() : undefined)) },
    priority: (writer) => STREAMS.indexOf(streamOf(keys, writer) ?? 'talk'),
    own: (writer) => isCurrent(writer) || disk.left.has(writer),
    left: (writer) => disk.left.has(writer),
    onAhead: (writer) => {
      if (isCurrent(writer)) untilDone(() => isCurrent(writer) && fork());
    },
    onConflict: (key, theirs) => {
      shown.push({ ...key, sealed: theirs });
      if (shown.length === 1) untilDone(settle);
    },
    onTrouble,
    settings,
  });

  return {
    replica,
    write: (stream, docs) =>
      inTime(world, () => {
        const entries = sealNow(stream, docs);
        for (const doc of docs) truth.acknowledged.set(doc.id, doc.text);
        replica.wrote(entries);
      }),
  };
}
