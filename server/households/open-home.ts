/**
 * One home: a household's event log, its team and session, what joins it from elsewhere, and the
 * calls of all these.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import { join } from 'node:path';
import type { Protocol } from '../../src/shared/domain/prompts.ts';
import { createCredentials, type Credentials } from '../access/index.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import type { EventLog } from '../contracts/index.ts';
import type { Handled } from '../http/endpoint.ts';
import { createTell, openEventLog } from '../team/events/index.ts';
import type { Logger } from '../platform/logger.ts';
import { createMcp } from '../tools/mcp-server/index.ts';
import type { Mind } from '../agents/minds/index.ts';
import type { Processes } from '../platform/processes/index.ts';
import type { Starts } from '../tools/acp/starts.ts';
import type { HomeModels } from '../agents/models/index.ts';
import { createProxy } from '../agents/proxy/index.ts';
import { databaseAway } from '../agents/runs/outcome.ts';
import { createSoulTools } from '../agents/session/index.ts';
import { openPlace } from '../schedules/place.ts';
import type { WatchedClock } from '../schedules/index.ts';
import type { Sealer } from '../platform/sealer.ts';
import { SCHEDULE_LIMITS } from '../schedules/settings.ts';
import type { Database, Db, OpenJournal } from '../store/index.ts';
import { createStreams, type Streams } from '../http/stream.ts';
import { openAttached, openPrograms, openScripts } from './open-programs.ts';
import { createSetAside } from './set-aside.ts';
import { openTeam, type Team } from './team.ts';
import { roomOf } from '../tools/hands/index.ts';
import type { OwnerRights } from '../access/owner-rights.ts';
import type { Sandbox } from '../tools/sandbox/index.ts';
import type { Web } from '../tools/web/index.ts';
import type { MayConnect } from '../../src/shared/protocol/models.ts';
import type { Pusher } from '../notifications/push.ts';
import { endpointsOf } from './endpoints.ts';
import { letGoOfAgents } from './letting-go.ts';
import { createWorkspaces } from '../tools/workspaces/index.ts';
import { createNotifications, type NotificationsDeps } from '../notifications/index.ts';
import type { StreamLimit } from './stream-limit.ts';

export interface OpenHomeDeps {
  readonly rights: OwnerRights;
  /** One for all homes. */
  readonly sandbox: Sandbox;
  readonly webs: { of(addresses: MayConnect): Web };
  readonly db: Db;
  readonly database: Database;
  readonly openJournal: OpenJournal | null;
  /** No other process can have this store open. */
  readonly alone: boolean;
  /** Says where the relay's folder lies; null: the store is not in it. */
  readonly place: string | null;
  /** The models of this home. */
  readonly openModels: (home: string, onChange: () => void) => Promise<HomeModels>;
  readonly protocol: Protocol;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward, whatever becomes of the wall clock: for spans. */
  readonly elapsed: () => number;
  readonly newId: () => string;
  readonly logger: Logger;
  /** Seals what is left here for the time without a browser. */
  readonly sealer: Sealer;
  /** Holds a folder for each home, and in that one for each agent. */
  readonly workspaces: string;
  readonly processes: Processes;
  readonly starts: Starts;
  /** Of this relay, as programs on its machine reach it. */
  readonly address: string;
  readonly retentionMs: number;
  /** Why agents may store no more just now, as a sentence; null: they may. */
  readonly refuseForRoom: () => Promise<string | null>;
  readonly version: string;
  readonly streamBufferBytes: number;
  /** Whose home it is; null: nobody has proven it. */
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
  /** Does once what a wake does, so that the first one need not pay for it. Leaves no trace. */
  warm(mind: Mind, signal: AbortSignal): Promise<void>;
  /** Ends the session, and everything that hangs on it. */
  end(reason: 'shutdown' | 'crash'): Promise<void>;
  close(): Promise<void>;
}

/** `onTeam`: the page says who lives here; before that is written. */
export async function openHome(relay: OpenHomeDeps, id: string, onTeam: () => Promise<void>): Promise<OpenHome> {
  const rights = relay.rights.of(id);
  const sandbox = relay.sandbox.within({
    addresses: rights.pages,
    refuseFolders: rights.has('machine-folders') ? null : rights.refusal('machine-folders'),
  });
  const deps = { ...relay, rights, sandbox };
  const { db, now, elapsed, newId, logger, retentionMs } = deps;
  const usual = { db, now, elapsed, newId };
  const setAside = createSetAside({ home: id, now, logger });
  const log = await openEventLog({
    ...usual,
    onUnreadable: setAside.onUnreadable,
    database: deps.database,
    openJournal: deps.openJournal,
    home: id,
    onHeldMost: () => cutOff(),
    onListenerError: (error) => logger.error('A listener to the event log failed.', { error }),
    retentionMs,
  });
  setAside.opened(log);
  log.subscribe(({ id: number, event }) =>
    logger.debug('An event was written.', {
      home: id,
      number,
      kind: event.kind,
      ...('agentId' in event ? { agentId: event.agentId } : {}),
    }),
  );
  const tell = createTell({ log, logger });
  const models = await deps.openModels(id, () => tell({ kind: 'changed', time: now(), what: 'models', agentId: null }));
  if (!deps.alone)
    log.subscribe(({ event }) => {
      if (event.kind !== 'changed' || event.what !== 'models') return;
      models
        .reread()
        .catch((error: unknown) => logger.error('The models could not be read anew.', { home: id, error }));
    });
  const most = (agentId: AgentId) => roomOf(team.configs, agentId);
  const workspaces = createWorkspaces({ folder: join(deps.workspaces, id), elapsed, most });
  const scripts = openScripts(deps, { workspaces });
  const attached = openAttached(deps, { id, tell, team: () => team });
  const programs = openPrograms(deps, {
    ...{ id, log, workspaces, tell },
    // Asked for when all that is open: nobody has a turn before.
    team: () => team,
    credentials: () => credentials,
  });
  const place = await openPlace({
    ...{ db, home: id, place: deps.place, log, now, newId },
    onError: (error) => logger.error('Whether this home is a copy could not be read.', { home: id, error }),
  });
  const cutOff = () => {
    const why = databaseAway(deps.database.awayMs() ?? deps.database.patienceMs);
    for (const part of [team.host, team.runs]) part.cutOff(why);
  };
  const unwatch = deps.database.subscribe(({ kind }) => {
    if (kind === 'given-up') cutOff();
  });
  const team = await openTeam({
    ...usual,
    ...{ database: deps.database, openJournal: deps.openJournal },
    home: id,
    log,
    mind: programs.over(models.mind),
    protocol: deps.protocol,
    logger,
    retentionMs,
    alone: deps.alone,
    refuseForRoom: deps.refuseForRoom,
    sealer: deps.sealer,
    scripts,
    hands: { workspaces, sandbox: deps.sandbox, web: deps.webs.of(rights.pages), rights },
    attached,
  });
  const { host, runs, inbox, directory, configs, gate, pauses, threads, costs, records, schedules } = team;
  const notifications = createNotifications({
    ...usual,
    ...{ home: id, alone: deps.alone, log },
    sealer: deps.sealer,
    calls: team.calls,
    directory,
    ...deps.push,
    pusher: deps.push.pushers.of(rights.pushes),
    readZone: async () => (await configs.household()).effective.time_zone,
    hasPage: (browser) => streams.countOf(browser) > 0,
    tell: () => tell({ kind: 'changed', time: now(), what: 'notifications', agentId: null }),
    timers: realTimers,
    logger,
  });
  const credentials = createCredentials({ db, home: id, now, newId, log, alone: deps.alone });
  const onForgotten = letGoOfAgents({ ...team, ...{ db, home: id, log, credentials, workspaces, logger } });
  credentials.onRevoke((credentialId) => host.left(credentialId));
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
    tools: [...team.tools, ...createSoulTools({ log, wakeMaterials: team.wakeMaterials, now })],
    inbox,
    log,
    stateOf: host.stateOf,
    gate,
    threads,
    version: deps.version,
    onListed: programs.listed,
    ...(deps.alone ? {} : { shared: { db, database: deps.database, home: id } }),
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
  const streams = createStreams({
    ...deps,
    ...{ log, host, searches: team.searches },
    bufferBytes: deps.streamBufferBytes,
    onError: (error) => logger.error('An event stream failed.', { error }),
  });
  const endpoints = endpointsOf(deps, {
    ...{ team, log, streams, workspaces, attached, programs, notifications, scripts, credentials, models },
    ...{ onTeam, onForgotten },
    others: [...mcp.endpoints, ...proxy.endpoints],
  });
  await attached.start();
  await notifications.start();
  await programs.start();
  const { stoodMs, planned } = await schedules.clock.start();
  if (stoodMs > SCHEDULE_LIMITS.stillMs)
    logger.info('The clock stood still.', { home: id, minutes: Math.round(stoodMs / 60_000), planned });
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
    async warm(mind, signal) {
      await log.warm();
      await team.warm(mind, signal);
    },
    async end(reason) {
      // What waits for a run that ends with this is for the next process to take up.
      team.reach.close();
      await Promise.all([
        host.end(reason),
        schedules.close(reason === 'shutdown'),
        runs.close(),
        scripts.close(),
        attached.close(),
        programs.close(),
      ]);
      // While there are streams: what was set a moment ago is not to go with this home.
      await records
        .recover()
        .catch((error: unknown) => logger.error('Some records are told when the relay is started again.', { error }));
      await notifications.close();
      await mcp.close();
      proxy.close();
      streams.close();
    },
    async close() {
      unwatch();
      await team.close();
      await models.close();
      await log.close();
    },
  };
}
