/**
 * A second copy of every sealed entry of this device, in files that do not depend on IndexedDB.
 *
 * A segment grows to a maximum size, then the next one begins. The log is written just behind
 * IndexedDB, and nothing waits for it. Entries of a failed write are written again from IndexedDB,
 * and entries that IndexedDB lost are read from here.
 */
import { z } from 'zod';
import { addOne, contains, type Ranges, subtract, union } from '../../../shared/domain/ranges.ts';
import type { Entry, EntryKey, Have } from '../../../shared/protocol/sync/page.ts';
import { createCrc32 } from '../../../shared/domain/crc32.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import { base64url, fromBase64url } from '../crypto/index.ts';
import type { Files } from './files.ts';
import { MIRROR } from './settings.ts';

// An index of the full segments, in a small file beside them. An ordinary start then reads only the
// growing segment, and of the others their names and lengths. A record is valid while the segment
// has the recorded length. A segment without a valid record is read. Damage that leaves the length
// unchanged is found when a segment is read all the same, which happens to each at one start in
// many.

const rangesSchema = z.array(z.tuple([z.number(), z.number()]));
const schema = z.object({
  starts: z.number(),
  segments: z.array(
    z.object({ number: z.number(), bytes: z.number(), have: z.array(z.tuple([z.string(), rangesSchema])) }),
  ),
});

interface Contents {
  /** Call it first. */
  load(): Promise<void>;
  /**
   * The contents of a full segment of this length. Null: unknown, or the segment's turn to be read.
   */
  of(number: number, bytes: number): Have | null;
  /** The segment holds exactly these. */
  set(number: number, entries: readonly EntryKey[]): void;
  /** The segment holds these too. */
  grew(number: number, entries: readonly EntryKey[]): void;
  /** The segment's contents are not known any more. */
  forget(number: number): void;
  /** Stores the index of these full segments, with their lengths. */
  save(full: ReadonlyMap<number, number>): Promise<void>;
  clear(): Promise<void>;
}

function withEntries(have: Map<string, Ranges>, entries: readonly EntryKey[]): Map<string, Ranges> {
  for (const { writer, counter } of entries) have.set(writer, addOne(have.get(writer) ?? [], counter));
  return have;
}

function createContents(files: Files): Contents {
  let starts = 0;
  /** As of the start before, with the lengths then. */
  let recorded = new Map<number, { readonly bytes: number; readonly have: Map<string, Ranges> }>();
  /** Segments that were read or written since. */
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
        // The file is not ours or damaged. Every segment is read.
      }
    },
    of(number, bytes) {
      const before = recorded.get(number);
      return before?.bytes === bytes && (starts + number) % MIRROR.rereadEvery !== 0 ? before.have : null;
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

// Sealed entries in a file, one frame after the other:
//
//     52 53 45 31 | length u32 | CRC-32 u32 of what follows | writer 16 | counter u64 | sealed
//
// `length` counts from the writer on. Integers are big-endian. Damage costs only the frames that it
// touches: the next one is found by its first four bytes and verified by its checksum.

const MAGIC = 0x52534531;
const HEADER = 12;
const PLACE = 24;
/** No entry is this long. A greater length is damage. */
const LONGEST = 32 * 1024 * 1024;

const crcOf = (bytes: Uint8Array) => {
  const crc = createCrc32();
  crc.update(bytes);
  return crc.value();
};

/** Throws for an invalid writer id, which no parser accepts. */
export function encodeFrames(entries: readonly Entry[]): Uint8Array {
  const all = new Uint8Array(entries.reduce((sum, { sealed }) => sum + HEADER + PLACE + sealed.length, 0));
  const view = new DataView(all.buffer);
  let at = 0;
  for (const { writer, counter, sealed } of entries) {
    const id = fromBase64url(writer);
    if (id?.length !== 16) throw new RangeError(`“${writer}” is no writer.`);
    const length = PLACE + sealed.length;
    all.set(id, at + HEADER);
    view.setBigUint64(at + HEADER + 16, BigInt(counter));
    all.set(sealed, at + HEADER + PLACE);
    view.setUint32(at, MAGIC);
    view.setUint32(at + 4, length);
    view.setUint32(at + 8, crcOf(all.subarray(at + HEADER, at + HEADER + length)));
    at += HEADER + length;
  }
  return all;
}

interface DecodedFrames {
  readonly entries: readonly Entry[];
  /** Bytes that belong to no complete frame. */
  readonly damaged: number;
}

/** Every complete frame, in order. Never throws. */
export function decodeFrames(bytes: Uint8Array): DecodedFrames {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Entry[] = [];
  let damaged = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = at + HEADER <= bytes.length && view.getUint32(at) === MAGIC ? view.getUint32(at + 4) : 0;
    const end = at + HEADER + length;
    if (
      length >= PLACE &&
      length <= LONGEST &&
      end <= bytes.length &&
      crcOf(bytes.subarray(at + HEADER, end)) === view.getUint32(at + 8)
    ) {
      const counter = Number(view.getBigUint64(at + HEADER + 16));
      entries.push({
        writer: base64url(bytes.subarray(at + HEADER, at + HEADER + 16)),
        counter,
        sealed: bytes.slice(at + HEADER + PLACE, end),
      });
      at = end;
      continue;
    }
    const next = nextMagic(view, at + 1);
    damaged += next - at;
    at = next;
  }
  return { entries, damaged };
}

function nextMagic(view: DataView, from: number): number {
  for (let at = from; at + 4 <= view.byteLength; at++)
    if (view.getUint8(at) === MAGIC >>> 24 && view.getUint32(at) === MAGIC) return at;
  return view.byteLength;
}

interface SealedLogDeps {
  readonly files: Files;
  readonly after: After;
  /** Null: writing works again. */
  readonly onTrouble: (error: unknown) => void;
  /** Some added entries could not be written. Add what `have` lacks again. */
  readonly onLacking: () => void;
}

/** New contents for a place. Null: none. */
export interface Replacement extends EntryKey {
  readonly sealed: Uint8Array | null;
}

export interface SealedLog {
  /**
   * Reads all readable entries, oldest first, in batches. Segments whose recorded contents satisfy
   * `isHere` are skipped.
   */
  read(
    each: (entries: readonly Entry[], progress: { readonly done: number; readonly of: number }) => Promise<void>,
    options?: {
      /** A pause between two segments, for a caller that is not in a hurry. */
      readonly pause?: () => Promise<void>;
      readonly isHere?: (have: Have) => boolean;
    },
  ): Promise<void>;
  /** The entries read and written so far. */
  have(): Have;
  /** Writes these soon. They must be durable elsewhere. */
  add(entries: readonly Entry[]): void;
  /** Resolves when no file holds the old contents of these places. */
  replace(changes: readonly Replacement[]): Promise<void>;
  /** Resolves when nothing waits to be written, or the write has failed. */
  flush(): Promise<void>;
  /** Deletes everything. */
  clear(): Promise<void>;
  /** The size of all known segments. */
  bytes(): number;
  close(): Promise<void>;
}

const nameOf = (number: number) => `${String(number).padStart(8, '0')}${MIRROR.segmentSuffix}`;
const numberOf = (name: string) =>
  /^\d{8,}\./.test(name) && name.endsWith(MIRROR.segmentSuffix) ? Number.parseInt(name, 10) : null;
const keyOf = ({ writer, counter }: EntryKey) => `${writer} ${counter}`;

export function createSealedLog({ files, after, onTrouble, onLacking }: SealedLogDeps): SealedLog {
  const inTurn = createQueue();
  const have = new Map<string, Ranges>();
  const contents = createContents(files);
  /** Bytes of each segment, by its number. Null: not listed yet. */
  let segments: Map<number, number> | null = null;
  let waiting: Entry[] = [];
  let cancel: (() => void) | null = null;
  let failed = false;
  let closed = false;

  let loading: Promise<void> | null = null;
  const loaded = () => (loading ??= contents.load());
  const isFull = (bytes: number) => bytes >= MIRROR.segmentBytes;
  /** Only speeds up the next start. On failure that start reads more. */
  const saveContents = async (all: ReadonlyMap<number, number>) =>
    contents.save(new Map([...all].filter(([, bytes]) => isFull(bytes)))).catch(() => undefined);

  async function known(): Promise<Map<number, number>> {
    if (segments) return segments;
    await loaded();
    const found = (await files.list()).flatMap(({ name, bytes }) => {
      const number = numberOf(name);
      return number === null ? [] : [[number, bytes] as const];
    });
    segments = new Map(found.sort(([a], [b]) => a - b));
    return segments;
  }

  function note(entries: readonly EntryKey[]) {
    for (const { writer, counter } of entries) have.set(writer, addOne(have.get(writer) ?? [], counter));
  }

  /** As many entries as fit into a segment. At least one. */
  function takeSome(room: number): readonly Entry[] {
    let size = 0;
    const at = waiting.findIndex(({ sealed }, i) => (size += sealed.length) > room && i > 0);
    return waiting.splice(0, at < 0 ? waiting.length : at);
  }

  async function write() {
    const all = await known();
    let filled = false;
    while (waiting.length > 0) {
      const last = Math.max(0, ...all.keys());
      const size = all.get(last) ?? MIRROR.segmentBytes;
      const fresh = isFull(size);
      const some = takeSome(fresh ? MIRROR.segmentBytes : MIRROR.segmentBytes - size);
      const bytes = encodeFrames(some);
      const number = fresh ? last + 1 : last;
      if (fresh) await files.write(nameOf(number), bytes);
      else await files.append(nameOf(number), bytes);
      const length = (fresh ? 0 : size) + bytes.length;
      all.set(number, length);
      note(some);
      if (fresh) contents.set(number, some);
      else contents.grew(number, some);
      filled ||= isFull(length);
    }
    if (filled) await saveContents(all);
  }

  async function attempt() {
    cancel?.();
    cancel = null;
    if (waiting.length === 0) return;
    try {
      await write();
      if (failed) onTrouble(null);
      failed = false;
    } catch (error) {
      // A full disk, or the files were deleted. The entries are not held in memory for it.
      waiting = [];
      segments = null;
      failed = true;
      onTrouble(error);
      if (!closed) after(MIRROR.writeRetry, onLacking);
    }
  }
  const flush = () => inTurn(attempt);

  return {
    read: (each, { pause, isHere } = {}) =>
      inTurn(async () => {
        const all = await known();
        const of = [...all.values()].reduce((sum, bytes) => sum + bytes, 0);
        let done = 0;
        for (const [number, size] of [...all]) {
          done += size;
          const recorded = isHere ? contents.of(number, size) : null;
          if (recorded && isHere?.(recorded)) {
            for (const [writer, ranges] of recorded) have.set(writer, union(have.get(writer) ?? [], ranges));
            continue;
          }
          const bytes = await files.read(nameOf(number)).catch(() => null);
          const { entries, damaged } = decodeFrames(bytes ?? new Uint8Array());
          note(entries);
          if (damaged === 0) contents.set(number, entries);
          else contents.forget(number);
          for (let at = 0; at < entries.length; at += MIRROR.readEntries)
            await each(entries.slice(at, at + MIRROR.readEntries), { done, of });
          // Nothing in the segment can be read. Delete it.
          if (entries.length === 0) {
            await files.remove(nameOf(number)).catch(() => undefined);
            all.delete(number);
            contents.forget(number);
          }
          await pause?.();
          if (closed) return;
        }
        await saveContents(all);
      }),
    have: () => have,
    add(entries) {
      if (closed) return;
      // Entries that were just read from here are not written again.
      for (const entry of entries) if (!contains(have.get(entry.writer) ?? [], entry.counter)) waiting.push(entry);
      if (waiting.length === 0) return;
      cancel ??= after(MIRROR.writeAfter, () => void flush());
    },
    replace: (changes) =>
      inTurn(async () => {
        await attempt();
        const byKey = new Map(changes.map((change) => [keyOf(change), change.sealed]));
        const all = await known();
        for (const number of [...all.keys()]) {
          const { entries } = decodeFrames((await files.read(nameOf(number))) ?? new Uint8Array());
          if (!entries.some((entry) => byKey.has(keyOf(entry)))) continue;
          const kept = entries.flatMap((entry) => {
            const sealed = byKey.get(keyOf(entry));
            return sealed === undefined ? [entry] : sealed === null ? [] : [{ ...entry, sealed }];
          });
          const bytes = encodeFrames(kept);
          await files.write(nameOf(number), bytes);
          all.set(number, bytes.length);
          contents.set(number, kept);
        }
        await saveContents(all);
        for (const { writer, counter, sealed } of changes) {
          if (sealed === null) have.set(writer, subtract(have.get(writer) ?? [], [[counter, counter]]));
        }
      }),
    flush,
    clear: () =>
      inTurn(async () => {
        waiting = [];
        for (const { name } of await files.list()) if (numberOf(name) !== null) await files.remove(name);
        await contents.clear();
        segments = new Map();
        have.clear();
      }),
    bytes: () => [...(segments?.values() ?? [])].reduce((sum, bytes) => sum + bytes, 0),
    async close() {
      await flush();
      closed = true;
      cancel?.();
    },
  };
}
