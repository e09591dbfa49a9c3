/** What the person decides of schedules that are, or were, due at another home. */
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import { WAITS_FOR_YES } from '../../src/shared/protocol/schedules.ts';
import { agreementOf } from './scripts.ts';
import { rowOf, type Row, type RowsDeps } from './schedule-rows.ts';

export function createMovesAsked({ db, home }: Pick<RowsDeps, 'db' | 'home'>) {
  return {
    /**
     * The person says that the other home is gone. The schedule moves here and stays off until the
     * person has consented to it.
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
     * The person consents to the schedule as it is. False: it has changed since, or does not wait
     * for consent.
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
     * Asks the other home to release the schedule. The request is written to the event log. Pages
     * carry it from there to the other relay.
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
    /** Announces the version here again, so that it is newer than the one received. */
    async tellAgain(scheduleId: ScheduleId): Promise<void> {
      await db
        .updateTable('schedules')
        .set((eb) => ({ stamp: null, version: eb('version', '+', 1) }))
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .execute();
    },
    /** Schedules that are due at another home. */
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
