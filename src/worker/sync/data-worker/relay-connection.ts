/**
 * The connection to the relay's sync socket. It proves this device's identity, learns of the other
 * devices, and carries the frames of replication. There is one socket at a time. When it ends, the
 * next one starts from the beginning.
 *
 * The module also says which stream each document goes into.
 */
import type { Doc } from '../../../shared/protocol/documents.ts';
import { kindOf } from '../../../shared/protocol/documents/kinds.ts';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import {
  type DeviceSeen,
  type FromDevice,
  type FromRelay,
  socketBytes,
} from '../../../shared/protocol/sync/control.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import type { Link, LinkEnd } from '../../../shared/replication/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import type { Stream } from '../contract.ts';
import type { DeviceKeys } from '../crypto/index.ts';
import { writePayload } from './records.ts';
import type { OpenSocket, Socket, SocketItem } from './ports.ts';

// Ids of documents that recently arrived in entries of other devices. The relay sends some
// documents to all devices, and not each device needs to seal them.

export interface Received {
  add(ids: readonly string[]): void;
  has(id: string): boolean;
}

export function createReceived(): Received {
  let known = new Set<string>();
  let previous = new Set<string>();
  return {
    add(ids) {
      for (const id of ids) known.add(id);
      if (known.size <= SYNC_WORKER.heardIds) return;
      previous = known;
      known = new Set();
    },
    has: (id) => known.has(id) || previous.has(id),
  };
}

// Assigns documents to streams: data that the page needs first, messages, or the bytes of
// attachments.

export interface Sealing {
  readonly stream: Stream;
  /** As `writePayload` writes it. */
  readonly payload: Uint8Array;
}

/** The order of sealing and fetching. */
export const STREAMS: readonly Stream[] = ['people', 'talk', 'attachments'];

export const streamOfDocument = (doc: Doc): Stream => kindOf(doc.type)?.stream ?? 'talk';

/**
 * Groups documents into payloads: by stream, and within each into entries of bounded size, in
 * order. A larger document goes alone.
 */
export function sealingsOf(docs: readonly Doc[]): readonly Sealing[] {
  const { entryDocuments: documents, entryChars: chars } = SYNC_WORKER;
  const cut: { stream: Stream; docs: Doc[] }[] = [];
  for (const stream of STREAMS) {
    let current: Doc[] = [];
    let size = 0;
    for (const doc of docs) {
      if (streamOfDocument(doc) !== stream) continue;
      const length = JSON.stringify(doc).length;
      if (current.length === 0 || current.length >= documents || size + length > chars) {
        current = [];
        size = 0;
        cut.push({ stream, docs: current });
      }
      current.push(doc);
      size += length;
    }
  }
  return cut.map(({ stream, docs }) => ({ stream, payload: writePayload({ docs }) }));
}

export type Welcome = Extract<FromRelay, { kind: 'welcome' }>;

interface RelayConnectionDeps {
  readonly household: string;
  readonly deviceId: DeviceId;
  readonly device: Pick<DeviceKeys, 'signKey' | 'boxKey' | 'sign'>;
  readonly openSocket: OpenSocket;
  readonly timers: Timers;
  /** ms before attempt number `failures` + 1. */
  readonly backoff: (failures: number) => number;
  /** Does the person want a connection at all? */
  readonly isOn: () => boolean;
}

/** Receives the messages of the connection. */
interface RelayConnectionEars {
  /**
   * The relay does not know this device. Registers it. Resolves with whether a new attempt makes
   * sense at once.
   */
  readonly register: () => Promise<boolean>;
  /** The relay admitted this device. Runs before replication begins. */
  readonly onWelcome: (welcome: Welcome) => Promise<void>;
  readonly connect: (link: Link) => LinkEnd;
  readonly onDevices: (devices: readonly DeviceSeen[]) => void;
  readonly onRotated: (rotated: Extract<FromRelay, { kind: 'rotated' }>) => void;
  readonly onSignal: (from: string, data: string) => void;
  /** Answers to messages sent with `say`. */
  readonly onAnswer: (message: Extract<FromRelay, { kind: 'refused' | 'recovery-kept' }>) => void;
  readonly onRemoved: () => void;
  readonly onState: (state: 'off' | 'connecting' | 'live' | 'lost') => void;
}

export interface RelayConnection {
  /** False where there is no connection. */
  say(message: FromDevice): boolean;
  isLive(): boolean;
  /** Connects for the first time. Before it there is no connection. */
  begin(ears: RelayConnectionEars): void;
  /** Connects now, without waiting. */
  reconnect(): void;
  /**
   * Ends the connection, live or not, and opens a new one, because the credentials have changed.
   */
  restart(): void;
  /** The result of `isOn` has changed. */
  switched(): void;
  close(): void;
}

/**
 * Before `begin` the connection is silent. So parts that send over it are made before it, and parts
 * that receive from it after it.
 */
export function createRelayConnection(deps: RelayConnectionDeps): RelayConnection {
  let open: OpenConnection | null = null;
  let closed = false;
  return {
    begin(ears) {
      if (!closed) open ??= openConnection(deps, ears);
    },
    say: (message) => open?.say(message) ?? false,
    isLive: () => open?.isLive() ?? false,
    reconnect: () => open?.reconnect(),
    restart: () => open?.restart(),
    switched: () => open?.switched(),
    close() {
      closed = true;
      open?.close();
    },
  };
}

type OpenConnection = Omit<RelayConnection, 'begin'>;

function openConnection(deps: RelayConnectionDeps, ears: RelayConnectionEars): OpenConnection {
  const { timers } = deps;
  let number = 0;
  let failures = 0;
  let socket: Socket | null = null;
  let end: LinkEnd | null = null;
  /** Frames that arrived while the welcome was still being processed. */
  let early: Uint8Array[] = [];
  let live = false;
  let closed = false;
  let cancelRetry: (() => void) | null = null;
  let cancelWatch: (() => void) | null = null;
  let cancelPing: (() => void) | null = null;

  function over() {
    number += 1;
    live = false;
    cancelWatch?.();
    cancelPing?.();
    end?.gone();
    end = null;
    early = [];
    socket?.close();
    socket = null;
  }

  function lose() {
    if (closed) return;
    over();
    ears.onState('lost');
    cancelRetry?.();
    cancelRetry = timers.after(deps.backoff(failures++), open);
  }

  function watch(ms: number) {
    cancelWatch?.();
    cancelWatch = timers.after(ms, lose);
  }

  function ping() {
    cancelPing = timers.after(SYNC.heartbeatMs, () => {
      socket?.text({ kind: 'ping' });
      ping();
    });
  }

  async function welcome(message: Welcome, mine: number) {
    await ears.onWelcome(message);
    if (mine !== number || !socket) return;
    const current = socket;
    live = true;
    failures = 0;
    watch(2 * SYNC.heartbeatMs);
    end = ears.connect({
      kind: 'relay',
      name: 'relay',
      send: (frame) => current.frame(frame),
      buffered: () => current.buffered(),
      close: lose,
    });
    for (const frame of early) end.take(frame);
    early = [];
    ears.onDevices(message.devices);
    ears.onState('live');
    ping();
  }

  async function introduce() {
    over();
    if (await ears.register()) open();
    else lose();
  }

  function take(message: FromRelay, mine: number) {
    switch (message.kind) {
      case 'challenge':
        socket?.text({
          kind: 'hello',
          household: deps.household,
          device: deps.deviceId,
          deviceKey: deps.device.signKey,
          boxKey: deps.device.boxKey,
          signature: deps.device.sign(socketBytes(deps.household, deps.deviceId, message.nonce)),
        });
        return;
      case 'welcome':
        welcome(message, mine).catch(() => {
          if (mine === number) lose();
        });
        return;
      case 'devices':
        ears.onDevices(message.devices);
        return;
      case 'rotated':
        ears.onRotated(message);
        return;
      case 'signal':
        ears.onSignal(message.from, message.data);
        return;
      case 'removed':
        over();
        closed = true;
        ears.onRemoved();
        return;
      case 'unknown':
        void introduce();
        return;
      case 'refused':
      case 'recovery-kept':
        ears.onAnswer(message);
        return;
      case 'pong':
        return;
      default:
        message satisfies never;
    }
  }

  function open() {
    cancelRetry?.();
    cancelRetry = null;
    if (closed) return;
    if (!deps.isOn()) {
      ears.onState('off');
      return;
    }
    const mine = ++number;
    ears.onState('connecting');
    watch(SYNC_WORKER.connect);
    socket = deps.openSocket((item: SocketItem) => {
      if (mine !== number) return;
      if (item.kind === 'lost') {
        lose();
        return;
      }
      // Until the welcome, the time counts from asking for the socket.
      if (live) watch(2 * SYNC.heartbeatMs);
      if (item.kind === 'text') take(item.message, mine);
      else if (item.kind === 'drained') end?.drained();
      else if (end) end.take(item.frame);
      else early.push(item.frame);
    });
  }

  open();

  return {
    say(message) {
      if (!live || !socket) return false;
      socket.text(message);
      return true;
    },
    isLive: () => live,
    reconnect() {
      if (closed || live || !cancelRetry) return;
      failures = 0;
      open();
    },
    restart() {
      if (closed) return;
      over();
      failures = 0;
      open();
    },
    switched() {
      if (closed) return;
      if (!deps.isOn()) over();
      else if (live || socket) return;
      failures = 0;
      open();
    },
    close() {
      if (closed) return;
      closed = true;
      cancelRetry?.();
      over();
    },
  };
}
