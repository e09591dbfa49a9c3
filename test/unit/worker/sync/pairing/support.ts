/**
 * A new device and one of the household, with a relay between them that a test can make do what it
 * likes.
 */
import { SYNC } from '../../../../../src/shared/protocol/sync/settings.ts';
import { deviceKeys, type DevicePublicKeys } from '../../../../../src/worker/sync/crypto/index.ts';
import {
  createInvite,
  createJoin,
  type JoinState,
  type PairingSlots,
} from '../../../../../src/worker/sync/pairing/index.ts';
import { createManualTimers } from '../../../../support/manual-timers.ts';
import { random, text, utf8 } from '../support.ts';

/** The relay's slots as they are promised: written once, gone after their time. */
function createSlots(now: () => number) {
  const offers = new Map<string, { readonly until: number; isOver: boolean; readonly slots: Map<string, string> }>();
  const find = (offerId: string) => {
    const offer = offers.get(offerId);
    return offer && !offer.isOver && now() < offer.until ? offer.slots : null;
  };
  const slots: PairingSlots = {
    async open(offerId) {
      offers.set(offerId, offers.get(offerId) ?? { until: now() + SYNC.offerMs, isOver: false, slots: new Map() });
    },
    async putSlot(offerId, slot, data) {
      const there = find(offerId);
      if (!there) return 'gone';
      if (there.has(slot)) return there.get(slot) === data ? 'kept' : 'taken';
      there.set(slot, data);
      return 'kept';
    },
    async getSlot(offerId, slot) {
      const there = find(offerId);
      if (!there) return { kind: 'gone' };
      const data = there.get(slot);
      return data === undefined ? { kind: 'empty' } : { kind: 'data', data };
    },
    async close(offerId) {
      const offer = offers.get(offerId);
      if (offer) offer.isOver = true;
    },
  };
  return { slots, find };
}

/** Lets everything happen that waits for nothing but its turn. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

export function createRoom() {
  const timers = createManualTimers();
  let clock = 1_000_000;
  const now = () => clock;
  const relay = createSlots(now);
  return {
    ...relay,
    now,
    timers,
    /** Lets `ms` pass, in steps in which what is asked for is answered. */
    async pass(ms: number) {
      await settle();
      for (let left = ms; left > 0; left -= 1_000) {
        const step = Math.min(left, 1_000);
        clock += step;
        timers.advance(step);
        await settle();
      }
    },
    newDevice(slots: Partial<PairingSlots> = {}, take: (welcome: Uint8Array) => Promise<void> = async () => {}) {
      const states: JoinState[] = [];
      const taken: (string | null)[] = [];
      const invitedBy: DevicePublicKeys[] = [];
      const device = deviceKeys(random(32));
      const join = createJoin({
        slots: { ...relay.slots, ...slots },
        timers,
        now,
        random,
        device,
        take: async (welcome, inviter) => {
          taken.push(text(welcome));
          invitedBy.push(inviter);
          await take(welcome);
          return utf8('a new device');
        },
        changed: (state) => states.push(state),
      });
      return {
        join,
        device,
        states,
        /** Whose keys the words stood for, each time that something was taken. */
        invitedBy,
        /** What was taken, each time that it was. */
        taken,
        steps: () => states.map(({ step }) => step),
        offer() {
          const shown = states.find(({ step }) => step === 'offering');
          if (shown?.step !== 'offering') throw new Error('No offer was shown.');
          return shown.offer;
        },
        words() {
          const shown = states.find(({ step }) => step === 'comparing');
          return shown?.step === 'comparing' ? shown.words : null;
        },
        reason() {
          const last = states.at(-1);
          return last?.step === 'failed' ? last.reason : null;
        },
      };
    },
    inviter(
      offer: string,
      slots: Partial<PairingSlots> = {},
      welcome: () => Uint8Array | Promise<Uint8Array> = () => utf8('the keys'),
    ) {
      const device = deviceKeys(random(32));
      const heard: { readonly said: string | null; readonly device: DevicePublicKeys }[] = [];
      const invite = createInvite({
        slots: { ...relay.slots, ...slots },
        timers,
        now,
        random,
        offer,
        device,
        welcome,
        joined(said, newcomer) {
          heard.push({ said: text(said), device: newcomer });
          return true;
        },
      });
      /** `heard`: what new devices said of themselves, with the keys that the words stood for. */
      return { ...invite, device, heard };
    },
  };
}
