/**
 * Moments at which something was due, as rows: each gets one, is claimed by one relay, and comes to
 * one end.
 */
import { sql, type Selectable } from 'kysely';
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
import { idOf } from '../../src/shared/protocol/ids.ts';
import { parseText, writeOnce, type Db } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
import { groupSchema, type WrittenGroup } from '../platform/processes/proc.ts';
import { detailOf, NO_DETAIL, skipReasonSchema, type Detail } from './history.ts';
import { json, rowOf, standing, takeAway, takeAwayOnceOver, type Row, type RowsDeps, isOn } from './schedule-rows.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';

/* What has come gets its rows: each moment of a schedule one, with what is to become of it. */

interface Judging {
  readonly now: number;
  readonly stops: readonly PlannedStop[];
  contextOf(row: Row): TimingContext;
  /** Whether this moment passes by in the dark. */
  isDark(row: Row, at: number): boolean;
}

const catchUpOf = (schedule: Schedule) =>
  // A reminder is late by the relay's absence at most.
  schedule.kind === 'routine' ? schedule.catch_up : 'once';

/** Gives every moment up to now its row, and says when the next one is. */
async function judge(
  trx: Db,
  { home, limits }: Pick<RowsDeps, 'home' | 'limits'>,
  row: Row,
  { now, stops, contextOf, isDark }: Judging,
): Promise<void> {
  const { scheduleId, schedule } = row;
  // A clock that went back: moments that were judged already have their rows, and are not judged
  // again.
  const from = Math.min(row.judgedAt, now);
  const context = contextOf(row);
  let fresh: readonly number[];
  let older: boolean;
  let next: number | null;
  try {
    ({ slots: fresh, older } = newestSlots(schedule.timing, from, now, context, limits.rowsAfterAbsence));
    next = isOn(row) ? slotAfter(schedule.timing, now, context) : null;
  } catch (error) {
    // A zone, or a text, that this machine does not know: it holds up no other.
    await trx
      .updateTable('schedules')
      .set({ due_at: null, paused_why: `When it is due cannot be told here: ${String(error)}` })
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .execute();
    return;
  }
  // What an earlier process left waiting is made up for together with what came meanwhile.
  const waiting = await trx
    .selectFrom('occurrences')
    .select('due_at')
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('state', '=', 'due')
    .where('late', '=', true)
    // What waits for its agent was judged when it was due.
    .where('reason', 'is', null)
    .where('kind', '=', '')
    .forUpdate()
    .execute();
  const known = new Set(waiting.map(({ due_at }) => due_at));
  const slots = [...new Set([...known, ...fresh])].sort((a, b) => a - b);
  // What is due once is late by the absence, and comes all the same.
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

/*
 * What somebody had begun with who is dead: a relay that was killed, or hung until its lease was
 * over.
 */

export function createLeftRows({ db, home, limits }: RowsDeps) {
  return {
    /**
     * Scripts of those who are dead, each under a claim of one's own by now: who takes them on may
     * end them. `all` and `mine` as with `dead`.
     */
    async takeOver(now: number, all: boolean, mine: readonly string[], newToken: string): Promise<LeftScript[]> {
      const rows = await db
        .updateTable('occurrences')
        .set({ token: newToken, lease_until: now + limits.leaseMs })
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where('run', 'is', null)
        .where(sql<boolean>`token <> all(${[...mine]}::text[])`)
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .returning([...CLAIMED, 'group_json'])
        .execute();
      return rows.map(({ group_json, ...row }) => ({
        claim: claimOf(row, newToken),
        group: group_json === null ? null : groupSchema.parse(JSON.parse(group_json)),
      }));
    },
    /**
     * Runs of those who are dead. `all`: nobody else can have this store; `mine`: tokens of claims
     * that are held here.
     */
    async dead(now: number, all: boolean, mine: readonly string[]): Promise<string[]> {
      const found = await db
        .selectFrom('occurrences')
        .select('run')
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where(sql<boolean>`token <> all(${[...mine]}::text[])`)
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .execute();
      return found.flatMap(({ run }) => run ?? []);
    },
    /**
     * Ends what somebody had begun who is dead, and gives back what nobody had: it is judged anew,
     * by what time it is now. `all` and `mine` as with `dead`; `ends`: how runs ended of which that
     * is known, by their ids.
     */
    async recover(now: number, all: boolean, mine: readonly string[], ends: ReadonlyMap<string, Ended>): Promise<void> {
      await db.transaction().execute(async (trx) => {
        const dead = trx
          .updateTable('occurrences')
          .where('home', '=', home)
          .where('ended_at', 'is', null)
          .where(sql<boolean>`(token is null or token <> all(${[...mine]}::text[]))`)
          .$if(!all, (query) => query.where('lease_until', '<', now));
        for (const [run, { end, detail }] of ends)
          await dead
            .where('state', '=', 'running')
            .where('run', '=', run)
            .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
            .execute();
        await dead.where('state', '=', 'running').set({ state: 'crashed', ended_at: now, lease_until: null }).execute();
        // Who was woken and had not begun is woken anew where its message still waits: see
        // server/agents/reach.
        await dead
          .where('state', '=', 'claimed')
          .where('kind', '<>', '')
          .where('notice_json', 'is', null)
          .set({ state: 'crashed', ended_at: now, lease_until: null })
          .execute();
        await dead.where('state', '=', 'claimed').set({ state: 'due', token: null, lease_until: null }).execute();
        // What nobody had begun with is made up for with what came meanwhile, or is missed; what
        // waits for an earlier run of its own was looked at a moment ago.
        const late = await trx
          .updateTable('occurrences')
          .set({ late: true })
          .where('home', '=', home)
          .where('state', '=', 'due')
          // What waits for its agent was judged when it was due, and the news that a script failed
          // is no moment at all.
          .where('kind', '=', '')
          .where('reason', 'is', null)
          .where('not_before', '<', now - limits.catchUp.onTimeMs)
          .returning('schedule')
          .execute();
        await trx
          .updateTable('schedules')
          .set({ due_at: now })
          .where('home', '=', home)
          .where('schedule', '=', sql<string>`any(${late.map(({ schedule }) => schedule)}::text[])`)
          .where('removed', '=', false)
          .execute();
      });
    },
  };
}

/** A moment that somebody has begun with, and may end. */
export interface Claim {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly dueAt: number;
  readonly late: boolean;
  readonly token: string;
  /** It could not run before, and waited. */
  readonly waited?: boolean;
  /** It is no moment of its schedule: its agent is to hear that its script failed. */
  readonly notice?: Notice | null;
}

/**
 * That a script failed: the message for its agent, which is to be woken for it. `status`: how the
 * script ended.
 */
const noticeSchema = z.object({
  messageId: idOf<MessageId>(z.string()),
  name: z.string(),
  status: z.string(),
  text: z.string(),
});
export type Notice = z.infer<typeof noticeSchema>;

/** Why something due waits; `detail`: a sentence for people. */
export interface Waits {
  readonly reason: SkipReason;
  readonly detail: string | null;
}

/**
 * A script that was under way when its relay died. `group` null: in a sandbox, which dies with its
 * relay, or not begun.
 */
export interface LeftScript {
  readonly claim: Claim;
  readonly group: WrittenGroup | null;
}

export interface Ended {
  readonly end: OccurrenceEnd;
  readonly detail: Detail;
  /**
   * It is not to come again: it goes with this end, whenever the relay is killed. `once-over`:
   * unless it was set anew meanwhile.
   */
  readonly removes?: boolean | 'once-over';
}

const OF_CLAIM = ['agent_json', 'late', 'reason', 'notice_json'] as const;
export const CLAIMED = ['schedule', 'due_at', ...OF_CLAIM] as const;
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

export function createOccurrences({ db, home, limits }: RowsDeps) {
  const occurrence = (from: Db, { scheduleId, dueAt }: Pick<Claim, 'scheduleId' | 'dueAt'>) =>
    from
      .updateTable('occurrences')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', dueAt);
  /** Held by this claim still, and not ended. */
  const held = (claim: Claim, from = db) =>
    occurrence(from, claim).where('token', '=', claim.token).where('ended_at', 'is', null);

  /** A moment that nobody has begun with. */
  const dueRow = ({ scheduleId, agentId, dueAt }: Pick<Claim, 'scheduleId' | 'agentId' | 'dueAt'>) => ({
    ...{ home, schedule: scheduleId, agent_json: json(agentId), due_at: dueAt, not_before: dueAt, state: 'due' },
    ...{ reason: null, token: null, lease_until: null, run: null },
    ...{ started_at: null, ended_at: null, detail_json: null },
  });

  /** What a claim with this token has taken. */
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
   * `change` of what this claim holds, once; `made`: how it is seen that it was. False: the claim
   * holds no longer.
   */
  const changed = async (change: () => Promise<{ readonly numUpdatedRows: bigint }>, made: () => Promise<unknown>) =>
    (await writeOnce({
      write: async () => (await change()).numUpdatedRows > 0n || null,
      look: async () => (await made()) !== undefined || null,
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
     * One moment more, which the person or the agent asks for. Null: it has one at this very
     * moment.
     */
    async trigger({ scheduleId, schedule }: Row, now: number): Promise<void> {
      await db
        .insertInto('occurrences')
        .values(dueRow({ scheduleId, agentId: schedule.agentId, dueAt: now }))
        .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
        .execute();
    },
    /**
     * A run that nobody had scheduled, claimed as it begins; under the first moment from `now` on
     * that is free.
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
        const written = await writeOnce({ write: () => writeAt(dueAt), look: () => claimedBy(claim.token) });
        if (written) return written;
      }
    },
    /**
     * Judges what is due by now of these. Resolves with how many there were that nobody else judges
     * at this moment.
     */
    async advance(scheduleIds: readonly ScheduleId[], judging: Judging): Promise<number> {
      return await db.transaction().execute(async (trx) => {
        const due = await standing(trx, home)
          .selectAll()
          .where('schedule', '=', sql<string>`any(${[...scheduleIds]}::text[])`)
          .where('due_at', '<=', judging.now)
          .orderBy('due_at')
          .forUpdate()
          .skipLocked()
          .execute();
        for (const row of due) await judge(trx, { home, limits }, rowOf(row), judging);
        return due.length;
      });
    },
    /** When something is to be done next; null: nothing is. */
    async nextAt(): Promise<number | null> {
      const [schedule, due] = await Promise.all([
        standing(db, home)
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
     * Begins with the next that is due, and nobody else has it then. `late`: also with what is made
     * up for.
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
          return row ? claimOf(row, newToken) : null;
        },
        look: () => claimedBy(newToken),
      });
    },
    /**
     * Others of it that are under way, and earlier ones that have no end yet: those, and one that
     * waits for them. Of two that come at once the later counts the earlier, and not the other way
     * round: else both would give way.
     */
    async under({ scheduleId, dueAt }: Claim): Promise<{ readonly running: number; readonly before: number }> {
      const others = await db
        .selectFrom('occurrences')
        .select(['state', 'due_at'])
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('due_at', '<>', dueAt)
        .where('ended_at', 'is', null)
        // The run for which it woke somebody is none of its moments.
        .where('kind', '=', '')
        .execute();
      const isBefore = ({ due_at }: { due_at: number }) => due_at < dueAt;
      return {
        running: others.filter((one) => one.state === 'running' || (one.state === 'claimed' && isBefore(one))).length,
        before: others.filter(isBefore).length,
      };
    },
    /**
     * It waits once more. `waits`: for what; left out: as before. False: the claim holds no longer,
     * or something has begun.
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
     * Its agent is to hear of it, from now on and however long that waits. A repeat with the same
     * message changes nothing.
     */
    async leaveNotice({ scheduleId, agentId }: Claim, notice: Notice, now: number): Promise<void> {
      const isThere = sql<boolean>`notice_json is not null and strpos(notice_json, ${JSON.stringify(notice.messageId)}) > 0`;
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
    /** This agent may be free now: what waits for that looks at once. */
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
    /** Leaves no trace of what this claim holds: it was no moment of its own, and is done with. */
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
    /** What is due of these and waits for its agent, the oldest first. */
    async waitingOf(
      scheduleIds: readonly ScheduleId[],
    ): Promise<(Waits & { readonly scheduleId: ScheduleId; readonly dueAt: number; readonly isNotice: boolean })[]> {
      const rows = await db
        .selectFrom('occurrences')
        .select(['schedule', 'due_at', 'reason', 'detail_json', 'notice_json'])
        .where('home', '=', home)
        .where('schedule', '=', sql<string>`any(${[...scheduleIds]}::text[])`)
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
     * Its run begins: from here on nobody begins with it again. False: the claim holds no longer.
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
     * A script begins, which is no run: from here on nobody begins with it again. False: the claim
     * holds no longer.
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
    /** Writes down by which processes a script is run. False: the claim holds no longer. */
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
        .where('token', '=', sql<string>`any(${claims.map(({ token }) => token)}::text[])`)
        .execute();
    },
    /**
     * Its one end. False: it is not this claim's to end. `removes`: what was due goes with it, in
     * the same moment.
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
