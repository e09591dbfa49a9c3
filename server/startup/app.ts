/** The relay's calls: routes to parts. Every error leaves as a problem document. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sql } from 'kysely';
import { serveStatic } from '@hono/node-server/serve-static';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { HTTPException } from 'hono/http-exception';
import { matchedRoutes } from 'hono/route';
import { spanText } from '../../src/shared/domain/zone-days.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import { keepLoaded } from '../../src/shared/domain/platform/single-flight.ts';
import { roomEndpoints } from '../../src/shared/protocol/endpoints/team.ts';
import type { Health, OpenHealth, Rehearsal, Room } from '../../src/shared/protocol/http.ts';
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import { probeEndpoints, relayEndpoints } from '../../src/shared/protocol/endpoints/session.ts';
import type { MindInfo, Snapshot } from '../../src/shared/protocol/events.ts';
import type { Homes } from '../households/index.ts';
import type { Logger } from '../platform/logger.ts';
import { type ClockWatch, createClockWatch } from '../schedules/index.ts';
import {
  answer,
  browserOf,
  CALL_ROOTS,
  checkWhole,
  type Env,
  type Handled,
  mount,
  refuseHead,
  refuseOthers,
} from '../http/endpoint.ts';
import { bytesBelow } from '../platform/bytes-below.ts';
import { SCHEMA } from '../store/tables.ts';
import { type Database, type Db, isUnstorable, storeTrouble } from '../store/index.ts';
import { type Access, onlyByTls, securityHeaders } from '../access/index.ts';
import { notBuiltPage, signedInPage, wantsPage } from '../http/pages.ts';
import { limitBody } from '../http/body.ts';
import { createDatabaseGate, DATABASE_AWAY, unlessAway } from '../http/database-gate.ts';
import { openApi } from '../http/open-api.ts';
import { problem, problemResponse, RETRY_AFTER } from '../http/problem.ts';
import type { App } from '../http/upgrade.ts';
import type { EventLog } from '../log/index.ts';
import { createReadiness } from './readiness.ts';

// Reports on the terminal and in the log when the clock of a home stops, and at the start how long
// it had stood still.

const COPIED =
  'This home is a copy of another, or was put back from one: nothing that is due runs here, so that it does not run twice. Under Night you bring it here.';

interface ClockWatchTells {
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly say: (line: string) => void;
  readonly logger: Pick<Logger, 'warn'>;
  /** The watch ends with the relay. */
  readonly closers: { add(closer: () => Promise<void>): void };
}

export function openClockWatch(
  homes: Pick<Homes, 'open'>,
  { elapsed, say, logger, closers }: ClockWatchTells,
): ClockWatch {
  const watch = createClockWatch({
    clocks: () => homes.open().map(({ clock }) => clock),
    elapsed,
    timers: realTimers,
    say(line) {
      say(line);
      logger.warn(line);
    },
  });
  closers.add(() => Promise.resolve(watch.close()));
  const { stoodMs, copied } = watch.state();
  if (copied) say(COPIED);
  if (stoodMs !== null)
    say(
      `The clock by which agents’ routines are due had stood for ${spanText(stoodMs)}: Roost was not running, and nobody had ended it. What was missed is under Schedule.`,
    );
  return watch;
}

// Used and free room of the relay's home, for the page, and for the check whether agents may store
// more.

const ROOM_DEFAULTS = {
  /** ms for which one measurement is cached. It reads the sizes of several thousand files. */
  keptMs: 10_000,
  /** The same for free room alone, which every message checks. */
  freeKeptMs: 1_000,
} as const;

/** Bytes of our tables in a Postgres server, with their indexes. */
async function bytesOfTables(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(pg_total_relation_size(class.oid)), 0)::bigint as bytes
    from pg_class as class join pg_namespace as space on space.oid = class.relnamespace
    where space.nspname = ${SCHEMA} and class.relkind = 'r'`.execute(db);
  return rows[0]?.bytes ?? 0;
}

interface RoomDeps {
  readonly folder: string;
  /** A store outside the folder. Null: it is inside. */
  readonly elsewhere: Db | null;
  /** Bytes of its disk that agents leave free. */
  readonly keepFree: number;
  /** Sealed entries of this sign-in's household, and its quota. Null if it stores none. */
  readonly partOf: (browser: string) => Promise<Room['part']>;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly keptMs?: number;
}

interface HomeRoom {
  readonly endpoints: readonly Handled[];
  /** Why agents may store no more just now, as a sentence. Null: they may. */
  readonly refuseForRoom: () => Promise<string | null>;
}

export function createHomeRoom({
  folder,
  elsewhere,
  keepFree,
  partOf,
  elapsed,
  keptMs = ROOM_DEFAULTS.keptMs,
}: RoomDeps): HomeRoom {
  const usedRoom = keepLoaded(
    async () => {
      const [files, tables] = await Promise.all([bytesBelow(folder), elsewhere ? bytesOfTables(elsewhere) : 0]);
      return files + tables;
    },
    { forMs: keptMs, elapsed },
  );
  const free = keepLoaded(
    async () => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
    { forMs: ROOM_DEFAULTS.freeKeptMs, elapsed },
  );
  return {
    endpoints: answer(roomEndpoints, {
      async room(_, context) {
        const browser = context.get('browser');
        return {
          bytes: await usedRoom.get(),
          free: await free.get(),
          keepFree,
          part: browser === undefined ? null : await partOf(browser),
        };
      },
    }),
    async refuseForRoom() {
      const left = await free.get();
      return left >= keepFree
        ? null
        : `Not stored: the disk of this household has ${Math.floor(left / 1_000_000)} MB left, and agents leave ${Math.ceil(keepFree / 1_000_000)} MB of it to the human. Tell the human when you next speak with them. What they write is still stored.`;
    },
  };
}

// The built page and its assets. Any other address is a route within the page, which parses it
// itself.

/** Vite puts a hash of the content into these names, so their content never changes. */
const HASHED = /^\/assets\//;
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_FIRST = 'no-cache';

/**
 * Browsers request it on every page of an origin, also before sign-in, and complain where it is
 * missing.
 */
function faviconOf(folder: string): () => Response {
  const assets = join(folder, 'assets');
  const name = existsSync(assets) ? readdirSync(assets).find((file) => /^favicon-.*\.svg$/.test(file)) : undefined;
  const icon = name === undefined ? null : readFileSync(join(assets, name));
  return () =>
    new Response(icon, {
      status: icon ? 200 : 204,
      headers: { ...(icon ? { 'content-type': 'image/svg+xml' } : {}), 'cache-control': 'public, max-age=86400' },
    });
}

/**
 * Generated for the first request and compressed once: anyone may request it, as often as they
 * like.
 */
function openApiOf(version: string): (_: unknown, context: Context<Env>) => Promise<Response> {
  const made = keepLoaded(async () => {
    const text = JSON.stringify(await openApi(ENDPOINTS, version));
    return { text, zipped: await promisify(gzip)(text) };
  });
  return async (_, context) => {
    const { text, zipped } = await made.get();
    const takesGzip = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
    return new Response(takesGzip ? zipped : text, {
      headers: {
        'content-type': 'application/json',
        'cache-control': ASK_FIRST,
        vary: 'accept-encoding',
        ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
      },
    });
  };
}

/** Routes for everything that is not a call. `folder` is the output of the build. */
export function createPageRoutes(folder: string): Hono {
  const routes = new Hono();
  const built = existsSync(join(folder, 'index.html'));
  // The build has compressed it in Brotli. Other clients get gzip, compressed per request.
  routes.use(compress({ encoding: 'gzip' }), etag());
  if (built) {
    routes.use(async (context, next) => {
      // All files are small and are sent whole. A server may ignore a Range (RFC 9110, 14.2), also
      // an invalid one.
      context.req.raw.headers.delete('range');
      await next();
      if (context.res.ok) context.header('cache-control', HASHED.test(context.req.path) ? FOREVER : ASK_FIRST);
    });
    routes.use(serveStatic({ root: folder, precompressed: true }));
  }
  const index = built ? serveStatic({ root: folder, path: 'index.html', precompressed: true }) : null;
  routes.get('*', async (context, next) => {
    if (!wantsPage(context)) throw problem(404, 'no-such-file', 'There is nothing at this address.');
    return index ? index(context, next) : notBuiltPage();
  });
  routes.all('*', () => {
    throw problem(405, 'method', 'Pages can only be read.', { headers: { allow: 'GET, HEAD' } });
  });
  return routes;
}

interface AppDeps {
  readonly access: Access;
  readonly database: Database;
  /** The running session in the household of this sign-in. */
  readonly sessionOf: (browser: string) => Promise<Snapshot['session']>;
  readonly version: string;
  /** The mind that would answer if a session of this sign-in began now. */
  readonly mindOf: (browser: string) => Promise<MindInfo>;
  /** The demo mind, for households without a model. */
  readonly rehearsal: { options(): Rehearsal; setOptions(options: Rehearsal): void };
  /** Why this sign-in may not set the demo mind's behaviour, as a sentence. Null: it may. */
  readonly refuseToDirect: (browser: string) => Promise<string | null>;
  /**
   * The endpoints of other parts. Throws if one is missing, together with those of this file.
   */
  readonly endpoints: readonly Handled[];
  /** The name with our own TLS only. Null if there is none. */
  readonly tlsName: string | null;
  /** The folder of the built page. */
  readonly pageFolder: string;
  /** Whether the clock of schedules runs. */
  readonly clock: () => OpenHealth['clock'];
  /** A log through which the first event goes. */
  readonly log: () => EventLog | undefined;
  readonly db: Db;
  /** ms since the epoch. */
  readonly now: () => number;
  /** The pattern of the called address, since an address itself may contain a credential. */
  readonly onCall: (call: { method: string; route: string; status: number; ms: number }) => void;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  /** An error of ours. `id` is what the person was shown. */
  readonly onError: (id: string, error: unknown) => void;
}

const TROUBLES = {
  'database-away': `${DATABASE_AWAY} Your request may have been carried out: check before you repeat it.`,
  'disk-full': 'The disk that Roost keeps its home on is full. Make room there: Roost goes on by itself.',
} as const;
const CALLS = CALL_ROOTS.map((root) => `/${root}/*`);

export function createApp(deps: AppDeps): App {
  const { access, sessionOf, version, mindOf, rehearsal, onError } = deps;
  const app = new Hono<Env>();
  const newErrorId = () => newId().slice(0, 8);

  function refuse(error: unknown): Response {
    if (error instanceof HTTPException) return error.getResponse();
    if (isUnstorable(error))
      return problemResponse(400, 'misfit', 'The request contains a character that cannot be stored, such as NUL.');
    const id = newErrorId();
    onError(id, error);
    const trouble = storeTrouble(error);
    if (trouble !== null) return problemResponse(503, trouble, TROUBLES[trouble], { headers: RETRY_AFTER });
    return problemResponse(500, 'broken', `The relay had an error. Its log says more under ${id}.`);
  }

  app.onError(refuse);
  app.use(async (context, next) => {
    const begun = deps.elapsed();
    await next();
    deps.onCall({
      method: context.req.method,
      route: matchedRoutes(context).findLast(({ path }) => !path.endsWith('*'))?.path ?? '*',
      status: context.res.status,
      ms: Math.round(deps.elapsed() - begun),
    });
  });
  app.use(securityHeaders());
  if (deps.tlsName !== null) app.use(onlyByTls(deps.tlsName));
  app.use(access.own);
  app.use(createDatabaseGate(deps.database));
  for (const prefix of CALLS)
    app.use(prefix, async (context, next) => {
      await next();
      if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store');
    });

  async function withRehearsal(browser: string) {
    const kind = (await sessionOf(browser))?.mind.kind ?? (await mindOf(browser)).kind;
    return kind === 'rehearsal' ? rehearsal : refuseRealMind();
  }
  function openHealth(): OpenHealth {
    const away = deps.database.awayMs();
    const database = { awayMs: away === null ? null : Math.round(away), trouble: away === null ? null : DATABASE_AWAY };
    return { status: 'ok', version, clock: deps.clock(), database };
  }
  /**
   * The health report for a signed-in browser. Null: the caller is not signed in, or the database
   * is away.
   */
  async function ofOwn(context: Context<Env>): Promise<Health | null> {
    async function read(): Promise<Health | null> {
      const browser = await access.browserOf(context);
      if (browser === null) return null;
      const [session, mind] = await Promise.all([sessionOf(browser), mindOf(browser)]);
      const model = session?.mind.leadModel ?? mind.leadModel;
      return { ...openHealth(), mind: mind.kind, model, sessionActive: session !== null };
    }
    return await unlessAway(deps.database, read());
  }
  const favicon = faviconOf(deps.pageFolder);
  const pages = createPageRoutes(deps.pageFolder);
  const ready = createReadiness({
    ...deps,
    page: () => Promise.resolve(pages.request('/', { headers: { accept: 'text/html' } })),
  });
  const own = answer(relayEndpoints, {
    async health(_, context) {
      context.header('cache-control', 'no-store');
      await deps.database.probe();
      return (await ofOwn(context)) ?? openHealth();
    },
    enter(_, context) {
      // Programs that preview links must not use them up.
      refuseHead(context);
      return access.enter(context);
    },
    signedIn(_, context) {
      refuseHead(context);
      return signedInPage();
    },
    favicon,
    openApi: openApiOf(version),
    getRehearsal: async (_, context) => (await withRehearsal(browserOf(context))).options(),
    async putRehearsal({ body }, context) {
      const rehearsing = await withRehearsal(browserOf(context));
      const refused = await deps.refuseToDirect(browserOf(context));
      if (refused !== null) throw problem(403, 'owner-only', refused);
      rehearsing.setOptions(body);
      return body;
    },
  });
  const probes = answer(probeEndpoints, {
    live: () => ({ status: 'ok' as const }),
    async ready() {
      const missing = await ready();
      if (missing !== null) throw problem(503, 'not-serving', missing, { headers: RETRY_AFTER });
      return { status: 'ok' as const };
    },
  });
  const all = [...probes, ...own, ...deps.endpoints];
  checkWhole(ENDPOINTS, all);
  const isOpen = ({ endpoint }: Handled) => endpoint.access === 'anyone' || endpoint.access === 'credential';
  mount(app, all.filter(isOpen));
  app.use(access.signedIn);
  for (const prefix of CALLS) app.use(prefix, limitBody());
  mount(
    app,
    all.filter((each) => !isOpen(each)),
  );
  refuseOthers(app, all);
  for (const prefix of CALLS)
    app.all(prefix, () => {
      throw problem(404, 'no-such-call', 'The relay has no such call.');
    });
  app.route('/', pages);

  return { fetch: app.fetch, refuse };
}

function refuseRealMind(): never {
  throw problem(404, 'real-mind', 'A real mind is in use, so there is no rehearsal to control.');
}
