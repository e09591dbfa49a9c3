/**
 * The new device's side: it shows an offer, compares words, and takes the keys. Until `take` has
 * been called nothing has changed on this device, however it ends.
 */
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { Joining } from '../../../shared/protocol/sync/page.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import {
  newOffer,
  openWelcome,
  pairingWords,
  readFace,
  sealJoined,
  writeFace,
  type DevicePublicKeys,
  type PairingFace,
  type PairingSide,
} from '../crypto/index.ts';
import type { PairingDeps, SlotRead } from './port.ts';
import { PAIRING } from './settings.ts';
import { watchSlot } from './watch.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

export type JoinState = Joining | { readonly step: 'joined' } | { readonly step: 'cancelled' };

export interface JoinDeps extends PairingDeps {
  /** The keys that this device will have: the words stand for them too. */
  readonly device: DevicePublicKeys;
  /**
   * Makes this device one of the household, with what the other device sealed for it, and resolves
   * when the keys are kept. `inviter`: the keys that the words stood for. Answers what the other
   * device is told of this one. A rejection ends the joining with its message, and must leave
   * nothing behind.
   */
  readonly take: (welcome: Uint8Array, inviter: DevicePublicKeys) => Promise<Uint8Array>;
  readonly changed: (state: JoinState) => void;
}

export interface Join {
  /**
   * Resolves when the offer can be taken. Rejects where the relay cannot be reached; nothing has
   * begun then.
   */
  begin(): Promise<void>;
  /**
   * Are the words the same? Yes counts once, while they are shown. No gives up, at every step
   * before the keys have come.
   */
  answer(same: boolean): void;
}

type Found = Exclude<SlotRead, { kind: 'empty' }>;
/** `stop`: ends what this step waits for. */
type Phase =
  | { readonly name: 'new' | 'taking' | 'over' }
  | { readonly name: 'offering' | 'waiting'; readonly stop: () => void }
  | { readonly name: 'comparing'; readonly side: PairingSide; readonly words: readonly string[] };

const SAID = {
  expired: sentence`The code is over: it lives five minutes. Nothing was changed; make a new one.`,
  gone: sentence`The code was ended elsewhere, or its time is over. Nothing was changed; make a new one.`,
  noInvitation: sentence`What answered this code is not a device of yours. Nothing was changed; make a new code.`,
  badWelcome: sentence`What came cannot be opened here: it was changed on its way, or the other device runs a newer Roost. Nothing was changed; make a new code.`,
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
      else end({ step: 'failed', reason: read.kind === 'gone' ? SAID.gone : read.reason });
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
    // Where the relay is out of reach, the offer ends there by itself.
    slots.close(offer.offerId).catch(() => {});
    changed(state);
  }

  function compare(invitation: string): void {
    const inviter = readFace(invitation);
    if (!inviter) {
      end({ step: 'failed', reason: SAID.noInvitation });
      return;
    }
    const words = pairingWords(face, inviter);
    phase = { name: 'comparing', side: { secret: offer.secret, offer: face, inviter }, words };
    changed({ step: 'comparing', words, until });
  }

  /**
   * The other device waits to say that it is done, and finds this one among the household's too,
   * should this never reach it.
   */
  function tell(joined: string): void {
    slots.putSlot(offer.offerId, 'joined', joined).catch(() => {
      if (now() < until) timers.after(PAIRING.lookMs, () => tell(joined));
    });
  }

  async function receive(side: PairingSide, data: string): Promise<void> {
    const content = openWelcome(side, data);
    if (!content) {
      end({ step: 'failed', reason: SAID.badWelcome });
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
      if ((await slots.putSlot(offer.offerId, 'device', writeFace(face))) !== 'kept') throw new Error(SAID.gone);
      if (phase.name !== 'new') return;
      callOffExpiry = timers.after(until - now(), () => end({ step: 'failed', reason: SAID.expired }));
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
