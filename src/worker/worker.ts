/**
 * The data worker: one for each browser profile. It holds the ledger and the relay's event stream,
 * and every tab talks to it. Where the browser has SharedWorkers, all tabs share one. Otherwise
 * each tab starts a dedicated worker, and the one with the lock serves all tabs until its tab
 * closes.
 */
import { z } from 'zod';
import { errorMessage } from '../shared/domain/platform/error-message.ts';
import { withBytes } from '../shared/domain/attachment.ts';
import { createEvents } from '../shared/domain/platform/events.ts';
import { backoff } from '../shared/domain/platform/retry.ts';
import { realTimers } from '../shared/domain/platform/timers.ts';
import {
  createRestart,
  createProblems,
  createStorageBuckets,
  emptyDatabases,
  openLedger,
  patient,
  serveChannel,
  servePorts,
  StorageProblemError,
  storageProblemOf,
  takeWorkerLock,
} from './ledger/data-worker/index.ts';
import {
  createEventStream,
  createFeed,
  createHeldPageKey,
  createRelayClient,
  createSyncClient,
  openSyncSocket,
  RELAY_TIMES,
  withPageKey,
  type Feed,
} from '../shared/relay-client/index.ts';
import { createFailures, createOffered, openFiles } from './sync/mirror/index.ts';
import { householdOf, isSealing, openSync, openSyncDatabase, type Sync } from './sync/data-worker/index.ts';
import { searchEndpoints } from '../shared/protocol/endpoints/threads.ts';
import { sessionEndpoints } from '../shared/protocol/endpoints/session.ts';
import {
  LEDGER_METHODS,
  WORKER_METHODS,
  type WorkerNews,
  SEARCH_METHODS,
  type StorageProblem,
} from '../shared/protocol/worker.ts';
import { answersOf } from '../shared/rpc/method.ts';
import { createRpcServer } from '../shared/rpc/server.ts';
import { LIMITS } from '../shared/protocol/limits.ts';
import { SYNC_METHODS } from '../shared/protocol/sync/methods.ts';
import { openSearch, type Search } from './search/index.ts';
import type { Doc, ForgetDoc } from '../shared/protocol/documents.ts';
import { guessDeviceName } from '../shared/domain/device-name.ts';
import { sentence } from '../shared/domain/names.ts';

const WAITING = sentence`Another version of Roost is open in this browser. Close its tabs, and this one continues.`;
const cursorSchema = z.object({ log: z.string(), after: z.number() });

const isShared = 'SharedWorkerGlobalScope' in globalThis;
/** Events for the parts that open later. */
const events = createEvents<{
  news: [WorkerNews];
  /** New documents in the ledger. */
  documents: [readonly Doc[]];
  forgotten: [readonly ForgetDoc[]];
  /** The outbox has rows. */
  outbox: [];
}>();
const tell = (news: WorkerNews) => events.tell('news', news);
type Opened = { feed: Feed | null; sync: Sync | null; search: Search | null };
/** The parts that are open. */
const opened: Opened = { feed: null, sync: null, search: null };
/** The state of synchronisation, for the ledger below it. */
const syncState = { seals: true, returning: false };

/** Gravest first. Without the lock nothing works. After a crash the state is unknown, and so on. */
const problems = createProblems(['owner', 'crash', 'ledger', 'relay'], (problem) => tell({ news: 'problem', problem }));
const lock = takeWorkerLock({
  locks: navigator.locks,
  after: realTimers.after,
  onWait: () => {
    // A dedicated worker usually waits: the worker with the lock answers for all.
    if (isShared) problems.set('owner', { kind: 'blocked', detail: WAITING });
  },
});

/** Files outside IndexedDB, which may fail. */
const files = lock.acquired.then(() => openFiles(navigator.storage, realTimers.after));
const buckets = createStorageBuckets(navigator);
/**
 * The mark in localStorage, as the first tab sends it. Null: no mark, or no tab has sent one in
 * time.
 */
const offered = createOffered(realTimers.after);
const failures = files.then((beside) => createFailures({ files: beside, offered: offered.text, now: Date.now }));
const anew = createRestart({
  note: async () => (await failures).note(),
  flush: async () => opened.sync?.flush(),
  tell: () => tell({ news: 'restarting', reload: !isShared }),
  after: realTimers.after,
  end: () => self.close(),
  onCrash: crashed,
});

function crashed(error: unknown) {
  problems.set('crash', {
    kind: 'broken',
    detail: sentence`The part of the page that stores everything failed. Reload the page. (${errorMessage(error)})`,
  });
  anew.inspect(error);
}
addEventListener('error', (event) => crashed(event.error ?? event.message));
addEventListener('unhandledrejection', (event) => crashed(event.reason));

const NO_DATABASE = sentence`This browser can no longer open a database for this page, and Roost cannot repair it. Restart the browser. If that does not help, use another browser. There, join from another device, type your recovery phrase, or import a copy.`;
/**
 * Runs before the ledger opens: documents that it takes from its first moment on may have to go to
 * other devices.
 */
const emptied = failures.then(async (noted) => {
  await buckets.reopen();
  if (!(await noted.isToBeEmptied())) return [];
  const { saved, works } = await emptyDatabases(buckets);
  if (!works && !(await buckets.move())) throw new StorageProblemError({ kind: 'broken', detail: NO_DATABASE });
  return saved;
});
const ownerHas = (kind: 'blocked' | 'broken', detail: string) => () => problems.set('owner', { kind, detail });
const openSyncBookkeeping = () =>
  openSyncDatabase({
    onBlocking: ownerHas(
      'blocked',
      sentence`Another tab has a newer Roost. Reload this one; nothing that was stored is lost.`,
    ),
    onTerminated: ownerHas('broken', sentence`The browser closed this page’s storage. Reload the page.`),
  });
const storageNews = {
  after: realTimers.after,
  onProblem: (problem: StorageProblem | null) => problems.set('ledger', problem),
};
/** The time counts from the lock. Waiting for the lock has another reason. */
const syncDatabase = anew.orAnew(lock.acquired.then(() => patient(storageNews, emptied.then(openSyncBookkeeping))));

const ledger = anew
  .orAnew(
    syncDatabase.then(async (db) => {
      syncState.seals = await isSealing(db);
      problems.set('owner', null);
      return openLedger({
        lockHeld: lock.held,
        after: realTimers.after,
        now: Date.now,
        elapsed: () => performance.now(),
        onProgress: (progress) => tell({ news: 'progress', progress }),
        onForgotten(forgets) {
          tell({ news: 'forgotten', forgets });
          events.tell('forgotten', forgets);
        },
        shares: () => syncState.seals,
        onOutbox: () => events.tell('outbox'),
        isReturning: () => syncState.returning,
        storage: buckets.storage,
        keyMaterial: () => Promise.resolve(null),
        onProblem(problem) {
          problems.set('ledger', problem);
          if (problem?.kind === 'quota') opened.search?.hearNoRoom();
          if (problem?.kind === 'unreadable') anew.begin().catch(crashed);
        },
        onDocuments(docs) {
          // Tabs read conversations anew when everything is restored. Before that nobody looks at
          // them, and sending ten thousand messages to every tab takes time.
          const shown = syncState.returning ? docs.filter(({ type }) => type !== 'message') : docs;
          if (shown.length > 0) tell({ news: 'documents', docs: shown });
          events.tell('documents', docs);
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

const isTalking = () => (opened.feed?.answers().length ?? 0) > 0;
const search = ledger.then((open) =>
  openSearch({ ledger: open, storage: buckets.storage, after: realTimers.after, isTalking }),
);
search.then((open) => (opened.search = open), crashed);
events.on('documents', (docs) => opened.search?.hear(docs));
events.on('forgotten', () => opened.search?.hearGone());

const pageKey = createHeldPageKey(realTimers.after, RELAY_TIMES.pageKeyWithin);
const line = { fetch: withPageKey((...args) => fetch(...args), pageKey.whenHeard), baseUrl: '' };
const client = createRelayClient({ ...sessionEndpoints, ...searchEndpoints }, line);
const feed = Promise.all([ledger, syncDatabase]).then(async ([open, db]) => {
  const cursor = cursorSchema.safeParse(await open.readCursor());
  return createFeed({
    cursor: cursor.success ? cursor.data : null,
    // An unreadable ledger does not mean that no household lives here.
    vacant: !cursor.success && (await open.household().catch(() => null))?.identities.length === 0,
    household: await householdOf(db),
    client,
    timers: realTimers,
    openStream: (from, listener) =>
      createEventStream({
        ...line,
        timers: realTimers,
        random: Math.random,
        cursor: from,
        searches: true,
        listener,
        report: (error) => console.error(error),
      }),
    // Restored documents come in any order. A forgotten document may be here again before its
    // forget document.
    search: async (asked) => (syncState.returning ? Promise.reject(new Error('later')) : (await search).findFor(asked)),
    store: (docs) => open.append(docs, 'relay'),
    saveCursor: (to) => open.writeCursor(to),
    queued: async () => (await open.household()).queued,
    attachment: async (file) => withBytes(file, await open.attachment(file)),
    tell,
    onTrouble: (trouble) => problems.set('relay', trouble === null ? null : { kind: 'broken', detail: trouble }),
  });
});
feed.then((open) => (opened.feed = open), crashed);
events.on('documents', (docs) => {
  if (docs.some((doc) => doc.type === 'agent-identity')) void feed.then((open) => open.occupied());
  if (docs.some((doc) => doc.type === 'queued-message')) void feed.then((open) => open.deliver());
});

const sync = Promise.all([ledger, syncDatabase, files]).then(([open, db, beside]) =>
  openSync({
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
    isLetIn: () => opened.feed?.link().kind !== 'locked-out',
    tell,
    onCrash: crashed,
    onTrouble: anew.inspect,
    sealing: (on) => (syncState.seals = on),
    returning: (on) => (syncState.returning = on),
    belongs: (household) => void feed.then((open) => open.belongs(household)),
  }),
);
sync.then((open) => (opened.sync = open), crashed);
/** The failure to open is reported elsewhere. */
const isToldOf = () => undefined;
// Includes events while it opens. Otherwise a new household would have no second copy until the
// next start.
events.on('documents', (docs) => void sync.then((open) => open.hearDocuments(docs), isToldOf));
events.on('forgotten', () => void sync.then((open) => open.forget(), isToldOf));
events.on('outbox', () => opened.sync?.wake());

/** A new tab may have brought the missing cookie. */
function reconnect() {
  opened.feed?.reconnect();
  opened.sync?.reconnect();
  return null;
}
const server = createRpcServer<typeof WORKER_METHODS, WorkerNews>({
  onError: anew.inspect,
  welcome: () => ({
    news: 'welcome',
    link: opened.feed?.link() ?? { kind: 'connecting' },
    snapshot: opened.feed?.snapshot() ?? null,
    answers: opened.feed?.answers() ?? [],
    problem: problems.now(),
  }),
  methods: WORKER_METHODS,
  answers: {
    ...answersOf(LEDGER_METHODS, () => ledger),
    ...answersOf(SEARCH_METHODS, async () => ({ search: (await search).find })),
    ...answersOf(SYNC_METHODS, async () => (await sync).answers),
    received: async () => ({ stored: await (await feed).stored() }),
    // Events received a moment ago belong to the context.
    async wakeMaterial(request) {
      await opened.feed?.stored();
      return (await ledger).wakeMaterial(request);
    },
    // A page that has opened a link brings the missing key.
    takePageKey({ key }) {
      return Promise.resolve(pageKey.hear(key) ? reconnect() : null);
    },
    reconnect: () => feed.then(reconnect),
    signInChanged: async () => {
      (await feed).restart();
      opened.sync?.restart();
      return null;
    },
    async findSentence({ text }) {
      const plain = text.toLowerCase();
      const escaped = JSON.stringify(plain).slice(1, -1);
      const has = (json: string) => json.toLowerCase().includes(escaped);
      const [open, shared, found] = await Promise.all([ledger, sync, search]);
      const { hits } = await found.find({ text: plain, limit: LIMITS.searchAnswers });
      return {
        ...(await open.findText(has)),
        entries: await shared.countWith(has),
        found: hits.filter(({ passage }) => has(JSON.stringify(passage))).length,
      };
    },
    async offerMark(request) {
      offered.hear(request.text);
      return (await sync).answers.offerMark(request);
    },
  },
});

events.on('news', server.notify);

if (isShared) servePorts(self, server, navigator.locks, reconnect);
else lock.acquired.then(() => serveChannel(server, navigator.locks, reconnect), crashed);
