/**
 * Moves of schedules between the homes of a household. A schedule is due at exactly one home,
 * whatever the devices know. Another home may ask for it, and gets it only after the first has
 * released it. A schedule of another home is stored here, but is not due here.
 */
import type { HomeStore } from '../store/index.ts';
import { sql } from 'kysely';
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import { slotAfter, type TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import { WAITS_FOR_YES, type Schedule } from '../../src/shared/protocol/schedules.ts';
import { isAgreed } from './scripts.ts';
import { cancelWaiting, isOn, json } from './schedule-rows.ts';
import { isBefore } from '../store/dialect.ts';

/** Why the schedule is not due here, for people. */
export const ELSEWHERE = 'The schedule is due at another relay of this household, and not here.';

interface Given {
  readonly scheduleId: ScheduleId;
  readonly schedule: Schedule;
  readonly turn: number;
  readonly since: number | null;
  readonly position: number;
  /** Stamp of the given version. A newer version here stays. */
  readonly at: string;
  /** In ms since the epoch. Null: not known. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
}

export function createMovingRows({ db, home }: HomeStore) {
  const valuesOf = ({ schedule, createdAt, updatedAt }: Pick<Given, 'schedule' | 'createdAt' | 'updatedAt'>) => ({
    agent_json: json(schedule.agentId),
    name_json: json(schedule.name),
    value_json: JSON.stringify(schedule),
    created_at: createdAt,
    updated_at: updatedAt,
  });
  /** Why the schedule is not due here yet. Null: the person has consented to all of it. */
  async function waitsFor(scheduleId: ScheduleId, schedule: Schedule): Promise<string | null> {
    const row = await db
      .selectFrom('schedules')
      .select('agreed')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .executeTakeFirst();
    return isAgreed(row?.agreed ?? null, schedule) ? null : WAITS_FOR_YES;
  }
  const older = (at: string) => isBefore('schedules.stamp', at);

  return {
    /**
     * Stores a schedule that is due here, or that was removed. It stays off until the person has
     * consented to it. `false`: the version here is newer.
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
            // A row that was changed and not announced has no stamp. It counts as newer than
            // anything.
            .where(older(at)),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n && (waits === null ? 'taken' : 'asked');
    },
    /**
     * Stores a schedule that is due at another home. If it was due here, this newer version moves
     * it, and its waiting occurrences are cancelled.
     */
    async keepAway(given: Given, to: string, isWanted: boolean, now: number): Promise<boolean> {
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
          .values({ home, schedule: scheduleId, position, judged_at: now, ...values, wanted: isWanted })
          .onConflict((conflict) =>
            conflict
              .columns(['home', 'schedule'])
              .doUpdateSet((eb) => ({
                ...values,
                version: eb('schedules.version', '+', 1),
                // A pending request is announced again if another home has changed the schedule
                // meanwhile.
                wanted: sql<boolean>`${isWanted} or schedules.wanted`,
                stamp: sql<string | null>`case when schedules.wanted and not ${isWanted} then null else ${at} end`,
              }))
              .where(older(at)),
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows > 0n) await cancelWaiting(trx, home, scheduleId, now);
        return numInsertedOrUpdatedRows > 0n;
      });
    },
    /**
     * Releases a schedule that is due here. It is due at `to` as soon as that home receives the
     * change. False: the version here is newer, or an occurrence is due or runs. The other home
     * asks again.
     */
    async release({ scheduleId, at }: Pick<Given, 'scheduleId' | 'at'>, to: string, now: number): Promise<boolean> {
      return await db.transaction().execute(async (trx) => {
        // Judging what is due locks the same row.
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
     * The other home has released the schedule. It is due here once the person has consented, and
     * occurrences since the release belong to this home. `false`: it has been here since, or was
     * not stored as another home's.
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
  };
}
