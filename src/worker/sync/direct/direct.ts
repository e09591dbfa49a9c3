/**
 * The data worker's side of direct connections. It decides which connections there are, and makes
 * sure that they lead only to devices of the household.
 *
 * A connection needs no proof of its own. Each description names the certificate of its end (the
 * DTLS fingerprint), and is sealed with the household's newest key from one device to the other. An
 * answer counts only for the connection that was just offered. An offer counts only for the nonce
 * that was just sent. So a carrier of descriptions can insert neither itself nor an old
 * description. A device without the newest key is ignored.
 *
 * The devices of a household share this key and trust each other. A device that was removed could
 * have posed as another one before. So a renewed key ends every connection, and the devices that
 * stay are introduced anew.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { backoff } from '../../../shared/domain/platform/retry.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Link, LinkEnd } from '../../../shared/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import type { HouseholdKeys, RandomBytes } from '../contract.ts';
import { newId, openSignal, sealSignal } from '../crypto/index.ts';
import { type Connections, createDirectConnections, keepFew } from './connections.ts';
import { createTexts, type Introduction, readIntroduction, writeIntroduction } from './texts.ts';
import { DIRECT } from './settings.ts';

// Introductions through the relay: which devices to connect, whose turn it is, and when to try
// again.

interface MeetingsDeps {
  readonly deviceId: DeviceId;
  readonly connections: Connections;
  readonly isMember: (device: string) => boolean;
  readonly send: (to: string, introduction: Introduction) => void;
  readonly timers: Timers;
  readonly random: RandomBytes;
}

interface Meetings {
  hear(from: string, introduction: Introduction): void;
  setOnline(devices: readonly string[]): void;
  /** Tries every online device that is idle: the list of members may have grown. */
  look(): void;
  /** A connection to this device is over. Tries again, if another connection is wanted. */
  again(device: string): void;
  /** Tries every device that is online now: the earlier failures may have had another cause. */
  afresh(): void;
  forget(device: string): void;
  close(): void;
}

interface Peer {
  failures: number;
  /** Cancels the next attempt. */
  waiting: (() => void) | null;
  /** Cancels the time-out while the other side's turn is awaited. */
  asked: (() => void) | null;
  /** The nonce that the next offer must have. */
  nonce: string | null;
  /** The connection under way. */
  connection: string | null;
  /** Nonces that were answered with an offer, oldest first. */
  readonly answered: Set<string>;
}

function createMeetings({ deviceId, connections, isMember, send, timers, random }: MeetingsDeps): Meetings {
  /** 0 to 1 */
  const chance = () => (random(1)[0] ?? 0) / 255;
  const peers = new Map<string, Peer>();
  let online: ReadonlySet<string> = new Set();

  function peerOf(device: string): Peer {
    const known = peers.get(device);
    if (known) return known;
    const peer: Peer = { failures: 0, waiting: null, asked: null, nonce: null, connection: null, answered: new Set() };
    peers.set(device, peer);
    return peer;
  }

  /** Stops waiting for this peer. */
  function rest(peer: Peer) {
    peer.asked?.();
    peer.waiting?.();
    peer.asked = peer.waiting = peer.nonce = null;
  }

  function failed(device: string) {
    const peer = peerOf(device);
    rest(peer);
    peer.failures += 1;
    // An offline device is tried when it comes online.
    if (!online.has(device)) return;
    peer.waiting = timers.after(backoff(DIRECT, peer.failures - 1, chance), () => {
      peer.waiting = null;
      attempt(device);
    });
  }

  /** Asks the other side for its turn, which must come within the time-out. */
  function ask(device: string) {
    const peer = peerOf(device);
    peer.waiting?.();
    peer.waiting = null;
    peer.asked ??= timers.after(DIRECT.introduceMs, () => failed(device));
    if (deviceId < device) send(device, { kind: 'want' });
    else send(device, { kind: 'ask', nonce: (peer.nonce ??= newId(random)), open: connections.openTo(device) });
  }

  function attempt(device: string) {
    const { asked, waiting, connection } = peerOf(device);
    const idle = !asked && !waiting && connection === null && connections.openTo(device).length === 0;
    if (idle && online.has(device) && isMember(device) && connections.room() === 'free') ask(device);
  }
  const attemptAll = () => online.forEach(attempt);

  function afresh(device: string) {
    const peer = peerOf(device);
    rest(peer);
    peer.failures = 0;
    if (peer.connection !== null) connections.drop(peer.connection);
    peer.connection = null;
    attempt(device);
  }

  function begin(device: string, id: string, offered: string | null, say: (description: string) => Introduction) {
    const peer = peerOf(device);
    rest(peer);
    peer.connection = id;
    connections.begin({
      id,
      device,
      offered,
      patience: DIRECT.introduceMs,
      described: (description) => send(device, say(description)),
      opened() {
        rest(peer);
        peer.connection = null;
      },
      ended(proven) {
        peer.connection = null;
        if (proven) peer.failures = 0;
        failed(device);
        // There is room for one more connection.
        attemptAll();
      },
    });
  }

  function offer(device: string, nonce: string, theirs: readonly string[]) {
    const { answered, connection: before } = peerOf(device);
    if (answered.has(nonce) || connections.openTo(device).some((id) => theirs.includes(id))) return;
    // The connection under way answers an earlier question, which the other side has given up.
    if (before !== null) connections.drop(before);
    if (connections.room() !== 'free') return;
    keepFew(answered, nonce, DIRECT.answeredKept);
    const connection = newId(random);
    begin(device, connection, null, (description) => ({ kind: 'offer', nonce, connection, description }));
  }

  return {
    hear(from, introduction) {
      const offers = deviceId < from;
      switch (introduction.kind) {
        case 'want':
          if (!offers && peerOf(from).connection === null && connections.room() === 'free') ask(from);
          return;
        case 'ask':
          if (offers) offer(from, introduction.nonce, introduction.open);
          return;
        case 'offer': {
          const { nonce, connection, description } = introduction;
          if (offers || nonce !== peerOf(from).nonce || connections.has(connection) || connections.room() !== 'free')
            return;
          return begin(from, connection, description, (own) => ({ kind: 'answer', connection, description: own }));
        }
        case 'answer':
          connections.answer(introduction.connection, from, introduction.description);
          return;
        case 'text-offer':
        case 'text-answer':
          // A person carries these. The relay must not.
          return;
      }
    },
    setOnline(devices) {
      const before = online;
      online = new Set(devices.filter((device) => device !== deviceId));
      for (const [device, peer] of peers) if (!online.has(device)) rest(peer);
      for (const device of online) if (!before.has(device)) afresh(device);
    },
    look: attemptAll,
    again: attempt,
    afresh: () => online.forEach(afresh),
    forget(device) {
      const peer = peers.get(device);
      if (peer) rest(peer);
      peers.delete(device);
      online = new Set([...online].filter((other) => other !== device));
    },
    close() {
      online = new Set();
      for (const peer of peers.values()) rest(peer);
    },
  };
}

interface DirectDeps {
  readonly deviceId: DeviceId;
  /** The current keys. A renewed key counts at once. */
  readonly keys: () => HouseholdKeys;
  /** Is this a known device of the household that was not removed? */
  readonly isMember: (deviceId: DeviceId) => boolean;
  /**
   * Sends through the relay to another device's `hearSignal`. The message may be lost, repeated or
   * late.
   */
  readonly sendSignal: (to: string, data: string) => void;
  /** Sends an order to the carrying tab. */
  readonly order: (order: DirectOrder) => void;
  /** Gives an open connection to the replica. */
  readonly connect: (link: Link) => LinkEnd;
  /** The result of `connections` has changed. */
  readonly onConnections: () => void;
  readonly timers: Timers;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
}

export interface Direct {
  hearSignal(from: string, data: string): void;
  report(report: DirectReport): void;
  /**
   * The devices that are online according to the relay. None while the relay is away. Open
   * connections stay.
   */
  setOnline(deviceIds: readonly DeviceId[]): void;
  /**
   * These devices have left the household. Call it whenever the list of devices changes. Repeating
   * it is harmless.
   */
  removed(deviceIds: readonly DeviceId[]): void;
  /**
   * A text that introduces this device to another one of the household. Rejects with a sentence.
   */
  makeOffer(): Promise<string>;
  /**
   * Takes the text of another device. For an offer, resolves with the text to carry back. For an
   * answer, resolves with null when its connection is open. Rejects with a sentence that says what
   * is wrong with the text and what to do.
   */
  takeText(text: string): Promise<string | null>;
  /** Devices with a direct connection. */
  connections(): readonly string[];
  /** Ends every connection for good. */
  close(): void;
}

export function createDirect({
  deviceId,
  keys,
  isMember,
  sendSignal,
  order,
  connect,
  onConnections,
  timers,
  random,
  now,
}: DirectDeps): Direct {
  const out = new Set<string>();
  const connections = createDirectConnections({
    deviceId,
    order,
    connect,
    timers,
    onReady: () => meetings.afresh(),
    onOpen: onConnections,
  });
  const meetings = createMeetings({
    deviceId,
    connections,
    isMember,
    send: (to, introduction) =>
      sendSignal(to, sealSignal(keys(), deviceId, to, writeIntroduction(introduction), random)),
    timers,
    random,
  });
  const texts = createTexts({
    deviceId,
    keys,
    connections,
    isRemoved: (device) => out.has(device),
    onEnded: (device) => meetings.again(device),
    random,
    now,
  });

  const newest = () => keys().keyring.at(-1)?.epoch ?? 0;
  let epoch = newest();
  /** Checks whether the key was renewed meanwhile. */
  function lookAtKeys() {
    if (newest() === epoch) return;
    epoch = newest();
    connections.endAll();
  }

  let closed = false;
  return {
    hearSignal(from, data) {
      lookAtKeys();
      if (closed || from === deviceId || !isMember(from)) return;
      const opened = openSignal(keys(), from, deviceId, data);
      const introduction = opened === null ? null : readIntroduction(opened);
      // An unreadable signal (other devices, another key, or a newer Roost) is ignored. The side
      // that fails tries the connection again.
      if (introduction) meetings.hear(from, introduction);
    },
    report(report) {
      lookAtKeys();
      if (!closed) connections.report(report);
    },
    setOnline(deviceIds) {
      lookAtKeys();
      if (!closed) meetings.setOnline(deviceIds);
    },
    removed(deviceIds) {
      lookAtKeys();
      for (const device of deviceIds) {
        if (out.has(device)) continue;
        out.add(device);
        connections.endTo(device);
        meetings.forget(device);
      }
      meetings.look();
    },
    makeOffer: () => texts.makeOffer(),
    takeText: (text) => texts.takeText(text),
    connections: () => connections.open(),
    close() {
      closed = true;
      meetings.close();
      connections.close();
    },
  };
}
