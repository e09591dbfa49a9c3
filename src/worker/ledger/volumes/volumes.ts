/**
 * From the journal into Fireproof: documents are committed in groups into the current volume and
 * leave the journal only when the volume has them for good. One thing at a time: commit,
 * compaction, roll-over, and whatever else needs the volumes for itself, share one queue. Fireproof
 * is opened when the first group is due, and never waited for by a reader.
 *
 * A volume that does not give back what it should is never written again. It is kept as it is, and
 * all that no other volume holds is taken from the views and filed anew.
 */
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import { putVolume, type JournalDatabase, type VolumeRecord } from '../journal/database.ts';
import { storageProblemOf } from '../problem.ts';
import { LEDGER } from '../settings.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { createCurrentVolume, DamagedError } from './current.ts';
import { unreadable } from './faults.ts';
import type { Volume } from './fireproof-volume.ts';
import { currentRecord } from './records.ts';

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
   * Was something appended so lately that more is likely to come? While a lost team returns,
   * commits wait for all of it: they would take most of the worker from those who wait for their
   * team.
   */
  readonly busy: () => 'writing' | 'returning' | null;
  /**
   * Puts what the views hold and no sound volume does into the journal again. Answers how many
   * documents.
   */
  readonly refile: () => Promise<number>;
  /** null: the last commit went through. */
  readonly onOutcome: (error: unknown) => void;
  /** A volume was found damaged, and this many of its documents were filed anew. */
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
  /** Ids that the current volume holds; none where it is not open. */
  currentIds(): Iterable<string>;
  /** Resolves when the journal is empty; rejects with what stopped it. */
  drain(): Promise<void>;
  /** Runs when nothing is under way and no volume is open, and lets nothing begin meanwhile. */
  exclusively<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Drains what can be drained and closes the current volume. */
  close(): Promise<void>;
}

/** How far to go: one group and then only full ones, or until the journal is empty. */
type Extent = 'due' | 'all';

export function createVolumes(deps: VolumesDeps): Volumes {
  const { db } = deps;
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

  /** One after the other: work on the journal, and whoever needs the volumes for himself. */
  function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const turn = alone.then(run);
    alone = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Keeps the volume as it is, and files what it held anew: first that, so that a kill in between
   * repeats it.
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
   * Can the volume that does not take our writes be read at all? null: it can, or there is no room
   * to find out.
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

  /**
   * A failure was told through `onOutcome` and is tried again: whoever did not ask need not hear of
   * it.
   */
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
    // Work that was under way may stop at the last full group, and what a damaged volume held comes
    // again.
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
        await alone;
        await current.close();
      }
    },
  };
}
