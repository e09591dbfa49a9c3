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
import { z } from 'zod';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { syncId } from '../../../shared/protocol/sync/control.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import { sentence } from '../../../shared/domain/names.ts';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { backoff } from '../../../shared/domain/platform/retry.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Link, LinkEnd } from '../../../shared/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import type { HouseholdKeys, RandomBytes } from '../contract.ts';
import { base64url, fromBase64url, newId, openSignal, sealSignal } from '../crypto/index.ts';
import { DIRECT } from './settings.ts';
import { type Connections, createDirectConnections, keepFew } from './connections.ts';

// Introductions by texts that a person copies from one device to another, for when there is no
// relay.

// The messages that introduce two devices. Each is JSON, sealed from one device to the other with
// the household’s newest key. A carrier can neither read nor change them, nor tell their kinds
// apart.
//
//     the one with the lower id        the other one
//     want (where it begins)  ──────▶
//                             ◀──────  ask, with a nonce of its own
//     offer, with that nonce  ──────▶
//                             ◀──────  answer, to that connection
//
// An offer counts once, and only for the nonce that was just sent. An answer counts only for the
// connection that was just offered. So a repeated or delayed message opens nothing, whatever the
// clocks say.

/** A description of one end, in SDP: addresses, and the fingerprint of its certificate. */
const description = z.string().min(1).max(SYNC.signalChars);

const introductionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('want') }),
  /**
   * `open`: the asker's connections to the other device. If the other device has one of them too,
   * no other is needed.
   */
  z.object({ kind: z.literal('ask'), nonce: syncId, open: z.array(syncId).max(DIRECT.connectionsMost).readonly() }),
  z.object({ kind: z.literal('offer'), nonce: syncId, connection: syncId, description }),
  z.object({ kind: z.literal('answer'), connection: syncId, description }),
  /**
   * In a text that a person carries. `at`: when it was made, ms since the epoch by that device's
   * clock.
   */
  z.object({ kind: z.literal('text-offer'), connection: syncId, at: z.number(), description }),
  z.object({ kind: z.literal('text-answer'), connection: syncId, description }),
]);
type Introduction = z.infer<typeof introductionSchema>;

const writeIntroduction = (introduction: Introduction): string => JSON.stringify(introduction);

/** Null: unknown to this version. */
function readIntroduction(text: string): Introduction | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = introductionSchema.safeParse(json);
  return parsed.success ? parsed.data : null;
}

/**
 * The texts that introduce two devices where there is no relay: `ROOST-DIRECT1.` and then, as
 * base64url,
 *
 *     household 16 | from 16 | to 16 | sealed introduction | SHA-256 of all before it, first 4 bytes
 *
 * `from` and `to` are devices. An offer is `to` the household, because any of its devices may take
 * it. White space is ignored.
 */
const NAME = /^ROOST-DIRECT(\d+)\./i;
const VERSION = '1';
const CHECK_BYTES = 4;

interface ConnectionText {
  readonly household: string;
  readonly from: string;
  readonly to: string;
  /** In the format of `sealSignal`. */
  readonly data: string;
}

function bytesOf(text: string): Uint8Array {
  const bytes = fromBase64url(text);
  if (!bytes) throw new RangeError('A text is made of ids and sealed bytes, in base64url.');
  return bytes;
}
const check = (bytes: Uint8Array) => sha256(bytes).subarray(0, CHECK_BYTES);

function writeText({ household, from, to, data }: ConnectionText): string {
  const bytes = concatBytes(...[household, from, to, data].map(bytesOf));
  return `ROOST-DIRECT${VERSION}.${base64url(concatBytes(bytes, check(bytes)))}`;
}

/** `other`: not such a text. `newer`: of an unknown version. `damaged`: incomplete or changed. */
function readText(text: string): ConnectionText | 'other' | 'newer' | 'damaged' {
  const close = text.replace(/\s/g, '');
  const name = NAME.exec(close);
  if (!name) return 'other';
  if (name[1] !== VERSION) return 'newer';
  const bytes = fromBase64url(close.slice(name[0].length));
  if (!bytes || bytes.length < 3 * SYNC.idBytes + CHECK_BYTES) return 'damaged';
  const said = bytes.subarray(0, -CHECK_BYTES);
  const rest = bytes.subarray(-CHECK_BYTES);
  if (check(said).some((byte, at) => byte !== rest[at])) return 'damaged';
  const id = (place: number) => base64url(said.subarray(place * SYNC.idBytes, (place + 1) * SYNC.idBytes));
  return { household: id(0), from: id(1), to: id(2), data: base64url(said.subarray(3 * SYNC.idBytes)) };
}

const minutes = Math.round(DIRECT.textMs / 60_000);
const NOT_WHOLE = sentence`This is not a whole text for a direct connection. It begins with ROOST-DIRECT. Copy all of it from the other device.`;
const SAYS = {
  noTab: sentence`This browser cannot open a direct connection now. Try again in a moment. If it still fails, use a browser with WebRTC.`,
  full: sentence`This browser has as many direct connections as it can have. Close Roost on a device that you do not need now, and try again.`,
  other: NOT_WHOLE,
  newer: sentence`This text was made by a newer Roost. Update this one (reload the page where the relay can be reached), and try again.`,
  damaged: NOT_WHOLE,
  notOurs: sentence`This text is not from a device of your household.`,
  otherDevice: sentence`This text is for another device. Paste it there.`,
  otherKey: sentence`This text is sealed with another key, because a device was removed from the household. Connect both devices to the relay once, and try again.`,
  expired: sentence`This text no longer works. A text lasts ${minutes} minutes, and works once. Make a new one on the other device.`,
  noOffer: sentence`The text that this answers has expired. It is valid for ${minutes} minutes, once, and while its tab is open. Make a new one here.`,
  unreached: sentence`The devices cannot reach each other. Connect both to one network that lets its devices talk to each other.`,
} as const;

interface TextsDeps {
  readonly deviceId: DeviceId;
  readonly keys: () => HouseholdKeys;
  readonly connections: Connections;
  readonly isRemoved: (device: string) => boolean;
  /** A connection to this device is over. */
  readonly onEnded: (device: string) => void;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
}

interface Texts {
  makeOffer(): Promise<string>;
  takeText(text: string): Promise<string | null>;
}

/** Does a description name an address? Without one the device cannot be reached. */
const hasAddress = (description: string) => /^a=candidate:/m.test(description);

/** A caller that waits for a connection to open. */
interface Opening {
  readonly opened: Promise<null>;
  readonly resolve: (value: null) => void;
  readonly reject: (error: Error) => void;
}
function newOpening(): Opening {
  let resolve: Opening['resolve'] = () => undefined;
  let reject: Opening['reject'] = () => undefined;
  const opened = new Promise<null>((...ways) => ([resolve, reject] = ways));
  return { opened, resolve, reject };
}

function createTexts({ deviceId, keys, connections, isRemoved, onEnded, random, now }: TextsDeps): Texts {
  /** Connections that were offered and not answered, oldest first. */
  const offered = new Set<string>();
  /** Connections that were answered here and are not open yet. */
  const openings = new Map<string, Opening>();
  /** Answers that were given and not used, by connection: the same offer gets the same answer. */
  const answers = new Map<string, Promise<string>>();
  /** Offers whose connection was open once, oldest first. */
  const used = new Set<string>();

  function write(to: string, introduction: Introduction): string {
    const { household } = keys();
    return writeText({
      household,
      from: deviceId,
      to,
      data: sealSignal(keys(), deviceId, to, writeIntroduction(introduction), random),
    });
  }

  function giveUp(connection: string, reject: (error: Error) => void) {
    reject(new Error(SAYS.unreached));
    connections.end(connection);
  }

  function checkRoom() {
    switch (connections.room()) {
      case 'free':
        return;
      case 'no-tab':
        throw new Error(SAYS.noTab);
      case 'full':
        throw new Error(SAYS.full);
    }
  }

  /** Throws an Error that says what is wrong with the text. */
  function read(text: string): { readonly from: string; readonly introduction: Introduction } {
    const said = readText(text);
    if (typeof said === 'string') throw new Error(SAYS[said]);
    const { household, from, to, data } = said;
    if (household !== keys().household) throw new Error(SAYS.notOurs);
    if (from === deviceId || (to !== household && to !== deviceId)) throw new Error(SAYS.otherDevice);
    if (isRemoved(from)) throw new Error(SAYS.notOurs);
    const opened = openSignal(keys(), from, to, data);
    if (opened === null) throw new Error(SAYS.otherKey);
    const introduction = readIntroduction(opened);
    if (!introduction) throw new Error(SAYS.newer);
    return { from, introduction };
  }

  function takeOffer(from: string, connection: string, at: number, description: string): Promise<string> {
    const known = answers.get(connection);
    if (known) return known;
    if (used.has(connection)) throw new Error(SAYS.expired);
    if (Math.abs(now() - at) > DIRECT.textMs + DIRECT.clockMs) throw new Error(SAYS.expired);
    checkRoom();
    const answer = new Promise<string>((resolve, reject) => {
      connections.begin({
        id: connection,
        device: from,
        offered: description,
        // As long as the person may take to carry the answer.
        patience: DIRECT.textMs,
        described(own) {
          if (hasAddress(own)) resolve(write(from, { kind: 'text-answer', connection, description: own }));
          else giveUp(connection, reject);
        },
        opened() {
          answers.delete(connection);
          keepFew(used, connection, DIRECT.usedKept);
        },
        ended() {
          answers.delete(connection);
          reject(new Error(SAYS.noTab));
          onEnded(from);
        },
      });
    });
    answers.set(connection, answer);
    return answer;
  }

  function takeAnswer(from: string, connection: string, description: string): Promise<null> {
    const known = openings.get(connection);
    if (known) return known.opened;
    if (!connections.answer(connection, from, description)) throw new Error(SAYS.noOffer);
    const opening = newOpening();
    offered.delete(connection);
    openings.set(connection, opening);
    return opening.opened;
  }

  return {
    makeOffer: () =>
      new Promise((resolve, reject) => {
        const [oldest] = offered;
        if (oldest !== undefined && offered.size >= DIRECT.textsMost) connections.end(oldest);
        checkRoom();
        const connection = newId(random);
        let other: string | null = null;
        offered.add(connection);
        connections.begin({
          id: connection,
          device: null,
          offered: null,
          patience: DIRECT.textMs,
          described(description) {
            if (hasAddress(description))
              resolve(write(keys().household, { kind: 'text-offer', connection, at: now(), description }));
            else giveUp(connection, reject);
          },
          opened(device) {
            other = device;
            openings.get(connection)?.resolve(null);
            openings.delete(connection);
          },
          ended() {
            offered.delete(connection);
            reject(new Error(SAYS.noTab));
            openings.get(connection)?.reject(new Error(SAYS.unreached));
            openings.delete(connection);
            if (other !== null) onEnded(other);
          },
        });
      }),
    async takeText(text) {
      const { from, introduction } = read(text);
      switch (introduction.kind) {
        case 'text-offer':
          return takeOffer(from, introduction.connection, introduction.at, introduction.description);
        case 'text-answer':
          return takeAnswer(from, introduction.connection, introduction.description);
        case 'want':
        case 'ask':
        case 'offer':
        case 'answer':
          // These go through the relay. No person is shown one to copy.
          throw new Error(SAYS.other);
      }
    },
  };
}

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
  attemptAll(): void;
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
    attemptAll,
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
  function checkKeys() {
    if (newest() === epoch) return;
    epoch = newest();
    connections.endAll();
  }

  let closed = false;
  return {
    hearSignal(from, data) {
      checkKeys();
      if (closed || from === deviceId || !isMember(from)) return;
      const opened = openSignal(keys(), from, deviceId, data);
      const introduction = opened === null ? null : readIntroduction(opened);
      // An unreadable signal (other devices, another key, or a newer Roost) is ignored. The side
      // that fails tries the connection again.
      if (introduction) meetings.hear(from, introduction);
    },
    report(report) {
      checkKeys();
      if (!closed) connections.report(report);
    },
    setOnline(deviceIds) {
      checkKeys();
      if (!closed) meetings.setOnline(deviceIds);
    },
    removed(deviceIds) {
      checkKeys();
      for (const device of deviceIds) {
        if (out.has(device)) continue;
        out.add(device);
        connections.endTo(device);
        meetings.forget(device);
      }
      meetings.attemptAll();
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
