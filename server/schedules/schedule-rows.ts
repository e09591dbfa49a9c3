/** What is scheduled, as rows: each is a record of the household. */
import { sql, type Selectable } from 'kysely';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { slotAfter, type TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import { scheduleSchema, type Schedule } from '../../src/shared/protocol/schedules.ts';
import { parseText, type Db } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
import { agreementOf, forgetTexts, keepText, type ScriptText } from './scripts.ts';
import type { ScheduleLimits } from './settings.ts';

/** A schedule as the clock goes by it. */
export interface Row {
  readonly scheduleId: ScheduleId;
  readonly schedule: Schedule;
  /** How often it was changed. */
  readonly version: number;
  readonly position: number;
  readonly judgedAt: number;
  readonly dueAt: number | null;
  readonly pausedWhy: string | null;
  /** Minutes, of an interval without its own. */
  readonly givenOffset: number | null;
  /** The home at which it is due; null: here. */
  readonly elsewhere: string | null;
  /** That one is asked for it. */
  readonly wanted: boolean;
  /**
   * Up to here it is in the account of the home that let go of it last, ms since the epoch; null:
   * none has.
   */
  readonly since: number | null;
  /** How often it changed its home. */
  readonly turn: number;
  /** What of it the person has said yes to at this relay: see `scripts.ts`; null: nothing. */
  readonly agreed: string | null;
  /** When it was set, and changed last, ms since the epoch; null: not known. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
}

/** Where the rows stand. */
export interface RowsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly limits: ScheduleLimits;
}

export const json = (text: string): string => JSON.stringify(text);

export function rowOf(row: Selectable<Tables['schedules']>): Row {
  return {
    scheduleId: row.schedule,
    schedule: scheduleSchema.parse(JSON.parse(row.value_json)),
    version: row.version,
    position: row.position,
    judgedAt: row.judged_at,
    dueAt: row.due_at,
    pausedWhy: row.paused_why,
    givenOffset: row.given_offset,
    elsewhere: row.elsewhere,
    wanted: row.wanted,
    since: row.since,
    turn: row.turn,
    agreed: row.agreed,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export const isOn = ({ schedule, pausedWhy }: Pick<Row, 'schedule' | 'pausedWhy'>): boolean =>
  pausedWhy === null && (schedule.kind === 'reminder' || schedule.enabled);

export const standing = (db: Db, home: string) =>
  db.selectFrom('schedules').where('home', '=', home).where('removed', '=', false);

/** What is due of it, and nobody has begun with. */
export const cancelWaiting = (trx: Db, home: string, scheduleId: ScheduleId, now: number) =>
  trx
    .updateTable('occurrences')
    .set({ state: 'cancelled', ended_at: now })
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('state', '=', 'due')
    .execute();

/**
 * Takes one away; what was due of it and is not begun is cancelled with it. False: it is not there.
 */
export async function takeAway(trx: Db, home: string, scheduleId: ScheduleId, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('schedules')
    .set((eb) => ({ removed: true, due_at: null, stamp: null, version: eb('version', '+', 1) }))
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('removed', '=', false)
    .executeTakeFirst();
  await cancelWaiting(trx, home, scheduleId, now);
  await forgetTexts(trx, home, [scheduleId]);
  return numUpdatedRows > 0n;
}

/** As `takeAway`, unless it is due again, or another moment of it is not over. */
export async function takeAwayOnceOver(trx: Db, home: string, scheduleId: ScheduleId, now: number): Promise<void> {
  const again = await standing(trx, home)
    .select('due_at')
    .where('schedule', '=', scheduleId)
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  const open = await trx
    .selectFrom('occurrences')
    .select('due_at')
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('ended_at', 'is', null)
    .where('kind', '=', '')
    .limit(1)
    .executeTakeFirst();
  if (!again && !open) await takeAway(trx, home, scheduleId, now);
}

export function createScheduleTable({ db, home, limits }: RowsDeps) {
  const schedules = () => standing(db, home);
  async function named(from: Db, agentId: AgentId, name: string): Promise<Row | null> {
    const row = await standing(from, home)
      .selectAll()
      .where('agent_json', '=', json(agentId))
      .where('name_json', '=', json(name))
      .executeTakeFirst();
    return row ? rowOf(row) : null;
  }
  /** Locked until the transaction ends: a move to another relay or an order counts it on too. */
  async function versionOf(trx: Db, scheduleId: ScheduleId): Promise<number | null> {
    const row = await standing(trx, home)
      .select('version')
      .where('schedule', '=', scheduleId)
      .forUpdate()
      .executeTakeFirst();
    return row?.version ?? null;
  }
  async function count(from: Db, agentId: AgentId): Promise<{ readonly own: number; readonly all: number }> {
    const { own, all } = await standing(from, home)
      .select((eb) => [
        eb.fn.countAll<number>().as('all'),
        eb.fn.countAll<number>().filterWhere('agent_json', '=', json(agentId)).as('own'),
      ])
      .executeTakeFirstOrThrow();
    return { own: Number(own), all: Number(all) };
  }
  const insert = (
    trx: Db,
    {
      scheduleId,
      schedule,
      now,
      dueAt,
      position,
      givenOffset,
    }: Pick<Row, 'scheduleId' | 'schedule' | 'dueAt' | 'givenOffset'> & {
      readonly now: number;
      readonly position: number | null;
    },
  ) =>
    trx
      .insertInto('schedules')
      .values({
        home,
        schedule: scheduleId,
        agent_json: json(schedule.agentId),
        name_json: json(schedule.name),
        value_json: JSON.stringify(schedule),
        stamp: null,
        position: position ?? 0,
        judged_at: now,
        due_at: dueAt,
        paused_why: null,
        given_offset: givenOffset,
        agreed: agreementOf(schedule),
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict.columns(['home', 'schedule']).doUpdateSet((eb) => ({
          agent_json: json(schedule.agentId),
          name_json: json(schedule.name),
          value_json: JSON.stringify(schedule),
          stamp: null,
          version: eb('schedules.version', '+', 1),
          removed: false,
          judged_at: now,
          due_at: dueAt,
          paused_why: null,
          given_offset: givenOffset,
          agreed: agreementOf(schedule),
          // One that was taken away and is set again is new.
          created_at: sql<number | null>`case when schedules.removed then ${now}::bigint else schedules.created_at end`,
          updated_at: now,
          elsewhere: null,
          wanted: false,
          since: null,
          // One that was due elsewhere changes its home with this.
          turn: sql<number>`schedules.turn + case when schedules.elsewhere is null then 0 else 1 end`,
          ...(position === null ? {} : { position }),
        })),
      )
      .execute();
  return {
    /** In the person's order; left out: of everybody. */
    async all(agentId?: AgentId): Promise<Row[]> {
      const rows = await schedules()
        .selectAll()
        .$if(agentId !== undefined, (query) => query.where('agent_json', '=', json(agentId ?? '')))
        .orderBy('position')
        .orderBy('schedule')
        .execute();
      return rows.map(rowOf);
    },
    /** What is due by now, the oldest first: only this is read at a look. */
    async due(now: number): Promise<{ readonly scheduleId: ScheduleId; readonly agentId: AgentId }[]> {
      const rows = await schedules()
        .select(['schedule', 'agent_json'])
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limits.batch)
        .execute();
      return rows.map(({ schedule, agent_json }) => ({ scheduleId: schedule, agentId: parseText(agent_json) }));
    },
    /** Those that are due each so many minutes. */
    async ofInterval(minutes: number): Promise<Row[]> {
      const rows = await schedules().selectAll().execute();
      return rows
        .map(rowOf)
        .filter(({ schedule: { timing } }) => timing.kind === 'every' && timing.minutes === minutes);
    },
    async get(scheduleId: ScheduleId): Promise<Row | null> {
      const row = await schedules().selectAll().where('schedule', '=', scheduleId).executeTakeFirst();
      return row ? rowOf(row) : null;
    },
    named: (agentId: AgentId, name: string) => named(db, agentId, name),
    count: (agentId: AgentId) => count(db, agentId),
    /**
     * Writes one, due from now on. It has no stamp until its change is in the event log. `position`
     * null: it is there, and keeps its own; another counts among those there may be. One after the
     * other, also of several processes: each would find the last room, or the name, free. `text`:
     * of a script, accepted with this; null: what was accepted before stays. `version`: at which it
     * must be still; left out: at any.
     */
    async write(
      scheduleId: ScheduleId,
      schedule: Schedule,
      now: number,
      dueAt: number | null,
      position: number | null,
      givenOffset: number | null = null,
      text: ScriptText | null = null,
      version?: number,
    ): Promise<'written' | 'full' | 'named' | 'changed-elsewhere'> {
      return await db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${`schedules of ${home}`}, 0))`.execute(trx);
        const other = await named(trx, schedule.agentId, schedule.name);
        if (other && other.scheduleId !== scheduleId) return 'named';
        if (version !== undefined && (await versionOf(trx, scheduleId)) !== version) return 'changed-elsewhere';
        const { own, all } = position === null ? { own: 0, all: 0 } : await count(trx, schedule.agentId);
        if (own >= limits.perAgent || all >= limits.perHousehold) return 'full';
        await insert(trx, { scheduleId, schedule, now, dueAt, position, givenOffset });
        if (text) await keepText(trx, home, scheduleId, text, now);
        return 'written';
      });
    },
    async reorder(scheduleIds: readonly ScheduleId[]): Promise<void> {
      await db.transaction().execute(async (trx) => {
        for (const [position, scheduleId] of scheduleIds.entries())
          await trx
            .updateTable('schedules')
            // What is due elsewhere is told from there.
            .set((eb) => ({
              position,
              stamp: sql<string | null>`case when elsewhere is null then null else stamp end`,
              version: eb('version', '+', 1),
            }))
            .where('home', '=', home)
            .where('schedule', '=', scheduleId)
            .where('position', '<>', position)
            .execute();
      });
    },
    /** As `takeAway`. */
    async remove(scheduleId: ScheduleId, now: number): Promise<boolean> {
      return await db.transaction().execute((trx) => takeAway(trx, home, scheduleId, now));
    },
    /** Calls off what is due of it and nobody has begun with: it was set anew. */
    async cancelDue(scheduleId: ScheduleId, now: number): Promise<void> {
      await cancelWaiting(db, home, scheduleId, now);
    },
    async pause(scheduleId: ScheduleId, why: string): Promise<void> {
      await db
        .updateTable('schedules')
        .set({ paused_why: why, due_at: null })
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .execute();
    },
    /**
     * Computes anew when each is due next: after a clock that went back, or a change of the
     * household's zone. `judged`: up to now everything is.
     */
    async reckon(
      now: number,
      contextOf: (row: Row) => TimingContext,
      which: (row: Row) => boolean,
      judged = false,
    ): Promise<void> {
      const rows = (await schedules().selectAll().execute()).map(rowOf).filter(which);
      for (const row of rows)
        await db
          .updateTable('schedules')
          .set({
            judged_at: judged ? now : Math.min(row.judgedAt, now),
            due_at: isOn(row) ? slotAfter(row.schedule.timing, now, contextOf(row)) : null,
          })
          .where('home', '=', home)
          .where('schedule', '=', row.scheduleId)
          .execute();
    },
    /** As records: those that were changed and are not in the event log yet. */
    async unannounced(most: number): Promise<(Row & { readonly removed: boolean })[]> {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .where('home', '=', home)
        .where('stamp', 'is', null)
        .orderBy('schedule')
        .limit(most)
        .execute();
      return rows.map((row) => ({ ...rowOf(row), removed: row.removed }));
    },
    async announced({ scheduleId, version }: Row, stamp: string): Promise<void> {
      await db
        .updateTable('schedules')
        .set({ stamp })
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('stamp', 'is', null)
        .where('version', '=', version)
        .execute();
    },
    async stamps(scheduleIds: readonly ScheduleId[]): Promise<ReadonlyMap<string, string | null>> {
      const rows = await db
        .selectFrom('schedules')
        .select(['schedule', 'stamp'])
        .where('home', '=', home)
        .where('schedule', '=', sql<string>`any(${[...scheduleIds]}::text[])`)
        .execute();
      return new Map(rows.map(({ schedule, stamp }) => [schedule, stamp]));
    },
  };
}
