/**
 * Wires the team's parts together on one store: the directory, inbox, wakes, costs, and the
 * session.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import type { Mind } from '../agents/minds/index.ts';
import type { OpenWakes } from '../agents/wakes/index.ts';
import type { Runs } from '../agents/runs/index.ts';
import { recoverLog } from '../agents/runs/recover.ts';
import type { RunScopes } from '../agents/runs/run-scopes.ts';
import type { AskFirst } from '../agents/session/context.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import { createAgreedChanges, type WakePayloads } from '../agents/session/index.ts';
import { createFolderPins } from '../approvals/pins/index.ts';
import { type Approvals, createApprovals } from '../approvals/requests/index.ts';
import type { Dreams } from '../dreams/index.ts';
import type { Exams } from '../exams/index.ts';
import { createHandTools, type HandTools } from '../execution/hands/index.ts';
import { HISTORY_LIMITS } from '../files/history/settings.ts';
import type { RecoveryStep } from '../platform/set-aside.ts';
import { type Attempts, type Comments, createAttemptRecords, type Projects } from '../projects/board/index.ts';
import type { TaskWorkRoutesDeps } from '../projects/work/routes.ts';
import {
  createGoOn,
  createSizeOfRun,
  type GoOn,
  type Mappings,
  type Schedules,
  type SizeOfRun,
  type Snapshots,
} from '../schedules/index.ts';
import { createObstacles, type ObstacleFinder, type WorkStatus } from '../schedules/obstacles.ts';
import { createStarts, type Starts } from '../schedules/starts.ts';
import type { OpenCosts } from '../team/costs/index.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Gate } from '../team/gate/contract.ts';
import type { OpenConfigs } from '../team/gate/index.ts';
import type { Inbox } from '../team/inbox/index.ts';
import type { ForeignReads } from '../team/memory/foreign.ts';
import type { Forgets } from '../team/memory/forgets.ts';
import type { Memories } from '../team/memory/index.ts';
import type { Pauses } from '../team/pauses/index.ts';
import { createConfigRecords } from '../team/records/config-records.ts';
import { createRecords, type Records } from '../team/records/index.ts';
import { createSearches, type Searches } from '../team/searches/index.ts';
import type { OpenThreads } from '../team/threads/index.ts';
import type { TeamTool } from '../tools/index.ts';
import { openTaskWork, type TaskWork } from './task-work.ts';
import { openTeamAgents } from './team-agents.ts';
import { openTeamBase, type TeamDeps } from './team-base.ts';
import { openTeamPlans } from './team-plans.ts';
import { offerTeamTools } from './team-tools.ts';

export interface Team extends Pick<HandTools, 'endCommandsOf'> {
  /** Ends what an earlier process left open. Run once, in this order, when all is opened. */
  readonly recovery: readonly RecoveryStep[];
  /**
   * Takes an agent's turn, so that it is not at work until the returned function is called. Null:
   * it is at work, or a command of it runs.
   */
  rest(agentId: AgentId): Promise<(() => void) | null>;
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly configs: OpenConfigs;
  readonly gate: Gate;
  readonly pauses: Pauses;
  readonly threads: OpenThreads;
  readonly projects: Projects;
  readonly attempts: Attempts;
  /** Null: agents have no folders here. */
  readonly taskWork:
    | (Omit<TaskWorkRoutesDeps, 'projects'> & { readonly status: WorkStatus; close(): Promise<void> })
    | null;
  /** What keeps agents from beginning a task. */
  readonly obstacles: ObstacleFinder;
  readonly memories: Memories;
  readonly dreams: Dreams;
  readonly exams: Exams;
  readonly forgets: Forgets;
  /** Starts agents on tasks for the person. */
  readonly starts: Starts;
  readonly comments: Comments;
  readonly searches: Searches;
  readonly costs: OpenCosts;
  readonly approvals: Approvals;
  readonly records: Records;
  readonly wakes: OpenWakes;
  readonly host: SessionHost;
  /** Agents that work outside a session. */
  readonly runs: Runs;
  /** Schedules that run without a page. Their clock stands still until it is started. */
  readonly schedules: Schedules;
  readonly mappings: Mappings;
  readonly goOn: GoOn;
  /** What a run of a routine would send. */
  readonly sizeOfRun: SizeOfRun;
  /** What single runs may use and take. */
  readonly scopes: RunScopes;
  /** Agent snapshots, which agents need to work alone. */
  readonly snapshots: Snapshots;
  /** Souls and last conversations in the running session. */
  readonly wakePayloads: WakePayloads;
  /** The ways by which agents were shown text of others. */
  readonly foreign: ForeignReads;
  readonly askFirst: AskFirst;
  /** Tools that every agent has, besides those of a session. */
  readonly tools: readonly TeamTool[];
  /** Runs the steps of a wake once. Leaves no trace. */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** ms that a restore of files waits for the end of the agent's turn. */
const REST_MS = HISTORY_LIMITS.busyMs;

export function openTeam(given: TeamDeps): Team {
  const base = openTeamBase(given);
  const agents = openTeamAgents(base, () => approvals);
  const plans = openTeamPlans(base, agents, () => approvals);
  const { deps, usual, saying, tell, inbox, directory, configs, gate, pauses, turns, costs, tools, scopes } = base;
  const { scheduleRows, woken, snapshots, memories, attempts } = base;
  const { runs, wakePayloads, host, alone, wakes } = agents;
  const { threads, projects, mappings, dreams, exams, schedules, granted, scriptTools } = plans;
  const { db, database, home, log, now, elapsed, newId, logger, refuseForRoom, setAside } = deps;
  const { hands, repositories: repositoriesOf, recordWork, mcpServers } = deps;
  const approvals = createApprovals({
    ...{ db, database, home, log, inbox, host, alone, wakes, tell, setAside, ...usual },
    onlyOne: deps.alone,
    configs: granted,
    pins: createFolderPins(hands, granted),
    onDeclined: scriptTools.declined,
  });
  for (const tool of [scriptTools.accept, ...createAgreedChanges({ log, host, now })]) approvals.ofRelay(tool);
  const searches = createSearches({ timers: deps.timers, newId });
  const goOn = createGoOn({
    ...{ rows: scheduleRows, approvals, inbox, wakes, host, configs, mappings, scopes, alone, woken, logger },
  });
  const sizeOfRun = createSizeOfRun({ alone: agents.aloneDeps, runs: agents.runDeps, mappings, configs });
  const handTools: HandTools | null = hands
    ? createHandTools({
        ...{ ...hands, configs: granted, log, refuseForRoom, recordWork, now: elapsed },
        // Called only after everything is open.
        environmentOf: async (by) => (await taskWork?.work.environmentOf(by)) ?? {},
        onRan: (by, command) => taskWork?.work.ran(by, command),
      })
    : null;
  const taskWork: TaskWork | null =
    hands && repositoriesOf && handTools
      ? openTaskWork({ base, agents, plans, approvals }, { hands, handTools, repositoriesOf })
      : null;
  offerTeamTools({ base, agents, plans, approvals, handTools, taskWork, searches });
  const obstacles = createObstacles({
    ...{ projects, mappings, host, gate, alone, usedUp: costs.usedUp, openApprovals: approvals.open },
    work: taskWork?.status ?? null,
  });
  const starts = createStarts({
    ...{ projects, host, wakes, woken, configs, directory, usedUp: costs.usedUp, now, newId, logger, alone },
    work: taskWork?.work ?? null,
    spentOn: async (project, task) => (await taskWork?.status.ofTask(project, task)) ?? null,
  });
  const records = createRecords({
    log,
    sources: [
      createConfigRecords({ db, home, changing: configs.changing, forgetPrices: costs.forgetPrices }),
      threads.records,
      schedules.records,
      projects.records,
      createAttemptRecords({ db, home, room: base.room, setAside }),
      mappings.records,
      memories.records,
      exams.records,
      ...(mcpServers ? [mcpServers.records] : []),
    ],
    now,
    onError: saying('A changed record could not be announced. The relay announces it with the next one.'),
  });
  return {
    recovery: [
      { part: 'wakes', run: () => gate.recover() },
      { part: 'costs', run: () => base.recoverCosts() },
      { part: 'conversations', run: () => recoverLog({ log, inbox, costs, now, setAside }) },
      { part: 'threads', run: () => threads.recover() },
      { part: 'claims', run: () => projects.recover() },
      { part: 'attempts', run: async () => await taskWork?.work.recover() },
      { part: 'routines of projects', run: () => mappings.recover() },
      { part: 'dreams', run: () => dreams.recover() },
      { part: 'exams', run: () => exams.recover() },
      { part: 'records', run: () => records.recover() },
      { part: 'calls', run: () => approvals.recover() },
      { part: 'messages', run: () => wakes.recover() },
    ],
    endCommandsOf: async (agentId) => await handTools?.endCommandsOf(agentId),
    async rest(agentId) {
      const endTurn = await turns.take(agentId, { signal: new AbortController().signal, limitMs: REST_MS });
      if (!endTurn || !handTools?.isRunning(agentId)) return endTurn;
      endTurn();
      return null;
    },
    ...{ inbox, directory, configs, gate, pauses, threads, projects, attempts, taskWork, obstacles },
    ...{ memories, dreams, exams, forgets: base.forgets, starts, comments: plans.comments, searches, costs },
    ...{ approvals, records, wakes, host, runs, wakePayloads, schedules, mappings, goOn, sizeOfRun },
    ...{ scopes, snapshots, foreign: base.foreign, askFirst: agents.askFirst },
    tools: tools.all(),
    warm: (warmMind, signal) => host.warm(warmMind, signal),
    async close() {
      wakes.close();
      const dreamsOver = dreams.close();
      projects.close();
      mappings.close();
      await taskWork?.work.close();
      await taskWork?.close();
      await schedules.close(false);
      await runs.close();
      await dreamsOver;
      await exams.close();
      await approvals.close();
      await records.close();
      wakePayloads.close();
      pauses.close();
      await gate.close();
      await costs.close();
    },
  };
}
