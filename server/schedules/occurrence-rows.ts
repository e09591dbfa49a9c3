/**
 * Occurrences as rows. An occurrence is a moment at which a schedule was due. Each has one row, is
 * claimed by one relay, and has one outcome.
 */
import { type Selectable } from 'kysely';
import type { AgentId, MessageId, RunId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { z } from 'zod';
import {
  judgeSlots,
  newestSlots,
  type OccurrenceEnd,
  type PlannedStop,
  type SkipReason,
  slotAfter,
  type TimingContext,
} from '../../src/shared/domain/schedule/timing.ts';
import { idOf } from '../../src/shared/protocol/limits.ts';
import { contains, isNoneOf, isOneOf } from '../store/dialect.ts';
import { parseText, writeOnce, type Db } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
import { groupSchema, type WrittenGroup } from '../platform/processes/proc.ts';
import { detailOf, NO_DETAIL, skipReasonSchema, type Detail } from './history.ts';
import {
  json,
  rowOf,
  notRemoved,
  takeAway,
  takeAwayOnceOver,
  takeFromClock,
  type Row,
  type RowsDeps,
  isOn,
} from './schedule-rows.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';

/* Judging: writes a row for each occurrence that has become due, with what is to happen to it. */

interface Judging {
  readonly now: number;
  readonly stops: readonly PlannedStop[];
  contextOf(row: Row): TimingContext;
  /** Whether this occurrence falls into a blackout. */
  isDark(row: Row, at: number): boolean;
}

const catchUpOf = (schedule: Schedule) =>
  // Reminders and scripts that were missed during the relay's absence are caught up once.
  schedule.kind === 'routine' ? schedule.catch_up : 'once';

/** Writes a row for each occurrence up to now, and computes the next due time. */
async function judge(
  trx: Db,
  { home, limits }: Pick<RowsDeps, 'home' | 'limits'>,
  row: Row,
  { now, stops, contextOf, isDark }: Judging,
): Promise<void> {
  const { scheduleId, schedule } = row;
  // The wall clock may have gone back. Occurrences that were judged before keep their rows and are
  // not judged again.
  const from = Math.min(row.judgedAt, now);
  const context = contextOf(row);
  let fresh: readonly number[];
  let older: boolean;
  let next: number | null;
  try {
    ({ slots: fresh, older } = newestSlots(schedule.timing, from, now, context, limits.rowsAfterAbsence));
    next = isOn(row) ? slotAfter(schedule.timing, now, context) : null;
  } catch (error) {
    // This machine does not know the time zone or cannot read the cron text. The schedule is
    // paused, so that it does not block the others.
    await trx
      .updateTable('schedules')
      .set({ due_at: null, paused_why: `When it is due cannot be told here: ${String(error)}` })
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .execute();
    return;
  }
  // Occurrences left waiting by an earlier process are caught up together with the new ones.
  const waiting = await trx
    .selectFrom('occurrences')
    .select('due_at')
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('state', '=', 'due')
    .where('late', '=', true)
    // An occurrence that waits for its agent was judged when it became due.
    .where('reason', 'is', null)
    .where('kind', '=', '')
    .forUpdate()
    .execute();
  const known = new Set(waiting.map(({ due_at }) => due_at));
  const slots = [...new Set([...known, ...fresh])].sort((a, b) => a - b);
  // A reminder, or anything due only once, is never too late.
  const forgiving = schedule.kind === 'reminder' || schedule.timing.kind === 'once';
  const verdicts = judgeSlots(
    slots,
    now,
    catchUpOf(schedule),
    forgiving ? [] : stops,
    forgiving ? { ...limits.catchUp, windowMs: Infinity } : limits.catchUp,
  );
  let made = 0;
  const rows = verdicts.map((verdict) => {
    const dark = verdict.kind === 'run' && isDark(row, verdict.slot);
    const end: OccurrenceEnd | null =
      verdict.kind === 'end' ? verdict.end : dark ? { state: 'skipped', reason: 'blackout' } : null;
    const late = verdict.kind === 'run' && verdict.late;
    return {
      home,
      schedule: scheduleId,
      agent_json: json(schedule.agentId),
      due_at: verdict.slot,
      state: end?.state ?? 'due',
      reason: end?.reason ?? null,
      late,
      not_before: late ? now + limits.catchUp.staggerMs * made++ : verdict.slot,
      token: null,
      lease_until: null,
      run: null,
      started_at: null,
      ended_at: end ? now : null,
      detail_json:
        older && verdict.slot === fresh[0]
          ? JSON.stringify({ ...NO_DETAIL, detail: 'So were the moments before it.' })
          : null,
    };
  });
  for (const { due_at, state, reason, not_before, ended_at } of rows.filter((row) => known.has(row.due_at)))
    await trx
      .updateTable('occurrences')
      .set({ state, reason, not_before, ended_at })
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', due_at)
      .execute();
  const inserted = rows.filter((row) => !known.has(row.due_at));
  if (inserted.length > 0)
    await trx
      .insertInto('occurrences')
      .values(inserted)
      .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
      .execute();
  await trx
    .updateTable('schedules')
    .set({ judged_at: now, due_at: next })
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .execute();
}

/* Work that a dead relay had begun: the relay was killed, or hung until its lease expired. */

export function createLeftRows({ db, home, limits, setAside = SETS_NOTHING_ASIDE }: RowsDeps) {
  return {
    /**
     * Claims the scripts that dead relays left behind, so that the caller may end them. `all` and
     * `mine`: as for `dead`.
     */
    async takeOver(now: number, all: boolean, mine: readonly string[], newToken: string): Promise<LeftScript[]> {
      const rows = await db
        .updateTable('occurrences')
        .set({ token: newToken, lease_until: now + limits.leaseMs })
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where('run', 'is', null)
        .where(isNoneOf('token', [...mine]))
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .returning([...CLAIMED, 'group_json'])
        .execute();
      return setAside.read(
        'schedules',
        rows,
        ({ schedule, due_at }) => `${schedule} ${due_at}`,
        ({ group_json, ...row }) => ({
          claim: claimOf(row, newToken),
          group: group_json === null ? null : groupSchema.parse(JSON.parse(group_json)),
        }),
      );
    },
    /**
     * Runs that dead relays left behind. `all`: no other process can have this store. `mine`:
     * tokens of the claims held by this process.
     */
    async dead(now: number, all: boolean, mine: readonly string[]): Promise<string[]> {
      const found = await db
        .selectFrom('occurrences')
        .select('run')
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where(isNoneOf('token', [...mine]))
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .execute();
      return found.flatMap(({ run }) => run ?? []);
    },
    /**
     * Ends what dead relays had begun, and returns what they had only claimed to the queue, to be
     * judged by the current time. `all` and `mine`: as for `dead`. `ends`: known outcomes of runs,
     * by run id.
     */
    async recover(now: number, all: boolean, mine: readonly string[], ends: ReadonlyMap<string, Ended>): Promise<void> {
      await db.transaction().execute(async (trx) => {
        const dead = trx
          .updateTable('occurrences')
          .where('home', '=', home)
          .where('ended_at', 'is', null)
          .where((or) => or.or([or('token', 'is', null), isNoneOf('token', [...mine])]))
          .$if(!all, (query) => query.where('lease_until', '<', now));
        for (const [run, { end, detail }] of ends)
          await dead
            .where('state', '=', 'running')
            .where('run', '=', run)
            .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
            .execute();
        await dead.where('state', '=', 'running').set({ state: 'crashed', ended_at: now, lease_until: null }).execute();
        // A woken agent whose run had not begun is woken again if its message still waits: see
        // server/agents/reach.
        await dead
          .where('state', '=', 'claimed')
          .where('kind', '<>', '')
          .where('notice_json', 'is', null)
          .set({ state: 'crashed', ended_at: now, lease_until: null })
          .execute();
        await dead.where('state', '=', 'claimed').set({ state: 'due', token: null, lease_until: null }).execute();
        // Occurrences that nobody had begun are caught up together with the new ones, or are
        // missed. Those that wait for an earlier run of their schedule were looked at a moment ago.
        const late = await trx
          .updateTable('occurrences')
          .set({ late: true })
          .where('home', '=', home)
          .where('state', '=', 'due')
          // An occurrence that waits for its agent was judged when it became due. A notice of a
          // failed script is no occurrence of its schedule.
          .where('kind', '=', '')
          .where('reason', 'is', null)
          .where('not_before', '<', now - limits.catchUp.onTimeMs)
          .returning('schedule')
          .execute();
        await trx
          .updateTable('schedules')
          .set({ due_at: now })
          .where('home', '=', home)
          .where(
            isOneOf(
              'schedule',
              late.map(({ schedule }) => schedule),
            ),
          )
          .where('removed', '=', false)
          .execute();
      });
    },
  };
}

/** An occurrence that a process has claimed and may end. */
export interface Claim {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly dueAt: number;
  readonly late: boolean;
  readonly token: string;
  /** The occurrence could not run before, and waited. */
  readonly waited?: boolean;
  /**
   * Set when the row is no occurrence of its schedule, but a notice to its agent that a script
   * failed.
   */
  readonly notice?: Notice | null;
}

/**
 * Notice that a script failed: the message for the agent, which is woken for it. `status`: how the
 * script ended.
 */
const noticeSchema = z.object({
  messageId: idOf<MessageId>(z.string()),
  name: z.string(),
  status: z.string(),
  text: z.string(),
});
export type Notice = z.infer<typeof noticeSchema>;

/** Why a due occurrence waits. `detail`: a sentence for people. */
export interface Waits {
  readonly reason: SkipReason;
  readonly detail: string | null;
}

/**
 * A script that was running when its relay died. `group` null: it had not begun, or ran in a
 * sandbox, which dies with the relay.
 */
export interface LeftScript {
  readonly claim: Claim;
  readonly group: WrittenGroup | null;
}

export interface Ended {
  readonly end: OccurrenceEnd;
  readonly detail: Detail;
  /**
   * Removes the schedule in the same transaction as the outcome, so that a killed relay cannot
   * repeat it. `once-over`: only if the schedule is not due again and has no other open occurrence.
   */
  readonly removes?: boolean | 'once-over';
}

const OF_CLAIM = ['agent_json', 'late', 'reason', 'notice_json'] as const;
const CLAIMED = ['schedule', 'due_at', ...OF_CLAIM] as const;
export const claimOf = (
  row: Pick<Selectable<Tables['occurrences']>, (typeof CLAIMED)[number]>,
  token: string,
): Claim => ({
  scheduleId: row.schedule,
  agentId: parseText(row.agent_json),
  dueAt: row.due_at,
  late: row.late,
  token,
  waited: row.reason !== null,
  notice: row.notice_json === null ? null : noticeSchema.parse(JSON.parse(row.notice_json)),
});

export function createOccurrences({ db, home, limits, setAside = SETS_NOTHING_ASIDE }: RowsDeps) {
  const occurrence = (from: Db, { scheduleId, dueAt }: Pick<Claim, 'scheduleId' | 'dueAt'>) =>
    from
      .updateTable('occurrences')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', dueAt);
  /** The row, if this claim still holds it and it has not ended. */
  const held = (claim: Claim, from = db) =>
    occurrence(from, claim).where('token', '=', claim.token).where('ended_at', 'is', null);

  /** A row for an occurrence that nobody has claimed. */
  const dueRow = ({ scheduleId, agentId, dueAt }: Pick<Claim, 'scheduleId' | 'agentId' | 'dueAt'>) => ({
    ...{ home, schedule: scheduleId, agent_json: json(agentId), due_at: dueAt, not_before: dueAt, state: 'due' },
    ...{ reason: null, token: null, lease_until: null, run: null },
    ...{ started_at: null, ended_at: null, detail_json: null },
  });

  /** The row claimed with this token. */
  async function claimedBy(token: string): Promise<Claim | null> {
    const row = await db
      .selectFrom('occurrences')
      .select(CLAIMED)
      .where('home', '=', home)
      .where('token', '=', token)
      .executeTakeFirst();
    return row ? claimOf(row, token) : null;
  }
  /**
   * Applies a change to the row of a claim, once. `made`: finds out whether the change was applied.
   * False: the claim does not hold any more.
   */
  const changed = async (change: () => Promise<{ readonly numUpdatedRows: bigint }>, made: () => Promise<unknown>) =>
    (await writeOnce({
      write: async () => (await change()).numUpdatedRows > 0n || null,
      check: async () => (await made()) !== undefined || null,
    })) ?? false;
  const seen = ({ scheduleId, dueAt, token }: Claim) =>
    db
      .selectFrom('occurrences')
      .select('token')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', dueAt)
      .where('token', '=', token);

  return {
    /**
     * Adds an occurrence due now, for the person, the agent or a webhook. Does nothing if the
     * schedule has one at this very millisecond.
     */
    async trigger({ scheduleId, schedule }: Row, now: number): Promise<void> {
      await db
        .insertInto('occurrences')
        .values(dueRow({ scheduleId, agentId: schedule.agentId, dueAt: now }))
        .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
        .execute();
    },
    /**
     * Inserts and claims a row for a run that was not scheduled. It takes the first free due time
     * from `now` on.
     */
    async woken(
      claim: Omit<Claim, 'dueAt' | 'late'>,
      { kind, name }: { readonly kind: 'wake' | 'routine' | 'reminder' | 'script'; readonly name: string },
      now: number,
    ): Promise<Claim> {
      async function writeAt(dueAt: number): Promise<Claim | null> {
        const { numInsertedOrUpdatedRows = 0n } = await db
          .insertInto('occurrences')
          .values({
            ...dueRow({ ...claim, dueAt }),
            ...{ state: 'claimed', token: claim.token, lease_until: now + limits.leaseMs },
            ...{ kind, name_json: json(name) },
          })
          .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows > 0n ? { ...claim, dueAt, late: false } : null;
      }
      for (let dueAt = now; ; dueAt++) {
        const written = await writeOnce({ write: () => writeAt(dueAt), check: () => claimedBy(claim.token) });
        if (written) return written;
      }
    },
    /**
     * Judges those of these schedules that are due. Resolves with how many were judged: rows locked
     * by another process are skipped.
     */
    async advance(scheduleIds: readonly ScheduleId[], judging: Judging): Promise<number> {
      return await db.transaction().execute(async (trx) => {
        const due = await notRemoved(trx, home)
          .selectAll()
          .where(isOneOf('schedule', [...scheduleIds]))
          .where('due_at', '<=', judging.now)
          .orderBy('due_at')
          .forUpdate()
          .skipLocked()
          .execute();
        const readable = setAside.read('schedules', due, ({ schedule }) => schedule, rowOf);
        const ids = new Set(readable.map(({ scheduleId }) => scheduleId));
        await takeFromClock(
          trx,
          home,
          due.map(({ schedule }) => schedule).filter((id) => !ids.has(id)),
        );
        for (const row of readable) await judge(trx, { home, limits }, row, judging);
        return due.length;
      });
    },
    /** When something is due next. Null: nothing is. */
    async nextAt(): Promise<number | null> {
      const [schedule, due] = await Promise.all([
        notRemoved(db, home)
          .select((eb) => eb.fn.min('due_at').as('at'))
          .executeTakeFirst(),
        db
          .selectFrom('occurrences')
          .where('home', '=', home)
          .where('ended_at', 'is', null)
          .where('state', '=', 'due')
          .select((eb) => eb.fn.min('not_before').as('at'))
          .executeTakeFirst(),
      ]);
      const times = [schedule?.at, due?.at].flatMap((at) => (at === null || at === undefined ? [] : [Number(at)]));
      return times.length === 0 ? null : Math.min(...times);
    },
    /**
     * Claims the next due occurrence, so that no other process takes it. `late`: includes
     * occurrences to be caught up.
     */
    async claim(now: number, newToken: string, late: boolean): Promise<Claim | null> {
      const next = db
        .selectFrom('occurrences')
        .select(['schedule', 'due_at'])
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'due')
        .where('not_before', '<=', now)
        .$if(!late, (query) => query.where('late', '=', false))
        .orderBy('not_before')
        .orderBy('due_at')
        .limit(1)
        .forUpdate()
        .skipLocked();
      return await writeOnce({
        async write() {
          const row = await db
            .with('next', () => next)
            .updateTable('occurrences')
            .from('next')
            .set({ state: 'claimed', token: newToken, lease_until: now + limits.leaseMs })
            .where('occurrences.home', '=', home)
            .whereRef('occurrences.schedule', '=', 'next.schedule')
            .whereRef('occurrences.due_at', '=', 'next.due_at')
            .returning(['occurrences.schedule as schedule', 'occurrences.due_at as due_at', ...OF_CLAIM])
            .executeTakeFirst();
          if (!row) return null;
          const [claim] = setAside.read(
            'schedules',
            [row],
            ({ schedule, due_at }) => `${schedule} ${due_at}`,
            (each) => claimOf(each, newToken),
          );
          if (claim) return claim;
          const { schedule: scheduleId, due_at: dueAt } = row;
          await occurrence(db, { scheduleId, dueAt }).set({ state: 'crashed', ended_at: now }).execute();
          return null;
        },
        check: () => claimedBy(newToken),
      });
    },
    /**
     * Counts other open occurrences of the same schedule. `running`: those that run, and earlier
     * ones that are claimed. `before`: earlier ones that have not ended. Of two concurrent
     * occurrences only the later counts the other, so that they do not both give way.
     */
    async under({ scheduleId, dueAt }: Claim): Promise<{ readonly running: number; readonly before: number }> {
      const others = await db
        .selectFrom('occurrences')
        .select(['state', 'due_at'])
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('due_at', '<>', dueAt)
        .where('ended_at', 'is', null)
        // Runs that the schedule started by waking an agent are not its occurrences.
        .where('kind', '=', '')
        .execute();
      const isBefore = ({ due_at }: { due_at: number }) => due_at < dueAt;
      return {
        running: others.filter((one) => one.state === 'running' || (one.state === 'claimed' && isBefore(one))).length,
        before: others.filter(isBefore).length,
      };
    },
    /**
     * Puts the occurrence back to wait. `waits`: for what; left out: unchanged. False: the claim
     * does not hold any more, or the run has begun.
     */
    async putBack(claim: Claim, notBefore: number, waits?: Waits): Promise<boolean> {
      const why = waits && {
        reason: waits.reason,
        detail_json: JSON.stringify({ ...NO_DETAIL, detail: waits.detail }),
      };
      const { numUpdatedRows } = await held(claim)
        .where('state', '=', 'claimed')
        .set({ state: 'due', token: null, lease_until: null, not_before: notBefore, ...why })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /**
     * Stores a notice for the agent. It waits until it is delivered. Storing the same message again
     * changes nothing.
     */
    async leaveNotice({ scheduleId, agentId }: Claim, notice: Notice, now: number): Promise<void> {
      const isThere = contains('notice_json', JSON.stringify(notice.messageId));
      const there = await db
        .selectFrom('occurrences')
        .select('due_at')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where(isThere)
        .executeTakeFirst();
      if (there) return;
      for (let dueAt = now; ; dueAt++) {
        const { numInsertedOrUpdatedRows = 0n } = await db
          .insertInto('occurrences')
          .values({
            ...dueRow({ scheduleId, agentId, dueAt }),
            ...{ not_before: now, kind: 'script', name_json: json(notice.name), notice_json: JSON.stringify(notice) },
          })
          .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows > 0n) return;
      }
    },
    /** The agent may be free now, so occurrences that wait for it are tried immediately. */
    async hurry(agentId: AgentId, now: number): Promise<void> {
      await db
        .updateTable('occurrences')
        .set({ not_before: now })
        .where('home', '=', home)
        .where('agent_json', '=', json(agentId))
        .where('ended_at', 'is', null)
        .where('state', '=', 'due')
        .where('reason', 'in', ['agent-busy', 'concurrency'])
        .where('not_before', '>', now)
        .execute();
    },
    /** Deletes the row of this claim. It was no occurrence of its schedule and is finished. */
    async forgetHeld({ scheduleId, dueAt, token }: Claim): Promise<void> {
      await db
        .deleteFrom('occurrences')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('due_at', '=', dueAt)
        .where('token', '=', token)
        .where('ended_at', 'is', null)
        .where('kind', '<>', '')
        .execute();
    },
    /** Open occurrences of these schedules that wait for their agent, oldest first. */
    async waitingOf(
      scheduleIds: readonly ScheduleId[],
    ): Promise<(Waits & { readonly scheduleId: ScheduleId; readonly dueAt: number; readonly isNotice: boolean })[]> {
      const rows = await db
        .selectFrom('occurrences')
        .select(['schedule', 'due_at', 'reason', 'detail_json', 'notice_json'])
        .where('home', '=', home)
        .where(isOneOf('schedule', [...scheduleIds]))
        .where('ended_at', 'is', null)
        .where('state', 'in', ['due', 'claimed'])
        .where('reason', 'is not', null)
        .orderBy('due_at')
        .execute();
      return rows.map(({ schedule, due_at, reason, detail_json, notice_json }) => ({
        scheduleId: schedule,
        dueAt: due_at,
        reason: skipReasonSchema.parse(reason),
        detail: detailOf(detail_json),
        isNotice: notice_json !== null,
      }));
    },
    /**
     * The run begins. From here on no other process can begin it. False: the claim does not hold
     * any more.
     */
    begins: (claim: Claim, runId: RunId, now: number): Promise<boolean> =>
      changed(
        () =>
          held(claim)
            .where('state', '=', 'claimed')
            .set({ state: 'running', run: runId, started_at: now, lease_until: now + limits.leaseMs })
            .executeTakeFirst(),
        () => seen(claim).where('run', '=', runId).executeTakeFirst(),
      ),
    /**
     * A script begins, which has no run. From here on no other process can begin it. False: the
     * claim does not hold any more.
     */
    beginsScript: (claim: Claim, now: number): Promise<boolean> =>
      changed(
        () =>
          held(claim)
            .where('state', '=', 'claimed')
            .set({ state: 'running', lease_until: now + limits.leaseMs })
            .executeTakeFirst(),
        () => seen(claim).where('state', '=', 'running').executeTakeFirst(),
      ),
    /** Records the process group of a script. False: the claim does not hold any more. */
    async runsAs(claim: Claim, group: WrittenGroup): Promise<boolean> {
      const { numUpdatedRows } = await held(claim)
        .set({ group_json: JSON.stringify(group) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async renew(claims: readonly Claim[], now: number): Promise<void> {
      if (claims.length === 0) return;
      await db
        .updateTable('occurrences')
        .set({ lease_until: now + limits.leaseMs })
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where(
          isOneOf(
            'token',
            claims.map(({ token }) => token),
          ),
        )
        .execute();
    },
    /**
     * Writes the outcome. False: the claim does not hold any more. `removes`: removes the schedule
     * in the same transaction.
     */
    async end(
      claim: Claim,
      end: OccurrenceEnd,
      detail: Detail,
      now: number,
      { removes = false }: Pick<Ended, 'removes'> = {},
    ): Promise<boolean> {
      return await changed(
        () =>
          db.transaction().execute(async (trx) => {
            const ended = await held(claim, trx)
              .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
              .executeTakeFirst();
            if (ended.numUpdatedRows > 0n && removes === true) await takeAway(trx, home, claim.scheduleId, now);
            if (ended.numUpdatedRows > 0n && removes === 'once-over')
              await takeAwayOnceOver(trx, home, claim.scheduleId, now);
            return ended;
          }),
        () => seen(claim).where('ended_at', '=', now).where('state', '=', end.state).executeTakeFirst(),
      );
    },
    async forget(before: number): Promise<void> {
      await db.deleteFrom('occurrences').where('home', '=', home).where('ended_at', '<', before).execute();
    },
  };
}
