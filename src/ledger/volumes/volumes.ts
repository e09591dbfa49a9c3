/**
 * From the journal into Fireproof: rows are committed in groups into the current volume and leave the
 * journal only when the volume has them for good. One thing at a time: commit, compaction and roll-over
 * share one queue. Fireproof is opened when the first group is due, and never waited for by a reader.
 */
import { writeTransaction, type LedgerDatabase, type VolumeRecord } from '../views/database.ts';
import { StorageProblemError } from '../problem.ts';
import { LEDGER } from '../settings.ts';
import { encodeDocument, isPartId, type StoredDoc } from './codec.ts';
import { checkVolume } from './check.ts';
import type { Volume } from './fireproof-volume.ts';

export interface VolumesDeps {
  readonly db: LedgerDatabase;
  /** Rows in the journal at the start. */
  readonly rows: number;
  readonly open: (name: string) => Promise<Volume>;
  /** ms timers, for tests too */
  readonly after: (ms: number, run: () => void) => () => void;
  /** null: the last commit went through. */
  readonly onOutcome: (error: unknown) => void;
}

export interface Volumes {
  /** The journal has this many more rows and characters. */
  added(rows: number, chars: number): void;
  /** Resolves when the journal is empty; rejects with what stopped it. */
  drain(): Promise<void>;
  /** Drains what can be drained and closes the current volume. */
  close(): Promise<void>;
}

const volumeName = (number: number) => `v${String(number).padStart(5, '0')}`;

export async function putVolume(db: LedgerDatabase, record: VolumeRecord): Promise<void> {
  const tx = writeTransaction(db, 'strict');
  await Promise.all([tx.objectStore('volumes').put(record), tx.done]);
}

/** The volume that is written now; begins the first one, or the one after a sealed or damaged one. */
async function currentRecord(db: LedgerDatabase): Promise<VolumeRecord> {
  const records = await db.getAll('volumes');
  const last = records.at(-1);
  if (last && !last.sealed && !last.damaged) return last;
  const number = (last?.number ?? 0) + 1;
  const fresh: VolumeRecord = { name: volumeName(number), number, documents: 0, sealed: false, damaged: false };
  await putVolume(db, fresh);
  return fresh;
}

interface Group {
  readonly seqs: readonly number[];
  readonly docs: readonly StoredDoc[];
  readonly chars: number;
}

/** How far to go: one group and then only full ones, or until the journal is empty. */
type Extent = 'due' | 'all';

export function createVolumes(deps: VolumesDeps): Volumes {
  const { db } = deps;
  let current: { record: VolumeRecord; volume: Volume } | null = null;
  /** What the journal holds; `chars` roughly. */
  let rows = deps.rows;
  let chars = 0;
  let working: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  let closed = false;
  let retrying = false;

  async function openCurrent() {
    if (current) return current;
    const record = await currentRecord(db);
    const volume = await deps.open(record.name);
    if (record.documents > 0 && volume.isEmpty()) {
      await volume.close();
      throw new StorageProblemError({
        kind: 'unexpectedly-empty',
        detail: `Volume ${record.name} should hold ${record.documents} documents and opened empty. Nothing is written over it. Reload the page; if this stays, keep this browser’s data as it is and export what the page shows.`,
      });
    }
    current = { record, volume };
    return current;
  }

  /** The oldest journal rows that fit one commit, encoded. */
  async function nextGroup(): Promise<Group> {
    const oldest = await db.getAll('journal', undefined, LEDGER.groupDocuments);
    const seqs: number[] = [];
    const docs: StoredDoc[] = [];
    let size = 0;
    for (const { seq, doc } of oldest) {
      if (seq === undefined) continue;
      const encoded = encodeDocument(doc);
      const weight = JSON.stringify(encoded).length;
      if (seqs.length > 0 && size + weight > LEDGER.groupChars) break;
      size += weight;
      seqs.push(seq);
      docs.push(...encoded);
    }
    return { seqs, docs, chars: size };
  }

  /** Parts of long texts first, each few to a commit; the documents themselves in the last commit. */
  async function writeGroup(volume: Volume, docs: readonly StoredDoc[]) {
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
    await volume.write(docs.filter(({ _id }) => !isPartId(_id)));
  }

  async function commitGroup(): Promise<void> {
    const group = await nextGroup();
    if (group.seqs.length === 0) {
      rows = 0;
      chars = 0;
      return;
    }
    const { record, volume } = await openCurrent();
    await writeGroup(volume, group.docs);
    const grown: VolumeRecord = { ...record, documents: record.documents + group.seqs.length };
    const tx = writeTransaction(db, 'relaxed');
    await Promise.all([...group.seqs.map((seq) => tx.objectStore('journal').delete(seq)), tx.objectStore('volumes').put(grown), tx.done]);
    current = { record: grown, volume };
    rows -= group.seqs.length;
    chars = Math.max(0, chars - group.chars);
    if (grown.documents >= LEDGER.volumeDocuments) await seal();
    else if (volume.cars() > LEDGER.compactAboveCars) await volume.compact();
  }

  /** Compacts the full volume, opens it afresh, checks it document by document, and closes it for good. */
  async function seal() {
    if (!current) return;
    const { record, volume } = current;
    await volume.compact();
    await volume.close();
    current = null;
    const sealed = await deps.open(record.name);
    const faults = await checkVolume(db, record, await sealed.read());
    await sealed.close();
    await putVolume(db, { ...record, sealed: faults.length === 0, damaged: faults.length > 0 });
    if (faults.length > 0)
      throw new StorageProblemError({
        kind: 'broken',
        detail: `Volume ${record.name} did not pass its check (${faults.slice(0, 3).join('; ')}). It is kept, the page still shows everything, and writing goes on in a new one.`,
      });
  }

  async function work(extent: Extent): Promise<void> {
    try {
      if (rows > 0) await commitGroup();
      while (isDue() || (extent === 'all' && rows > 0)) await commitGroup();
      retrying = false;
      deps.onOutcome(null);
    } catch (error) {
      // What Fireproof holds in memory after a failed write is unknown: begin from what is on disk.
      const failed = current;
      current = null;
      await failed?.volume.close().catch(deps.onOutcome);
      deps.onOutcome(error);
      retrying = true;
      if (!closed) later(LEDGER.commitRetry);
      throw error;
    }
  }

  function isDue() {
    return rows >= LEDGER.groupDocuments || chars >= LEDGER.groupChars;
  }

  function start(extent: Extent): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    working ??= work(extent).finally(() => {
      working = null;
      if (rows > 0 && !cancelTimer && !closed) later(LEDGER.groupMs);
    });
    return working;
  }

  /** A failure was told through `onOutcome` and is tried again: whoever did not ask need not hear of it. */
  function startUnasked() {
    start('due').catch(() => undefined);
  }

  function later(ms: number) {
    cancelTimer?.();
    cancelTimer = deps.after(ms, startUnasked);
  }

  async function drain() {
    // Work that was under way may stop at the last full group.
    if (working) await working;
    if (rows > 0) await start('all');
  }

  if (rows > 0) later(LEDGER.groupMs);

  return {
    added(moreRows, moreChars) {
      rows += moreRows;
      chars += moreChars;
      // After a failure the timer decides when to try again.
      if (closed || working || retrying) return;
      if (isDue()) startUnasked();
      else if (!cancelTimer) later(LEDGER.groupMs);
    },
    drain,
    async close() {
      closed = true;
      try {
        await drain();
      } finally {
        cancelTimer?.();
        await current?.volume.close();
        current = null;
      }
    },
  };
}
