/**
 * Moves documents from the journal into Fireproof volumes. Documents are committed in groups into
 * the current volume. They leave the journal only when the volume holds them durably. Commits,
 * compaction, roll-over, and any other work on the volumes share one queue. Fireproof is opened
 * when the first group is due, and no reader waits for it.
 *
 * A volume that does not return what it should is never written again. It stays as it is. Documents
 * that no other volume holds are taken from the views and put into the journal again.
 */
import { deleteDB } from 'idb';
import type { Forget } from '../../../shared/domain/forgetting.ts';
import { isCovered } from '../../../shared/protocol/documents/kinds.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import {
  type JournalDatabase,
  journalTransaction,
  putVolume,
  readMeta,
  type VolumeRecord,
  writeMeta,
} from '../journal/database.ts';
import { LEDGER, volumeDatabase } from '../settings.ts';
import { journalDocuments } from '../journal/journal.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { DOCUMENT_STORES } from '../views/write.ts';
import { storageProblemOf } from '../problem.ts';
import { decodeDocuments, encodeDocument } from './codec.ts';
import { createCurrentVolume, currentRecord, DamagedError, nextVolume, unreadable, writeStored } from './current.ts';
import type { Volume } from './fireproof-volume.ts';

// Removes forgotten documents from volumes. A volume is never changed. The remaining documents go
// into a new one, which is compacted and checked. Then, in one transaction, the new volume takes
// the old one's place on the list, and the old one's database is deleted.

interface ReplaceDeps {
  readonly journal: JournalDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  /** ms since the epoch */
  readonly now: () => number;
}

/**
 * Deletes the databases of replaced volumes. Those that cannot be deleted now are tried again at
 * the next start.
 */
export async function discardVolumes(journal: JournalDatabase): Promise<void> {
  const names = (await readMeta(journal, 'discard')) ?? [];
  if (names.length === 0) return;
  for (const name of names) await deleteDB(volumeDatabase(name));
  await writeMeta(journal, 'discard', []);
}

async function writeNew({ journal, openVolume, now }: ReplaceDeps, docs: readonly Doc[]): Promise<VolumeRecord> {
  const record = await nextVolume(journal);
  // An interrupted attempt may have left a database under this name.
  await deleteDB(volumeDatabase(record.name));
  const volume = await openVolume(record.name);
  for (let at = 0; at < docs.length; at += LEDGER.groupDocuments)
    await writeStored(volume, docs.slice(at, at + LEDGER.groupDocuments).flatMap(encodeDocument));
  await volume.compact();
  await volume.close();
  const again = await openVolume(record.name);
  const { docs: found, damaged } = decodeDocuments(await again.read());
  await again.close();
  if (found.length !== docs.length || damaged.length > 0)
    throw new Error(`Volume ${record.name} holds ${found.length} documents where ${docs.length} were written.`);
  return { ...record, documents: docs.length, state: 'sealed', checkedAt: now() };
}

/**
 * Removes the documents that the forgets cover from all volumes. Nothing else may use the volumes
 * meanwhile, and none may be damaged.
 */
export async function replaceVolumes(
  deps: ReplaceDeps,
  forgets: readonly Forget[],
  onProgress: (done: number, of: number) => void,
): Promise<void> {
  const { journal } = deps;
  const records = await journal.getAll('volumes');
  for (const [i, record] of records.entries()) {
    onProgress(i, records.length);
    const volume = await deps.openVolume(record.name);
    const { docs } = decodeDocuments(await volume.read());
    await volume.close();
    const kept = docs.filter((doc) => !forgets.some((forget) => isCovered(doc, forget)));
    if (kept.length === docs.length) continue;
    const fresh = kept.length === 0 ? null : await writeNew(deps, kept);
    await swap(journal, record.name, fresh, kept);
    await discardVolumes(journal);
  }
  onProgress(records.length, records.length);
}

/** Replaces the old volume on the list by the new one, if any. */
export async function swap(
  journal: JournalDatabase,
  old: string,
  fresh: VolumeRecord | null,
  kept: readonly Doc[],
): Promise<void> {
  const discard = (await readMeta(journal, 'discard')) ?? [];
  const tx = journalTransaction(journal, 'strict');
  const writes: Promise<unknown>[] = [
    tx.objectStore('volumes').delete(old),
    tx.objectStore('manifests').delete(old),
    tx.objectStore('meta').put([...discard, old], 'discard'),
  ];
  if (fresh)
    writes.push(
      tx.objectStore('volumes').put(fresh),
      tx.objectStore('manifests').put({ name: fresh.name, ids: kept.map(({ _id }) => _id) }),
    );
  await Promise.all([...writes, tx.done]);
}

// Finds documents of the views that are neither in a sound volume nor in the journal.

/** Sorts after every id. */
const AFTER_ALL = '\uffff';

/** `sound`: ids in the open volumes, in addition to the lists of sealed volumes. */
export async function* unfiled(
  journal: JournalDatabase,
  views: ViewsDatabase,
  sound: Iterable<string>,
): AsyncGenerator<readonly Doc[]> {
  const filed = new Set<string>(sound);
  for (const { ids } of await journal.getAll('manifests')) for (const id of ids) filed.add(id);
  for await (const { docs } of journalDocuments(journal, LEDGER.journalStride))
    for (const { _id } of docs) filed.add(_id);
  for (const name of DOCUMENT_STORES) {
    let from = '';
    for (;;) {
      const records = await views.getAll(name, IDBKeyRange.bound(from, AFTER_ALL, true), LEDGER.rebuildBatch);
      const docs = records.flatMap(({ _id, doc }) => (filed.has(_id) ? [] : [doc]));
      if (docs.length > 0) yield docs;
      const last = records.at(-1);
      if (records.length < LEDGER.rebuildBatch || !last) break;
      from = last._id;
    }
  }
}

interface VolumesDeps {
  readonly db: JournalDatabase;
  /** The views, with everything of the journal in them. */
  readonly views: () => Promise<ViewsDatabase>;
  /** The last row of the journal that the views hold. */
  readonly upTo: number;
  readonly open: (name: string) => Promise<Volume>;
  /** ms timers, also for tests. */
  readonly after: After;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms that only move forward, for spans. */
  readonly elapsed: () => number;
  /**
   * Was something appended so recently that more is likely to follow? While a lost team is being
   * restored, commits wait for all of it. They would take the worker's time while people wait for
   * their team.
   */
  readonly busy: () => 'writing' | 'returning' | null;
  /**
   * Puts documents that the views hold and no sound volume does into the journal again. Resolves
   * with their number.
   */
  readonly refile: () => Promise<number>;
  /** Null: the last commit succeeded. */
  readonly onOutcome: (error: unknown) => void;
  /** A volume was found damaged, and this many of its documents were put into the journal again. */
  readonly onDamaged: (record: VolumeRecord, refiled: number) => void;
}

export interface Volumes {
  /**
   * The journal has this many more documents and characters, in rows up to `upTo`, and the views
   * have them.
   */
  added(docs: number, chars: number, upTo: number): void;
  /** Documents in the journal. */
  backlog(): number;
  /** Ids in the current volume. None where it is not open. */
  currentIds(): Iterable<string>;
  /** Resolves when the journal is empty. Rejects with the error that prevents that. */
  drain(): Promise<void>;
  /** Runs while nothing is under way and no volume is open. Other work waits. */
  exclusively<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Drains what can be drained and closes the current volume. */
  close(): Promise<void>;
}

/**
 * How far the work goes. `due`: one group, and then only full ones. `all`: until the journal is
 * empty.
 */
type Extent = 'due' | 'all';

export function createVolumes(deps: VolumesDeps): Volumes {
  const { db } = deps;
  /** The journal's contents. `chars` is approximate. */
  let backlog = 0;
  let { upTo } = deps;
  let chars = 0;
  let working: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  /** Does the timer only wait for a quiet moment? */
  let hurried = false;
  let closed = false;
  let retrying = false;
  /** Failures in a row. */
  let failures = 0;
  /** When the oldest commit became due that gives way to writes. Null: none does. */
  let givingWaySince: number | null = null;
  /**
   * Runs tasks one after the other: work on the journal, and work that needs the volumes for
   * itself.
   */
  const inTurn = createQueue();

  const current = createCurrentVolume({
    db,
    views: deps.views,
    open: deps.open,
    now: deps.now,
    onFiled(group) {
      backlog = group ? Math.max(0, backlog - group.docs.length) : 0;
      chars = group ? Math.max(0, chars - JSON.stringify(group.stored).length) : 0;
    },
    onTrouble: deps.onOutcome,
  });

  /**
   * Marks the volume as damaged and puts its documents into the journal again. The documents go
   * first, so a kill in between repeats the work.
   */
  async function giveUp(record: VolumeRecord, faults: readonly string[]) {
    const damaged: VolumeRecord = {
      ...record,
      state: 'damaged',
      checkedAt: deps.now(),
      faults: faults.slice(0, LEDGER.faultsKept),
    };
    const refiled = await deps.refile();
    await putVolume(db, damaged);
    deps.onDamaged(damaged, refiled);
  }

  /**
   * Can the volume that fails our writes be read at all? Null: it can, or there is no space to find
   * out.
   */
  async function faultsOf(record: VolumeRecord): Promise<readonly string[] | null> {
    try {
      const volume = await deps.open(record.name);
      try {
        await volume.read();
        return null;
      } finally {
        await volume.close();
      }
    } catch (error) {
      return storageProblemOf(error).kind === 'quota' ? null : [unreadable('it', errorMessage(error))];
    }
  }

  async function recoverFrom(error: unknown): Promise<void> {
    await current.leave();
    if (error instanceof DamagedError) {
      await giveUp(error.record, error.faults);
      failures = 0;
      return;
    }
    if (storageProblemOf(error).kind === 'quota') throw error;
    failures += 1;
    // Fireproof's state in memory after a failed write is unknown. Start again from disk.
    if (failures < LEDGER.volumeTries) throw error;
    const record = await currentRecord(db);
    const faults = record.documents > 0 ? await faultsOf(record) : null;
    if (faults === null) throw error;
    await giveUp(record, faults);
    failures = 0;
  }

  function givesWay(): boolean {
    const why = deps.busy();
    if (why !== 'writing') {
      givingWaySince = null;
      return why === 'returning';
    }
    givingWaySince ??= deps.elapsed();
    const isPatient = backlog < LEDGER.volumesWaitDocuments;
    if (isPatient && deps.elapsed() - givingWaySince < LEDGER.volumesWaitMost) return true;
    givingWaySince = null;
    return false;
  }

  async function work(extent: Extent): Promise<void> {
    const more = () => (extent === 'all' ? backlog > 0 : isDue() && !givesWay());
    try {
      try {
        if (backlog > 0) await current.commit(upTo);
        while (more()) await current.commit(upTo);
      } catch (error) {
        await recoverFrom(error);
      }
      failures = 0;
      retrying = false;
      deps.onOutcome(null);
    } catch (error) {
      deps.onOutcome(error);
      retrying = true;
      if (!closed) later(LEDGER.commitRetry);
      throw error;
    }
  }

  function isDue() {
    return backlog >= LEDGER.groupDocuments || chars >= LEDGER.groupChars;
  }

  function start(extent: Extent): Promise<void> {
    cancelTimer?.();
    cancelTimer = null;
    working ??= inTurn(() => work(extent)).finally(() => {
      working = null;
      if (backlog > 0 && !cancelTimer && !closed) later(LEDGER.groupMs);
    });
    return working;
  }

  /** A failure is reported through `onOutcome` and tried again, so this caller ignores it. */
  function startUnasked() {
    if (givesWay()) later(LEDGER.volumesQuiet);
    else start('due').catch(() => undefined);
  }

  function later(ms: number) {
    cancelTimer?.();
    hurried = ms === LEDGER.volumesQuiet;
    cancelTimer = deps.after(ms, startUnasked);
  }

  async function drain() {
    // Running work may stop at the last full group, and documents of a damaged volume come again.
    while (backlog > 0 || working) {
      if (working) await working;
      if (backlog > 0) await start('all');
    }
  }

  return {
    added(moreDocs, moreChars, to) {
      backlog += moreDocs;
      chars += moreChars;
      upTo = Math.max(upTo, to);
      // After a failure the timer decides when to try again.
      if (closed || working || retrying) return;
      if (!cancelTimer) later(isDue() ? LEDGER.volumesQuiet : LEDGER.groupMs);
      else if (!hurried && isDue()) later(LEDGER.volumesQuiet);
    },
    backlog: () => backlog,
    currentIds: () => current.ids(),
    drain,
    exclusively: (run) =>
      inTurn(async () => {
        await current.close();
        return run();
      }),
    async close() {
      closed = true;
      try {
        await drain();
      } finally {
        cancelTimer?.();
        await inTurn(() => Promise.resolve());
        await current.close();
      }
    },
  };
}
