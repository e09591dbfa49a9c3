/** Performs a due routine: one run for each project that has its own, and one for the rest. */
import type { AgentId, RunId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { titled } from '../../src/shared/domain/quoting.ts';
import { comesWithin, MINUTE_MS } from '../../src/shared/domain/schedule/timing.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { NOT_OURS, type NotBegun } from './alone.ts';
import type { Performed } from './clock.ts';
import type { Mappings, RoutineRun } from './mapping-contract.ts';
import { projectsText, scopeOf } from './mapping-runs.ts';
import type { OccurrenceContext, PerformDeps } from './occurrence-context.ts';
import { busyText, performedBy, reasonOf, skipped, unlessNothingBegan, withOwn } from './outcomes.ts';
import { dueText, workOf } from './routine-work.ts';
import type { Claim, Ended, Row } from './rows.ts';
import { SCHEDULE_LIMITS } from './settings.ts';

const HOUR_MS = 60 * MINUTE_MS;

const LEFT = sentence`Its last runs left the tasks that are ready. It begins again when one of them changes, or a day later.`;

type RoutineRow = Pick<Row, 'scheduleId'> & { readonly schedule: ScheduleOf<'routine'> };

type RoutineDeps = Omit<PerformDeps, 'inbox' | 'usedUp' | 'scripts' | 'texts'>;

/** Returns what performs a routine. Its runs beside the first come `afterwards`. */
export function createRoutineRuns(deps: RoutineDeps, { whenOf, givenTo }: OccurrenceContext) {
  const { rows, alone, wakes, now, limits = SCHEDULE_LIMITS } = deps;

  /** Why the agent cannot begin a run now. Null: it can. */
  function refuseBusy(agentId: AgentId): Ended | null {
    const busy = busyText(deps.host.stateOf(agentId));
    return busy === null ? null : skipped('agent-busy', busy);
  }

  /**
   * Whether tasks are ready for which a run begins. Those that its agent has left too often count
   * no more for a while. Otherwise they would cost a run at each due moment, without end.
   */
  async function readyCounts(
    scheduleId: ScheduleId,
    run: RoutineRun,
    { key }: Awaited<ReturnType<Mappings['readyFor']>>,
  ): Promise<boolean> {
    if (key === null) return false;
    const within = { most: limits.leftMost, from: now() - limits.leftMs, to: now() };
    return !(await rows.hasLeft({ scheduleId, own: run.own, left: key }, within));
  }

  /** One run of a routine. `hasMail`: what waits in the inbox counts as something to do. */
  async function oneRun(
    claim: Claim,
    { scheduleId, schedule }: RoutineRow,
    run: RoutineRun,
    hasMail: boolean,
    begins: (runId: RunId) => Promise<NotBegun | null>,
  ): Promise<Performed> {
    const { agentId, name } = schedule;
    const spent = await deps.mappings.spentUp(run);
    if (spent !== null) return skipped('budget', spent);
    const ready = await deps.mappings.readyFor(run, agentId);
    if (schedule.when === 'something_waits') {
      const counts = await readyCounts(scheduleId, run, ready);
      const waits = counts || (hasMail && (await deps.somethingWaits(agentId, await rows.lastRunOf(agentId))));
      if (!waits) return skipped('nothing-waits', ready.key === null ? null : LEFT);
    }
    if (!(await alone.can(agentId))) return skipped('no-copy');
    const [when, given] = [await whenOf(claim.dueAt), await givenTo({ scheduleId, schedule })];
    const { decision, permit } = await wakes.permitFor({
      target: agentId,
      source: { kind: 'schedule', name },
      way: 'schedule',
      reason: null,
      messageId: null,
      callerSession: null,
      inDark: schedule.timing.kind === 'once',
    });
    if (!permit) return skipped(reasonOf(decision.check), decision.detail);
    let leave: () => void = () => undefined;
    /** For each claim, why its work could not begin. Null: it began. */
    const claims: (string | null)[] = [];
    try {
      const { effective } = await deps.configs.agent(agentId);
      const worked = await alone.work({
        ...workOf(schedule, run, effective),
        why: dueText(titled(name), when, claim.late, projectsText(run, ready)),
        ...given,
        // Storing the cache for an hour pays only if the routine runs again within the hour.
        cachesForAnHour: comesWithin(schedule.timing, HOUR_MS, claim.dueAt, await deps.readContext()),
        async begins(runId) {
          leave = deps.scopes.enter(runId, { ...scopeOf(agentId, run), onClaim: (said) => claims.push(said) });
          return await begins(runId);
        },
      });
      const left = claims.length === 0 ? ready.key : null;
      return withOwn(unlessNothingBegan(performedBy(worked), claims), run, left);
    } finally {
      leave();
      await permit.release();
    }
  }

  /** The runs of mappings that have their own, one after the other. */
  async function separateRuns(claim: Claim, { scheduleId }: RoutineRow, runs: readonly RoutineRun[]): Promise<void> {
    for (const { own, name } of runs) {
      // The routine, its mappings and the board may have changed during the run before.
      const row = await rows.get(scheduleId);
      if (row?.schedule.kind !== 'routine' || row.pausedWhy !== null || !row.schedule.enabled) return;
      const routine = { scheduleId, schedule: row.schedule };
      const { agentId, when } = row.schedule;
      const run = (await deps.mappings.runsOf(routine)).find((each) => each.own === own);
      if (!run || refuseBusy(agentId)) continue;
      const ready = await deps.mappings.readyFor(run, agentId);
      if (when === 'something_waits' && !(await readyCounts(scheduleId, run, ready))) continue;
      const account = await deps.woken.goOn({ scheduleId, agentId, kind: 'routine', name });
      const performed = await oneRun(claim, routine, run, false, account.begins).catch((error: unknown) => {
        deps.logger.error('A run of a routine on a project could not be carried out.', {
          scheduleId,
          error,
        });
        return performedBy(null);
      });
      await account.finish(performed);
    }
  }

  return async function routine(
    claim: Claim,
    row: RoutineRow,
    begins: (runId: RunId) => Promise<boolean>,
  ): Promise<Performed> {
    const { agentId, enabled, maxConcurrent } = row.schedule;
    if (!enabled) return skipped('switched-off');
    if ((await rows.under(claim)).running >= maxConcurrent) return skipped('overlap');
    const busy = refuseBusy(agentId);
    if (busy) return busy;
    const [first, ...others] = await deps.mappings.runsOf(row);
    if (!first) return skipped('nothing-waits');
    const performed = await oneRun(claim, row, first, true, async (runId) => ((await begins(runId)) ? null : NOT_OURS));
    if (others.length === 0 || !('end' in performed)) return performed;
    return { ...performed, afterwards: () => separateRuns(claim, row, others) };
  };
}
