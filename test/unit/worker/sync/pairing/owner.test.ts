import { describe, expect, it } from 'vitest';
import type { Joining } from '../../../../../src/shared/protocol/sync/page.ts';
import { deviceKeys, newHousehold } from '../../../../../src/worker/sync/crypto/index.ts';
import {
  deviceRecord,
  type DeviceRecord,
  isGenuineDevice,
  isGenuineLetIn,
  letInBy,
} from '../../../../../src/worker/sync/data-worker/records.ts';
import { createPairing, type PairingDeps, type Welcoming } from '../../../../../src/worker/sync/data-worker/pairing.ts';
import type { Called } from '../../../../../src/worker/sync/data-worker/ports.ts';
import { random } from '../support.ts';
import { createRoom } from './support.ts';

const refused = (status: number | null, reason: string): Called<never> => ({
  ok: false,
  status,
  type: null,
  reason,
  box: null,
});
const inviting = deviceKeys(random(32));
function welcoming(): Welcoming {
  const keys = newHousehold(random);
  return {
    keys,
    roll: [],
    rotations: [],
    recovery: null,
    devices: [deviceRecord(keys, inviting, { name: 'Laptop', addedAt: 1, time: 2 })],
    tips: [{ agentId: 'lyra', sessionId: 'first', messages: 3, time: 5 }],
    letIn: null,
  };
}

/** Two owners, with the relay's calls as they answer. */
function createOwners(getSlot?: PairingDeps['relay']['getSlot'], given = welcoming()) {
  const room = createRoom();
  const { slots } = room;
  const relay: PairingDeps['relay'] = {
    openOffer: async ({ offer }) => slots.open(offer).then(() => ({ ok: true, value: { until: 0 } })),
    closeOffer: async ({ offer }) => slots.close(offer).then(() => ({ ok: true, value: null })),
    async putSlot({ offer, slot, body }) {
      const put = await slots.putSlot(offer, slot, body.data);
      return put === 'kept' ? { ok: true, value: null } : refused(put === 'taken' ? 409 : 410, put);
    },
    async getSlot(said) {
      if (getSlot) return getSlot(said);
      const read = await slots.getSlot(said.offer, said.slot);
      return read.kind === 'data'
        ? { ok: true, value: { data: read.data } }
        : read.kind === 'empty'
          ? { ok: true, value: null }
          : refused(410, 'gone');
    },
  };
  const owner = () => {
    const heard: (Joining | null)[] = [];
    const entered: { readonly welcome: Welcoming; readonly name: string; readonly deviceId: string }[] = [];
    const joined: DeviceRecord[] = [];
    const pairing = createPairing({
      relay,
      timers: room.timers,
      now: room.now,
      random,
      enter: async (welcome, seed, name) => void entered.push({ welcome, name, deviceId: deviceKeys(seed).deviceId }),
      device: () => inviting,
      joined: async (record) => void joined.push(record),
      welcome: async (deviceId) => ({ ...given, letIn: letInBy(given.keys, inviting, deviceId, 9) }),
      onJoining: (joining) => heard.push(joining),
    });
    return { pairing, heard, entered, joined };
  };
  return { room, given, here: owner(), there: owner() };
}
const offerIn = (heard: readonly (Joining | null)[]) => {
  const last = heard.at(-1);
  if (last?.step !== 'offering') throw new Error('No offer is shown.');
  return last.offer;
};

describe('two owners', () => {
  // SPEC 9.10, 9.12
  it('pairs two owners: the new device enters with all that the other gave', async () => {
    const { room, given, here, there } = createOwners();
    await there.pairing.beginJoin('Phone');
    const words = await here.pairing.beginInvite(offerIn(there.heard));
    await room.pass(1_000);
    expect(there.heard.at(-1)).toMatchObject({ step: 'comparing', words });
    there.pairing.answerJoin(true);
    const answered = here.pairing.answerInvite(true);
    await room.pass(2_000);
    expect(await answered).toBe(true);
    expect(there.entered).toMatchObject([{ welcome: { ...given, letIn: { time: 9 } }, name: 'Phone' }]);
    // And says of itself, before anything is replicated, what the words stood for.
    expect(here.joined).toMatchObject([{ deviceId: there.entered[0]?.deviceId, name: 'Phone', epoch: 1 }]);
    expect(here.joined.every((record) => isGenuineDevice(given.keys, record))).toBe(true);
    // With the word of the one that let it in, about the very device whose keys the words stood
    // for.
    for (const { deviceId, letIn } of here.joined)
      expect(letIn && isGenuineLetIn(given.keys, deviceId, letIn, inviting.signKey)).toBe(true);
    expect(there.heard.map((joining) => joining?.step ?? null)).toEqual(['offering', 'comparing', 'waiting', null]);
  });

  // SPEC 9.11
  it('refuses keys of another device than the one whose words were compared', async () => {
    const keys = newHousehold(random);
    const other = {
      ...welcoming(),
      keys,
      devices: [deviceRecord(keys, deviceKeys(random(32)), { name: 'Laptop', addedAt: 1, time: 2 })],
    };
    const { room, here, there } = createOwners(undefined, other);
    await there.pairing.beginJoin('Phone');
    await here.pairing.beginInvite(offerIn(there.heard));
    await room.pass(1_000);
    there.pairing.answerJoin(true);
    const answered = expect(here.pairing.answerInvite(true)).rejects.toThrow('has not confirmed');
    await room.pass(2_000);
    await answered;
    expect(there.heard.at(-1)).toMatchObject({
      step: 'failed',
      reason: expect.stringContaining('cannot be used'),
    });
    expect(there.entered).toEqual([]);
    expect(here.joined).toEqual([]);
  });

  it('pairs nobody when the words differ', async () => {
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

  it('replaces the earlier offer when pairing begins again', async () => {
    const { room, here, there } = createOwners();
    await there.pairing.beginJoin('Phone');
    const first = offerIn(there.heard);
    await there.pairing.beginJoin('Phone');
    expect(offerIn(there.heard)).not.toBe(first);
    await room.pass(1_000);
    await expect(here.pairing.beginInvite(first)).rejects.toThrow('no longer works');
    expect(await here.pairing.beginInvite(offerIn(there.heard))).toHaveLength(6);
  });

  it('reports a refusal by the relay at once, and retries when the relay is late', async () => {
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
    await expect(here.pairing.answerInvite(true)).rejects.toThrow('There is no code to compare words for');
  });
});
