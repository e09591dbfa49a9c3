/**
 * From the journal into Fireproof: documents are committed in groups into the current volume and leave the
 * journal only when the volume has them for good. One thing at a time: commit, compaction, roll-over, and
 * whatever else needs the volumes for itself, share one queue. Fireproof is opened when the first group is
 * due, and never waited for by a reader.
 *
 * A volume that does not give back what it should is never written again. It is kept as it is, and all
 * that no other volume holds is taken from the views and filed anew.
 */
import type { After } from '../../domain/platform/timers.ts';
import { putVolume, type JournalDatabase, type VolumeRecord } from '../journal/database.ts';
import { isDeepEqual } from '../equal.ts';
import { storageProblemOf } from '../problem.ts';
import { LEDGER } from '../settings.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { storeOf } from '../../protocol/known.ts';
import { DOCUMENT_STORES } from '../views/write.ts';
import { checkVolume } from './check.ts';
import { decodeDocuments, encodeDocument, type StoredDoc } from './codec.ts';
import { writeStored } from './commit.ts';
import type { Volume } from './fireproof-volume.ts';
import { currentRecord, putListed } from './records.ts';
import { createRows, type Group } from './rows.ts';

export interface VolumesDeps {
  readonly db: JournalDatabase;
  /** The views, with everything in them that lies in the journal. */
  readonly views: () => Promise<ViewsDatabase>;
  /** The last row of the journal that the views hold. */
  readonly upTo: number;
  readonly open: (name: string) => Promise<Volume>;
  /** ms timers, for tests too */
  readonly after: After;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward, for spans. */
  readonly elapsed: () => number;
  /**
   * Was something appended so lately that more is likely to come? While a lost team returns, commits wait for all of it:
   * they would take most of the worker from those who wait for their team.
   */
  readonly busy: () => 'writing' | 'returning' | null;
  /** Puts what the views hold and no sound volume does into the journal again. Answers how many documents. */
  readonly refile: () => Promise<number>;
  /** null: the last commit went through. */
  readonly onOutcome: (error: unknown) => void;
  /** A volume was found damaged, and this many of its documents were filed anew. */
  readonly onDamaged: (record: VolumeRecord, refiled: number) => void;
}

export interface Volumes {
  /** The journal has this many more documents and characters, in rows up to `upTo`, and the views have them. */
  added(docs: number, chars: number, upTo: number): void;
  /** Documents in the journal. */
  backlog(): number;
  /** Ids that the current volume holds; none where it is not open. */
  currentIds(): Iterable<string>;
  /** Resolves when the journal is empty; rejects with what stopped it. */
  drain(): Promise<void>;
  /** Runs when nothing is under way and no volume is open, and lets nothing begin meanwhile. */
  exclusively<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Drains what can be drained and closes the current volume. */
  close(): Promise<void>;
}

interface Current {
  readonly record: VolumeRecord;
  readonly volume: Volume;
  readonly ids: Set<string>;
}

/** What the volume holds is not what it should hold. */
class DamagedError extends Error {
  override readonly name = 'DamagedError';
  readonly record: VolumeRecord;
  readonly faults: readonly string[];
  constructor(record: VolumeRecord, faults: readonly string[]) {
    super(`Volume ${record.name} is damaged: ${faults.slice(0, 3).join('; ')}`);
    this.record = record;
    this.faults = faults;
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** How far to go: one group and then only full ones, or until the journal is empty. */
type Extent = 'due' | 'all';

export function createVolumes(deps: VolumesDeps): Volumes {
  const { db } = deps;
  const opened = createRows(db);
  let current: Current | null = null;
  /** What the journal holds; `chars` roughly. */
  let backlog = 0;
  let { upTo } = deps;
  let chars = 0;
  let working: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  /** Does the timer wait for no more than a moment of quiet? */
  let hurried = false;
  let closed = false;
  let retrying = false;
  /** Failures in a row. */
  let failures = 0;
  /** When the oldest commit became due that gives way to writes; null: none does. */
  let givingWaySince: number | null = null;
  let alone: Promise<unknown> = Promise.resolve();

  /** One after the other: work on the journal, and whoever needs the volumes for himself. */
  function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = alone.then(run);
    alone = turn.catch(() => undefined);
    return turn;
  }

  async function closeCurrent() {
    const held = current;
    current = null;
    await held?.volume.close();
  }

  async function openCurrent(): Promise<Current> {
    if (current) return current;
    const record = await currentRecord(db);
    const volume = await deps.open(record.name);
    let ids: readonly string[] = [];
    if (record.documents > 0) {
      try {
        if (volume.isEmpty())
          throw new DamagedError(record, [`it should hold ${record.documents} documents and opened empty`]);
        const { docs } = decodeDocuments(await volume.read());
        if (docs.length < record.documents)
          throw new DamagedError(record, [`${docs.length} of ${record.documents} documents are there`]);
        ids = docs.map(({ _id }) => _id);
      } catch (error) {
        await volume.close().catch(deps.onOutcome);
        throw error;
      }
    }
    current = { record, volume, ids: new Set(ids) };
    return current;
  }

  /** Without what the volume has already, and without what came under an id that was taken: what was written first holds. */
  async function toWrite(group: Group, ids: ReadonlySet<string>): Promise<readonly StoredDoc[]> {
    const tx = (await deps.views()).transaction([...DOCUMENT_STORES]);
    const viewed = await Promise.all(group.docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
    const skipped = group.docs.filter((doc, i) => ids.has(doc._id) || !isDeepEqual(viewed[i]?.doc, doc));
    if (skipped.length === 0) return group.stored;
    const skip = new Set(skipped);
    return group.docs.filter((doc) => !skip.has(doc)).flatMap(encodeDocument);
  }

  async function commitGroup(): Promise<void> {
    const rows = await opened;
    const { record, volume, ids } = await openCurrent();
    const group = await rows.next(upTo, Math.min(LEDGER.groupMost, Math.max(1, LEDGER.volumeDocuments - ids.size)));
    if (group.rows.length === 0 && group.docs.length === 0) {
      backlog = 0;
      chars = 0;
      return;
    }
    const stored = await toWrite(group, ids);
    if (stored.length > 0) await writeStored(volume, stored);
    for (const doc of group.docs) ids.add(doc._id);
    const grown: VolumeRecord = { ...record, documents: ids.size };
    await rows.filed(group, grown);
    current = { record: grown, volume, ids };
    backlog = Math.max(0, backlog - group.docs.length);
    chars = Math.max(0, chars - JSON.stringify(group.stored).length);
    if (grown.documents >= LEDGER.volumeDocuments) await seal();
    else if (volume.cars() > LEDGER.compactAboveCars) await volume.compact();
  }

  /** Compacts the full volume, opens it afresh, checks it document by document, and closes it for good. */
  async function seal() {
    if (!current) return;
    const { record, volume, ids } = current;
    await volume.compact();
    await closeCurrent();
    const sealed = await deps.open(record.name);
    const check = await checkVolume(await deps.views(), [...ids], await sealed.read());
    await sealed.close();
    if (check.faults.length > 0) throw new DamagedError(record, check.faults);
    await putListed(db, { ...record, state: 'sealed', checkedAt: deps.now(), faults: [] }, check.ids);
  }

  /** Keeps the volume as it is, and files what it held anew: first that, so that a kill in between repeats it. */
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

  /** Can the volume that does not take our writes be read at all? null: it can, or there is no room to find out. */
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
      return storageProblemOf(error).kind === 'quota' ? null : [`it cannot be read: ${textOf(error)}`];
    }
  }

  async function recoverFrom(error: unknown): Promise<void> {
    const failed = current;
    current = null;
    await failed?.volume.close().catch(deps.onOutcome);
    if (error instanceof DamagedError) {
      await giveUp(error.record, error.faults);
      failures = 0;
      return;
    }
    if (storageProblemOf(error).kind === 'quota') throw error;
    failures += 1;
    // What Fireproof holds in memory after a failed write is unknown: begin from what is on disk.
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
    if (deps.elapsed() - givingWaySince < LEDGER.volumesWaitMost) return true;
    givingWaySince = null;
    return false;
  }

  async function work(extent: Extent): Promise<void> {
    const more = () => (extent === 'all' ? backlog > 0 : isDue() && !givesWay());
    try {
      try {
        if (backlog > 0) await commitGroup();
        while (more()) await commitGroup();
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

  /** A failure was told through `onOutcome` and is tried again: whoever did not ask need not hear of it. */
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
    // Work that was under way may stop at the last full group, and what a damaged volume held comes again.
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
    currentIds: () => current?.ids ?? [],
    drain,
    exclusively: (run) =>
      inTurn(async () => {
        await closeCurrent();
        return run();
      }),
    async close() {
      closed = true;
      try {
        await drain();
      } finally {
        cancelTimer?.();
        await alone;
        await closeCurrent();
      }
    },
  };
}
