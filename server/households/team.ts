/**
 * Wires the team's parts together on one store: the directory, inbox, wakes, costs, and the
 * session.
 */
import { join } from 'node:path';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { DEFAULT_SETTINGS } from '../../src/shared/domain/settings.ts';
import { realTimers, type Timers } from '../../src/shared/domain/platform/timers.ts';
import type { Protocol } from '../../src/shared/domain/prompts.ts';
import { createCronClock } from '../../src/shared/protocol/timing-arguments.ts';
import type { RunScopes } from '../agents/runs/run-scopes.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import { RECORDS_NOTHING, type RecordWork } from '../files/workspaces/record-work.ts';
import type { EventLog } from '../log/index.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Gate } from '../team/gate/contract.ts';
import type { Inbox } from '../team/inbox/index.ts';
import type { Pauses } from '../team/pauses/index.ts';
import type { Searches } from '../team/searches/index.ts';
import type { TeamTool } from '../tools/index.ts';
import type { McpServers } from '../mcp/client/index.ts';
import { createFolderPins } from '../approvals/pins/index.ts';
import { createApprovals, type Approvals } from '../approvals/requests/index.ts';
import { createCosts, type OpenCosts } from '../team/costs/index.ts';
import { createDirectory } from '../team/directory/index.ts';
import { createConfigs, createGate, type OpenConfigs } from '../team/gate/index.ts';
import { createInbox } from '../team/inbox/index.ts';
import type { Mind } from '../agents/minds/index.ts';
import { createConfigRecords } from '../team/records/config-records.ts';
import { createRecords, type Records } from '../team/records/index.ts';
import {
  createAttemptRecords,
  createProjectRoom,
  type Attempts,
  createAttempts,
  type Comments,
  createComments,
  createProjects,
  createProjectTools,
  grantedByProjects,
  type Projects,
} from '../projects/board/index.ts';
import { createReach, createReachTools, createToHuman, type OpenReach } from '../agents/reach/index.ts';
import {
  createAgreedChanges,
  createSessionHost,
  createWakePayloads,
  type WakePayloads,
} from '../agents/session/index.ts';
import type { Logger } from '../platform/logger.ts';
import { createWaiting } from '../agents/runs/waiting.ts';
import { createRuns, type Runs } from '../agents/runs/index.ts';
import { createReadAround } from '../agents/runs/context.ts';
import { recoverLog } from '../agents/runs/recover.ts';
import { createRunScopes } from '../agents/runs/run-scopes.ts';
import { createTeamTools } from '../agents/runs/team-tools.ts';
import { createAnnounce } from '../log/index.ts';
import { messageEvent } from '../agents/runs/speaker.ts';
import { createTurns } from '../agents/runs/turns.ts';
import type { AskFirst } from '../agents/session/context.ts';
import { SESSION_LIMITS, type SessionLimits } from '../agents/session/settings.ts';
import {
  createAlone,
  createSnapshots,
  createGoOn,
  createLeases,
  createMappings,
  createMeanwhile,
  createScheduleRows,
  createSizeOfRun,
  createScripts,
  createSchedules,
  createWoken,
  createRoutineOf,
  type Snapshots,
  type GoOn,
  type Mappings,
  pulseIdOf,
  type Schedules,
  type Scripts,
  type SizeOfRun,
} from '../schedules/index.ts';
import { type Sealer } from '../platform/sealer.ts';
import { type RecoveryStep, type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { createObstacles, type ObstacleFinder, type WorkStatus } from '../schedules/obstacles.ts';
import { SCHEDULE_LIMITS } from '../schedules/settings.ts';
import { createStarts, type Starts } from '../schedules/starts.ts';
import { connectRest } from '../schedules/task-rest.ts';
import { ACCEPT_SCRIPT, acceptInput, createScheduleTools, createScriptTools } from '../schedules/tools.ts';
import { createDreams, type Dreams } from '../dreams/index.ts';
import { createExams, type Exams } from '../exams/index.ts';
import { createForgets, type Forgets } from '../team/memory/forgets.ts';
import { createForeignReads, type ForeignReads } from '../team/memory/foreign.ts';
import { createMemories, type Memories } from '../team/memory/index.ts';
import { createMemoryTools } from '../team/memory/tools.ts';
import { createPauses } from '../team/pauses/index.ts';
import { ALWAYS_THERE, type Database, type Db } from '../store/index.ts';
import { createSearches, createSearchTool } from '../team/searches/index.ts';
import { createThreads, createThreadTools, type OpenThreads } from '../team/threads/index.ts';
import { dayOf } from '../../src/shared/domain/zone-days.ts';
import { createGuardedFetch } from '../platform/guarded-fetch.ts';
import {
  createCheckouts,
  createRepositories,
  createTokens,
  type RepositoriesDeps,
} from '../projects/checkouts/index.ts';
import { commandReach, createHandTools, type Hands, type HandTools } from '../execution/hands/index.ts';
import { createTaskWork } from '../projects/work/index.ts';
import { createMeans } from '../projects/work/means.ts';
import { createExecutors } from '../projects/work/executor.ts';
import { createForges } from '../projects/work/forge.ts';
import type { TaskWorkRoutesDeps } from '../projects/work/routes.ts';
import { createMeter, type Meter } from '../projects/work/meter.ts';
import { createWorkLimits } from '../projects/work/limits.ts';
import { createTaskWorkTools } from '../projects/work/tools.ts';
import { HISTORY_LIMITS } from '../files/history/settings.ts';
import { createProviderTools } from '../execution/web/index.ts';

export interface TeamDeps {
  readonly db: Db;
  /** Left out: the database is always reachable. */
  readonly database?: Database;
  /** For the embedded store. Null, or left out: everything goes into the tables at once. */
  /** The id of the home. */
  readonly home: string;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  readonly log: EventLog;
  readonly mind: Mind;
  readonly protocol: Protocol;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms, for durations. Left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId: () => string;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** ms that a message is stored after it was read. */
  readonly retentionMs: number;
  /**
   * Why agents may store no more just now, as a sentence. Null: they may. Left out: they always
   * may.
   */
  readonly refuseForRoom?: () => Promise<string | null>;
  /** Bytes that the household’s projects may take in the store. Left out: as usual. */
  readonly projectBytes?: number;
  readonly timers?: Timers;
  /** Seals what is stored here for the time without a browser. */
  readonly sealer: Sealer;
  /** Left out: scripts are off. */
  readonly scripts?: Scripts;
  /** Agents' folders. Left out: they have none, and no tools for them. */
  readonly hands?: Hands;
  /** The relay’s repositories of projects. Left out: agents have no checkouts. */
  readonly repositories?: Pick<RepositoriesDeps, 'folder' | 'hidden' | 'rights' | 'lane'>;
  /** Records agents' files. Left out: nothing is recorded. */
  readonly recordWork?: RecordWork;
  /** MCP servers that the person has added. Left out: none. */
  readonly mcpServers?: Pick<McpServers, 'tools' | 'records'>;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  readonly limits?: SessionLimits;
}

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
  readonly reach: OpenReach;
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
  /** By which ways agents were shown text of others. */
  readonly foreign: ForeignReads;
  readonly askFirst: AskFirst;
  /** Tools that every agent has, besides those of a session. */
  readonly tools: readonly TeamTool[];
  /** Runs the steps of a wake once. Leaves no trace. */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const NOT_NOTED = 'It could not be noted on which task an agent works.';

/** ms that a restore of files waits for the end of the agent's turn. */
const REST_MS = HISTORY_LIMITS.busyMs;

export function openTeam({
  db,
  database = ALWAYS_THERE,
  home,
  log,
  mind,
  protocol,
  now,
  elapsed = now,
  newId,
  logger,
  retentionMs,
  alone,
  refuseForRoom = () => Promise.resolve(null),
  projectBytes,
  timers = realTimers,
  sealer,
  scripts = createScripts(null),
  hands,
  repositories: repositoriesOf,
  recordWork = RECORDS_NOTHING,
  mcpServers,
  setAside = SETS_NOTHING_ASIDE,
  limits = SESSION_LIMITS,
}: TeamDeps): Team {
  const saying = (what: string) => (error: unknown) => logger.error(what, { error });
  const tell = createAnnounce({ log, logger });
  hands?.workspaces.subscribe((agentId) => tell({ kind: 'changed', time: now(), what: 'files', agentId }));
  const onListenerError = saying('A listener failed.');
  const inbox = createInbox({ db, home, retentionMs, tell, now, refuseForRoom, setAside });
  const directory = createDirectory({ db, home, tell, now, setAside, log });
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const configs = createConfigs({ db, home, alone, timeZone, tell, now });
  const onHeartbeatError = saying('The heartbeat of running sessions could not be stored. The relay tries again.');
  const gate = createGate({ db, database, home, configs, tell, now, newId, alone, timers, onHeartbeatError, setAside });
  const counted = createCosts({
    ...{ db, database, home, configs, directory, log, alone, now, elapsed, newId, setAside },
  });
  let meter: Meter | null = null;
  // Called only after everything is open.
  const costs: OpenCosts = {
    ...counted,
    check: (request, signal) => meter?.check(counted, request, signal) ?? counted.check(request, signal),
  };
  const pauses = createPauses({ log, configs, now, timers, onListenerError });
  const turns = createTurns(timers);
  const around = createReadAround({
    configs,
    directory,
    now,
    onError: saying('The state of the team could not be read. The relay sends the earlier state.'),
  });
  const waiting = createWaiting(now);
  const usual = { now, newId, timers, logger };
  // Called only after everything is open.
  async function underWay(agentId: AgentId): Promise<readonly string[]> {
    const [asked, open] = await Promise.all([approvals.waiting(), attempts.open(agentId)]);
    return [
      ...asked
        .filter((call) => call.agentId === agentId)
        .map(({ tool }) => `your call of ${tool} waits for the human’s answer`),
      ...open.map(({ attempt: { taskId, kind } }) =>
        kind === 'agent' ? `you work on the task ${taskId}` : `an executor works on the task ${taskId}`,
      ),
    ];
  }
  const foreign = createForeignReads();
  const runs = createRuns({
    log,
    inbox,
    directory,
    pauses,
    costs,
    around,
    foreign,
    turns,
    waiting,
    recordWork,
    underWay,
    ...usual,
    elapsed,
    limits,
  });
  const scheduleRows = createScheduleRows({ db, home, limits: SCHEDULE_LIMITS, setAside });
  const snapshots = createSnapshots({ db, home, sealer, now, setAside });
  const leases = createLeases({
    rows: scheduleRows,
    database,
    limits: SCHEDULE_LIMITS,
    timers,
    now,
    onError: saying('An agent’s working state could not be stored. The relay tries again.'),
  });
  const woken = createWoken({
    rows: scheduleRows,
    leases,
    directory,
    onChange: (agentId) => tell({ kind: 'changed', time: now(), what: 'schedules', agentId }),
    now,
    newId,
  });
  const tools = createTeamTools();
  const forgets = createForgets({ db, home });
  const memories = createMemories({
    ...{ db, home, now, newId, setAside, forgets },
    onChange: (agentId) => tell({ kind: 'changed', time: now(), what: 'memories', agentId }),
  });
  /** Called only after everything is open. */
  const askFirst: AskFirst = async (tool, input, caller) => {
    const isShown = foreign.seenBy(caller).length > 0 || (await memories.hasTextOfOthers(caller.agentId));
    return isShown ? await approvals.askFor(tool, input, caller) : null;
  };
  const wakePayloads = createWakePayloads({ log, directory, conversationChars: limits.conversationChars });
  const host = createSessionHost({
    log,
    inbox,
    directory,
    around,
    pauses,
    costs,
    configs,
    teamTools: tools,
    wakePayloads,
    meanwhile: createMeanwhile({ rows: scheduleRows, configs, now, logger }),
    memoryOf: memories.promptOf,
    foreign,
    askFirst,
    mind,
    protocol,
    ...usual,
    elapsed,
    limits,
    turns,
    waiting,
    recordWork,
    underWay,
  });
  const aloneDeps = {
    memoryOf: memories.promptOf,
    ...{ configs, inbox, protocol, mind, tools, woken, logger },
    usedUp: costs.usedUp,
    routineOf: createRoutineOf(scheduleRows),
  };
  const aloneAgents = createAlone({ ...aloneDeps, snapshots, runs });
  const reach = createReach({ inbox, directory, configs, gate, pauses, host, alone: aloneAgents, setAside, ...usual });
  const room = createProjectRoom({ db, home, elapsed, most: projectBytes });
  const threads = createThreads({
    ...{ db, home, directory, tell, now, newId, timers, hooks: reach.hooks, refuseForRoom, room, setAside },
  });
  const projects = createProjects({ db, home, directory, log, tell, refuseForRoom, room, setAside, ...usual });
  connectRest({ projects, host, now, onError: saying('Pages could not be told that an agent has stopped.') });
  // What checks tools reads: with the grants of projects.
  const granted = { ...configs, ...grantedByProjects(configs, projects) };
  const comments = createComments({ projects, threads, directory });
  const scopes = createRunScopes();
  const mappings = createMappings({
    ...{ db, home, projects, configs, tools, log, now, logger, setAside },
    rows: scheduleRows,
    readsWeb: aloneAgents.readsWeb,
    isDefault: (scheduleId, agentId) => scheduleId === pulseIdOf(agentId),
    onChange: (agentId) => tell({ kind: 'changed', time: now(), what: 'schedules', agentId }),
  });
  projects.connectRoutines(async (projectId, { columns, agents }) => {
    const taken = await Promise.all(agents.map((agentId) => mappings.takesFrom({ projectId, columns }, agentId)));
    return taken.flatMap((columnIds) => columnIds ?? []);
  });
  const dreams = createDreams({
    ...{ db, home, memories, reach, host, configs, directory, log, runs, now, newId, timers, setAside, logger },
    ...{ mind, protocol, costs, snapshots, readAround: around },
    onlyOne: alone,
    alone: aloneAgents,
    allowSnapshot: (agentId) => snapshots.allow(agentId),
    onChange(agentId) {
      tell({ kind: 'changed', time: now(), what: 'memories', agentId });
      // Pages compare the snapshots that they left.
      tell({ kind: 'changed', time: now(), what: 'schedules', agentId });
    },
  });
  const exams = createExams({
    ...{ db, home, protocol, mind, costs, configs, forgets, now, newId, timers, setAside, logger },
    onlyOne: alone,
    readAround: around,
    memoryOf: memories.promptOf,
    onChange: (agentId) => tell({ kind: 'changed', time: now(), what: 'exams', agentId }),
  });
  const schedules = createSchedules({
    db,
    ...{ mappings, scopes, woken },
    rows: scheduleRows,
    leases,
    log,
    home,
    onlyOne: alone,
    database,
    cron: createCronClock(),
    configs,
    inbox,
    threads,
    directory,
    reach,
    host,
    alone: aloneAgents,
    scripts,
    // Called only after everything is open. No script is due before that.
    questions: {
      ask: (question) => approvals.askAlone(question.agentId, ACCEPT_SCRIPT, acceptInput(question), question.before),
      withdraw: (scheduleId) => approvals.withdrawAsked(ACCEPT_SCRIPT, scheduleId),
    },
    snapshots,
    usedUp: costs.usedUp,
    tools,
    announce: tell,
    ...usual,
  });
  const scriptTools = createScriptTools({ schedules, scripts, snapshots, configs, now });
  const toHuman = createToHuman({ log, host, now, newId });
  const approvals = createApprovals({
    db,
    database,
    home,
    onlyOne: alone,
    log,
    configs: granted,
    pins: createFolderPins(hands, granted),
    inbox,
    host,
    alone: aloneAgents,
    reach,
    tell,
    onDeclined: scriptTools.declined,
    setAside,
    ...usual,
  });
  for (const tool of [scriptTools.accept, ...createAgreedChanges({ log, host, now })]) approvals.ofRelay(tool);
  const searches = createSearches({ timers, newId });
  const seen = { rows: scheduleRows, approvals, inbox, reach, host, configs, mappings, scopes };
  const goOn = createGoOn({ ...seen, alone: aloneAgents, woken, logger });
  const sizeOfRun = createSizeOfRun({
    alone: aloneDeps,
    runs: { ...usual, directory, around, foreign, underWay, elapsed, limits },
    mappings,
    configs,
  });
  const handTools: HandTools | null = hands
    ? createHandTools({
        ...{ ...hands, configs: granted, log, refuseForRoom, recordWork, now: elapsed },
        // Called only after everything is open.
        environmentOf: async (by) => (await taskWork?.work.environmentOf(by)) ?? {},
        onRan: (by, command) => taskWork?.work.ran(by, command),
      })
    : null;
  const attempts = createAttempts({
    ...{ db, home, now, newId, setAside },
    onChange: (projectId) => tell({ kind: 'changed', time: now(), what: 'projects', agentId: null, projectId }),
    onBegin: (began) => meter?.began(began),
    onEnd: (attemptId) => meter?.ended(attemptId),
  });
  /** Every tool of the relay's own is watched, limited to its run's scope, and asks first. */
  const offer = (own: readonly TeamTool[]) => tools.offer(foreign.watch(scopes.guard(approvals.guard(own))));
  const taskWork: Team['taskWork'] =
    hands && repositoriesOf && handTools ? openTaskWork(hands, repositoriesOf, handTools) : null;
  function openTaskWork(
    own: Hands,
    given: Pick<RepositoriesDeps, 'folder' | 'hidden' | 'rights' | 'lane'>,
    handed: HandTools,
  ) {
    const tokens = createTokens({ db, home, sealer });
    const forgeFetch = createGuardedFetch(given.rights.servers);
    const repositories = createRepositories({
      ...given,
      tokenOf: async (projectId) => (await tokens.of(projectId))?.token ?? null,
      headsOf: (projectId) => attempts.headsOf(projectId),
    });
    const checkouts = createCheckouts({
      ...{ ...own, newId, scratch: join(given.folder, 'scratch') },
      reachOf: (agentId) => commandReach({ ...own, configs: granted }, agentId),
    });
    const workLimits = createWorkLimits({
      attempts,
      today: async () => dayOf((await configs.household()).effective.time_zone, now()),
    });
    async function tellPerson(agentId: AgentId, text: string): Promise<void> {
      const sessionId = host.sessionId() ?? log.snapshot().lastEnd?.sessionId ?? null;
      // Before the first session there is no conversation. The history of the task says it too.
      if (sessionId !== null)
        await log.append([
          messageEvent({ time: now(), messageId: newId(), sessionId, agentId, author: 'relay', text }),
        ]);
    }
    const means = createMeans({ tools, configs: granted, checkouts });
    const work = createTaskWork({
      ...{ means, projects, attempts, checkouts, repositories, tokens, directory, alone, now, logger, tellPerson },
      limits: workLimits,
      forges: createForges({ fetch: forgeFetch.fetch }),
      workspaces: own.workspaces,
      approvals,
      onTurn: (attemptId) => meter?.turned(attemptId),
      endCommandsOf: (agentId) => handed.endCommandsOf(agentId),
      async tellAgent(agentId, text) {
        const message = { messageId: newId(), to: agentId, from: 'human', text, time: now(), threadId: null } as const;
        await inbox.put({ ...message, priority: 'normal' }, agentId);
      },
    });
    const ownMeter = createMeter({
      ...{ attempts, projects, log },
      limits: workLimits,
      stop: work.stop,
      onError: saying('What a request used could not be counted to its attempt.'),
    });
    meter = ownMeter;
    /** The routine's of the agent's run, the agent's, or the household's. Null: none is set. */
    async function executorModelOf(agentId: AgentId): Promise<string | null> {
      const [{ own }, household] = await Promise.all([configs.agent(agentId), configs.household()]);
      return scopes.executorModelOf(agentId) ?? own.executor_model ?? household.own.executor_model ?? null;
    }
    const executors = createExecutors({
      ...{ projects, attempts, work, means, checkouts, runs, tools, now, tellPerson },
      endCommandsOf: (agentId, executor) => handed.endCommandsOf(agentId, executor),
      limits: workLimits,
      async mindOf(agentId, role) {
        const answers = mind.current?.() ?? mind;
        const snapshot = await snapshots.of(agentId);
        return {
          answers,
          model:
            (role === 'executor' ? await executorModelOf(agentId) : null) ??
            host.modelOf(agentId) ??
            answers.models({ lead: '', agent: snapshot?.model ?? '' }).agentModel,
          maxAnswerTokens: snapshot?.maxAnswerTokens ?? DEFAULT_SETTINGS.maxAnswerTokens,
          contextTokens: snapshot?.contextTokens ?? DEFAULT_SETTINGS.contextTokens,
        };
      },
      onError: saying('A second mind could not look at a task in review.'),
      usedUp: async (agentId) => (await costs.usedUp(agentId))?.message ?? null,
    });
    offer(createTaskWorkTools({ projects, work, repositories, executors }));
    const status: WorkStatus = { ...workLimits, lacking: means.lacking, runsOf: attempts.runsOf };
    return { work, executors, tokens, status, now, close };
    function close(): Promise<void> {
      ownMeter.close();
      return forgeFetch.close();
    }
  }
  /** A tool that notes in whose checkout its agent works. */
  const noted = (tool: TeamTool): TeamTool => ({
    ...tool,
    async run(input, caller) {
      // An executor sees one checkout alone.
      if (caller.folder === undefined)
        await taskWork?.work
          .touches({ agentId: caller.agentId, executor: null }, JSON.stringify(input))
          .catch(saying(NOT_NOTED));
      return await tool.run(input, caller);
    },
  });
  const searchTool = createSearchTool({ searches, directory, threads, snapshots });
  offer([
    ...createReachTools({
      reach,
      inbox,
      gate,
      configs,
      directory,
      pauses,
      host,
      now,
      toHuman,
      human: wakePayloads.human,
      tell,
    }),
    ...createThreadTools({ threads, directory }),
    ...createProjectTools({ projects, comments, directory, configs, scopes, work: taskWork?.work ?? null }),
    searchTool,
    ...createMemoryTools({
      ...{ memories, foreign, configs, now },
      searchConversations: searchTool,
      soulOf: async ({ agentId }) => wakePayloads.soulOf(agentId) ?? (await snapshots.of(agentId))?.soul ?? null,
    }),
    ...(handTools?.tools ?? []).map(noted),
    ...createProviderTools(() => hands?.web.addresses !== 'none'),
    ...createScheduleTools({ schedules, proposals: schedules.proposals, configs, now }),
    ...(hands ? scriptTools.tools : []),
  ]);
  if (mcpServers) {
    const guarded = approvals.guardFrom(mcpServers.tools);
    tools.offerFrom(() => foreign.watch(scopes.guard(guarded())));
  }
  const obstacles = createObstacles({
    ...{ projects, mappings, host, gate, alone: aloneAgents, usedUp: costs.usedUp, waiting: approvals.waiting },
    work: taskWork?.status ?? null,
  });
  const starts = createStarts({
    ...{ projects, host, reach, woken, configs, directory, usedUp: costs.usedUp, now, newId, logger },
    alone: aloneAgents,
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
      createAttemptRecords({ db, home, room, setAside }),
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
      { part: 'costs', run: () => counted.recover() },
      { part: 'conversations', run: () => recoverLog({ log, inbox, costs, now, setAside }) },
      { part: 'threads', run: () => threads.recover() },
      { part: 'claims', run: () => projects.recover() },
      { part: 'attempts', run: async () => await taskWork?.work.recover() },
      { part: 'routines of projects', run: () => mappings.recover() },
      { part: 'dreams', run: () => dreams.recover() },
      { part: 'exams', run: () => exams.recover() },
      { part: 'records', run: () => records.recover() },
      { part: 'calls', run: () => approvals.recover() },
      { part: 'messages', run: () => reach.recover() },
    ],
    endCommandsOf: async (agentId) => await handTools?.endCommandsOf(agentId),
    async rest(agentId) {
      const endTurn = await turns.take(agentId, { signal: new AbortController().signal, limitMs: REST_MS });
      if (!endTurn || !handTools?.isRunning(agentId)) return endTurn;
      endTurn();
      return null;
    },
    inbox,
    directory,
    configs,
    gate,
    pauses,
    threads,
    projects,
    attempts,
    taskWork,
    obstacles,
    memories,
    dreams,
    exams,
    forgets,
    starts,
    comments,
    searches,
    costs,
    approvals,
    records,
    reach,
    host,
    runs,
    wakePayloads,
    ...{ schedules, mappings, goOn, sizeOfRun, scopes, snapshots, foreign, askFirst },
    tools: tools.all(),
    warm: (warmMind, signal) => host.warm(warmMind, signal),
    async close() {
      reach.close();
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
