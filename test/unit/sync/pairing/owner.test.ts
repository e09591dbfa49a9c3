import { describe, expect, it } from 'vitest';
import type { Joining } from '../../../../src/protocol/sync/page.ts';
import { newHousehold } from '../../../../src/sync/crypto/index.ts';
import { createPairing, type PairingDeps } from '../../../../src/sync/owner/pairing.ts';
import type { Called } from '../../../../src/sync/owner/ports.ts';
import type { Welcoming } from '../../../../src/sync/owner/welcoming.ts';
import { random } from '../support.ts';
import { createRoom } from './support.ts';

const refused = (status: number | null, reason: string): Called<never> => ({ ok: false, status, type: null, reason, box: null });
const welcoming = (): Welcoming => ({
  keys: newHousehold(random),
  rotations: [],
  recovery: null,
  devices: [],
  heads: [{ agentId: 'lyra', sessionId: 'first', messages: 3, time: 5 }],
});

/** Two owners, with the relay's calls as they answer. */
function createOwners(getSlot?: PairingDeps['relay']['getSlot']) {
  const room = createRoom();
  const { slots } = room;
  const relay: PairingDeps['relay'] = {
    openOffer: async (offer) => slots.open(offer).then(() => ({ ok: true, value: null })),
    closeOffer: async (offer) => slots.close(offer).then(() => ({ ok: true, value: null })),
    async putSlot(...place) {
      const put = await slots.putSlot(...place);
      return put === 'kept' ? { ok: true, value: null } : refused(put === 'taken' ? 409 : 410, put);
    },
    async getSlot(...place) {
      if (getSlot) return getSlot(...place);
      const read = await slots.getSlot(...place);
      return read.kind === 'data' ? { ok: true, value: { data: read.data } } : read.kind === 'empty' ? { ok: true, value: null } : refused(410, 'gone');
    },
  };
  const given = welcoming();
  const owner = () => {
    const heard: (Joining | null)[] = [];
    const entered: { readonly welcome: Welcoming; readonly name: string }[] = [];
    const pairing = createPairing({
      relay,
      timers: room.timers,
      now: room.now,
      random,
      enter: async (welcome, name) => void entered.push({ welcome, name }),
      welcome: async () => given,
      onJoining: (joining) => heard.push(joining),
    });
    return { pairing, heard, entered };
  };
  return { room, given, here: owner(), there: owner() };
}
const offerIn = (heard: readonly (Joining | null)[]) => {
  const last = heard.at(-1);
  if (last?.step !== 'offering') throw new Error('No offer is shown.');
  return last.offer;
};

describe('two owners', () => {
  it('pair: the new device enters with all that the other one gave', async () => {
    const { room, given, here, there } = createOwners();
    await there.pairing.beginJoin('Phone');
    const words = await here.pairing.beginInvite(offerIn(there.heard));
    await room.pass(1_000);
    expect(there.heard.at(-1)).toMatchObject({ step: 'comparing', words });
    there.pairing.answerJoin(true);
    const answered = here.pairing.answerInvite(true);
    await room.pass(2_000);
    expect(await answered).toBe(true);
    expect(there.entered).toEqual([{ welcome: given, name: 'Phone' }]);
    expect(there.heard.map((joining) => joining?.step ?? null)).toEqual(['offering', 'comparing', 'waiting', null]);
  });

  it('give up: the words differ, and nobody enters', async () => {
    const { room, here, there } = createOwners();
    await there.pairing.beginJoin('Phone');
    await here.pairing.beginInvite(offerIn(there.heard));
    expect(await here.pairing.answerInvite(false)).toBe(false);
    await room.pass(1_000);
    expect(there.heard.at(-1)?.step).toBe('failed');
    there.pairing.answerJoin(false);
    expect(there.heard.at(-1)).toBeNull();
    expect(there.entered).toEqual([]);
  });

  it('begin again: the new offer takes the place of the one before', async () => {
    const { room, here, there } = createOwners();
    await there.pairing.beginJoin('Phone');
    const first = offerIn(there.heard);
    await there.pairing.beginJoin('Phone');
    expect(offerIn(there.heard)).not.toBe(first);
    await room.pass(1_000);
    await expect(here.pairing.beginInvite(first)).rejects.toThrow('is over');
    expect(await here.pairing.beginInvite(offerIn(there.heard))).toHaveLength(6);
  });

  it('are told at once where the relay does not let this browser in, and ask again where it was only late', async () => {
    let status: number | null = 503;
    const { room, there } = createOwners(async () => refused(status, 'This browser is not let in.'));
    await there.pairing.beginJoin('Phone');
    for (status of [null, 429, 503]) {
      await room.pass(2_000);
      expect(there.heard.at(-1)?.step).toBe('offering');
    }
    status = 401;
    await room.pass(1_000);
    expect(there.heard.at(-1)).toEqual({ step: 'failed', reason: 'This browser is not let in.' });
  });

  it('leave nothing that waits when they close', async () => {
    const { room, here, there } = createOwners();
    await there.pairing.beginJoin('Phone');
    await here.pairing.beginInvite(offerIn(there.heard));
    here.pairing.close();
    there.pairing.close();
    await room.pass(1_000);
    expect(room.timers.waiting()).toEqual([]);
    await expect(here.pairing.answerInvite(true)).rejects.toThrow('There is no offer whose words');
  });
});
