/** Writes a row for each occurrence that has become due, with what is to happen to it. */
import {
  judgeSlots,
  newestSlots,
  type OccurrenceEnd,
  type PlannedStop,
  slotAfter,
  type TimingContext,
} from '../../src/shared/domain/schedule/timing.ts';
import type { Db } from '../store/index.ts';
import { NO_DETAIL } from './history.ts';
import { json, type Row, type RowsDeps, isOn } from './schedule-rows.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';

export interface Judging {
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
export async function judge(
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
  const knownDueTimes = new Set(waiting.map(({ due_at }) => due_at));
  const slots = [...new Set([...knownDueTimes, ...fresh])].sort((a, b) => a - b);
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
  for (const { due_at, state, reason, not_before, ended_at } of rows.filter((row) => knownDueTimes.has(row.due_at)))
    await trx
      .updateTable('occurrences')
      .set({ state, reason, not_before, ended_at })
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', due_at)
      .execute();
  const inserted = rows.filter((row) => !knownDueTimes.has(row.due_at));
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
