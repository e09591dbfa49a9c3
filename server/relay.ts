/**
 * One relay. It opens every part in order, connects them, and closes them in the opposite order.
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { newId } from '../src/shared/domain/platform/new-id.ts';
import { spanText } from '../src/shared/domain/zone-days.ts';
import { errorMessage } from '../src/shared/domain/platform/error-message.ts';
import { realTimers } from '../src/shared/domain/platform/timers.ts';
import { parseProtocol } from '../src/shared/domain/prompts.ts';
import { bracketed, createDeviceCodeRoutes, createOrigins, isLoopback } from './access/index.ts';
import { createApp, createHomeRoom, openClockWatch } from './startup/app.ts';
import { useBuildOf } from './startup/builds.mjs';
import { createClosers, type Closers } from './platform/closers.ts';
import { DATABASE_AWAY } from './http/database-gate.ts';
import { type Config, openAccess } from './startup/config.ts';
import { createCopyFolder, lockHome, openHomeFolder, readHome } from './startup/home.ts';
import type { PackageRoot } from './startup/package-root.ts';
import { bytesOfBrowser, createEachHome, createHomeRoutes, type Homes, openHomes } from './households/index.ts';
import { createSecrets } from './platform/key-filter.ts';
import { listen, readTlsPair, watchTlsFiles } from './http/listen.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { withWarmMind } from './agents/minds/index.ts';
import { createModels } from './agents/models/relay.ts';
import { openPushers } from './notifications/index.ts';
import { createOwnerRights } from './access/owner-rights.ts';
import { createTailnet, createTailnetRoutes } from './access/tailnet.ts';
import { problemResponse } from './http/problem.ts';
import { createProcesses } from './platform/processes/index.ts';
import { createSandbox } from './execution/sandbox/index.ts';
import { createSealer, readSealingKey } from './platform/sealer.ts';
import { openStore, type Database, STORE_FILE } from './store/index.ts';
import { createSync } from './sync/index.ts';
import { createWebs } from './execution/web/index.ts';

/**
 * Runs one wake as a dry run, so that the first real wake does not wait for code that is loaded at
 * first use. Ends with the relay.
 */
function warmUp(homes: Homes, logger: Logger, closers: Closers): void {
  const closing = new AbortController();
  const warming = withWarmMind(async (warmMind) => {
    for (const each of homes.open()) await each.warm(warmMind, closing.signal);
    logger.debug('A made-up wake has been run.');
  }).catch((error: unknown) =>
    logger.warn('Not everything could be warmed up. The first answer takes a little longer.', { error }),
  );
  closers.add(() => {
    closing.abort();
    return warming;
  });
}

/** Reports at the terminal and in the log when the database goes away and comes back. */
function tellOfDatabase(database: Database, { say, logger }: { say: (line: string) => void; logger: Logger }): void {
  let since: number | null = null;
  database.subscribe(({ kind }) => {
    const line =
      kind === 'there'
        ? `The database can be reached again, after ${spanText(performance.now() - (since ?? performance.now()))}.`
        : kind === 'away'
          ? DATABASE_AWAY
          : 'The database could not be reached in time. Answers under way have ended, and are stored when the database is back.';
    since = kind === 'there' ? null : (since ?? performance.now());
    say(line);
    logger.warn(line);
  });
}

export interface Relay {
  /** Its address, without a slash at the end. */
  readonly url: string;
  readonly rehearsal: boolean;
  readonly logger: Logger;
  /** Reads the certificate again; null: there is none. */
  readonly reloadCertificate: (() => Promise<void>) | null;
  /** Creates a one-time link. */
  newLink(): Promise<string>;
  /**
   * Ends the sessions, flushes, and closes everything. `crash`: an error of our own is the reason.
   */
  close(reason?: 'shutdown' | 'crash'): Promise<void>;
}

export interface RelayDeps {
  readonly config: Config;
  readonly root: PackageRoot;
  /** Prints progress to the terminal. */
  readonly say: (line: string) => void;
  readonly now: () => number;
  /** Monotonic ms for durations, independent of the wall clock. */
  readonly elapsed: () => number;
  /** ms for which a write waits for its household's proof. Left out: the usual time. */
  readonly proofMs?: number | undefined;
  /** The person asks the relay to end, from another terminal. */
  readonly onAskedToEnd?: () => void;
  /** The embedded store has ended by itself. The relay can only be closed. */
  readonly onStoreLost?: (error: Error) => void;
}

/** Throws `StartError` or `StoreError` if it cannot start. What was opened is closed again. */
export async function openRelay(deps: RelayDeps): Promise<Relay> {
  let isStoreLost = false;
  // Without its store, nothing closes in good order.
  const closers = createClosers((error) => {
    if (!isStoreLost) deps.say(`Closing failed: ${errorMessage(error)}`);
  });
  const onStoreLost = (error: Error) => {
    isStoreLost = true;
    deps.onStoreLost?.(error);
  };
  try {
    return await open({ ...deps, onStoreLost }, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Opens the listener. Every call gets a 503 until the relay serves. */
async function openListener(
  { config, say, now }: Pick<RelayDeps, 'config' | 'say' | 'now'>,
  logger: Logger,
  closers: Closers,
) {
  const tls = config.tls && {
    files: config.tls,
    name: config.proxied ? null : (config.publicUrl?.hostname ?? null),
    now,
  };
  const http = await listen({
    host: config.host,
    port: config.port,
    tls: tls && (await readTlsPair(tls)),
    proxied: config.proxied,
  });
  closers.add(() => http.close());
  const certificate =
    tls &&
    watchTlsFiles({
      ...tls,
      onPair(pair) {
        http.secureWith(pair);
        logger.info('The certificate was read again.');
      },
      onProblem(error) {
        say(`${error.message} The earlier one stays in use.`);
        logger.warn('The certificate could not be read again.', { error });
      },
    });
  closers.add(() => Promise.resolve(certificate?.close()));
  const url = config.publicUrl?.origin ?? `${tls ? 'https' : 'http'}://${bracketed(config.host)}:${http.port}`;
  return { http, certificate, url, byTls: tls !== null };
}

/** Opens the store, and lets backups copy it. */
async function openHomeStore(
  { config, say, now, elapsed, onStoreLost }: RelayDeps,
  {
    home,
    lock,
    logger,
    closers,
  }: {
    readonly home: Awaited<ReturnType<typeof readHome>>;
    readonly lock: Awaited<ReturnType<typeof lockHome>>;
    readonly logger: Logger;
    readonly closers: Closers;
  },
) {
  const store = await openStore({
    ...{ now, elapsed },
    folder: home.storeFolder,
    databaseUrl: config.databaseUrl,
    limits: { patienceMs: config.databaseAwayMs },
    onSetAside: (path) =>
      say(
        `The store of an earlier Roost was put aside, unchanged, as ${path}. Open the page: it gives the new store back what your browser holds of your household.`,
      ),
    onIdleError: (error) => logger.warn('An idle database connection broke.', { error }),
    onLost(error) {
      logger.error('The store has ended by itself.', { error });
      onStoreLost?.(error);
    },
  });
  closers.add(() => store.close());
  // A backup that was killed has left its copy.
  await rm(home.copiesFolder, { recursive: true, force: true });
  const { copyTo } = store;
  if (copyTo)
    lock.onCopy(async () => {
      const folder = await createCopyFolder(home.path);
      const file = join(folder, STORE_FILE);
      try {
        await copyTo(file);
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
      return file;
    });
  tellOfDatabase(store.database, { say, logger });
  return store;
}

async function open(given: RelayDeps, closers: Closers): Promise<Relay> {
  const { config, root, say, elapsed } = given;
  useBuildOf(root.path, root.pageFolder);
  const protocol = parseProtocol(readFileSync(join(root.path, 'CLAUDE.md'), 'utf8'));

  const folder = await openHomeFolder(config.home);
  const lock = await lockHome(folder, given.onAskedToEnd);
  closers.add(() => lock.release());
  const home = await readHome(folder);
  const secrets = createSecrets([config.messagesApi?.key ?? null]);
  const logger = createLogger({
    folder: home.logFolder,
    now: () => new Date(given.now()),
    level: config.logLevel,
    tell: say,
    filter: secrets,
  });
  const { http, certificate, url, byTls } = await openListener(given, logger, closers);
  lock.tell(url);

  const { db, now, ...store } = await openHomeStore(given, { home, lock, logger, closers });
  const alone = store.kind === 'sqlite';
  const sealer = createSealer(await readSealingKey(home.sealingKeyFile));
  const origins = createOrigins({
    port: http.port,
    host: config.host,
    publicUrl: config.publicUrl,
    tls: byTls,
    proxied: config.proxied,
  });
  const rights = createOwnerRights(config, home.relay);
  const models = await createModels({
    config,
    db,
    rights,
    sealer,
    isOwn: ({ host }) => origins.isHost(host),
    onKey: secrets.add,
    onError: (error) => logger.warn('A model’s stated window could not be stored.', { error }),
    now,
    elapsed,
    newId,
  });
  closers.add(() => models.close());
  const room = createHomeRoom({
    folder: home.path,
    elsewhere: alone ? null : db,
    keepFree: config.keepFreeBytes,
    async partOf(browser) {
      const bytes = await bytesOfBrowser(db, home.relay, browser);
      return bytes === null ? null : { bytes, most: config.sync.householdBytes };
    },
    elapsed,
  });
  const sandbox = createSandbox({
    network: { addresses: 'public' },
    processes: createProcesses(home.processesFolder),
    hidden: [home.path],
  });
  closers.add(() => sandbox.close());
  const webs = createWebs({ version: root.version });
  closers.add(() => webs.close());
  const pushers = await openPushers(home.pushKeysFile, { now });
  closers.add(() => pushers.close());
  const homes = await openHomes({
    refuseForRoom: room.refuseForRoom,
    projectBytes: config.projectBytes,
    db,
    database: store.database,
    relay: home.relay,
    alone,
    place: alone ? home.place : null,
    openModels: models.open,
    protocol,
    workspaces: home.workspacesFolder,
    projects: home.projectsFolder,
    history: home.historyFolder,
    rights,
    ...{ processesFolder: home.processesFolder, address: url },
    webs,
    push: { pushers, subject: config.push.subject, nextMs: config.push.nextMs },
    sandbox,
    sealer,
    now,
    elapsed,
    newId,
    logger,
    retentionMs: config.retentionMs,
    version: root.version,
    streamBufferBytes: config.streams.bufferBytes,
    mostStreams: config.streams.most,
    most: config.sync.households,
    proofMs: given.proofMs,
  });
  closers.add(() => homes.close());
  for (const id of config.trustedHouseholds.filter((each) => !homes.has(each))) {
    say(`--trusted-households names ${id}, which is no household of this relay.`);
    logger.warn('A trusted household does not exist at this relay.', { id });
  }
  models.rehearsal.meet({
    all: () => Promise.all(homes.open().map(({ directory }) => directory.all())),
  });
  const { access, deviceCodes, giveBeside, newCode } = openAccess(
    { ...given, now },
    {
      db,
      relay: home.relay,
      homes,
      origins,
      port: http.port,
      byTls,
    },
  );
  const isOnlyHere = config.publicUrl === null && config.tls === null && isLoopback(config.host);
  const tailnet = isOnlyHere ? createTailnet({ port: http.port, onAddress: origins.add }) : null;
  const sync = createSync({
    db,
    relay: home.relay,
    now,
    elapsed,
    timers: realTimers,
    alone,
    onRevoked: (browsers) => homes.endStreamsOf(browsers),
    onMember: (household, browser, joins) => homes.member(household, browser, joins),
    logger,
    settings: config.sync,
  });
  const others = [
    ...createHomeRoutes(homes, giveBeside),
    ...sync.endpoints,
    ...room.endpoints,
    ...createDeviceCodeRoutes(deviceCodes, () => config.publicUrl?.origin ?? tailnet?.known() ?? null),
    ...createTailnetRoutes(tailnet),
  ];
  const app = createApp({
    access,
    database: store.database,
    clock: openClockWatch(homes, { elapsed, say, logger, closers }).state,
    log: () => homes.open()[0]?.log,
    ...{ db, now },
    sessionOf: async (browser) => (await homes.of(browser)).log.snapshot().session,
    version: root.version,
    mindOf: async (browser) => (await homes.of(browser)).models.mind.models({ lead: '', agent: '' }),
    rehearsal: models.rehearsal,
    async refuseToDirect(browser) {
      const own = rights.of((await homes.of(browser)).id);
      return own.has('direct-demo') ? null : own.refusal('direct-demo');
    },
    endpoints: [...others, ...createEachHome(homes, others)],
    tlsName: byTls && !config.proxied && config.publicUrl?.port === '' ? config.publicUrl.host : null,
    pageFolder: root.pageFolder,
    onCall: (call) => logger.debug('A call was answered.', call),
    elapsed,
    onError: (id, error) => logger.error('A call failed.', { id, error }),
  });
  http.serve(
    getRequestListener((request, env) => app.fetch(request, env), {
      // Malformed requests: an invalid Host, an invalid address.
      errorHandler: (error) =>
        error instanceof Error && error.name === 'RequestError'
          ? problemResponse(400, 'malformed', error.message)
          : app.refuse(error),
    }),
    sync.upgrades.listener(app),
  );
  let ending: 'shutdown' | 'crash' = 'shutdown';
  closers.add(() => http.close());
  closers.add(() => sync.close());
  closers.add(() => homes.end(ending));
  closers.add(() => Promise.resolve(store.leave()));
  if (config.warmUp) warmUp(homes, logger, closers);
  // A phone that was let in by it comes back by it.
  tailnet?.look().catch((error: unknown) => logger.warn('Tailscale could not be asked.', { error }));
  const [first] = homes.open();
  logger.info('The relay has started.', {
    version: root.version,
    store: store.kind,
    mind: first?.models.mind.models({ lead: '', agent: '' }).kind,
    url,
  });

  return {
    url,
    rehearsal: first?.models.shown().connections.length === 0,
    logger,
    reloadCertificate: certificate && (() => certificate.reload()),
    newLink: async () => `${url}/enter?code=${await newCode()}`,
    close(reason = 'shutdown') {
      ending = reason;
      return closers.closeAll();
    },
  };
}
