/** The agents of a household: in its session, alone, and how they are woken. */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { createWakes } from '../agents/wakes/index.ts';
import { createRuns } from '../agents/runs/index.ts';
import type { AskFirst } from '../agents/session/context.ts';
import { createSessionHost, createWakePayloads } from '../agents/session/index.ts';
import type { Approvals } from '../approvals/requests/index.ts';
import { createAlone, createMeanwhile, createRoutineOf } from '../schedules/index.ts';
import type { TeamBase } from './team-base.ts';

export type TeamAgents = ReturnType<typeof openTeamAgents>;

/** `approvals`: called only after everything is open. */
export function openTeamAgents(base: TeamBase, approvals: () => Approvals) {
  const { deps, usual, inbox, directory, configs, pauses, turns, around, waiting, costs, foreign, snapshots } = base;
  const { attempts, woken, tools, memories, scheduleRows } = base;
  const { log, mind, protocol, now, elapsed, logger, recordWork, limits, setAside } = deps;
  async function underWay(agentId: AgentId): Promise<readonly string[]> {
    const [asked, open] = await Promise.all([approvals().open(), attempts.open(agentId)]);
    return [
      ...asked
        .filter((call) => call.agentId === agentId)
        .map(({ tool }) => `your call of ${tool} waits for the human’s answer`),
      ...open.map(({ attempt: { taskId, kind } }) =>
        kind === 'agent' ? `you work on the task ${taskId}` : `an executor works on the task ${taskId}`,
      ),
    ];
  }
  const askFirst: AskFirst = async (tool, input, caller) => {
    const isShown = foreign.seenBy(caller).length > 0 || (await memories.hasTextOfOthers(caller.agentId));
    return isShown ? await approvals().askFor(tool, input, caller) : null;
  };
  /** What every run needs, in a session and outside. */
  const runDeps = {
    ...{ log, inbox, directory, pauses, costs, around, foreign, turns, waiting, recordWork, underWay },
    ...{ ...usual, elapsed, limits },
  };
  const runs = createRuns(runDeps);
  const wakePayloads = createWakePayloads({ log, directory, conversationChars: limits.conversationChars });
  const host = createSessionHost({
    ...runDeps,
    configs,
    teamTools: tools,
    wakePayloads,
    meanwhile: createMeanwhile({ rows: scheduleRows, configs, now, logger }),
    memoryOf: memories.promptOf,
    askFirst,
    mind,
    protocol,
  });
  const aloneDeps = {
    memoryOf: memories.promptOf,
    ...{ configs, inbox, protocol, mind, tools, woken, logger },
    usedUp: costs.usedUp,
    routineOf: createRoutineOf(scheduleRows),
  };
  const alone = createAlone({ ...aloneDeps, snapshots, runs });
  const wakes = createWakes({ inbox, directory, configs, gate: base.gate, pauses, host, alone, setAside, ...usual });
  return { askFirst, runDeps, runs, wakePayloads, host, aloneDeps, alone, wakes };
}
