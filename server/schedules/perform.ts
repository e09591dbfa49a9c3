/** Performs a due occurrence: decides whether anything runs, and reports the outcome. */
import type { MessageId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { quote, titled } from '../../src/shared/domain/quoting.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { DueCause, NotReached } from '../agents/wakes/contract.ts';
import type { ClockDeps, Performed } from './clock.ts';
import { createOccurrenceContext, messageIdOf, type PerformDeps } from './occurrence-context.ts';
import { ended, FORGOTTEN, reasonOf, skipped } from './outcomes.ts';
import { createRoutineRuns } from './perform-routine.ts';
import { createScriptRuns } from './perform-script.ts';
import type { Claim, Row } from './rows.ts';
import { SCHEDULE_LIMITS } from './settings.ts';

const ONE_WAITS = sentence`The one before has not come yet.`;

export function createPerform(deps: PerformDeps): Pick<ClockDeps, 'perform' | 'endLeft'> {
  const { rows, wakes, inbox, now, limits = SCHEDULE_LIMITS } = deps;
  const context = createOccurrenceContext(deps);
  const { whenOf, givenTo } = context;
  const routine = createRoutineRuns(deps, context);
  const scripts = createScriptRuns(deps, context);

  /** The occurrence stays due, and is tried again when the obstacle may be gone. */
  function waits({ reason, detail, until }: Omit<NotReached, 'reached'>): Performed {
    const time = now();
    const at = until ?? time + (reason === 'model-refused' ? limits.refusedAgainMs : limits.waitAgainMs);
    const most = reason === 'model-refused' ? limits.refusedAgainMs : limits.waitMostMs;
    return { again: Math.min(Math.max(at, time + 1), time + most), waits: { reason, detail } };
  }

  /**
   * Puts a message into the agent's inbox and wakes the agent for it. Null: the agent has read it.
   */
  async function wakeFor(
    claim: Claim,
    { messageId, text }: { readonly messageId: MessageId; readonly text: string },
    due: DueCause,
  ): Promise<Performed | null> {
    const { agentId } = claim;
    const message = { messageId, to: agentId, from: agentId, text, priority: 'urgent', threadId: null } as const;
    const full = await inbox.put({ ...message, time: now() });
    if (full !== null) return waits({ reason: 'gate', detail: full, until: null });
    const used = (await deps.usedUp?.(agentId)) ?? null;
    if (used) return waits({ reason: 'budget', detail: used.message, until: used.until });
    const { kind, name } = due;
    const { decision, over } = await wakes.ask({
      target: agentId,
      source: kind === 'script' ? { kind, name } : { kind: 'schedule', name },
      way: kind === 'script' ? 'script_failure' : 'reminder',
      due,
      reason: null,
      messageId,
      callerSession: null,
      // Retries are logged once.
      quiet: claim.waited ?? false,
    });
    if (decision.outcome !== 'granted')
      return waits({
        reason: reasonOf(decision.check),
        detail: sentence`It waits in the inbox. ${decision.detail}`,
        until: decision.until,
      });
    const reached = (await over) ?? { reached: true };
    return reached.reached ? null : waits(reached);
  }

  async function reminder(claim: Claim, scheduleId: ScheduleId, schedule: ScheduleOf<'reminder'>): Promise<Performed> {
    const { name, message } = schedule;
    // At most one waits: a recurring reminder has the same text each time.
    if (schedule.timing.kind !== 'once' && (await rows.under(claim)).before > 0) return skipped('overlap', ONE_WAITS);
    const late = claim.late ? `, late: the relay was away` : '';
    const text = `[A reminder that you left for yourself, ${titled(name)}, due ${await whenOf(claim.dueAt)}${late}]\n${quote(message)}`;
    const waiting = await wakeFor(
      claim,
      { messageId: messageIdOf(claim), text },
      { kind: 'reminder', scheduleId, name, given: await givenTo({ scheduleId, schedule }) },
    );
    // The reminder was delivered. If it is not due again, its row is removed and its name is free.
    return waiting ?? { ...ended('done'), removes: 'once-over' };
  }

  const perform: ClockDeps['perform'] = async (claim, row: Row, { begins }) => {
    const { scheduleId, schedule } = row;
    // A failure is announced even if the schedule has been paused or disabled since.
    const { notice } = claim;
    if (notice) {
      const { name, status } = notice;
      const due = { kind: 'script', scheduleId, name, status, given: await givenTo(row) } as const;
      return (await wakeFor(claim, notice, due)) ?? FORGOTTEN;
    }
    if (row.pausedWhy !== null) return skipped('switched-off', row.pausedWhy);
    switch (schedule.kind) {
      case 'routine':
        return await routine(claim, { scheduleId, schedule }, begins);
      case 'reminder':
        return await reminder(claim, scheduleId, schedule);
      case 'script':
        return await scripts.run(claim, scheduleId, schedule);
      default:
        return schedule satisfies never;
    }
  };
  return { perform, endLeft: scripts.endLeft };
}
