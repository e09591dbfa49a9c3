/**
 * Pairing: how a new device gets the household's keys.
 *
 * The new device shows an offer as text and QR code. A device of the household answers it over
 * slots of the relay. Two people, or one, compare six words on both screens. Only then are the keys
 * sealed for the new device.
 *
 * Main types: `Invite` (the device that has the keys), `Join` (the new one), `JoinState`.
 *
 * Invariants:
 * - The relay carries the messages and is not trusted: the six words cover every key involved.
 * - An offer serves once, and for a limited time.
 *
 * It does not know how keys are stored. `../data-worker` does that.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { OfferSlot } from '../../../shared/protocol/sync/control.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { Joining } from '../../../shared/protocol/sync/page.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import { sentence } from '../../../shared/domain/names.ts';
import type { RandomBytes } from '../contract.ts';
import {
  type DevicePublicKeys,
  newInvitation,
  newOffer,
  openJoined,
  openWelcome,
  type PairingFace,
  type PairingSide,
  pairingWords,
  readFace,
  readOffer,
  sealJoined,
  sealWelcome,
  writeFace,
} from '../crypto/index.ts';

// The protocol of pairing: `createJoin` is the new device's side, `createInvite` the side of the
// device that has the keys. They leave messages for each other in slots of the relay, which is not
// trusted.

// What pairing needs from outside.

/**
 * `gone`: the offer was ended, has expired, or was never made here. `refused`: asking again would
 * not help. The reason is a sentence.
 */
type SlotRead =
  | { readonly kind: 'data'; readonly data: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Slots where two devices that do not know each other leave messages. The carrier sees all of them
 * and may withhold, swap or repeat them, so nothing here is trusted. Where the carrier cannot be
 * reached, all methods reject with an Error for people, and the slot is read again later.
 */
export interface PairingSlots {
  /**
   * Makes the offer's slots, which live for `SYNC.offerMs`. Rejects where the offer was ended
   * before.
   */
  open(offerId: string): Promise<void>;
  /**
   * Each slot is written once. Writing the same data again is harmless. `taken`: it has other data.
   */
  putSlot(offerId: string, slot: OfferSlot, data: string): Promise<'kept' | 'taken' | 'gone'>;
  getSlot(offerId: string, slot: OfferSlot): Promise<SlotRead>;
  /** Ends the offer. It cannot be made again. */
  close(offerId: string): Promise<void>;
}

interface PairingDeps {
  readonly slots: PairingSlots;
  readonly timers: Timers;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly random: RandomBytes;
}

/**
 * Pauses of pairing. The lifetime of an offer is shared with the relay: see
 * src/shared/protocol/sync/settings.ts.
 */
const PAIRING = {
  /** ms between two reads of a slot that is still empty. */
  pollMs: 700,
} as const;

// Reads a slot repeatedly until it has data, the offer is gone, or the caller stops it.

interface Watch {
  readonly slots: PairingSlots;
  readonly timers: Timers;
  readonly offerId: string;
  readonly slot: OfferSlot;
  /** Called at most once. */
  readonly found: (read: Exclude<SlotRead, { kind: 'empty' }>) => void;
}

/** Returns the function that stops it. */
function watchSlot({ slots, timers, offerId, slot, found }: Watch): () => void {
  let isOver = false;
  let callOff = () => {};
  const again = () => {
    if (!isOver) callOff = timers.after(PAIRING.pollMs, poll);
  };
  function poll(): void {
    slots.getSlot(offerId, slot).then((read) => {
      if (isOver) return;
      if (read.kind === 'empty') {
        again();
        return;
      }
      isOver = true;
      found(read);
    }, again); // Unreachable now: try again until the offer expires.
  }
  poll();
  return () => {
    isOver = true;
    callOff();
  };
}

// The new device's side: it shows an offer, compares words, and takes the keys. Before the call of
// `take`, nothing changes on this device, however pairing ends.

export type JoinState = Joining | { readonly step: 'joined' } | { readonly step: 'cancelled' };

interface JoinDeps extends PairingDeps {
  /** The keys that this device will have. The words stand for them too. */
  readonly device: DevicePublicKeys;
  /**
   * Makes this device a member, with the payload that the other device sealed for it. Resolves when
   * the keys are stored, with this device's record for the other one. `inviter`: the keys that the
   * words stood for. A rejection ends pairing with its message, and must leave nothing behind.
   */
  readonly take: (welcome: Uint8Array, inviter: DevicePublicKeys) => Promise<Uint8Array>;
  readonly changed: (state: JoinState) => void;
}

export interface Join {
  /**
   * Resolves when the offer can be taken. Rejects where the relay cannot be reached. Nothing has
   * begun then.
   */
  begin(): Promise<void>;
  /**
   * Are the words the same? Yes counts once, while they are shown. No ends pairing, at every step
   * before the keys have arrived.
   */
  answer(same: boolean): void;
}

type Found = Exclude<SlotRead, { kind: 'empty' }>;
/** `stop`: ends the wait of this step. */
type Phase =
  | { readonly name: 'new' | 'taking' | 'over' }
  | { readonly name: 'offering' | 'waiting'; readonly stop: () => void }
  | { readonly name: 'comparing'; readonly side: PairingSide; readonly words: readonly string[] };

/** It is damaged, or does not come from a device of the household. */
export const BAD_ANSWER = sentence`The answer to this code cannot be used. Nothing was changed; make a new code. If it happens again, update Roost on both devices.`;
const JOIN_NOTICES = {
  gone: sentence`The code no longer works. It lasts five minutes. Nothing was changed; make a new one.`,
  bad: BAD_ANSWER,
} as const;

export function createJoin({ slots, timers, now, random, device, take, changed }: JoinDeps): Join {
  const offer = newOffer(random);
  const face: PairingFace = { key: offer.publicKey, signKey: device.signKey, boxKey: device.boxKey };
  const until = now() + SYNC.offerMs;
  let phase: Phase = { name: 'new' };
  let callOffExpiry = () => {};

  function watch(slot: 'invitation' | 'welcome', found: (data: string) => void): () => void {
    const heard = (read: Found) => {
      if (read.kind === 'data') found(read.data);
      else end({ step: 'failed', reason: read.kind === 'gone' ? JOIN_NOTICES.gone : read.reason });
    };
    return watchSlot({ slots, timers, offerId: offer.offerId, slot, found: heard });
  }

  function leave(): void {
    if (phase.name === 'offering' || phase.name === 'waiting') phase.stop();
    callOffExpiry();
    phase = { name: 'over' };
  }

  function end(state: JoinState): void {
    leave();
    // If the relay cannot be reached, the offer expires there.
    slots.close(offer.offerId).catch(() => {});
    changed(state);
  }

  function compare(invitation: string): void {
    const inviter = readFace(invitation);
    if (!inviter) {
      end({ step: 'failed', reason: JOIN_NOTICES.bad });
      return;
    }
    const words = pairingWords(face, inviter);
    phase = { name: 'comparing', side: { secret: offer.secret, offer: face, inviter }, words };
    changed({ step: 'comparing', words, until });
  }

  /**
   * The other device waits for this message. If it never arrives, the other device still finds this
   * one among the members.
   */
  function tell(joined: string): void {
    slots.putSlot(offer.offerId, 'joined', joined).catch(() => {
      if (now() < until) timers.after(PAIRING.pollMs, () => tell(joined));
    });
  }

  async function receive(side: PairingSide, data: string): Promise<void> {
    const content = openWelcome(side, data);
    if (!content) {
      end({ step: 'failed', reason: JOIN_NOTICES.bad });
      return;
    }
    callOffExpiry();
    phase = { name: 'taking' };
    let said: Uint8Array;
    try {
      said = await take(content, side.inviter);
    } catch (error) {
      end({ step: 'failed', reason: errorMessage(error) });
      return;
    }
    leave();
    changed({ step: 'joined' });
    tell(sealJoined(side, said, random));
  }

  return {
    async begin() {
      if (phase.name !== 'new') return;
      await slots.open(offer.offerId);
      if (phase.name !== 'new') return;
      if ((await slots.putSlot(offer.offerId, 'device', writeFace(face))) !== 'kept')
        throw new Error(JOIN_NOTICES.gone);
      if (phase.name !== 'new') return;
      callOffExpiry = timers.after(until - now(), () => end({ step: 'failed', reason: JOIN_NOTICES.gone }));
      phase = { name: 'offering', stop: watch('invitation', compare) };
      changed({ step: 'offering', offer: offer.text, until });
    },
    answer(same) {
      if (!same) {
        if (phase.name !== 'taking' && phase.name !== 'over') end({ step: 'cancelled' });
        return;
      }
      if (phase.name !== 'comparing') return;
      const { side, words } = phase;
      phase = { name: 'waiting', stop: watch('welcome', (data) => void receive(side, data)) };
      changed({ step: 'waiting', words, until });
    },
  };
}

// The side of a device that has the keys: it takes an offer, compares words, and seals the keys for
// the new device.

interface InviteDeps extends PairingDeps {
  /** The scanned or pasted text. */
  readonly offer: string;
  /** This device’s keys. The words stand for them too. */
  readonly device: DevicePublicKeys;
  /**
   * The payload for the new device, which its `take` reads. Called after the person has said yes,
   * with the keys that the words stood for.
   */
  readonly welcome: (device: DevicePublicKeys) => Uint8Array | Promise<Uint8Array>;
  /**
   * The new device has the keys. `said` is its record, `device` the keys that the words stood for.
   * False: the record does not match them.
   */
  readonly joined: (said: Uint8Array, device: DevicePublicKeys) => boolean | Promise<boolean>;
}

export interface Invite {
  /**
   * Takes the offer and resolves with the six words. A repeated call resolves with the same.
   * Rejects with a sentence where the offer is invalid, has expired, or was taken by another
   * device.
   */
  begin(): Promise<{ readonly words: readonly string[] }>;
  /**
   * Are the words the same? Yes seals the keys, and resolves when the new device has confirmed
   * them. It counts once. Rejects with a sentence where the confirmation does not arrive. No ends
   * the offer, at every step.
   */
  answer(same: boolean): Promise<{ readonly joined: boolean }>;
}

interface Taken {
  readonly offerId: string;
  readonly side: PairingSide;
  readonly words: readonly string[];
  /** When it stops waiting: ms since the epoch, by this device's clock. */
  readonly until: number;
}

export const CHANGED = sentence`The data of this code was changed on its way. No keys were handed over. Make a new code on the device that wants to join.`;
const SAID = {
  gone: sentence`This code no longer works. It lasts five minutes, and works once. Make a new one on the device that wants to join.`,
  changed: CHANGED,
  unconfirmed: sentence`The new device has not confirmed the keys. Check in the list of devices whether it joined.`,
  nothing: sentence`There is no code to compare words for. Enter a code first.`,
} as const;

export function createInvite({ slots, timers, now, random, offer, device, welcome, joined }: InviteDeps): Invite {
  const invitation = newInvitation(random);
  let taking: Promise<Taken> | null = null;
  let answering: Promise<{ readonly joined: boolean }> | null = null;
  let isOver = false;
  let stopWaiting = () => {};

  async function takeOffer(): Promise<Taken> {
    const read = readOffer(offer);
    if (!read.ok) throw new Error(read.reason);
    const theirs = await faceOf(read);
    const ours: PairingFace = { key: invitation.publicKey, signKey: device.signKey, boxKey: device.boxKey };
    const kept = await slots.putSlot(read.offerId, 'invitation', writeFace(ours));
    if (kept !== 'kept') throw new Error(SAID.gone);
    return {
      offerId: read.offerId,
      side: { secret: invitation.secret, offer: theirs, inviter: ours },
      words: pairingWords(theirs, ours),
      until: now() + SYNC.offerMs,
    };
  }

  /**
   * The new device's public keys. The pairing key must be the offer’s. The words stand for the
   * rest.
   */
  async function faceOf({
    offerId,
    publicKey,
  }: {
    readonly offerId: string;
    readonly publicKey: string;
  }): Promise<PairingFace> {
    const read = await slots.getSlot(offerId, 'device');
    if (read.kind === 'gone') throw new Error(SAID.gone);
    if (read.kind === 'refused') throw new Error(read.reason);
    const face = read.kind === 'data' ? readFace(read.data) : null;
    if (face?.key !== publicKey) throw new Error(SAID.changed);
    return face;
  }

  async function handOver({ offerId, side, until }: Taken): Promise<{ readonly joined: boolean }> {
    const content = await welcome(side.offer);
    if (isOver) return { joined: false };
    const kept = await slots.putSlot(offerId, 'welcome', sealWelcome(side, content, random));
    if (kept === 'taken') throw new Error(SAID.changed);
    if (kept === 'gone') throw new Error(SAID.gone);
    return isOver ? { joined: false } : heard(offerId, side, until);
  }

  async function hear(side: PairingSide, data: string): Promise<boolean> {
    const said = openJoined(side, data);
    return said !== null && (await joined(said, side.offer));
  }

  /** Waits for the new device's confirmation. */
  function heard(offerId: string, side: PairingSide, until: number): Promise<{ readonly joined: boolean }> {
    return new Promise((resolve, reject) => {
      const stopWatching = watchSlot({
        slots,
        timers,
        offerId,
        slot: 'joined',
        found: (read) => {
          callOff();
          if (read.kind !== 'data') reject(new Error(read.kind === 'gone' ? SAID.unconfirmed : read.reason));
          else
            hear(side, read.data).then(
              (good) => (good ? resolve({ joined: true }) : reject(new Error(SAID.unconfirmed))),
              reject,
            );
        },
      });
      const callOff = timers.after(Math.max(0, until - now()), () => {
        stopWatching();
        reject(new Error(SAID.unconfirmed));
      });
      stopWaiting = () => {
        stopWatching();
        callOff();
        resolve({ joined: false });
      };
    });
  }

  async function close(): Promise<void> {
    try {
      const taken = await taking;
      if (taken) await slots.close(taken.offerId);
    } catch {
      // The caller of `begin` already knows that the offer was not taken. Or the relay cannot be
      // reached, and the offer expires there.
    }
  }

  async function handOverAndClose(offer: Promise<Taken>): Promise<{ readonly joined: boolean }> {
    try {
      return await handOver(await offer);
    } finally {
      await close();
    }
  }

  return {
    async begin() {
      taking ??= takeOffer();
      return { words: (await taking).words };
    },
    async answer(same) {
      if (!same) {
        isOver = true;
        stopWaiting();
        await close();
        return { joined: false };
      }
      if (!taking || isOver) throw new Error(SAID.nothing);
      answering ??= handOverAndClose(taking);
      return answering;
    },
  };
}
