/**
 * One home: a household's event log, its team and session, its API clients, and the endpoints of
 * all these.
 */
import { dirname, join } from 'node:path';
import type { Context } from 'hono';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { kindOfColumn } from '../../src/shared/domain/projects.ts';
import { grantOf, TOOLSETS } from '../../src/shared/domain/toolsets.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import type { WakeSource } from '../../src/shared/protocol/wakes.ts';
import type { Protocol } from '../../src/shared/domain/prompts.ts';
import { OWN_FOLDER } from '../../src/shared/protocol/endpoints/history.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import type { MayConnect } from '../../src/shared/protocol/models.ts';
import { bearerOf, createCredentialRoutes, createCredentials, type Credentials } from '../access/index.ts';
import { createApprovalRoutes } from '../approvals/requests/index.ts';
import type { MindAction } from '../agents/minds/actions.ts';
import type { EventLog } from '../log/index.ts';
import type { Configs } from '../team/gate/configs.ts';
import { createGateRoutes } from '../team/gate/index.ts';
import { createClosers, type Closers } from '../platform/closers.ts';
import type { Lane } from '../platform/lanes.ts';
import type { Logger } from '../platform/logger.ts';
import type { SetAside } from '../platform/set-aside.ts';
import { createScripts, type Scripts, type WatchedClock } from '../schedules/index.ts';
import type { Database, Db } from '../store/index.ts';
import { type Hands, roomOf } from '../execution/hands/index.ts';
import { createHistories, type Histories } from '../files/history/index.ts';
import { createHistoryRoutes } from '../files/history/routes.ts';
import { createWorkspaces, type Workspaces } from '../files/workspaces/index.ts';
import { type McpServers, createMcpServers, createMcpServerRoutes } from '../mcp/client/index.ts';
import {
  type AgentPrograms,
  type AgentProgramsDeps,
  createAgentPrograms,
  createProgramRoutes,
} from '../agents/minds/acp/index.ts';
import { createAnnounce, openEventLog } from '../log/index.ts';
import { createDreamRoutes } from '../dreams/routes.ts';
import { createExamRoutes } from '../exams/routes.ts';
import { createForgetRoutes } from '../team/memory/forgets.ts';
import { createMemoryRoutes } from '../team/memory/routes.ts';
import { createStartRoutes } from '../schedules/starts.ts';
import { createCostRoutes } from '../team/costs/index.ts';
import { createDirectoryRoutes } from '../team/directory/index.ts';
import { createWebhooks } from '../webhooks/index.ts';
import { createWebhookRoutes } from '../webhooks/routes.ts';
import type { Handled } from '../http/endpoint.ts';
import { createInboxRoutes } from '../team/inbox/index.ts';
import type { HomeModels } from '../agents/models/index.ts';
import { createModelRoutes } from '../agents/models/relay.ts';
import {
  createNotificationRoutes,
  createNotifications,
  type HomeNotifications,
  type NotificationsDeps,
  type Pusher,
} from '../notifications/index.ts';
import { createPauseRoutes } from '../team/pauses/index.ts';
import type { HomeRights, OwnerRights } from '../access/owner-rights.ts';
import { problem } from '../http/problem.ts';
import { createRecordRoutes } from '../team/records/index.ts';
import { createDefaultRoutines } from '../schedules/alone.ts';
import { createMappingRoutes } from '../schedules/mapping-routes.ts';
import { createScheduleRoutes } from '../schedules/routes.ts';
import { createSnapshotRoutes } from '../schedules/snapshots.ts';
import { createSearchRoutes } from '../team/searches/index.ts';
import { createStreams, type Streams } from './stream.ts';
import { askingProject, createProjectRoutes } from '../projects/board/index.ts';
import { createTaskWorkRoutes } from '../projects/work/routes.ts';
import { createThreadRoutes } from '../team/threads/index.ts';
import { createWorkspaceRoutes } from '../files/workspaces/routes.ts';
import { createMcp } from '../mcp/server/index.ts';
import type { Mind } from '../agents/minds/index.ts';
import type { Processes } from '../platform/processes/index.ts';
import type { Starts } from '../agents/minds/acp/starts.ts';
import { createProxy } from '../agents/proxy/index.ts';
import { databaseAway } from '../agents/runs/outcome.ts';
import { createSoulTools } from '../agents/session/index.ts';
import { openPlace } from '../schedules/place.ts';
import type { Sealer } from '../platform/sealer.ts';
import { SCHEDULE_LIMITS } from '../schedules/settings.ts';
import type { Sandbox } from '../execution/sandbox/index.ts';
import type { Web } from '../execution/web/index.ts';
import { createAsideNotices } from './aside-notices.ts';
import { createFindSentence } from './find-sentence.ts';
import { createForgetting, type Forgetting } from './forgetting.ts';
import type { SentencePlaces } from '../../src/shared/protocol/forgets.ts';
import { openTeam, type Team } from './team.ts';
import { createSessionRoutes, type StreamLimit } from './session-routes.ts';

// Programs that run beside the relay for one home, ACP agents and MCP servers, and what they
// receive from it.

type BesideDeps = Pick<
  AgentProgramsDeps,
  'db' | 'sealer' | 'processes' | 'starts' | 'address' | 'version' | 'now' | 'elapsed' | 'newId' | 'logger' | 'rights'
> & { readonly setAside: SetAside };

interface Home {
  readonly id: string;
  readonly log: EventLog;
  readonly workspaces: Workspaces;
  readonly tell: (event: RoostEvent) => void;
  readonly team: () => Pick<Team, 'configs' | 'approvals' | 'foreign' | 'wakePayloads' | 'host'>;
  readonly credentials: () => Pick<Credentials, 'lend'>;
}

function openPrograms(deps: BesideDeps, { id, log, workspaces, tell, team, credentials }: Home): AgentPrograms {
  const { db, sealer, processes, starts, address, version, now, elapsed, newId, logger, setAside } = deps;
  /** What a program's own tools return may be text of others. */
  function shown(action: MindAction): MindAction {
    team().foreign.note(action.caller, action.tool);
    return action;
  }
  return createAgentPrograms({
    ...{ db, home: id, sealer, log, workspaces, processes, starts, address, version, now, elapsed, newId, logger },
    ...{ rights: deps.rights, setAside },
    mostStarts: async () => (await team().configs.household()).effective.programs_at_once,
    chosenFor: async (agentId) => (await team().configs.agent(agentId)).effective.coordination.mind,
    mayUse: async (agentId, tool) =>
      grantOf((await team().configs.agent(agentId)).effective.coordination, tool) !== 'off',
    ask: (asked) => team().approvals.askPermission(shown(asked)),
    record: (action) => team().approvals.recordAction(shown(action)),
    isEgg: (agentId) => (team().host.newborn(agentId)?.birth ?? null) !== null,
    talkOf: (agentId) => team().wakePayloads.talkOf(agentId),
    lend: ({ agentId, ...run }, label) => credentials().lend(agentId, label, run),
    timers: realTimers,
    onChange: () => tell({ kind: 'changed', time: now(), what: 'programs', agentId: null }),
  });
}

/** Toolsets that may write in an agent's folder. */
const WRITING = ['files', 'shell'] as const;
type AgentGrants = Awaited<ReturnType<Configs['agent']>>['effective']['coordination'];

/** Whether an agent with these settings may write in its folder. */
const mayWrite = (granted: AgentGrants): boolean =>
  granted.mind !== null ||
  granted.toolsets.attached !== 'off' ||
  WRITING.some((set) => TOOLSETS[set].some((tool) => grantOf(granted, tool) !== 'off'));

function openScripts(
  { rights, sandbox }: Pick<BesideDeps, 'rights'> & Pick<Hands, 'sandbox'>,
  { workspaces, histories }: Pick<Home, 'workspaces'> & { readonly histories: Pick<Histories, 'record'> },
): Scripts {
  const scripts = createScripts(workspaces, sandbox, rights);
  return {
    ...scripts,
    async run(script, text, begins) {
      const recordEnd = await histories.record(script.agentId, { kind: 'script', name: script.script });
      try {
        return await scripts.run(script, text, begins);
      } finally {
        await recordEnd();
      }
    },
  };
}

function openMcpServers(
  deps: BesideDeps & Pick<Hands, 'sandbox'>,
  { id, tell, team }: Pick<Home, 'id' | 'tell' | 'team'>,
): McpServers {
  const { db, sealer, processes, sandbox, version, rights, now, elapsed, newId, logger, setAside } = deps;
  return createMcpServers({
    ...{ db, home: id, sealer, processes, sandbox, version, rights, now, elapsed, newId, logger, setAside },
    timers: realTimers,
    askPerson: (asked) => team().approvals.askPerson(asked),
    onChange: () => tell({ kind: 'changed', time: now(), what: 'mcp-servers', agentId: null }),
  });
}

function openNotifications(
  {
    db,
    sealer,
    alone,
    push,
    rights,
    now,
    elapsed,
    newId,
    logger,
  }: Omit<OpenHomeDeps, 'rights'> & Pick<BesideDeps, 'rights'>,
  {
    id,
    log,
    tell,
    team,
    hasPage,
  }: Pick<Home, 'id' | 'log' | 'tell'> & { readonly team: Team } & Pick<NotificationsDeps, 'hasPage'>,
): HomeNotifications {
  return createNotifications({
    ...{ db, now, elapsed, newId, sealer, logger, log, alone, hasPage, home: id },
    approvals: team.approvals,
    directory: team.directory,
    async isReview(projectId, columnId) {
      const project = await team.projects.read(projectId);
      return project.ok && kindOfColumn(project.value, columnId) === 'review';
    },
    ...push,
    pusher: push.pushers.of(rights.pushes),
    readZone: async () => (await team.configs.household()).effective.time_zone,
    tell: () => tell({ kind: 'changed', time: now(), what: 'notifications', agentId: null }),
    timers: realTimers,
  });
}

/** What API clients call: MCP, and the model proxy. */
function openClients(
  { db, database, alone, version, now, elapsed, newId, logger }: Omit<OpenHomeDeps, 'rights'>,
  { id, log, team, models, programs }: Pick<Home, 'id' | 'log'> & Pick<HomeParts, 'team' | 'models' | 'programs'>,
) {
  const credentials = createCredentials({ db, home: id, now, newId, log, alone: alone });
  credentials.onRevoke((credentialId) => host.left(credentialId));
  const { host, inbox, directory, configs, gate, pauses, threads, costs } = team;
  const clients = {
    credentials,
    directory,
    pauses,
    configs,
    sessionId: () => host.sessionId(),
    joined: host.joined,
    clientCalls: host.clientCalls,
    newborn: host.newborn,
    newId,
    now: elapsed,
    logger,
  };
  const mcp = createMcp({
    ...clients,
    tools: [...team.tools, ...team.scopes.guard(createSoulTools({ log, ...team, now }))],
    inbox,
    log,
    stateOf: host.stateOf,
    gate,
    threads,
    version: version,
    onListed: programs.listed,
    onCalled: programs.called,
    ...(alone ? {} : { shared: { db, database: database, home: id } }),
  });
  const proxy = createProxy({
    ...clients,
    costs,
    upstream: (model) => models.upstream(model),
    foreign: (model) => models.foreign(model),
    listed: () => models.shown().connections.flatMap((connection) => connection.models),
    standIn: (model, agentId) =>
      models.lacks(model) ? (host.modelOf(agentId) ?? models.mind.models({ lead: '', agent: '' }).agentModel) : null,
    onError: (error) => logger.error('A call of the model proxy failed.', { error }),
  });
  return { credentials, mcp, proxy };
}

// All endpoints of one home.

interface CallerDeps {
  readonly credentials: Pick<Credentials, 'check'>;
  readonly configs: Pick<Configs, 'agent'>;
}

/**
 * The caller that sets a sleeping flag: the person, an application, or an agent. An agent may set
 * its own flag, and others' where the person allows it. Throws a problem where an agent may not set
 * this one.
 */
const createCallerOf =
  ({ credentials, configs }: CallerDeps) =>
  async (context: Context, target: AgentId): Promise<WakeSource> => {
    const secret = bearerOf(context);
    const client = secret === null ? null : await credentials.check(secret);
    if (client === null) return { kind: 'person' };
    if (client.agentId === null) return { kind: 'api', name: client.label === '' ? 'an application' : client.label };
    if (
      client.agentId !== target &&
      !(await configs.agent(client.agentId)).effective.coordination.may_put_others_to_sleep
    )
      throw problem(
        403,
        'other-agent',
        'This credential belongs to another agent. That agent may do this to others only if the person allows it (Settings, under the agent’s limits).',
      );
    return { kind: 'api', name: client.agentId };
  };

interface EndpointsDeps extends Pick<Hands, 'sandbox'> {
  readonly rights: HomeRights;
  readonly checkStreams: StreamLimit;
  /** ms since the epoch. */
  readonly now: () => number;
}

interface HomeParts {
  readonly team: Team;
  readonly log: EventLog;
  readonly streams: Streams;
  readonly workspaces: Workspaces;
  readonly histories: Histories;
  readonly mcpServers: McpServers;
  readonly programs: AgentPrograms;
  readonly notifications: HomeNotifications;
  readonly scripts: Scripts;
  readonly credentials: Credentials;
  readonly models: HomeModels;
  readonly onTeam: () => Promise<void>;
  readonly forgetting: Forgetting;
  readonly findSentence: (text: string, isTool?: boolean) => Promise<SentencePlaces>;
  /** Endpoints of parts that define their own. */
  readonly others: readonly Handled[];
}

function endpointsOf({ sandbox, rights, checkStreams, now }: EndpointsDeps, parts: HomeParts): readonly Handled[] {
  const { team, credentials, workspaces } = parts;
  const { host, runs, inbox, directory, configs, gate, pauses, threads, costs, records, wakes, schedules, snapshots } =
    team;
  const hands = { sandbox: sandbox.status, rights };
  return [
    ...createSessionRoutes({ ...team, log: parts.log, streams: parts.streams, checkStreams }),
    ...createDirectoryRoutes({
      directory,
      beginsIn: configs.beginsIn,
      onTeam: parts.onTeam,
      onForgotten: parts.forgetting.agents,
    }),
    ...createInboxRoutes({ inbox }),
    ...createGateRoutes({
      gate,
      configs,
      directory,
      defaultRoutines: createDefaultRoutines({ schedules, snapshots, configs }),
    }),
    ...createPauseRoutes({
      pauses,
      directory,
      sessionId: () => host.sessionId(),
      callerOf: createCallerOf({ credentials, configs }),
      async wake(agentId, source) {
        const way = source.kind === 'person' ? 'person' : 'api';
        const request = { target: agentId, source, way, reason: null, messageId: null, callerSession: null } as const;
        if (source.kind === 'person') return (await wakes.ask(request)).decision;
        // The flood guard passes within a minute, so the call waits for it. Any other obstacle is
        // reported to the caller.
        const { decision, waits, cleared } = await wakes.clearFlag(request, 'flood');
        return waits && (await cleared) ? { outcome: 'granted', detail: '' } : decision;
      },
    }),
    ...createThreadRoutes({ threads }),
    ...createProjectRoutes({ projects: team.projects, comments: team.comments, work: team.taskWork?.work ?? null }),
    ...(team.taskWork ? createTaskWorkRoutes({ projects: team.projects, ...team.taskWork }) : []),
    ...createForgetRoutes({ forgets: team.forgets, carryOut: parts.forgetting.said, findSentence: parts.findSentence }),
    ...createMemoryRoutes({ memories: team.memories, directory }),
    ...createDreamRoutes({ dreams: team.dreams, directory }),
    ...createExamRoutes({ exams: team.exams, directory }),
    ...createStartRoutes({ obstacles: team.obstacles, starts: team.starts }),
    ...createMappingRoutes({ mappings: team.mappings, directory }),
    ...createSearchRoutes({ searches: team.searches }),
    ...createCredentialRoutes({ credentials, directory }),
    ...createCostRoutes({ costs, schedules, host, configs, sizeOfRun: team.sizeOfRun }),
    ...createRecordRoutes({ records, onRestored: parts.forgetting.restored }),
    ...createScheduleRoutes({ schedules, goOn: team.goOn, snapshots, directory, runs, now, scripts: parts.scripts }),
    ...createSnapshotRoutes({
      ...{ schedules, snapshots, runs, directory },
      dreaming: team.dreams.dreaming,
      forgetIds: team.forgets.ids,
      startsWithoutPage: async () =>
        (await credentials.list()).some(({ scopes, revokedAt }) => revokedAt === null && scopes.includes('sessions')),
    }),
    ...createWorkspaceRoutes({ workspaces, directory, recordWork: parts.histories.record }),
    ...createHistoryRoutes({ histories: parts.histories, directory }),
    ...createApprovalRoutes({
      ...{ ...team, ...hands },
      askingProject: (agentId) => askingProject(team.configs, team.projects, agentId),
    }),
    ...createModelRoutes({ models: parts.models, host }),
    ...createProgramRoutes({ programs: parts.programs }),
    ...createMcpServerRoutes({ ...team, ...hands, mcpServers: parts.mcpServers }),
    ...createNotificationRoutes({ notifications: parts.notifications, rights }),
    ...parts.others,
  ];
}

export interface OpenHomeDeps {
  readonly rights: OwnerRights;
  /** Shared by all homes. */
  readonly sandbox: Sandbox;
  readonly webs: { of(addresses: MayConnect): Web };
  readonly db: Db;
  readonly database: Database;
  /** No other process can have this store open. */
  readonly alone: boolean;
  /** Identifies the relay's folder. Null: the store is outside it. */
  readonly place: string | null;
  /** The models of this home. */
  readonly openModels: (home: string, onChange: () => void) => Promise<HomeModels>;
  readonly protocol: Protocol;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms, whatever happens to the wall clock. For durations. */
  readonly elapsed: () => number;
  readonly newId: () => string;
  readonly logger: Logger;
  /** Seals what is stored here for the time without a browser. */
  readonly sealer: Sealer;
  /** Each contains a folder for each home, with a folder for each agent. */
  readonly workspaces: string;
  /** Contains a folder for each home, with the relay’s repositories of its projects. */
  readonly projects: string;
  readonly history: string;
  readonly processes: Processes;
  readonly starts: Starts;
  /** The household’s turns among all that git, and commands in the sandbox, are run for. */
  readonly lanes: { readonly git: Lane; readonly commands: Lane };
  /** The relay's address, as programs on its machine reach it. */
  readonly address: string;
  readonly retentionMs: number;
  /** Why agents may store no more just now, as a sentence. Null: they may. */
  readonly refuseForRoom: () => Promise<string | null>;
  /** Bytes that the projects of one household may take in the store. */
  readonly projectBytes: number;
  readonly version: string;
  readonly streamBufferBytes: number;
  /** The household of this home. Null: no device has proved it. */
  readonly household: () => string | null;
  readonly checkStreams: StreamLimit;
  readonly push: Pick<NotificationsDeps, 'subject' | 'nextMs'> & {
    readonly pushers: { of(addresses: MayConnect): Pusher };
  };
}

export interface OpenHome extends Pick<Team, 'host' | 'directory'> {
  readonly id: string;
  readonly log: EventLog;
  readonly clock: WatchedClock;
  readonly credentials: Credentials;
  readonly streams: Streams;
  readonly models: HomeModels;
  readonly endpoints: ReadonlyMap<Endpoint, Handled>;
  /**
   * Runs the steps of a wake once, so that the first real one need not pay for them. Leaves no
   * trace.
   */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /** Ends the session, and everything that depends on it. */
  end(reason: 'shutdown' | 'crash'): Promise<void>;
  close(): Promise<void>;
}

/**
 * `onTeam`: called when the page announces the household's members, before that is written. What
 * was opened is closed again where the home cannot be opened.
 */
export async function openHome(relay: OpenHomeDeps, id: string, onTeam: () => Promise<void>): Promise<OpenHome> {
  const closers = createClosers((error) =>
    relay.logger.error('A part of a household that cannot be opened could not be closed.', { home: id, error }),
  );
  try {
    return await openParts(relay, id, onTeam, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function openParts(
  relay: OpenHomeDeps,
  id: string,
  onTeam: () => Promise<void>,
  closers: Closers,
): Promise<OpenHome> {
  const rights = relay.rights.of(id);
  const sandbox = relay.sandbox.within({
    addresses: rights.pages,
    refuseFolders: rights.has('machine-folders') ? null : rights.refusal('machine-folders'),
    lane: relay.lanes.commands,
  });
  const deps = { ...relay, rights, sandbox };
  const { db, now, elapsed, newId, logger, retentionMs } = deps;
  const usual = { db, now, elapsed, newId };
  const notices = createAsideNotices({ home: id, now, logger });
  const { setAside } = notices;
  const log = await openEventLog({
    ...usual,
    onUnreadable: notices.onUnreadable,
    database: deps.database,
    home: id,
    onHeldMost: () => cutOff(),
    onListenerError: (error) => logger.error('A listener to the event log failed.', { error }),
    retentionMs,
  });
  closers.add(() => log.close());
  notices.opened(log);
  log.subscribe(({ id: number, event }) =>
    logger.debug('An event was written.', {
      home: id,
      number,
      kind: event.kind,
      ...('agentId' in event ? { agentId: event.agentId } : {}),
    }),
  );
  const tell = createAnnounce({ log, logger });
  const models = await deps.openModels(id, () => tell({ kind: 'changed', time: now(), what: 'models', agentId: null }));
  closers.add(() => models.close());
  if (!deps.alone)
    log.subscribe(({ event }) => {
      if (event.kind !== 'changed' || event.what !== 'models') return;
      models
        .reread()
        .catch((error: unknown) => logger.error('The model connections could not be read again.', { home: id, error }));
    });
  const most = (agentId: AgentId) => roomOf(team.configs, agentId);
  const workspaces = createWorkspaces({
    folder: join(deps.workspaces, id),
    ...{ elapsed, most },
    history: (agentId) => histories.bytes(agentId),
  });
  const histories = createHistories({
    folder: join(deps.history, id),
    foldersOf: (agentId) => Promise.resolve([{ key: OWN_FOLDER, path: workspaces.folderOf(agentId) }]),
    mostOf: most,
    // Called only when everything is open.
    mayWrite: async (agentId) => mayWrite((await team.configs.agent(agentId)).effective.coordination),
    takeTurn: (agentId) => team.rest(agentId),
    onChange: (agentId) => workspaces.changed(agentId),
    ...{ now, elapsed, logger, lane: deps.lanes.git },
  });
  const scripts = openScripts(deps, { workspaces, histories });
  const mcpServers = openMcpServers({ ...deps, setAside }, { id, tell, team: () => team });
  const programs = openPrograms(
    { ...deps, setAside },
    {
      ...{ id, log, workspaces, tell },
      // Called only when everything is open: no turn begins before.
      team: () => team,
      credentials: () => credentials,
    },
  );
  const place = await openPlace({
    ...{ db, home: id, place: deps.place, log, now, newId },
    onError: (error) => logger.error('The relay could not check whether this home is a copy.', { home: id, error }),
  });
  const cutOff = () => {
    const why = databaseAway(deps.database.awayMs() ?? deps.database.patienceMs);
    for (const part of [team.host, team.runs]) part.cutOff(why);
  };
  const unwatch = deps.database.subscribe(({ kind }) => {
    if (kind === 'given-up') cutOff();
  });
  const team = openTeam({
    ...usual,
    database: deps.database,
    home: id,
    log,
    mind: programs.over(models.mind),
    protocol: deps.protocol,
    logger,
    retentionMs,
    alone: deps.alone,
    refuseForRoom: deps.refuseForRoom,
    projectBytes: deps.projectBytes,
    sealer: deps.sealer,
    scripts,
    recordWork: histories.record,
    hands: { workspaces, sandbox: deps.sandbox, web: deps.webs.of(rights.pages), rights },
    repositories: { folder: join(deps.projects, id), hidden: dirname(deps.projects), rights, lane: deps.lanes.git },
    mcpServers,
    setAside,
  });
  closers.add(() => team.close());
  const { host, runs, directory, records, schedules } = team;
  const notifications = openNotifications(deps, {
    id,
    log,
    tell,
    team,
    hasPage: (browser) => streams.countOf(browser) > 0,
  });
  const { credentials, mcp, proxy } = openClients(deps, { id, log, team, models, programs });
  const streams = createStreams({
    ...deps,
    ...{ log, host, searches: team.searches },
    bufferBytes: deps.streamBufferBytes,
    onError: (error) => logger.error('An event stream failed.', { error }),
  });
  const { projects } = team;
  const webhooks = createWebhooks({
    ...{ db, home: id, sealer: deps.sealer, projects, schedules, log, logger, tell, now, newId, setAside },
  });
  const forgetting = createForgetting({
    ...team,
    ...{ db, home: id, log, credentials, webhooks, notifications, workspaces, histories, logger, now },
  });
  const endpoints = endpointsOf(deps, {
    ...{ team, log, streams, workspaces, histories, mcpServers, programs, notifications, scripts, credentials, models },
    ...{ onTeam, forgetting },
    findSentence: createFindSentence({ ...team, db, home: id, workspaces }),
    others: [...mcp.endpoints, ...proxy.endpoints, ...createWebhookRoutes({ webhooks })],
  });
  for (const part of [webhooks, mcpServers, programs, notifications, mcp]) closers.add(() => part.close());
  let clock: Awaited<ReturnType<typeof schedules.clock.start>> = { stoodMs: 0, planned: true };
  await setAside.run([
    ...team.recovery,
    { part: 'MCP servers', run: () => mcpServers.start() },
    { part: 'notifications', run: () => notifications.start() },
    { part: 'ACP agents', run: () => programs.start() },
    { part: 'webhooks', run: () => webhooks.recover() },
    { part: 'removed projects', run: () => forgetting.recover() },
    { part: 'schedules', run: async () => (clock = await schedules.clock.start()) },
  ]);
  team.dreams.begin(() => !place.copied());
  void histories.keepTidy(realTimers);
  const { stoodMs, planned } = clock;
  if (stoodMs > SCHEDULE_LIMITS.stillMs)
    logger.info('The clock for schedules stood still.', { home: id, minutes: Math.round(stoodMs / 60_000), planned });
  return {
    id,
    clock: {
      id,
      seenAt: () => schedules.clock.seenAt(),
      copied: () => place.copied(),
      stoodMs: !planned && stoodMs > SCHEDULE_LIMITS.stillMs ? stoodMs : null,
    },
    log,
    host,
    directory,
    credentials,
    streams,
    models,
    endpoints: new Map(endpoints.map((each) => [each.endpoint, each])),
    warm: (mind, signal) => team.warm(mind, signal),
    async end(reason) {
      // Waits of a run that ends now are left for the next process.
      team.wakes.close();
      void team.dreams.close();
      await Promise.all([
        host.end(reason),
        schedules.close(reason === 'shutdown'),
        runs.close(),
        scripts.close(),
        mcpServers.close(),
        programs.close(),
      ]);
      // Runs while there are streams, so that a recent setting is not lost with this home.
      await records
        .recover()
        .catch((error: unknown) =>
          logger.error('Some records will be announced at the relay’s next start.', { error }),
        );
      await histories.close();
      await notifications.close();
      await mcp.close();
      proxy.close();
      streams.close();
    },
    async close() {
      unwatch();
      await webhooks.close();
      await team.close();
      await models.close();
      await log.close();
    },
  };
}
