/**
 * The page's state: small stores, the actions that change them, and the one subscription to the
 * data worker.
 */
import type { ThreadId } from '../../shared/domain/ids.ts';
import { createClock, type Clock } from '../../shared/domain/stamp.ts';
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
import { createNews } from './news.ts';
import { createNotices, type Notices } from './notices.ts';
import type { ShowAccepted } from './outbox/delivery.ts';
import { createOutbox, type Outbox, UNSENT } from './outbox/index.ts';
import { type ExportsPort, createUpkeep, type Device, type DataWorkerPort, type RelayPort } from './ports.ts';
import { mapResult, type CallRelay } from './call-relay.ts';
import { createWakeSizes, type WakeSizes } from './wake-sizes.ts';
import { createAgentSnapshots } from './agent-snapshots.ts';
import { createUnread, type Unread } from './unread.ts';

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
  readonly callRelay: CallRelay;
  /** Changes that the relay announces, of the state requested with `callRelay`. */
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
  readonly callRelay: CallRelay;
  readonly exports: ExportsPort;
  readonly device: Device;
  /** Names this page in clock stamps: letters, digits, `_` and `.`. */
  readonly node: string;
}

export function createRoostState({ dataWorker, relay, callRelay, exports, device, node }: Ports): RoostState {
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
      return deliver(
        { dataWorker, device, household, live, callRelay, relay, writer, threads: acceptedIn },
        ...message,
      );
    },
  });
  const unread = createUnread({ dataWorker, writer, device });
  const changes = createChanges();
  const agentSnapshots = createAgentSnapshots({ household, live, wakeSizes, callRelay, changes, device });
  const unreadMessages = relayQuery({ callRelay, changes, device }, ['inbox'], async (client) =>
    mapResult(await client.unread(), ({ unread }) => unread),
  );
  const readLimits = () => callRelay((client) => client.householdConfig());
  const limits = createLimits({
    query: createQuery({ ask: readLimits, changes, device, what: ['config'] }),
    read: readLimits,
    put: (own) => callRelay((client) => client.putHouseholdConfig({ body: { ...own, whole: true } })),
  });
  const parts = {
    dataWorker,
    relay,
    callRelay,
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
  const news = createNews({ ...parts, actions, agentSnapshots, answers, changes });

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
    callRelay,
    changes,
    unreadMessages,
    models: createConnectedModels({ callRelay, changes, device, onChange: actions.refreshHealth }),
    limits,
    exports,
    device,
    clock,
    start() {
      const stop = dataWorker.subscribe(news.hear);
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
      void attempt(news.announceReturned());
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
