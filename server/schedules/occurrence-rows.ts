/** Moments at which something was due, as rows: each gets one, is claimed by one relay, and comes to one end. */
import { sql, type Selectable } from 'kysely';
import type { AgentId, RunId, ScheduleId } from '../../src/domain/ids.ts';
import type { OccurrenceEnd } from '../../src/domain/schedule/occurrence.ts';
import { parseText, type Db } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
import { groupSchema, type WrittenGroup } from './groups.ts';
import type { Detail } from './history.ts';
import { judge, type Judging } from './judge.ts';
import { json, rowOf, standing, type Row, type RowsDeps } from './schedule-rows.ts';

/** A moment that somebody has begun with, and may end. */
export interface Claim {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly dueAt: number;
  readonly late: boolean;
  readonly token: string;
}

/** A script that was under way when its relay died. `group` null: in a sandbox, which dies with its relay, or not begun. */
export interface LeftScript {
  readonly claim: Claim;
  readonly group: WrittenGroup | null;
}

export interface Ended {
  readonly end: OccurrenceEnd;
  readonly detail: Detail;
}

const CLAIMED = ['schedule', 'due_at', 'agent_json', 'late'] as const;
const claimOf = (row: Pick<Selectable<Tables['occurrences']>, (typeof CLAIMED)[number]>, token: string): Claim => ({
  scheduleId: row.schedule,
  agentId: parseText(row.agent_json),
  dueAt: row.due_at,
  late: row.late,
  token,
});

// In one piece: the statements on one table, whose leases and outcomes hold together.
export function createOccurrences({ db, home, limits }: RowsDeps) {
  const occurrence = (from: Db, { scheduleId, dueAt }: Pick<Claim, 'scheduleId' | 'dueAt'>) =>
    from
      .updateTable('occurrences')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', dueAt);
  /** Held by this claim still, and not ended. */
  const held = (claim: Claim) => occurrence(db, claim).where('token', '=', claim.token).where('ended_at', 'is', null);

  return {
    /** One moment more, which the person or the agent asks for. Null: it has one at this very moment. */
    async trigger({ scheduleId, schedule }: Row, now: number): Promise<void> {
      await db
        .insertInto('occurrences')
        .values({
          home,
          schedule: scheduleId,
          agent_json: json(schedule.agentId),
          due_at: now,
          state: 'due',
          reason: null,
          not_before: now,
          token: null,
          lease_until: null,
          run: null,
          started_at: null,
          ended_at: null,
          detail_json: null,
        })
        .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
        .execute();
    },
    /** A run that nobody had scheduled, claimed as it begins; under the first moment from `now` on that is free. */
    async woken(claim: Omit<Claim, 'dueAt' | 'late'>, name: string, now: number): Promise<Claim> {
      for (let dueAt = now; ; dueAt++) {
        const { numInsertedOrUpdatedRows = 0n } = await db
          .insertInto('occurrences')
          .values({
            home,
            schedule: claim.scheduleId,
            agent_json: json(claim.agentId),
            due_at: dueAt,
            state: 'claimed',
            reason: null,
            not_before: dueAt,
            token: claim.token,
            lease_until: now + limits.leaseMs,
            run: null,
            started_at: null,
            ended_at: null,
            detail_json: null,
            kind: 'wake',
            name_json: json(name),
          })
          .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows > 0n) return { ...claim, dueAt, late: false };
      }
    },
    /** Judges what is due by now of these. Resolves with how many there were that nobody else judges at this moment. */
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
    /** Begins with the next that is due, and nobody else has it then. `late`: also with what is made up for. */
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
      const row = await db
        .with('next', () => next)
        .updateTable('occurrences')
        .from('next')
        .set({ state: 'claimed', token: newToken, lease_until: now + limits.leaseMs })
        .where('occurrences.home', '=', home)
        .whereRef('occurrences.schedule', '=', 'next.schedule')
        .whereRef('occurrences.due_at', '=', 'next.due_at')
        .returning(['occurrences.schedule as schedule', 'occurrences.due_at as due_at', 'agent_json', 'late'])
        .executeTakeFirst();
      return row ? claimOf(row, newToken) : null;
    },
    /** Others of it that somebody has begun with. */
    async under({ scheduleId, dueAt }: Claim): Promise<number> {
      const { count } = await db
        .selectFrom('occurrences')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('due_at', '<>', dueAt)
        .where('ended_at', 'is', null)
        .where('state', '<>', 'due')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    /** It waits once more. False: the claim holds no longer. */
    async putBack(claim: Claim, notBefore: number): Promise<boolean> {
      const { numUpdatedRows } = await held(claim)
        .set({ state: 'due', token: null, lease_until: null, not_before: notBefore })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Its run begins: from here on nobody begins with it again. False: the claim holds no longer. */
    async begins(claim: Claim, runId: RunId, now: number): Promise<boolean> {
      const { numUpdatedRows } = await held(claim)
        .where('state', '=', 'claimed')
        .set({ state: 'running', run: runId, started_at: now, lease_until: now + limits.leaseMs })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** A script begins, which is no run: from here on nobody begins with it again. False: the claim holds no longer. */
    async beginsScript(claim: Claim, now: number): Promise<boolean> {
      const { numUpdatedRows } = await held(claim)
        .where('state', '=', 'claimed')
        .set({ state: 'running', lease_until: now + limits.leaseMs })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Writes down by which processes a script is run. False: the claim holds no longer. */
    async runsAs(claim: Claim, group: WrittenGroup): Promise<boolean> {
      const { numUpdatedRows } = await held(claim)
        .set({ group_json: JSON.stringify(group) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Scripts of those who are dead, each under a claim of one's own by now: who takes them on may end them. `all` and `mine` as with `dead`. */
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
    /** Its one end. False: it is not this claim's to end. */
    async end(claim: Claim, end: OccurrenceEnd, detail: Detail, now: number): Promise<boolean> {
      const { numUpdatedRows } = await held(claim)
        .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Runs of those who are dead. `all`: nobody else can have this store; `mine`: tokens of claims that are held here. */
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
     * Ends what somebody had begun who is dead, and gives back what nobody had: it is judged anew, by what time it is now.
     * `all` and `mine` as with `dead`; `ends`: how runs ended of which that is known, by their ids.
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
        // Who was woken and had not begun is not woken again: its message waits.
        await dead
          .where('state', '=', 'claimed')
          .where('kind', '=', 'wake')
          .set({ state: 'crashed', ended_at: now, lease_until: null })
          .execute();
        await dead.where('state', '=', 'claimed').set({ state: 'due', token: null, lease_until: null }).execute();
        // What nobody had begun with is made up for with what came meanwhile, or is missed.
        const late = await trx
          .updateTable('occurrences')
          .set({ late: true })
          .where('home', '=', home)
          .where('state', '=', 'due')
          .where('due_at', '<', now - limits.catchUp.onTimeMs)
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
    async forget(before: number): Promise<void> {
      await db.deleteFrom('occurrences').where('home', '=', home).where('ended_at', '<', before).execute();
    },
  };
}
