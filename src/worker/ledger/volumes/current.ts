/**
 * The volume that is written now. It is opened when needed, filled group by group, and sealed when
 * it is full. The module also reads the journal into groups, manages the list of volumes, and
 * checks a volume against the views.
 */
import type { Doc } from '../../../shared/protocol/documents.ts';
import { sentence } from '../../../shared/domain/names.ts';
import { storeOf } from '../../../shared/protocol/documents/kinds.ts';
import {
  type JournalDatabase,
  type JournalRow,
  journalTransaction,
  putVolume,
  readMeta,
  type VolumeRecord,
} from '../journal/database.ts';
import { LEDGER } from '../settings.ts';
import { isDeepEqual } from '../equal.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { DOCUMENT_STORES } from '../views/write.ts';
import { decodeDocuments, encodeDocument, isPartId, type StoredDoc } from './codec.ts';
import type { Volume } from './fireproof-volume.ts';

// Reads the journal from its oldest end, a few rows in memory at a time, into groups for a volume.

interface Group {
  readonly docs: readonly Doc[];
  readonly stored: readonly StoredDoc[];
  /** Journal rows that this group completes. */
  readonly rows: readonly number[];
  /** How much of the next row is in this group. Null: nothing. */
  readonly within: { readonly seq: number; readonly docs: number } | null;
}

interface Rows {
  /**
   * The oldest documents that fit one commit, at most `most`, from rows up to `upTo`. Empty where
   * there are none.
   */
  next(upTo: number, most: number): Promise<Group>;
  /** The volume holds the group. Removes its rows in one transaction with the volume's record. */
  filed(group: Group, record: VolumeRecord): Promise<void>;
}

async function createRows(db: JournalDatabase): Promise<Rows> {
  let rows: { seq: number; docs: readonly Doc[] }[] = [];
  const begun = await readMeta(db, 'filed');
  let position = begun ?? { seq: 0, docs: 0 };

  async function load(upTo: number) {
    const from = rows.at(-1)?.seq ?? 0;
    if (from >= upTo) return;
    const found: JournalRow[] = await db.getAll('journal', IDBKeyRange.bound(from, upTo, true), LEDGER.journalStride);
    for (const { seq, docs } of found) if (seq !== undefined) rows.push({ seq, docs });
  }

  return {
    async next(upTo, most) {
      if (rows.length < 2) await load(upTo);
      const docs: Doc[] = [];
      const stored: StoredDoc[] = [];
      const done: number[] = [];
      let within: Group['within'] = null;
      let chars = 0;
      for (const row of rows) {
        let at = row.seq === position.seq ? position.docs : 0;
        for (; at < row.docs.length && docs.length < most; at++) {
          const doc = row.docs[at];
          if (!doc) continue;
          const encoded = encodeDocument(doc);
          const weight = JSON.stringify(encoded).length;
          if (docs.length > 0 && chars + weight > LEDGER.groupChars) break;
          chars += weight;
          docs.push(doc);
          stored.push(...encoded);
        }
        if (at < row.docs.length) {
          within = at > 0 ? { seq: row.seq, docs: at } : null;
          break;
        }
        done.push(row.seq);
      }
      return { docs, stored, rows: done, within };
    },
    async filed({ rows: done, within }, record) {
      const tx = journalTransaction(db, 'relaxed');
      const writes: Promise<unknown>[] = done.map((seq) => tx.objectStore('journal').delete(seq));
      writes.push(tx.objectStore('volumes').put(record));
      const last = done.at(-1);
      if (last !== undefined) writes.push(tx.objectStore('meta').put(last, 'filedThrough'));
      if (within) writes.push(tx.objectStore('meta').put(within, 'filed'));
      await Promise.all([...writes, tx.done]);
      const gone = new Set(done);
      rows = rows.filter(({ seq }) => !gone.has(seq));
      if (within) position = within;
    },
  };
}

// The list of volumes: which is written now, which comes next, and what a sealed one holds.

const volumeName = (number: number) => `v${String(number).padStart(5, '0')}`;

/** The volume after all others. It is not on the list yet. */
export async function nextVolume(db: JournalDatabase): Promise<VolumeRecord> {
  const number = ((await db.getAll('volumes')).at(-1)?.number ?? 0) + 1;
  return { name: volumeName(number), number, documents: 0, state: 'writing', checkedAt: null, faults: [] };
}

/**
 * The volume that is written now. Begins the first one, or the one after a sealed or damaged one.
 */
export async function currentRecord(db: JournalDatabase): Promise<VolumeRecord> {
  const last = (await db.getAll('volumes')).at(-1);
  if (last?.state === 'writing') return last;
  const fresh = await nextVolume(db);
  await putVolume(db, fresh);
  return fresh;
}

/**
 * Stores the record of a volume that is no longer written, together with the list of its contents.
 */
export async function putListed(db: JournalDatabase, record: VolumeRecord, ids: readonly string[]): Promise<void> {
  const tx = journalTransaction(db, 'strict');
  await Promise.all([
    tx.objectStore('volumes').put(record),
    tx.objectStore('manifests').put({ name: record.name, ids }),
    tx.done,
  ]);
}

// Descriptions of a volume's faults.

export const unreadable = (what: string, reason: string): string => sentence`${what} cannot be read: ${reason}`;

export const missing = (count: number, expected: number): string =>
  sentence`${count} of ${expected} documents are missing`;

/** Result of comparing a volume with the views, document by document. */
interface Check {
  /** Ids of the documents that are there and correct. */
  readonly ids: readonly string[];
  /** One sentence for each fault. Empty where there is none. */
  readonly faults: readonly string[];
}

/** `expected`: ids of the documents that the volume should hold. */
async function checkVolume(
  views: ViewsDatabase,
  expected: readonly string[],
  stored: readonly StoredDoc[],
): Promise<Check> {
  const { docs, damaged } = decodeDocuments(stored);
  const faults = damaged.map(({ id, reason }) => unreadable(id, reason));
  const tx = views.transaction([...DOCUMENT_STORES]);
  const viewed = await Promise.all(docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
  const ids: string[] = [];
  docs.forEach((doc, i) => {
    if (isDeepEqual(viewed[i]?.doc, doc)) ids.push(doc._id);
    else faults.push(sentence`${doc._id} is not what was written`);
  });
  const there = new Set(ids);
  const lacking = expected.filter((id) => !there.has(id));
  if (lacking.length > 0) faults.push(missing(lacking.length, expected.length));
  return { ids, faults };
}

interface CurrentVolumeDeps {
  readonly db: JournalDatabase;
  /** The views, with everything of the journal in them. */
  readonly views: () => Promise<ViewsDatabase>;
  readonly open: (name: string) => Promise<Volume>;
  /** ms since the epoch */
  readonly now: () => number;
  /**
   * The volume holds this group durably, and the journal no longer does. Null: the journal was
   * empty.
   */
  readonly onFiled: (group: Group | null) => void;
  /** Closing the volume failed while no caller waited for it. */
  readonly onTrouble: (error: unknown) => void;
}

interface CurrentVolume {
  /** Ids in the volume. Empty where it is not open. */
  ids(): Iterable<string>;
  /**
   * Stores the journal's oldest documents, from rows up to `upTo`. Rejects with a `DamagedError`
   * where the volume does not return what it should.
   */
  commit(upTo: number): Promise<void>;
  close(): Promise<void>;
  /**
   * Drops the volume's state in memory, which is not trusted any more. The next commit starts from
   * disk.
   */
  leave(): Promise<void>;
}

/** The volume does not hold what it should. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
  readonly record: VolumeRecord;
  readonly faults: readonly string[];
  constructor(record: VolumeRecord, faults: readonly string[]) {
    super(`Volume ${record.name} is damaged: ${faults.slice(0, 3).join('; ')}`);
    this.record = record;
    this.faults = faults;
  }
}

interface Opened {
  readonly record: VolumeRecord;
  readonly volume: Volume;
  readonly ids: Set<string>;
}

/**
 * Writes documents in small enough commits. The parts of long texts go first, a few to a commit.
 * The documents themselves go in the last commit.
 */
export async function writeStored(volume: Volume, docs: readonly StoredDoc[]): Promise<void> {
  let commit: StoredDoc[] = [];
  let size = 0;
  for (const doc of docs.filter(({ _id }) => isPartId(_id))) {
    const weight = JSON.stringify(doc).length;
    if (commit.length > 0 && size + weight > LEDGER.groupChars) {
      await volume.write(commit);
      commit = [];
      size = 0;
    }
    commit.push(doc);
    size += weight;
  }
  if (commit.length > 0) await volume.write(commit);
  const whole = docs.filter(({ _id }) => !isPartId(_id));
  if (whole.length > 0) await volume.write(whole);
}

export function createCurrentVolume({ db, views, open, now, onFiled, onTrouble }: CurrentVolumeDeps): CurrentVolume {
  const rows = createRows(db);
  let current: Opened | null = null;

  async function closeCurrent() {
    const held = current;
    current = null;
    await held?.volume.close();
  }

  async function openCurrent(): Promise<Opened> {
    if (current) return current;
    const record = await currentRecord(db);
    const volume = await open(record.name);
    let ids: readonly string[] = [];
    if (record.documents > 0) {
      try {
        if (volume.isEmpty()) throw new DamagedError(record, [missing(record.documents, record.documents)]);
        const { docs } = decodeDocuments(await volume.read());
        if (docs.length < record.documents)
          throw new DamagedError(record, [missing(record.documents - docs.length, record.documents)]);
        ids = docs.map(({ _id }) => _id);
      } catch (error) {
        await volume.close().catch(onTrouble);
        throw error;
      }
    }
    current = { record, volume, ids: new Set(ids) };
    return current;
  }

  /**
   * Drops documents that the volume has already, and documents whose id was taken: the first one
   * written wins.
   */
  async function toWrite(group: Group, ids: ReadonlySet<string>): Promise<readonly StoredDoc[]> {
    const tx = (await views()).transaction([...DOCUMENT_STORES]);
    const viewed = await Promise.all(group.docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
    const skipped = group.docs.filter((doc, i) => ids.has(doc._id) || !isDeepEqual(viewed[i]?.doc, doc));
    if (skipped.length === 0) return group.stored;
    const skip = new Set(skipped);
    return group.docs.filter((doc) => !skip.has(doc)).flatMap(encodeDocument);
  }

  async function commit(upTo: number): Promise<void> {
    const waiting = await rows;
    const { record, volume, ids } = await openCurrent();
    const group = await waiting.next(upTo, Math.min(LEDGER.groupMost, Math.max(1, LEDGER.volumeDocuments - ids.size)));
    if (group.rows.length === 0 && group.docs.length === 0) {
      onFiled(null);
      return;
    }
    const stored = await toWrite(group, ids);
    if (stored.length > 0) await writeStored(volume, stored);
    for (const doc of group.docs) ids.add(doc._id);
    const grown: VolumeRecord = { ...record, documents: ids.size };
    await waiting.filed(group, grown);
    current = { record: grown, volume, ids };
    onFiled(group);
    if (grown.documents >= LEDGER.volumeDocuments) await seal();
    else if (volume.cars() > LEDGER.compactAboveCars) await volume.compact();
  }

  /** Compacts the full volume, reopens it, checks every document, and closes it for good. */
  async function seal() {
    if (!current) return;
    const { record, volume, ids } = current;
    await volume.compact();
    await closeCurrent();
    const sealed = await open(record.name);
    const check = await checkVolume(await views(), [...ids], await sealed.read());
    await sealed.close();
    if (check.faults.length > 0) throw new DamagedError(record, check.faults);
    await putListed(db, { ...record, state: 'sealed', checkedAt: now(), faults: [] }, check.ids);
  }

  return {
    ids: () => current?.ids ?? [],
    commit,
    close: closeCurrent,
    async leave() {
      const failed = current;
      current = null;
      await failed?.volume.close().catch(onTrouble);
    },
  };
}
