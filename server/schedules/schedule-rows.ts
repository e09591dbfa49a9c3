/** Schedules as rows. Each is a record of the household. */
import { sql, type Selectable } from 'kysely';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { slotAfter, type TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import type { Stamp } from '../../src/shared/domain/stamp.ts';
import { scheduleSchema, type Schedule } from '../../src/shared/protocol/schedules.ts';
import { lockNamed } from '../store/dialect.ts';
import { type Db, type HomeStore, parseText } from '../store/index.ts';
import { stampRow, stampsOf } from '../team/records/index.ts';
import type { Tables } from '../store/tables.ts';
import { agreementOf, forgetTexts, keepText, type ScriptText } from './scripts.ts';
import type { ScheduleLimits } from './settings.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';

/** A schedule with its state. */
export interface Row {
  readonly scheduleId: ScheduleId;
  readonly schedule: Schedule;
  /** Incremented with each change. */
  readonly version: number;
  readonly position: number;
  readonly judgedAt: number;
  readonly dueAt: number | null;
  readonly pausedWhy: string | null;
  /** Assigned offset in minutes, for an interval without its own. */
  readonly givenOffset: number | null;
  /** The home at which the schedule is due. Null: here. */
  readonly elsewhere: string | null;
  /** Whether this home has asked the other one to release it. */
  readonly wanted: boolean;
  /**
   * Occurrences up to this time belong to the home that released it last, in ms since the epoch.
   * Null: none has.
   */
  readonly since: number | null;
  /** Incremented when the schedule moves to another home. */
  readonly turn: number;
  /** Hash of what the person has consented to at this relay, see `scripts.ts`. Null: nothing. */
  readonly agreed: string | null;
  /** Created and last changed, in ms since the epoch. Null: not known. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
}

/** What all row modules need. */
export interface RowsDeps extends HomeStore {
  readonly limits: ScheduleLimits;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
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

/** Schedules that cannot be read are never due: the clock would stand still at them. */
export async function takeFromClock(within: Db, home: string, broken: readonly ScheduleId[]): Promise<void> {
  if (broken.length > 0)
    await within
      .updateTable('schedules')
      .set({ due_at: null })
      .where('home', '=', home)
      .where('schedule', 'in', [...broken])
      .execute();
}

export const notRemoved = (db: Db, home: string) =>
  db.selectFrom('schedules').where('home', '=', home).where('removed', '=', false);

/** Cancels the due occurrences that nobody has begun. */
export const cancelWaiting = (trx: Db, home: string, scheduleId: ScheduleId, now: number) =>
  trx
    .updateTable('occurrences')
    .set({ state: 'cancelled', ended_at: now })
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('state', '=', 'due')
    .execute();

/**
 * Removes a schedule, and cancels its due occurrences that have not begun. False: there is no such
 * schedule.
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

/** As `takeAway`, unless the schedule is due again or has another open occurrence. */
export async function takeAwayOnceOver(trx: Db, home: string, scheduleId: ScheduleId, now: number): Promise<void> {
  const again = await notRemoved(trx, home)
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

async function named(from: Db, home: string, agentId: AgentId, name: string): Promise<Row | null> {
  const row = await notRemoved(from, home)
    .selectAll()
    .where('agent_json', '=', json(agentId))
    .where('name_json', '=', json(name))
    .executeTakeFirst();
  return row ? rowOf(row) : null;
}
/**
 * Locks the row until the transaction ends, because a move or a reorder also increments the
 * version.
 */
async function versionOf(trx: Db, home: string, scheduleId: ScheduleId): Promise<number | null> {
  const row = await notRemoved(trx, home)
    .select('version')
    .where('schedule', '=', scheduleId)
    .forUpdate()
    .executeTakeFirst();
  return row?.version ?? null;
}
/** Schedules of this agent, and of all. */
async function count(
  from: Db,
  home: string,
  agentId: AgentId,
): Promise<{ readonly own: number; readonly all: number }> {
  const { own, all } = await notRemoved(from, home)
    .select((eb) => [
      eb.fn.countAll<number>().as('all'),
      eb.fn.countAll<number>().filterWhere('agent_json', '=', json(agentId)).as('own'),
    ])
    .executeTakeFirstOrThrow();
  return { own: Number(own), all: Number(all) };
}

/** Writes a schedule in the place of one with its id. */
const insert = (
  trx: Db,
  home: string,
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
        // A schedule that was removed and is set again counts as new.
        created_at: sql<
          number | null
        >`case when schedules.removed then cast(${now} as bigint) else schedules.created_at end`,
        updated_at: now,
        elsewhere: null,
        wanted: false,
        since: null,
        // A schedule that was due elsewhere moves here with this write.
        turn: sql<number>`schedules.turn + case when schedules.elsewhere is null then 0 else 1 end`,
        ...(position === null ? {} : { position }),
      })),
    )
    .execute();

export function createScheduleTable({ db, home, limits, setAside = SETS_NOTHING_ASIDE }: RowsDeps) {
  const readRows = (rows: readonly Parameters<typeof rowOf>[0][]): Row[] =>
    setAside.read('schedules', rows, ({ schedule }) => schedule, rowOf);
  const schedules = () => notRemoved(db, home);
  return {
    /** In the person's order. `agentId` left out: of all agents. */
    async all(agentId?: AgentId): Promise<Row[]> {
      const rows = await schedules()
        .selectAll()
        .$if(agentId !== undefined, (query) => query.where('agent_json', '=', json(agentId ?? '')))
        .orderBy('position')
        .orderBy('schedule')
        .execute();
      return readRows(rows);
    },
    /** Schedules that are due, oldest first. A tick of the clock reads nothing else. */
    async due(now: number): Promise<{ readonly scheduleId: ScheduleId; readonly agentId: AgentId }[]> {
      const rows = await schedules()
        .select(['schedule', 'agent_json'])
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limits.batch)
        .execute();
      const due = setAside.read(
        'schedules',
        rows,
        ({ schedule }) => schedule,
        ({ schedule, agent_json }) => ({ scheduleId: schedule, agentId: parseText(agent_json) }),
      );
      await takeFromClock(
        db,
        home,
        rows.map(({ schedule }) => schedule).filter((id) => !due.some(({ scheduleId }) => scheduleId === id)),
      );
      return due;
    },
    /** Schedules with this interval in minutes. */
    async ofInterval(minutes: number): Promise<Row[]> {
      const rows = await schedules().selectAll().execute();
      return readRows(rows).filter(({ schedule: { timing } }) => timing.kind === 'every' && timing.minutes === minutes);
    },
    async get(scheduleId: ScheduleId): Promise<Row | null> {
      const row = await schedules().selectAll().where('schedule', '=', scheduleId).executeTakeFirst();
      return row ? rowOf(row) : null;
    },
    named: (agentId: AgentId, name: string) => named(db, home, agentId, name),
    count: (agentId: AgentId) => count(db, home, agentId),
    /**
     * Writes a schedule that is due on this home. Its stamp stays null until the change is in the
     * event log. An advisory lock serialises writes, also across processes, so that the limits and
     * the names are checked reliably.
     *
     * - `position` null: the schedule exists and keeps its position. A number: it is new and counts
     *   towards the limits.
     * - `text`: of a script, accepted with this write; null: the text accepted before stays.
     * - `version`: the version that the row must have; left out: any.
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
        await lockNamed(trx, `schedules of ${home}`);
        const other = await named(trx, home, schedule.agentId, schedule.name);
        if (other && other.scheduleId !== scheduleId) return 'named';
        if (version !== undefined && (await versionOf(trx, home, scheduleId)) !== version) return 'changed-elsewhere';
        const { own, all } = position === null ? { own: 0, all: 0 } : await count(trx, home, schedule.agentId);
        if (own >= limits.perAgent || all >= limits.perHousehold) return 'full';
        await insert(trx, home, { scheduleId, schedule, now, dueAt, position, givenOffset });
        if (text) await keepText(trx, home, scheduleId, text, now);
        return 'written';
      });
    },
    async reorder(scheduleIds: readonly ScheduleId[]): Promise<void> {
      await db.transaction().execute(async (trx) => {
        for (const [position, scheduleId] of scheduleIds.entries())
          await trx
            .updateTable('schedules')
            // A schedule of another home is announced by that home.
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
    /** Cancels the due occurrences that nobody has begun, because the schedule was set again. */
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
     * Recomputes the next due times after the wall clock went back or the time zone changed.
     * `judged`: everything up to now has been judged.
     */
    async reckon(
      now: number,
      contextOf: (row: Row) => TimingContext,
      which: (row: Row) => boolean,
      judged = false,
    ): Promise<void> {
      const rows = readRows(await schedules().selectAll().execute()).filter(which);
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
    /** Changed schedules that are not in the event log yet, removed ones included. */
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
    announced: ({ scheduleId, version }: Row, stamp: Stamp) =>
      stampRow({ db, home, table: 'schedules' }, scheduleId, version, stamp),
    stamps: (scheduleIds: readonly ScheduleId[]) => stampsOf({ db, home, table: 'schedules' }, scheduleIds),
  };
}
