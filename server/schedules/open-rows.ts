/** Open occurrences as they are read: what is due next, what runs, and what waits. */
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import { isOneOf } from '../store/dialect.ts';
import { detailOf, skipReasonSchema } from './history.ts';
import { notRemoved, type RowsDeps } from './schedule-rows.ts';
import type { Claim, Waits } from './occurrence-rows.ts';

export function createOpenRows({ db, home }: Pick<RowsDeps, 'db' | 'home'>) {
  return {
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
  };
}
