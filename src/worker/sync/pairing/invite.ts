/**
 * The side of a device that has the keys: it takes an offer, compares words, and seals the keys for
 * the new device.
 */
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import {
  newInvitation,
  openJoined,
  pairingWords,
  readFace,
  readOffer,
  sealWelcome,
  writeFace,
  type DevicePublicKeys,
  type PairingFace,
  type PairingSide,
} from '../crypto/index.ts';
import type { PairingDeps } from './port.ts';
import { watchSlot } from './watch.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

export interface InviteDeps extends PairingDeps {
  /** What was scanned or pasted. */
  readonly offer: string;
  /** This device’s keys: the words stand for them too. */
  readonly device: DevicePublicKeys;
  /**
   * What the new device is given, as `take` of its side reads it. Asked for when the person has
   * said yes, with the keys that the words stood for.
   */
  readonly welcome: (device: DevicePublicKeys) => Uint8Array | Promise<Uint8Array>;
  /**
   * What the new device says of itself, when it has the keys, and the keys that the words stood
   * for. False: it is not what they stood for.
   */
  readonly joined: (said: Uint8Array, device: DevicePublicKeys) => boolean | Promise<boolean>;
}

export interface Invite {
  /**
   * Takes the offer: the six words, and the same again when asked again. Rejects with a sentence
   * where it is none, over, or taken by somebody else.
   */
  begin(): Promise<{ readonly words: readonly string[] }>;
  /**
   * Are the words the same? Yes seals the keys, and resolves when the new device has said that it
   * has them; it counts once. Rejects with a sentence where that does not come. No ends the offer,
   * at every step.
   */
  answer(same: boolean): Promise<{ readonly joined: boolean }>;
}

interface Taken {
  readonly offerId: string;
  readonly side: PairingSide;
  readonly words: readonly string[];
  /** Of this device's clock, ms since the epoch: when it stops waiting. */
  readonly until: number;
}

const SAID = {
  gone: sentence`This code is over, or the other device has ended it. A code lives five minutes and works once: make a new one there.`,
  taken: sentence`Another device has answered this code already. Make a new one on the device that wants to join, and take only that one.`,
  otherDevice: sentence`What stands beside this code is not of the device that made it. Make a new code on the device that wants to join.`,
  otherWelcome: sentence`Something else was put in the place of the keys. They were not handed over: make a new code on the device that wants to join.`,
  notHeard: sentence`The keys were sent, but the new device has not said that it has them. Look on it, and in the list of devices, whether it came in.`,
  ended: sentence`The other device has ended it. Look on it what it says, and in the list of devices whether it came in.`,
  otherAnswer: sentence`The answer of the new device was changed on its way. Look in the list of devices whether it came in.`,
  nothing: sentence`There is no code whose words could be the same. Take a code first.`,
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
    if (kept !== 'kept') throw new Error(SAID[kept]);
    return {
      offerId: read.offerId,
      side: { secret: invitation.secret, offer: theirs, inviter: ours },
      words: pairingWords(theirs, ours),
      until: now() + SYNC.offerMs,
    };
  }

  /**
   * What the new device shows of itself. Whatever lies there, the key must be the offer’s, and the
   * words stand for the rest.
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
    if (face?.key !== publicKey) throw new Error(SAID.otherDevice);
    return face;
  }

  async function handOver({ offerId, side, until }: Taken): Promise<{ readonly joined: boolean }> {
    const content = await welcome(side.offer);
    if (isOver) return { joined: false };
    const kept = await slots.putSlot(offerId, 'welcome', sealWelcome(side, content, random));
    if (kept === 'taken') throw new Error(SAID.otherWelcome);
    if (kept === 'gone') throw new Error(SAID.gone);
    return isOver ? { joined: false } : heard(offerId, side, until);
  }

  async function hear(side: PairingSide, data: string): Promise<boolean> {
    const said = openJoined(side, data);
    return said !== null && (await joined(said, side.offer));
  }

  /** Waits for the new device's word. */
  function heard(offerId: string, side: PairingSide, until: number): Promise<{ readonly joined: boolean }> {
    return new Promise((resolve, reject) => {
      const stopWatching = watchSlot({
        slots,
        timers,
        offerId,
        slot: 'joined',
        found: (read) => {
          callOff();
          if (read.kind !== 'data') reject(new Error(read.kind === 'gone' ? SAID.ended : read.reason));
          else
            hear(side, read.data).then(
              (good) => (good ? resolve({ joined: true }) : reject(new Error(SAID.otherAnswer))),
              reject,
            );
        },
      });
      const callOff = timers.after(Math.max(0, until - now()), () => {
        stopWatching();
        reject(new Error(SAID.notHeard));
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
      // The offer was not taken, which whoever began has been told; or the relay is out of reach,
      // where it ends by itself.
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
      // oxlint-disable-next-line typescript/no-misused-promises -- finally waits for what it is given.
      answering ??= taking.then(handOver).finally(close);
      return answering;
    },
  };
}
