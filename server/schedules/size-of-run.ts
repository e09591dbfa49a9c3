/**
 * Measures the first request of a routine's run. The run is a dry run through the code of runs
 * alone, so the figure includes everything that a real run sends.
 */
import { titled } from '../../src/shared/domain/quoting.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { AgentSnapshot } from '../../src/shared/protocol/snapshots.ts';
import type { WakeRequests } from '../team/costs/contract.ts';
import type { Configs } from '../team/gate/configs.ts';
import { createMeasuringMind, createNoLog, FREE } from '../agents/runs/dry-run.ts';
import { createRuns, type RunsDeps } from '../agents/runs/index.ts';
import { createTurns } from '../agents/runs/turns.ts';
import { createWaiting } from '../agents/runs/waiting.ts';
import { createAlone, type AloneDeps } from './alone.ts';
import type { Mappings } from './mapping-contract.ts';
import { projectsText } from './mapping-runs.ts';
import { dueText, workOf } from './routine-work.ts';

interface SizeOfRunDeps {
  readonly alone: Omit<AloneDeps, 'snapshots' | 'runs'>;
  readonly runs: Omit<RunsDeps, 'log' | 'costs' | 'turns' | 'waiting' | 'inbox' | 'pauses' | 'recordWork' | 'logger'>;
  readonly mappings: Pick<Mappings, 'runsOf' | 'readyFor'>;
  readonly configs: Pick<Configs, 'agent' | 'household'>;
}

/** `snapshot`: the agent as its page would leave it. Rejects if the run cannot be measured now. */
export type SizeOfRun = (asked: {
  readonly snapshot: AgentSnapshot;
  readonly routine: ScheduleOf<'routine'>;
}) => Promise<readonly WakeRequests[]>;

export function createSizeOfRun({ alone, runs, mappings, configs }: SizeOfRunDeps): SizeOfRun {
  return async ({ snapshot, routine }) => {
    const { agentId } = routine;
    const requests: WakeRequests[] = [];
    let problem: unknown = null;
    const fail = (_message: string, fields?: unknown) => void (problem ??= fields);
    const logger = { warn: fail, error: fail };
    const inbox = {
      ...alone.inbox,
      waiting: () => Promise.resolve([]),
      claim: () => Promise.resolve([]),
      count: () => Promise.resolve(0),
    };
    const dry = createAlone({
      ...alone,
      inbox,
      logger,
      mind: createMeasuringMind(alone.mind, ({ model, bytes, head }) =>
        requests.push({ agentId, model, bytes: [bytes], head: head() }),
      ),
      snapshots: { has: () => Promise.resolve(true), of: () => Promise.resolve(snapshot) },
      usedUp: () => Promise.resolve(null),
      runs: createRuns({
        ...runs,
        inbox,
        logger,
        log: createNoLog(),
        costs: FREE,
        turns: createTurns(runs.timers),
        waiting: createWaiting(runs.now),
        pauses: { isPaused: () => false, wait: () => Promise.resolve('awake') },
      }),
    });
    const [{ effective }, household, [run]] = await Promise.all([
      configs.agent(agentId),
      configs.household(),
      mappings.runsOf({ scheduleId: 'measured', schedule: routine }),
    ]);
    if (!run) return [];
    const when = momentText(runs.now(), household.effective.time_zone);
    await dry.work({
      ...workOf(routine, run, effective),
      why: dueText(titled(routine.name), when, false, projectsText(run, await mappings.readyFor(run, agentId))),
      lastSession: routine.context === 'last_session',
      before: [],
      cachesForAnHour: false,
    });
    if (problem !== null) throw new Error('a run could not be measured', { cause: problem });
    return requests;
  };
}
