/**
 * The replica and its links. It sends events upwards. The replica starts again where entries of
 * this device had to be removed.
 *
 * The module also opens the device's connections, tracks conversations that arrive late, and keeps
 * the files in step with the database.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import {
  createReplica,
  type Link,
  type LinkEnd,
  type Replica,
  type ReplicaDeps,
  REPLICATION,
} from '../../../shared/replication/index.ts';
import type { DirectOrder, Entry, EntryStore } from '../../../shared/protocol/sync/page.ts';
import { runAgain } from '../../../shared/domain/platform/single-flight.ts';
import type { RandomBytes, Stream } from '../contract.ts';
import { createDirect, type Direct } from '../direct/index.ts';
import type { Replacement, SealedLog } from '../mirror/index.ts';
import type { DeviceEvents } from './contract.ts';
import { createKeyRotation, type KeyRotation, type Keys, type OwnWriters } from './keys.ts';
import type { Members, SyncState } from './members.ts';
import { createRelayConnection, type RelayConnection } from './relay-connection.ts';
import type { Payload, Tip } from './records.ts';
import type { LedgerPort, OpenSocket, SyncRelay } from './ports.ts';
import type { Unacknowledged } from './mark-writer.ts';
import { type SyncDatabase, writeMeta } from './entry-store.ts';

export interface Exchange {
  replica(): Replica;
  connect(link: Link): LinkEnd;
  restart(): Promise<void>;
  close(): Promise<void>;
}

interface ExchangeDeps {
  readonly entries: EntryStore;
  readonly writers: OwnWriters;
  readonly streamOf: (writer: string) => Stream | null;
  readonly timers: Timers;
  readonly syncState: SyncState;
  readonly events: DeviceEvents;
}

/** The order of fetching. */
const PRIORITY: Readonly<Record<Stream, number>> = { people: 0, talk: 1, attachments: REPLICATION.background };

export function createExchange({ entries, writers, streamOf, timers, syncState, events }: ExchangeDeps): Exchange {
  /** Cache of each writer's priority, which every frame needs. */
  const priorities = new Map<string, number>();
  function priority(writer: string): number {
    const known = priorities.get(writer) ?? PRIORITY[streamOf(writer) ?? 'talk'];
    priorities.set(writer, known);
    return known;
  }
  const isForked = (writer: string) => writers.own(writer)?.forked ?? false;
  const deps: ReplicaDeps = {
    store: entries,
    timers,
    priority,
    // A writer of an earlier run counts only if a conflict was found in it.
    own: (writer) => writers.isCurrent(writer) || isForked(writer),
    left: isForked,
    onStored() {
      events.tell('stored');
      syncState.changed();
    },
    onAhead: (writer) => events.tell('ahead', writer),
    onPeers() {
      events.tell('peers');
      syncState.changed();
    },
    onBacklog(now) {
      syncState.set({
        backlog:
          now && now.of > 0
            ? { done: now.done, of: now.of, people: now.byPriority.get(PRIORITY.people)?.missing ?? 0 }
            : null,
        attachments: now?.background ?? 0,
      });
      events.tell('backlog');
    },
    onConflict: ({ writer, counter }, sealed) => events.tell('conflict', { writer, counter, sealed }),
    onRefused: (keys) => syncState.set({ refused: syncState.now().refused + keys.length }),
    onTrouble: syncState.trouble('storing'),
  };
  let replica = createReplica(deps);
  const links = new Set<{ readonly link: Link }>();
  return {
    replica: () => replica,
    connect(link) {
      const end = replica.connect(link);
      const one = { link };
      links.add(one);
      return {
        take: end.take,
        drained: end.drained,
        gone() {
          if (!links.delete(one)) return;
          end.gone();
          syncState.changed();
        },
      };
    },
    async restart() {
      const open = [...links];
      await replica.close();
      replica = createReplica(deps);
      // Each side announces what it has when a link opens. So all links are closed and open again.
      for (const { link } of open) link.close('This device counts its entries again.');
    },
    close: () => replica.close(),
  };
}

// The connections of this device: to the relay, and directly to other browsers. The rotation of
// keys uses the first.

interface ConnectionsDeps {
  readonly keys: Keys;
  readonly members: Members;
  readonly exchange: Exchange;
  readonly unacknowledged: Unacknowledged;
  readonly syncState: SyncState;
  readonly events: DeviceEvents;
  readonly relay: Pick<SyncRelay, 'register'>;
  readonly openSocket: OpenSocket;
  readonly timers: Timers;
  readonly backoff: (failures: number) => number;
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly order: (order: DirectOrder) => void;
  readonly say: (payload: Payload) => Promise<void>;
  /** New keys have arrived. Opens the entries that wait for one. */
  readonly openShut: () => Promise<void>;
  readonly onRemoved: () => void;
}

interface Connections {
  readonly relayConnection: RelayConnection;
  readonly direct: Direct;
  readonly keyRotation: KeyRotation;
  /** Connects to the relay for the first time. */
  begin(): void;
  close(): void;
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { keys, members, exchange, unacknowledged, syncState, events, timers, now, random } = deps;
  const { household, deviceId } = keys.membership();
  const register = () => deps.relay.register({ household, body: keys.registration() });
  const registerTrouble = syncState.trouble('register');

  const relayConnection = createRelayConnection({
    household,
    deviceId,
    device: keys.device,
    openSocket: deps.openSocket,
    timers,
    backoff: deps.backoff,
    isOn: () => keys.membership().relay,
  });
  const direct = createDirect({
    deviceId,
    keys: keys.household,
    isMember: (device) => members.devices().some((one) => one.deviceId === device && !one.removed),
    sendSignal: (to, data) => void relayConnection.say({ kind: 'signal', to, data }),
    order: deps.order,
    connect: exchange.connect,
    timers,
    random,
    now,
    onConnections: syncState.changed,
  });
  events.on('members', () =>
    direct.removed(members.devices().flatMap(({ deviceId: device, removed }) => (removed ? [device] : []))),
  );
  const keyRotation = createKeyRotation({
    keys,
    members,
    timers,
    now,
    relayConnection,
    register,
    say: deps.say,
    onKeys() {
      events.tell('members');
      return deps.openShut();
    },
    onTrouble: syncState.trouble('keys'),
    onFull: syncState.trouble('full'),
  });

  const begin = () =>
    relayConnection.begin({
      async register() {
        const answer = await register();
        if (answer.ok) registerTrouble(null);
        else if (answer.type === 'device-removed') deps.onRemoved();
        // The keys were renewed while this device was away. With the newer ones the relay admits
        // it.
        else if (answer.type === 'old-key' && (await keyRotation.adopt(answer.box))) return true;
        else if (answer.status !== null && answer.status !== 401) registerTrouble(new Error(answer.reason));
        return answer.ok;
      },
      onWelcome: keyRotation.hearWelcome,
      connect(relay) {
        unacknowledged.begin();
        return exchange.connect(relay);
      },
      onDevices(list) {
        syncState.set({ seen: new Map(list.map((one) => [one.device, one])) });
        direct.setOnline(list.flatMap((one) => (one.online ? [one.device] : [])));
      },
      onRotated: (rotated) => void keyRotation.hearRotated(rotated).catch(syncState.trouble('keys')),
      onSignal: direct.hearSignal,
      onAnswer: keyRotation.hearAnswer,
      onRemoved: deps.onRemoved,
      onState(link) {
        syncState.set({ link });
        if (link === 'lost' || link === 'off') direct.setOnline([]);
        events.tell('link');
      },
    });

  return {
    relayConnection,
    direct,
    keyRotation,
    begin,
    close() {
      relayConnection.close();
      direct.close();
    },
  };
}

// Tracks the agents whose last conversations have not arrived completely.

export interface Backfill {
  arriving(): readonly string[];
  /** Checks again: tips are new. */
  check(): void;
  /** Checks again while conversations are awaited: documents are new. */
  checkAwaited(): void;
}

export function createBackfill({
  ledger,
  tips,
  onChange,
  onTrouble,
}: {
  readonly ledger: Pick<LedgerPort, 'countTalks'>;
  readonly tips: () => readonly Tip[];
  readonly onChange: () => void;
  readonly onTrouble: (error: unknown) => void;
}): Backfill {
  let arriving: readonly string[] = [];

  async function once() {
    const known = tips();
    const counts = await ledger.countTalks(known);
    const late = known
      .filter(({ messages }, i) => (counts[i] ?? 0) < messages)
      .map(({ agentId }) => agentId)
      .sort();
    if (late.join('\n') === arriving.join('\n')) return;
    arriving = late;
    onChange();
  }

  const run = runAgain(once);
  const check = () => void run().catch(onTrouble);

  return {
    arriving: () => arriving,
    check,
    checkAwaited() {
      if (arriving.length > 0) check();
    },
  };
}

// Keeps the files in step with the database. Without files it does nothing.

export interface FileMirror {
  /** These entries are durable in the database. */
  add(entries: readonly Entry[]): void;
  /** Resolves when no file holds the old contents. */
  replace(changes: readonly Replacement[]): Promise<void>;
}

export const createFileMirror = (db: SyncDatabase, log: SealedLog | null): FileMirror => ({
  add: (entries) => log?.add(entries),
  async replace(changes) {
    if (!log) return;
    // A crash in between must not leave forgotten contents in a file.
    await writeMeta(db, { filesStale: true });
    await log.replace(changes);
    await writeMeta(db, { filesStale: false });
  },
});
