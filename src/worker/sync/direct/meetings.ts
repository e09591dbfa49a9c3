/**
 * Introductions through the relay: with whom a connection is wanted, whose turn it is, and when it
 * is tried again.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { backoff } from '../../../shared/domain/platform/retry.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { RandomBytes } from '../contract.ts';
import { newId } from '../crypto/index.ts';
import { keepFew } from './few.ts';
import type { Introduction } from './introduction.ts';
import type { Connections } from './connections.ts';
import { DIRECT } from './settings.ts';

export interface MeetingsDeps {
  readonly deviceId: DeviceId;
  readonly connections: Connections;
  readonly isMember: (device: string) => boolean;
  readonly send: (to: string, introduction: Introduction) => void;
  readonly timers: Timers;
  readonly random: RandomBytes;
}

export interface Meetings {
  hear(from: string, introduction: Introduction): void;
  setOnline(devices: readonly string[]): void;
  /** Is there anybody now who was not known before? */
  look(): void;
  /** A connection to this device is over: is another wanted? */
  again(device: string): void;
  /** Everybody who is there, now: what failed before may have failed elsewhere. */
  afresh(): void;
  forget(device: string): void;
  close(): void;
}

interface Peer {
  failures: number;
  /** Calls off the next try. */
  waiting: (() => void) | null;
  /** Calls off the end of our patience, while the other side's turn is awaited. */
  asked: (() => void) | null;
  /** That the next offer has to bring. */
  nonce: string | null;
  /** The connection on its way. */
  connection: string | null;
  /** Nonces that were answered with an offer, oldest first. */
  readonly answered: Set<string>;
}

export function createMeetings({ deviceId, connections, isMember, send, timers, random }: MeetingsDeps): Meetings {
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

  /** Nothing is awaited of it any more. */
  function rest(peer: Peer) {
    peer.asked?.();
    peer.waiting?.();
    peer.asked = peer.waiting = peer.nonce = null;
  }

  function failed(device: string) {
    const peer = peerOf(device);
    rest(peer);
    peer.failures += 1;
    // Who is not there is tried when it comes.
    if (!online.has(device)) return;
    peer.waiting = timers.after(backoff(DIRECT, peer.failures - 1, chance), () => {
      peer.waiting = null;
      attempt(device);
    });
  }

  /** Asks for the other side's turn: it has to come before our patience ends. */
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
        // There is room for one more.
        attemptAll();
      },
    });
  }

  function offer(device: string, nonce: string, theirs: readonly string[]) {
    const { answered, connection: before } = peerOf(device);
    if (answered.has(nonce) || connections.openTo(device).some((id) => theirs.includes(id))) return;
    // What is on its way answers an earlier question, which the other side has given up.
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
          // A person carries these; a relay has no business with them.
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
