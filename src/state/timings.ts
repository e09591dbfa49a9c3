/** Sets several schedules to other times, one after another. */
import type { ScheduleId } from '../domain/ids.ts';
import type { Timing } from '../domain/schedule/timing.ts';
import { t } from '../language/t.ts';
import { scheduleSchema } from '../protocol/schedules.ts';
import type { RelayProblem, RelayResult } from '../relay/index.ts';
import type { Notices } from './notices.ts';
import { mapResult, type ReachPort } from './reach.ts';

/** Something that is to be due at other times. */
export interface TimingChange {
  readonly scheduleId: ScheduleId;
  /** Where it is another by now, somebody else has changed it, and it stays so. */
  readonly before: Timing;
  readonly after: Timing;
}

interface Deps {
  readonly reach: ReachPort;
  readonly notices: Pick<Notices, 'info' | 'refused'>;
  /** Shows what holds now. */
  readonly again: () => Promise<void>;
}

/** Did all of it hold? A notice says how much of it did, and offers to set it back. */
export function createTimings({ reach, notices, again }: Deps): (changes: readonly TimingChange[]) => Promise<boolean> {
  /** Of one. False: it is gone, or somebody else has changed it. */
  async function setTiming({ scheduleId, before, after }: TimingChange): Promise<RelayResult<boolean>> {
    const found = await reach((client) => client.schedule({ scheduleId }));
    if (!found.ok)
      return found.problem.kind === 'refused' && found.problem.status === 404 ? { ok: true, value: false } : found;
    const { schedule } = found.value;
    if (JSON.stringify(schedule.timing) !== JSON.stringify(before)) return { ok: true, value: false };
    const body = scheduleSchema.parse({ ...schedule, timing: after });
    return mapResult(await reach((client) => client.changeSchedule({ scheduleId, body })), () => true);
  }
  async function setTimings(changes: readonly TimingChange[], back: boolean): Promise<boolean> {
    const moved: TimingChange[] = [];
    let problem: RelayProblem | null = null;
    for (const change of changes) {
      const result = await setTiming(change);
      if (!result.ok) problem = result.problem;
      if (!result.ok) break;
      if (result.value) moved.push({ ...change, before: change.after, after: change.before });
    }
    await again();
    const text = t`${moved.length} of ${changes.length} ${back ? t`set back` : 'moved'}.`;
    if (moved.length > 0)
      notices.info(text, back ? undefined : { label: t`Set back`, run: () => void setTimings(moved, true) });
    else if (!problem) notices.info(t`Nothing was moved: somebody has changed these times meanwhile.`);
    if (problem) notices.refused(problem);
    return problem === null;
  }
  return (changes) => setTimings(changes, false);
}
