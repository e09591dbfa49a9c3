/**
 * The owner: one worker per browser profile that holds the ledger and the relay's event stream, and that
 * every tab talks to. A SharedWorker where there is one; else each tab starts a dedicated worker, and the
 * one that gets the lock is the owner until its tab closes.
 */
import { z } from 'zod';
import { backoff } from './domain/platform/retry.ts';
import { realTimers } from './domain/platform/timers.ts';
import {
  createProblems,
  createStorageBuckets,
  emptyDatabases,
  isUnreadable,
  openLedger,
  serveChannel,
  servePorts,
  StorageProblemError,
  storageProblemOf,
  takeOwnersLock,
} from './ledger/owner/index.ts';
import {
  createEventStream,
  createFeed,
  createHeldPageKey,
  createRelayClient,
  createSyncClient,
  openSyncSocket,
  RELAY_TIMES,
  withPageKey,
} from './relay/index.ts';
import { createFailures, createOffered, openFiles } from './sync/mirror/index.ts';
import { isSealing, openSync, openSyncDatabase, type Sync } from './sync/owner/index.ts';
import { sessionEndpoints } from './protocol/endpoints/session.ts';
import { LEDGER_METHODS, OWNER_METHODS } from './protocol/owner-rpc.ts';
import { answersOf } from './protocol/rpc/method.ts';
import { createRpcServer } from './protocol/rpc/server.ts';
import { SYNC_METHODS } from './protocol/sync/methods.ts';
import type { OwnerNews } from './protocol/worker.ts';
import { guessDeviceName } from './domain/device-name.ts';

const WAITING =
  'Another version of Roost still holds this browser’s ledger. Close its other tabs; this one goes on by itself.';
const cursorSchema = z.object({ log: z.string(), after: z.number() });

const isShared = 'SharedWorkerGlobalScope' in globalThis;
/** Gravest first: without an owner nothing works, with a crash nobody knows, and so on. */
const problems = createProblems(['owner', 'crash', 'ledger', 'relay'], (problem) =>
  server.notify({ news: 'problem', problem }),
);

function crashed(error: unknown) {
  problems.set('crash', {
    kind: 'broken',
    detail: `Something in the page’s background worker failed. Reload the page. (${error instanceof Error ? error.message : String(error)})`,
  });
  look(error);
}
addEventListener('error', (event) => crashed(event.error ?? event.message));
addEventListener('unhandledrejection', (event) => crashed(event.reason));

const lock = takeOwnersLock({
  locks: navigator.locks,
  after: realTimers.after,
  onWait: () => {
    // In a dedicated worker waiting is the rule, and the owner answers for all.
    if (isShared) problems.set('owner', { kind: 'blocked', detail: WAITING });
  },
});

/** Beside IndexedDB, which may fail. */
const files = lock.acquired.then(() => openFiles(navigator.storage, realTimers.after));
const buckets = createStorageBuckets(navigator);
/** What localStorage holds, as the first tab says; null: no mark, or no tab has said it in time. */
const offered = createOffered(realTimers.after);
const failures = files.then((beside) => createFailures({ files: beside, offered: offered.text, now: Date.now }));
let ending: Promise<boolean> | null = null;
/** What was stored cannot be read: the owner ends, and the next one brings it back. Answers false where nothing could bring it back. */
function beginAnew(): Promise<boolean> {
  ending ??= (async () => {
    if (!(await (await failures).note())) {
      ending = null;
      return false;
    }
    await synced?.flush();
    server.notify({ news: 'restarting', reload: !isShared });
    // What was told is on its way before the worker is gone.
    realTimers.after(0, () => self.close());
    return true;
  })();
  return ending;
}
function look(error: unknown) {
  if (isUnreadable(error)) beginAnew().catch(crashed);
}
/** Nobody is told of a failure that the next start mends. */
async function orAnew<Opened>(opening: Promise<Opened>): Promise<Opened> {
  try {
    return await opening;
  } catch (error) {
    if (isUnreadable(error) && (await beginAnew())) await new Promise<never>(() => undefined);
    throw error;
  }
}

const NO_DATABASE =
  'This browser opens no database for this page any more, and cannot mend it. Close the browser and start it again; if that does not help, your team comes back in another browser: join from another device, type your recovery phrase, or import a copy.';
/** Before the ledger: what it takes from its first moment on may have to go out to other devices. */
const emptied = failures.then(async (noted) => {
  await buckets.reopen();
  if (!(await noted.isToBeEmptied())) return [];
  const { saved, works } = await emptyDatabases(buckets);
  if (!works && !(await buckets.move())) throw new StorageProblemError({ kind: 'broken', detail: NO_DATABASE });
  return saved;
});
const syncDatabase = orAnew(
  emptied.then(() =>
    openSyncDatabase({
      onBlocking: () =>
        problems.set('owner', {
          kind: 'blocked',
          detail: 'Another tab has a newer Roost. Reload this one; nothing that was stored is lost.',
        }),
      onTerminated: () =>
        problems.set('owner', { kind: 'broken', detail: 'The browser closed this page’s storage. Reload the page.' }),
    }),
  ),
);
let seals = true;
const isReturning = () => synced?.isReturning() ?? false;

const ledger = orAnew(
  syncDatabase.then(async (db) => {
    seals = await isSealing(db);
    problems.set('owner', null);
    return openLedger({
      lockHeld: lock.held,
      after: realTimers.after,
      now: Date.now,
      elapsed: () => performance.now(),
      onProgress: (progress) => server.notify({ news: 'progress', progress }),
      onForgotten(forgets) {
        server.notify({ news: 'forgotten', forgets });
        void sync.then((open) => open.forget(forgets));
      },
      shares: () => seals,
      onOutbox: () => synced?.wake(),
      isReturning,
      storage: buckets.storage,
      keyMaterial: () => Promise.resolve(null),
      onProblem(problem) {
        problems.set('ledger', problem);
        if (problem?.kind === 'unreadable') beginAnew().catch(crashed);
      },
      onDocuments(docs) {
        // Conversations are read anew when everything is back: nobody looks at them before that, and ten thousand messages to every tab take their time.
        const shown = isReturning() ? docs.filter(({ type }) => type !== 'message') : docs;
        if (shown.length > 0) server.notify({ news: 'documents', docs: shown });
        synced?.hearDocuments(docs);
        if (docs.some((doc) => doc.type === 'agent-identity')) void feed.then((open) => open.occupied());
        if (docs.some((doc) => doc.type === 'queued-message')) void feed.then((open) => open.deliver());
      },
    });
  }),
)
  .then(async (open) => {
    const saved = await emptied;
    if (saved.length > 0) await open.append(saved);
    return open;
  })
  .catch((error: unknown) => {
    problems.set('owner', storageProblemOf(error));
    throw error;
  });

const pageKey = createHeldPageKey(realTimers.after, RELAY_TIMES.pageKeyWithin);
const line = { fetch: withPageKey((...args) => fetch(...args), pageKey.whenHeard), baseUrl: '' };
/** What cannot be read is no sign that nobody lives here. */
const isVacant = ({ household }: Awaited<typeof ledger>) =>
  household().then(
    ({ identities }) => identities.length === 0,
    () => false,
  );
const client = createRelayClient(sessionEndpoints, line);
const feed = ledger.then(async (open) => {
  const cursor = cursorSchema.safeParse(await open.readCursor());
  return createFeed({
    cursor: cursor.success ? cursor.data : null,
    vacant: !cursor.success && (await isVacant(open)),
    client,
    timers: realTimers,
    openStream: (from, listener) =>
      createEventStream({
        ...line,
        timers: realTimers,
        random: Math.random,
        cursor: from,
        listener,
        report: (error) => console.error(error),
      }),
    store: (docs) => open.append(docs, 'relay'),
    saveCursor: (to) => open.writeCursor(to),
    queued: async () => (await open.household()).queued,
    tell: (news) => server.notify(news),
    onTrouble: (trouble) => problems.set('relay', trouble === null ? null : { kind: 'broken', detail: trouble }),
  });
});
let running: Awaited<typeof feed> | null = null;
feed.then((open) => (running = open), crashed);

let synced: Sync | null = null;
const sync = Promise.all([ledger, syncDatabase, files]).then(([open, db, beside]) =>
  openSync(
    {
      db,
      files: beside,
      deviceName: guessDeviceName(navigator.userAgent),
      ledger: { ...open, append: (docs) => open.append(docs, 'elsewhere') },
      relay: createSyncClient(line),
      openSocket: (listener) =>
        openSyncSocket(
          { WebSocket, baseUrl: location.origin.replace(/^http/, 'ws'), timers: realTimers, key: pageKey.now() },
          listener,
        ),
      timers: realTimers,
      backoff: (failures) => backoff(RELAY_TIMES, failures, Math.random),
      now: Date.now,
      elapsed: () => performance.now(),
      random: (length) => crypto.getRandomValues(new Uint8Array(length)),
      isLetIn: () => running?.link().kind !== 'locked-out',
      tell: (news) => server.notify(news),
      onCrash: crashed,
      onTrouble: look,
    },
    { set: (on) => (seals = on) },
  ),
);
sync.then((open) => (synced = open), crashed);

/** A tab that has just come may have brought the cookie that was missing. */
function reconnect() {
  running?.reconnect();
  synced?.reconnect();
}
const server = createRpcServer<typeof OWNER_METHODS, OwnerNews>({
  onError: look,
  welcome: () => ({
    news: 'welcome',
    link: running?.link() ?? { kind: 'connecting' },
    snapshot: running?.snapshot() ?? null,
    answers: running?.answers() ?? [],
    problem: problems.now(),
  }),
  methods: OWNER_METHODS,
  answers: {
    ...answersOf(LEDGER_METHODS, () => ledger),
    ...answersOf(SYNC_METHODS, async () => (await sync).answers),
    // What was heard a moment ago is part of what is remembered.
    async wakeMaterial(request) {
      await running?.stored();
      return (await ledger).wakeMaterial(request);
    },
    // A page that has opened a link brings what was missing.
    takePageKey({ key }) {
      if (pageKey.hear(key)) reconnect();
      return Promise.resolve(null);
    },
    reconnect: async () => {
      (await feed).reconnect();
      synced?.reconnect();
      return null;
    },
    async offerMark(request) {
      offered.hear(request.text);
      return (await sync).answers.offerMark(request);
    },
  },
});

if (isShared) servePorts(self, server, navigator.locks, reconnect);
else lock.acquired.then(() => serveChannel(server, navigator.locks, reconnect), crashed);
