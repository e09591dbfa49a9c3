/** What drawing clashing routines apart would change, in words. Pure. */
import { type Shift, spreadClashes } from '../../../shared/domain/schedule/timeline.ts';
import type { Timing } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import type { Timeline } from '../../../shared/protocol/endpoints/schedules.ts';
import { createCronClock } from '../../../shared/protocol/cron.ts';
import type { Scheduled } from '../../../shared/protocol/schedules.ts';
import { isOn, timingText } from './words.ts';

/** Hours ahead in which nothing is to meet: what comes round each week is in them. */
export const SPREAD_HOURS = 168;
const CRON = createCronClock();

export interface Move extends Shift {
  readonly scheduled: Scheduled;
}

/**
 * What has to move, in the order of the page; `timeline` is of `SPREAD_HOURS`. What is off, or
 * passes by in quiet hours, is in nobody's way.
 */
export function movesFor(
  scheduled: readonly Scheduled[],
  timeline: Timeline,
  zone: string,
  now: number,
): readonly Move[] {
  const on = scheduled.filter(isOn);
  const shifts = spreadClashes(
    on.map(({ scheduleId, schedule, offset }) => ({
      id: scheduleId,
      agentId: schedule.agentId,
      timing: schedule.timing,
      offset: offset ?? 0,
    })),
    now,
    timeline.to,
    {
      cron: CRON,
      zone,
      isDark: (agentId, at) =>
        timeline.blackouts.some((dark) => dark.agentId === agentId && at >= dark.from && at < dark.to),
    },
  );
  return shifts.flatMap((shift) => {
    const found = on.find(({ scheduleId }) => scheduleId === shift.id);
    return found ? [{ ...shift, scheduled: found }] : [];
  });
}

/** `every hour, 3 minutes later`, `every day at 07:33 instead of 07:30` */
export function moveText({ before, after, minutes }: Shift, now: number): string {
  const said = (timing: Timing) => timingText(timing, now);
  return said(before) === said(after)
    ? t`${said(before)}, ${minutes} minutes later`
    : t`${said(after)}, not ${said(before)}`;
}
