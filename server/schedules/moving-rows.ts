/**
 * At which home of the household something is due: at one, whatever devices know of it. One home
 * has it; another may ask, and has it only once the first has let go. What a page gives here that
 * is due elsewhere is kept, and is not due here.
 */
import { sql } from 'kysely';
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import { slotAfter, type TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import { WAITS_FOR_YES, type Schedule } from '../../src/shared/protocol/schedules.ts';
import { agreementOf, isAgreed } from './scripts.ts';
import { cancelWaiting, isOn, json, rowOf, type Row, type RowsDeps } from './schedule-rows.ts';

/** Why it is not due here, for people. */
export const ELSEWHERE = 'It is due at another relay of this household, and so not here.';

interface Given {
  readonly scheduleId: ScheduleId;
  readonly schedule: Schedule;
  readonly turn: number;
  readonly since: number | null;
  readonly position: number;
  /** The stamp of what is given: what is here and newer stays. */
  readonly at: string;
  /** ms since the epoch; null: not known. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
}

export function createMovingRows({ db, home }: Pick<RowsDeps, 'db' | 'home'>) {
  const valuesOf = ({ schedule, createdAt, updatedAt }: Pick<Given, 'schedule' | 'createdAt' | 'updatedAt'>) => ({
    agent_json: json(schedule.agentId),
    name_json: json(schedule.name),
    value_json: JSON.stringify(schedule),
    created_at: createdAt,
    updated_at: updatedAt,
  });
  /**
   * What it waits for before it is due here; null: nothing, the person has said yes to all of it.
   */
  async function waitsFor(scheduleId: ScheduleId, schedule: Schedule): Promise<string | null> {
    const row = await db
      .selectFrom('schedules')
      .select('agreed')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .executeTakeFirst();
    return isAgreed(row?.agreed ?? null, schedule) ? null : WAITS_FOR_YES;
  }
  const older = (at: string) => sql<boolean>`schedules.stamp collate "C" < ${at}`;

  return {
    /**
     * Takes one that is due here, or is gone. It is off until the person has said yes to it.
     * `false`: what is here is newer.
     */
    async restore(
      given: Given,
      removed: boolean,
      now: number,
      next: { readonly dueAt: number | null; readonly givenOffset: number | null },
    ): Promise<'taken' | 'asked' | false> {
      const { scheduleId, schedule, at, turn, position } = given;
      const waits = removed ? null : await waitsFor(scheduleId, schedule);
      const values = {
        ...valuesOf(given),
        stamp: at,
        removed,
        position,
        judged_at: now,
        due_at: removed || waits !== null ? null : next.dueAt,
        paused_why: waits,
        given_offset: next.givenOffset,
        elsewhere: null,
        wanted: false,
        since: null,
        turn,
      };
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('schedules')
        .values({ home, schedule: scheduleId, ...values })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'schedule'])
            .doUpdateSet((eb) => ({ ...values, version: eb('schedules.version', '+', 1) }))
            // One that was changed and not told has no stamp, and is newer than anything.
            .where(older(at)),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n && (waits === null ? 'taken' : 'asked');
    },
    /**
     * Keeps one that is due at another home. Where it was due here, a newer version says so, and
     * what waits of it is called off.
     */
    async keepAway(given: Given, to: string, asked: boolean, now: number): Promise<boolean> {
      const { scheduleId, at, turn, since, position } = given;
      return await db.transaction().execute(async (trx) => {
        const values = {
          ...valuesOf(given),
          stamp: at,
          removed: false,
          due_at: null,
          paused_why: ELSEWHERE,
          elsewhere: to,
          since,
          turn,
        };
        const { numInsertedOrUpdatedRows = 0n } = await trx
          .insertInto('schedules')
          .values({ home, schedule: scheduleId, position, judged_at: now, ...values, wanted: asked })
          .onConflict((conflict) =>
            conflict
              .columns(['home', 'schedule'])
              .doUpdateSet((eb) => ({
                ...values,
                version: eb('schedules.version', '+', 1),
                // What was asked for is asked for again where somebody has changed it meanwhile.
                wanted: sql<boolean>`${asked} or schedules.wanted`,
                stamp: sql<string | null>`case when schedules.wanted and not ${asked} then null else ${at} end`,
              }))
              .where(older(at)),
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows > 0n) await cancelWaiting(trx, home, scheduleId, now);
        return numInsertedOrUpdatedRows > 0n;
      });
    },
    /**
     * Lets go of one that is due here: it is due at `to` from now on, once that one hears of it.
     * False: what is here is newer, or something of it is due or goes on, and it is asked again.
     */
    async letGo({ scheduleId, at }: Pick<Given, 'scheduleId' | 'at'>, to: string, now: number): Promise<boolean> {
      return await db.transaction().execute(async (trx) => {
        // Whoever judges what is due of it locks it as well.
        const row = await trx
          .selectFrom('schedules')
          .selectAll()
          .where('home', '=', home)
          .where('schedule', '=', scheduleId)
          .where('elsewhere', 'is', null)
          .where('removed', '=', false)
          .where(older(at))
          .forUpdate()
          .executeTakeFirst();
        if (!row || (row.due_at !== null && row.due_at <= now)) return false;
        const open = await trx
          .selectFrom('occurrences')
          .select('due_at')
          .where('home', '=', home)
          .where('schedule', '=', scheduleId)
          .where('ended_at', 'is', null)
          .limit(1)
          .execute();
        if (open.length > 0) return false;
        await trx
          .updateTable('schedules')
          .set((eb) => ({
            stamp: null,
            version: eb('version', '+', 1),
            due_at: null,
            paused_why: ELSEWHERE,
            elsewhere: to,
            wanted: false,
            since: now,
            turn: eb('turn', '+', 1),
          }))
          .where('home', '=', home)
          .where('schedule', '=', scheduleId)
          .execute();
        return true;
      });
    },
    /**
     * The home that had it has let go: it is due here, once the person has said yes to it, and
     * moments since then are of this account. `false`: it has been here since, or was not kept
     * away.
     */
    async arrive(
      given: Given,
      now: number,
      contextOf: (row: { readonly givenOffset: number | null }) => TimingContext,
      givenOffset: number | null,
    ): Promise<'taken' | 'asked' | false> {
      const { scheduleId, schedule, at, turn, since } = given;
      const waits = await waitsFor(scheduleId, schedule);
      const { numUpdatedRows } = await db
        .updateTable('schedules')
        .set((eb) => ({
          ...valuesOf(given),
          stamp: at,
          version: eb('version', '+', 1),
          judged_at: since ?? now,
          due_at: isOn({ schedule, pausedWhy: waits })
            ? slotAfter(schedule.timing, since ?? now, contextOf({ givenOffset }))
            : null,
          paused_why: waits,
          given_offset: givenOffset,
          elsewhere: null,
          wanted: false,
          since: null,
          turn,
        }))
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('elsewhere', 'is not', null)
        .where('turn', '<', turn)
        .executeTakeFirst();
      return numUpdatedRows > 0n && (waits === null ? 'taken' : 'asked');
    },
    /**
     * The person says that the home which had it is gone: it is here, and off until they have said
     * yes to it.
     */
    async bringHere(scheduleId: ScheduleId, now: number): Promise<void> {
      await db
        .updateTable('schedules')
        .set((eb) => ({
          ...{ stamp: null, judged_at: now, due_at: null, paused_why: WAITS_FOR_YES },
          ...{ elsewhere: null, wanted: false, since: null },
          version: eb('version', '+', 1),
          turn: eb('turn', '+', 1),
        }))
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('removed', '=', false)
        .where('elsewhere', 'is not', null)
        .execute();
    },
    /**
     * The person has said yes to it as it is. False: it is another by now, or waits for nothing.
     */
    async agree(
      { scheduleId, schedule, version }: Pick<Row, 'scheduleId' | 'schedule' | 'version'>,
      now: number,
      next: { readonly dueAt: number | null; readonly givenOffset: number | null },
    ): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('schedules')
        .set((eb) => ({
          ...{ agreed: agreementOf(schedule), paused_why: null, judged_at: now },
          ...{ due_at: next.dueAt, given_offset: next.givenOffset },
          version: eb('version', '+', 1),
        }))
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('removed', '=', false)
        .where('elsewhere', 'is', null)
        .where('paused_why', '=', WAITS_FOR_YES)
        .where('version', '=', version)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /**
     * Asks the home that has it to let go. It is told in the event log, from which pages take it
     * there.
     */
    async ask(scheduleId: ScheduleId): Promise<void> {
      await db
        .updateTable('schedules')
        .set((eb) => ({ wanted: true, stamp: null, version: eb('version', '+', 1) }))
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('removed', '=', false)
        .where('elsewhere', 'is not', null)
        .execute();
    },
    /** Told anew, what is here is newer than what was given. */
    async tellAgain(scheduleId: ScheduleId): Promise<void> {
      await db
        .updateTable('schedules')
        .set((eb) => ({ stamp: null, version: eb('version', '+', 1) }))
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .execute();
    },
    /** Those that are due elsewhere. */
    async away() {
      const rows = await db
        .selectFrom('schedules')
        .selectAll()
        .where('home', '=', home)
        .where('removed', '=', false)
        .where('elsewhere', 'is not', null)
        .execute();
      return rows.map(rowOf);
    },
  };
}
