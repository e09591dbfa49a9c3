/** What agents work on: threads, projects, schedules, dreams and exams. */
import { createCronClock } from '../../src/shared/protocol/timing-arguments.ts';
import type { Approvals } from '../approvals/requests/index.ts';
import { createDreams } from '../dreams/index.ts';
import { createExams } from '../exams/index.ts';
import { createComments, createProjects, grantedByProjects } from '../projects/board/index.ts';
import { createMappings, createSchedules, defaultRoutineIdOf } from '../schedules/index.ts';
import { connectRest } from '../schedules/task-rest.ts';
import { ACCEPT_SCRIPT, acceptInput, createScriptTools } from '../schedules/tools.ts';
import { createThreads } from '../team/threads/index.ts';
import type { TeamAgents } from './team-agents.ts';
import type { TeamBase } from './team-base.ts';

export type TeamPlans = ReturnType<typeof openTeamPlans>;

/** `approvals`: called only after everything is open. No script is due before that. */
export function openTeamPlans(base: TeamBase, agents: TeamAgents, approvals: () => Approvals) {
  const { deps, stored, usual, saying, tell, changed, inbox, directory, configs, costs, room, tools, scopes } = base;
  const { scheduleRows, leases, woken, snapshots, memories, forgets, around } = base;
  const { runs, host, alone, wakes } = agents;
  const { db, database, home, log, mind, protocol, now, newId, timers, logger, refuseForRoom, scripts, setAside } =
    deps;
  const onlyOne = deps.alone;
  const threads = createThreads({ ...stored, directory, tell, timers, hooks: wakes.hooks, refuseForRoom, room });
  const projects = createProjects({ ...{ ...stored, ...usual }, directory, log, tell, refuseForRoom, room });
  connectRest({ projects, host, now, onError: saying('Pages could not be told that an agent has stopped.') });
  const mappings = createMappings({
    ...{ db, home, projects, configs, tools, log, now, logger, setAside },
    rows: scheduleRows,
    readsWeb: alone.readsWeb,
    isDefault: (scheduleId, agentId) => scheduleId === defaultRoutineIdOf(agentId),
    onChange: changed('schedules'),
  });
  projects.connectRoutines(async (projectId, { columns, agents: workers }) => {
    const taken = await Promise.all(workers.map((agentId) => mappings.takesFrom({ projectId, columns }, agentId)));
    return taken.flatMap((columnIds) => columnIds ?? []);
  });
  const dreams = createDreams({
    ...{ db, home, memories, wakes, host, configs, directory, log, runs, now, newId, timers, setAside, logger },
    ...{ mind, protocol, costs, snapshots, alone, onlyOne },
    readAround: around,
    allowSnapshot: (agentId) => snapshots.allow(agentId),
    onChange(agentId) {
      changed('memories')(agentId);
      // Pages compare the snapshots that they left.
      changed('schedules')(agentId);
    },
  });
  const exams = createExams({
    ...{ db, home, protocol, mind, costs, configs, forgets, now, newId, timers, setAside, logger, onlyOne },
    readAround: around,
    memoryOf: memories.promptOf,
    onChange: changed('exams'),
  });
  const schedules = createSchedules({
    ...{ db, home, database, log, scripts, onlyOne, mappings, scopes, woken, leases, configs, inbox, threads },
    ...{ directory, wakes, host, alone, snapshots, tools, ...usual },
    rows: scheduleRows,
    cron: createCronClock(),
    questions: {
      ask: (question) => approvals().askAlone(question.agentId, ACCEPT_SCRIPT, acceptInput(question), question.before),
      withdraw: (scheduleId) => approvals().withdrawAsked(ACCEPT_SCRIPT, scheduleId),
    },
    usedUp: costs.usedUp,
    announce: tell,
  });
  return {
    ...{ threads, projects, mappings, dreams, exams, schedules },
    comments: createComments({ projects, threads, directory }),
    /** What checks tools reads: with the grants of projects. */
    granted: { ...configs, ...grantedByProjects(configs, projects) },
    scriptTools: createScriptTools({ schedules, scripts, snapshots, configs, now }),
  };
}
