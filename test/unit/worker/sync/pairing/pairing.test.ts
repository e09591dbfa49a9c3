import { describe, expect, it, vi } from 'vitest';
import { SYNC } from '../../../../../src/shared/protocol/sync/settings.ts';
import {
  deviceKeys,
  newInvitation,
  readFace,
  readOffer,
  writeFace,
} from '../../../../../src/worker/sync/crypto/index.ts';
import type { PairingSlots } from '../../../../../src/worker/sync/pairing/index.ts';
import { random, utf8 } from '../support.ts';
import { createRoom, settle } from './support.ts';

/** Both have the words before them. */
async function comparing(
  slots: { readonly newDevice?: Partial<PairingSlots>; readonly inviter?: Partial<PairingSlots> } = {},
) {
  const room = createRoom();
  const device = room.newDevice(slots.newDevice);
  await device.join.begin();
  const inviter = room.inviter(device.offer(), slots.inviter);
  const { words } = await inviter.begin();
  await room.pass(1_000);
  return { room, device, inviter, words };
}
const idOf = (offer: string) => {
  const read = readOffer(offer);
  if (!read.ok) throw new Error(read.reason);
  return read.offerId;
};

describe('pairing', () => {
  // SPEC 9.11, 9.13
  it('hands the keys over when the words were the same on both', async () => {
    const { room, device, inviter, words } = await comparing();
    expect(device.words()).toEqual(words);
    device.join.answer(true);
    expect(device.steps()).toEqual(['offering', 'comparing', 'waiting']);
    const answered = inviter.answer(true);
    await room.pass(2_000);
    expect(await answered).toEqual({ joined: true });
    expect(device.taken).toEqual(['the keys']);
    // Each has the keys of the other’s device, which the words stood for.
    const pinned = ({ signKey, boxKey }: { readonly signKey: string; readonly boxKey: string }) => ({
      signKey,
      boxKey,
    });
    expect(device.invitedBy.map(pinned)).toEqual([pinned(inviter.device)]);
    expect(inviter.heard.map((one) => [one.said, pinned(one.device)])).toEqual([
      ['a new device', pinned(device.device)],
    ]);
    expect(device.steps()).toEqual(['offering', 'comparing', 'waiting', 'joined']);
    expect(room.find(idOf(device.offer()))).toBeNull();
    expect(room.timers.waiting()).toEqual([]);
  });

  // SPEC 9.11
  it('accepts either device confirming the words first', async () => {
    const { room, device, inviter } = await comparing();
    const answered = inviter.answer(true);
    await room.pass(60_000);
    expect(device.taken).toEqual([]);
    device.join.answer(true);
    await room.pass(2_000);
    expect(device.taken).toEqual(['the keys']);
    expect(await answered).toEqual({ joined: true });
  });

  // SPEC 9.4
  it('says until when the offer lives, and lets nobody in after it', async () => {
    const room = createRoom();
    const device = room.newDevice();
    await device.join.begin();
    expect(device.states[0]).toMatchObject({ step: 'offering', until: 1_000_000 + SYNC.offerMs });
    await room.pass(SYNC.offerMs);
    expect(device.reason()).toContain('lasts five minutes');
    await expect(room.inviter(device.offer()).begin()).rejects.toThrow('This code no longer works');
    expect(room.timers.waiting()).toEqual([]);
  });

  it('ends with a sentence on both when one never says that the words are the same', async () => {
    const { room, device, inviter } = await comparing();
    device.join.answer(true);
    await room.pass(SYNC.offerMs);
    expect(device.reason()).toContain('lasts five minutes');
    await expect(inviter.answer(true)).rejects.toThrow('This code no longer works');
    expect(device.taken).toEqual([]);
  });

  it('tells the inviting device when the new one never says that it has the keys', async () => {
    const { room, inviter } = await comparing();
    const answered = expect(inviter.answer(true)).rejects.toThrow('The new device has not confirmed the keys');
    await room.pass(SYNC.offerMs + 1_000);
    await answered;
    expect(room.timers.waiting()).toEqual([]);
  });

  // SPEC 9.4
  it('takes an offer once, and tells a second device so while the first goes on', async () => {
    const { room, device, inviter } = await comparing();
    await expect(room.inviter(device.offer()).begin()).rejects.toThrow('This code no longer works');
    device.join.answer(true);
    const answered = inviter.answer(true);
    await room.pass(2_000);
    expect(await answered).toEqual({ joined: true });
    await expect(room.inviter(device.offer()).begin()).rejects.toThrow('works once');
  });

  it('names what is wrong with an offer, and asks the relay nothing', async () => {
    const putSlot = vi.fn<PairingSlots['putSlot']>();
    await expect(createRoom().inviter('good morning', { putSlot }).begin()).rejects.toThrow(
      'This is not a whole code to join with',
    );
    expect(putSlot).not.toHaveBeenCalled();
  });

  it('survives double clicks', async () => {
    const room = createRoom();
    const device = room.newDevice();
    await Promise.all([device.join.begin(), device.join.begin()]);
    const welcome = vi.fn(() => utf8('the keys'));
    const inviter = room.inviter(device.offer(), {}, welcome);
    const [first, second] = await Promise.all([inviter.begin(), inviter.begin()]);
    expect(first).toEqual(second);
    await room.pass(1_000);
    device.join.answer(true);
    device.join.answer(true);
    const answers = Promise.all([inviter.answer(true), inviter.answer(true)]);
    await room.pass(2_000);
    expect(await answers).toEqual([{ joined: true }, { joined: true }]);
    device.join.answer(false);
    expect(await inviter.answer(false)).toEqual({ joined: false });
    expect(device.steps()).toEqual(['offering', 'comparing', 'waiting', 'joined']);
    expect(device.taken).toEqual(['the keys']);
    expect(welcome).toHaveBeenCalledTimes(1);
  });
});

describe('giving up', () => {
  it('ends the offer at every step when the new device gives up, and tells the other', async () => {
    const room = createRoom();
    const early = room.newDevice();
    await early.join.begin();
    early.join.answer(false);
    await settle();
    expect(early.steps()).toEqual(['offering', 'cancelled']);
    await expect(room.inviter(early.offer()).begin()).rejects.toThrow('no longer works');

    const compared = await comparing();
    compared.device.join.answer(false);
    await expect(compared.inviter.answer(true)).rejects.toThrow('no longer works');

    const waiting = await comparing();
    waiting.device.join.answer(true);
    waiting.device.join.answer(false);
    await waiting.room.pass(2_000);
    expect(waiting.device.steps()).toEqual(['offering', 'comparing', 'waiting', 'cancelled']);
    for (const { room: one, device } of [compared, waiting]) {
      expect(device.taken).toEqual([]);
      expect(one.timers.waiting()).toEqual([]);
    }
  });

  it('shows no offer when the new device gives up before the relay has answered', async () => {
    const device = createRoom().newDevice();
    const begun = device.join.begin();
    device.join.answer(false);
    await begun;
    expect(device.steps()).toEqual(['cancelled']);
  });

  it('sends no keys when the inviting device gives up, and tells the new one', async () => {
    const { room, device, inviter } = await comparing();
    device.join.answer(true);
    expect(await inviter.answer(false)).toEqual({ joined: false });
    await room.pass(2_000);
    expect(device.reason()).toContain('no longer works');
    expect(device.taken).toEqual([]);
    await expect(inviter.answer(true)).rejects.toThrow('Enter a code first');
  });

  it('ends the wait when the inviting device gives up during it', async () => {
    const { room, inviter } = await comparing();
    const answered = inviter.answer(true);
    await room.pass(2_000);
    expect(await inviter.answer(false)).toEqual({ joined: false });
    expect(await answered).toEqual({ joined: false });
  });

  it('sends no keys when the inviting device gives up while it looks them up', async () => {
    const room = createRoom();
    const device = room.newDevice();
    await device.join.begin();
    let hand: (keys: Uint8Array) => void = () => {};
    const inviter = room.inviter(device.offer(), {}, () => new Promise((resolve) => (hand = resolve)));
    await inviter.begin();
    const answered = inviter.answer(true);
    await settle();
    const given = inviter.answer(false);
    hand(utf8('the keys'));
    expect([await answered, await given]).toEqual([{ joined: false }, { joined: false }]);
  });

  it('ends an offer that was never taken without an error', async () => {
    const inviter = createRoom().inviter('no code');
    await expect(inviter.begin()).rejects.toThrow('not a whole code');
    expect(await inviter.answer(false)).toEqual({ joined: false });
    await expect(createRoom().inviter('no code').answer(true)).rejects.toThrow('Enter a code first');
  });
});

describe('a relay that', () => {
  const thief = deviceKeys(random(32));
  const swapped = writeFace({ key: newInvitation(random).publicKey, signKey: thief.signKey, boxKey: thief.boxKey });
  const swapping = (room: { readonly slots: PairingSlots }): Partial<PairingSlots> => ({
    async getSlot(offerId, slot) {
      const read = await room.slots.getSlot(offerId, slot);
      return slot === 'invitation' && read.kind === 'data' ? { kind: 'data', data: swapped } : read;
    },
  });

  // SPEC 9.8
  it('swaps the invitation is noticed by the words, and hands over nothing even where nobody looks at them', async () => {
    const room = createRoom();
    const device = room.newDevice(swapping(room));
    await device.join.begin();
    const inviter = room.inviter(device.offer());
    const { words } = await inviter.begin();
    await room.pass(1_000);
    expect(device.words()).toHaveLength(6);
    expect(device.words()).not.toEqual(words);
    device.join.answer(true);
    const answered = expect(inviter.answer(true)).rejects.toThrow(/not confirmed|no longer works/u);
    await room.pass(3_000);
    await answered;
    expect(device.reason()).toContain('Nothing was changed');
    expect(device.taken).toEqual([]);
  });

  it.each([
    ['new device', 'sign'],
    ['new device', 'box'],
    ['inviting device', 'sign'],
    ['inviting device', 'box'],
  ] as const)('swaps only the %s’s %s key is noticed by the words, and hands over nothing', async (whose, which) => {
    const swap = (data: string) => {
      const face = readFace(data);
      if (!face) throw new Error('There is nothing to be swapped.');
      return writeFace(which === 'sign' ? { ...face, signKey: thief.signKey } : { ...face, boxKey: thief.boxKey });
    };
    const room = createRoom();
    const middle: Partial<PairingSlots> = {
      async getSlot(offerId, slot) {
        const read = await room.slots.getSlot(offerId, slot);
        return slot === (whose === 'new device' ? 'device' : 'invitation') && read.kind === 'data'
          ? { kind: 'data', data: swap(read.data) }
          : read;
      },
    };
    const device = room.newDevice(middle);
    await device.join.begin();
    const inviter = room.inviter(device.offer(), middle);
    const { words } = await inviter.begin();
    await room.pass(1_000);
    expect(device.words()).toHaveLength(6);
    expect(device.words()).not.toEqual(words);
    device.join.answer(true);
    const answered = expect(inviter.answer(true)).rejects.toThrow(/not confirmed|no longer works/u);
    await room.pass(3_000);
    await answered;
    expect(device.taken).toEqual([]);
    expect(inviter.heard).toEqual([]);
  });

  // SPEC 9.6
  it('lays another device beside an offer is refused', async () => {
    const room = createRoom();
    const device = room.newDevice();
    await device.join.begin();
    await expect(
      room.inviter(device.offer(), { getSlot: async () => ({ kind: 'data', data: swapped }) }).begin(),
    ).rejects.toThrow('was changed on its way');
    await expect(room.inviter(device.offer(), { getSlot: async () => ({ kind: 'empty' }) }).begin()).rejects.toThrow(
      'was changed on its way',
    );
  });

  it('answers an offer with what is no key is refused', async () => {
    const room = createRoom();
    const device = room.newDevice();
    await device.join.begin();
    await room.slots.putSlot(idOf(device.offer()), 'invitation', 'A'.repeat(128));
    await room.pass(1_000);
    expect(device.reason()).toContain('cannot be used');
  });

  it('repeats an earlier welcome is refused', async () => {
    const earlier = await comparing();
    void earlier.inviter.answer(true).catch(() => {});
    await settle();
    const old = await earlier.room.slots.getSlot(idOf(earlier.device.offer()), 'welcome');
    if (old.kind !== 'data') throw new Error('There is no welcome to repeat.');

    const { room, device, inviter } = await comparing();
    await room.slots.putSlot(idOf(device.offer()), 'welcome', old.data);
    device.join.answer(true);
    await room.pass(1_000);
    expect(device.reason()).toContain('cannot be used');
    expect(device.taken).toEqual([]);
    await expect(inviter.answer(true)).rejects.toThrow('no longer works');
  });

  it('puts something else in the place of the keys is told of', async () => {
    const { room, device, inviter } = await comparing();
    await room.slots.putSlot(idOf(device.offer()), 'welcome', 'AAAA');
    await expect(inviter.answer(true)).rejects.toThrow('was changed on its way');
  });

  // SPEC 9.13
  it('makes up the answer of the new device is not believed', async () => {
    const { room, device, inviter } = await comparing();
    await room.slots.putSlot(idOf(device.offer()), 'joined', 'AAAA');
    const answered = expect(inviter.answer(true)).rejects.toThrow('has not confirmed');
    await room.pass(1_000);
    await answered;
  });

  it('starts nothing when the relay cannot be reached', async () => {
    const away = () => Promise.reject(new Error('The relay cannot be reached.'));
    const room = createRoom();
    const device = room.newDevice({ open: away });
    await expect(device.join.begin()).rejects.toThrow('cannot be reached');
    expect(device.states).toEqual([]);
    expect(room.timers.waiting()).toEqual([]);
    const offering = room.newDevice();
    await offering.join.begin();
    await expect(room.inviter(offering.offer(), { putSlot: away }).begin()).rejects.toThrow('cannot be reached');
  });

  it('refuses to be asked ends it with its reason', async () => {
    const refused: Partial<PairingSlots> = {
      getSlot: async () => ({ kind: 'refused', reason: 'This browser is not let in.' }),
    };
    const room = createRoom();
    const device = room.newDevice(refused);
    await device.join.begin();
    const inviter = room.inviter(device.offer(), refused);
    await settle();
    expect(device.reason()).toBe('This browser is not let in.');
    await expect(inviter.begin()).rejects.toThrow('This browser is not let in.');
    const other = room.newDevice();
    await other.join.begin();
    const unheard = room.inviter(other.offer(), {
      getSlot: async (...place) =>
        place[1] === 'device'
          ? room.slots.getSlot(...place)
          : { kind: 'refused', reason: 'This browser is not let in.' },
    });
    await unheard.begin();
    await expect(unheard.answer(true)).rejects.toThrow('This browser is not let in.');
  });

  it('asks again when the relay is away for a while', async () => {
    let isAway = false;
    const room = createRoom();
    const flaky: Partial<PairingSlots> = {
      getSlot: async (...place) => (isAway ? Promise.reject(new Error('Away.')) : room.slots.getSlot(...place)),
      putSlot: async (...place) => (isAway ? Promise.reject(new Error('Away.')) : room.slots.putSlot(...place)),
    };
    const device = room.newDevice(flaky, async () => void (isAway = true));
    await device.join.begin();
    isAway = true;
    await room.pass(10_000);
    isAway = false;
    const inviter = room.inviter(device.offer());
    await inviter.begin();
    await room.pass(2_000);
    device.join.answer(true);
    const answered = inviter.answer(true);
    await room.pass(10_000);
    expect(device.steps().at(-1)).toBe('joined');
    isAway = false;
    await room.pass(2_000);
    expect(await answered).toEqual({ joined: true });
  });
});

describe('keys that cannot be kept', () => {
  it('end the joining with the reason, and both are told', async () => {
    const room = createRoom();
    const device = room.newDevice({}, () => Promise.reject(new Error('There is no space left on this device.')));
    await device.join.begin();
    const inviter = room.inviter(device.offer());
    await inviter.begin();
    await room.pass(1_000);
    device.join.answer(true);
    const answered = expect(inviter.answer(true)).rejects.toThrow(/not confirmed|no longer works/u);
    await room.pass(2_000);
    await answered;
    expect(device.reason()).toBe('There is no space left on this device.');
  });

  it('finishes slow keys in spite of the end of the offer or a cancellation', async () => {
    const room = createRoom();
    let kept: () => void = () => {};
    const device = room.newDevice({}, () => new Promise((resolve) => (kept = resolve)));
    await device.join.begin();
    const inviter = room.inviter(device.offer());
    await inviter.begin();
    await room.pass(1_000);
    device.join.answer(true);
    const answered = expect(inviter.answer(true)).rejects.toThrow(/not confirmed/u);
    await room.pass(SYNC.offerMs + 1_000);
    device.join.answer(false);
    expect(device.steps().at(-1)).toBe('waiting');
    kept();
    await room.pass(1_000);
    await answered;
    expect(device.steps().at(-1)).toBe('joined');
  });
});
