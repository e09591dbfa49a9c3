/**
 * The page's state: small stores, the actions that change them, and the one subscription to the
 * data worker.
 */
import type { ThreadId } from '../../shared/domain/ids.ts';
import { LEAD_ID } from '../../shared/domain/seat.ts';
import { createClock, type Clock } from '../../shared/domain/stamp.ts';
import { spoken, t } from '../language/t.ts';
import { documentsOf } from '../../shared/protocol/intake.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { isKnown, storeOf } from '../../shared/protocol/documents/kinds.ts';
import type { WorkerNews } from '../../shared/protocol/worker.ts';
import { createActions, type Actions } from './actions/index.ts';
import { attempt } from './actions/parts.ts';
import { createAnswers, type Answers } from './answers.ts';
import { type Changes, createChanges, createWriter } from './documents.ts';
import { createConversations, type Conversations } from './conversations.ts';
import { createDevices, selfOf, type Devices } from './devices.ts';
import { createHousehold, type Household } from './household.ts';
import { announceForgets } from './announce-forgets.ts';
import { announceTeam, storeLastTeam, readLastTeam } from './last-team.ts';
import { createQuery, type Query, relayQuery } from './query.ts';
import {
  type ConnectedModels,
  createConnectedModels,
  createLimits,
  createPending,
  createRelayInfo,
  type HouseholdLimits,
} from './relay-info.ts';
import { createLive, type Live } from './live.ts';
import { createNotices, type Notices } from './notices.ts';
import type { ShowAccepted } from './outbox/delivery.ts';
import { createOutbox, type Outbox, UNSENT } from './outbox/index.ts';
import { type ExportsPort, createUpkeep, type Device, type DataWorkerPort, type RelayPort } from './ports.ts';
import { mapResult, type ReachPort } from './reach.ts';
import { createWakeSizes, type WakeSizes } from './wake-sizes.ts';
import { createAgentSnapshots } from './agent-snapshots.ts';
import { createUnread, type Unread } from './unread.ts';

/**
 * localStorage key with the time of the last notice about restored data. For `ONE_REPAIR_MS` after
 * it, no second notice is shown.
 */
const ANNOUNCED_AT = 'roost-returned-told';
const ONE_REPAIR_MS = 10 * 60_000;

export interface RoostState {
  readonly household: Household;
  readonly live: Live;
  readonly answers: Answers;
  readonly conversations: Conversations;
  readonly outbox: Outbox;
  /** By thread: shows a message of the outbox that the thread has accepted. */
  readonly acceptedIn: Map<ThreadId, ShowAccepted>;
  readonly unread: Unread;
  readonly notices: Notices;
  readonly wakeSizes: WakeSizes;
  readonly pending: ReturnType<typeof createPending>;
  readonly info: ReturnType<typeof createRelayInfo>;
  readonly upkeep: ReturnType<typeof createUpkeep>;
  readonly devices: Devices;
  readonly actions: Actions;
  readonly dataWorker: DataWorkerPort;
  readonly relay: RelayPort;
  readonly reach: ReachPort;
  /** Changes that the relay announces, of the state requested with `reach`. */
  readonly changes: Changes;
  /** Number of messages in each agent's inbox, by agent id. */
  readonly unreadMessages: Query<Readonly<Record<string, number>>>;
  /** The connected models and their status. */
  readonly models: ConnectedModels;
  /** What the household's agents may do. */
  readonly limits: HouseholdLimits;
  readonly exports: ExportsPort;
  readonly device: Device;
  /** Stamps what this page writes. */
  readonly clock: Clock;
  /** Subscribes and reads the household. Returns a function that unsubscribes. */
  start(): () => void;
}

export interface Ports {
  readonly dataWorker: DataWorkerPort;
  readonly relay: RelayPort;
  readonly reach: ReachPort;
  readonly exports: ExportsPort;
  readonly device: Device;
  /** Names this page in clock stamps: letters, digits, `_` and `.`. */
  readonly node: string;
}

export function createRoostState({ dataWorker, relay, reach, exports, device, node }: Ports): RoostState {
  const clock = createClock({ now: device.now, node });
  const household = createHousehold(device.now, readLastTeam(device.browser));
  const live = createLive(device.now);
  const answers = createAnswers();
  const conversations = createConversations(dataWorker, household.isHidden);
  const notices = createNotices(device);
  const pending = createPending();
  const info = createRelayInfo();
  const upkeep = createUpkeep();
  const devices = createDevices(dataWorker, device.browser);
  const wakeSizes = createWakeSizes(dataWorker, household);
  const writer = createWriter({
    clock,
    newId: device.newId,
    now: device.now,
    deviceId: () => selfOf(devices.store.getState()),
  });
  const acceptedIn = new Map<ThreadId, ShowAccepted>();
  const outbox = createOutbox({
    device,
    live,
    async deliver(...message) {
      const { deliver } = await import('./outbox/delivery.ts');
      return deliver({ dataWorker, device, household, live, reach, relay, writer, threads: acceptedIn }, ...message);
    },
  });
  const unread = createUnread({ dataWorker, writer, device });
  const changes = createChanges();
  const agentSnapshots = createAgentSnapshots({ household, live, wakeSizes, reach, changes, device });
  const unreadMessages = relayQuery({ reach, changes, device }, ['inbox'], async (client) =>
    mapResult(await client.unread(), ({ unread }) => unread),
  );
  const readLimits = () => reach((client) => client.householdConfig());
  const limits = createLimits({
    query: createQuery({ ask: readLimits, changes, device, what: ['config'] }),
    read: readLimits,
    put: (own) => reach((client) => client.putHouseholdConfig({ body: { ...own, whole: true } })),
  });
  const parts = {
    dataWorker,
    relay,
    reach,
    device,
    writer,
    clock,
    household,
    live,
    conversations,
    outbox,
    unread,
    wakeSizes,
    notices,
    pending,
    info,
    upkeep,
    devices,
  };
  const actions = createActions(parts, limits);

  function take(docs: readonly Doc[]) {
    if (docs.length === 0) return;
    for (const doc of docs) if (isKnown(doc)) clock.follow(doc.at);
    household.take(docs);
    conversations.take(docs);
    outbox.take(docs);
    // An undo is rare. What it makes visible again is read anew.
    if (docs.some((doc) => doc.type === 'forget-undo')) void actions.reload().then(conversations.reread);
    const asked = docs.flatMap((doc) => (isKnown(doc) && doc.type === 'forget' ? [doc] : []));
    if (asked.length > 0) actions.hide(asked);
  }

  // Asked as soon as there is an agent to store. The storage page shows the answer.
  let askedToKeep = false;
  function keepForGood(docs: readonly Doc[]) {
    if (askedToKeep || !docs.some((doc) => isKnown(doc) && doc.type === 'agent-identity' && doc.agentId !== LEAD_ID))
      return;
    askedToKeep = true;
    void attempt(device.persist());
  }

  /** One tab announces restored data, once. */
  async function announceReturned() {
    const returned = await dataWorker.call('takeReturned');
    if (returned === null) return;
    // A repair may take two starts and is announced as one.
    const before = Number(device.browser.read(ANNOUNCED_AT) ?? -Infinity);
    device.browser.write(ANNOUNCED_AT, String(device.now()));
    if (Math.abs(device.now() - before) < ONE_REPAIR_MS) return;
    const { documents, lost } = returned;
    notices.offer(
      lost === 0
        ? t`The browser had lost what it stored for this page. Your team is back, with all ${documents.toLocaleString(spoken.locale)} entries.`
        : t`The browser had lost what it stored for this page. ${documents.toLocaleString(spoken.locale)} entries are back; ${lost.toLocaleString(spoken.locale)} were found neither on this device nor at the relay. If you have a copy, import it.`,
      { label: t`Done`, run: () => undefined },
    );
  }

  function readAnew() {
    void actions.reload();
    void unread.refresh();
    void conversations.refresh();
    changes.tell({ what: 'everything', agentId: null });
  }

  let welcomed = false;
  function hear(news: WorkerNews) {
    switch (news.news) {
      case 'welcome':
        // A repeated welcome means a new connection to the data worker. What was announced in
        // between is read again.
        if (welcomed) readAnew();
        welcomed = true;
        void devices.refresh();
        live.hearLink(news.link, news.snapshot);
        answers.hearLink(news.link);
        if (news.link.kind === 'live') notices.connectionIsBack();
        answers.load(news.answers);
        info.setState({ problem: news.problem });
        break;
      case 'link':
        live.hearLink(news.link, news.snapshot);
        answers.hearLink(news.link);
        if (news.snapshot) answers.keepOnly(news.snapshot);
        if (news.link.kind === 'live' && !news.link.databaseAway) {
          notices.connectionIsBack();
          void actions.refreshHealth();
          void actions.refreshHome();
          changes.tell({ what: 'everything', agentId: null });
        }
        break;
      case 'moved':
        // Nothing is missed in a browser that has just joined, where no session was shown.
        if (live.store.getState().session !== null) notices.moved();
        break;
      case 'event':
        // News of the relay is shown at once. The same documents arrive again when they are stored.
        // Records come only then, many at a time. A view that shows one asks the relay for it.
        take(documentsOf(news.stored).filter((doc) => storeOf(doc) !== 'records'));
        live.hearEvent(news.stored);
        answers.hearEvent(news.stored);
        if (news.stored.event.kind === 'changed') changes.tell(news.stored.event);
        break;
      case 'waiting':
        live.hearWaiting(news.waiting);
        break;
      case 'undelivered':
        live.hearUndelivered(news.refusals);
        break;
      case 'documents':
        take(news.docs);
        unread.hearDocuments(news.docs);
        agentSnapshots.hearDocuments();
        keepForGood(news.docs);
        break;
      case 'problem':
        info.setState({ problem: news.problem });
        break;
      case 'progress':
        upkeep.setState({ progress: news.progress });
        break;
      case 'forgotten':
        household.drop(news.forgets);
        conversations.drop(news.forgets);
        for (const { target } of news.forgets) {
          if (target.agentId !== null) unread.drop(target.agentId);
          if (target.kind === 'agent') outbox.remove((item) => item.to === 'agent' && item.agentId === target.agentId);
        }
        break;
      case 'sync':
        devices.hear(news.status);
        break;
      case 'returned':
        // Restored documents were not announced one by one.
        readAnew();
        void attempt(announceReturned());
        break;
      case 'mark':
        devices.keepMark(news.text);
        break;
      case 'restarting':
      case 'direct':
        // The connections restart a shared worker. The tab's carrier of direct connections listens
        // by itself.
        break;
      default:
        news satisfies never;
    }
  }

  return {
    household,
    devices,
    live,
    answers,
    conversations,
    outbox,
    acceptedIn,
    unread,
    notices,
    wakeSizes,
    pending,
    info,
    upkeep,
    actions,
    dataWorker,
    relay,
    reach,
    changes,
    unreadMessages,
    models: createConnectedModels({ reach, changes, device, onChange: actions.refreshHealth }),
    limits,
    exports,
    device,
    clock,
    start() {
      const stop = dataWorker.subscribe(hear);
      const stopAnnouncing = announceTeam(parts);
      const stopHandingOver = announceForgets(parts);
      const stopLeaving = agentSnapshots.start();
      const stopKeeping = storeLastTeam(device.browser, household);
      const subscriptions = [unreadMessages.subscribe(), limits.query.subscribe()];
      void actions.reload();
      void unread.refresh();
      void actions.refreshHealth();
      void actions.refreshHome();
      void devices.refresh();
      void attempt(announceReturned());
      if (device.browser.keys(UNSENT).length > 0)
        void import('./outbox/restore.ts').then(({ restore }) => restore(outbox, { dataWorker, device }));
      return () => {
        stop();
        stopAnnouncing();
        stopHandingOver();
        stopLeaving();
        stopKeeping();
        subscriptions.forEach((away) => away());
      };
    },
  };
}
