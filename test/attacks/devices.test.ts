/**
 * A device that was one of the household, and is removed: nothing it left behind gives it the keys
 * that come after.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceBytes, registrationBytes, socketBytes } from '../../src/shared/protocol/sync/control.ts';
import { deviceKeys, newest, newPhrase, recoveryOf, relayAuth } from '../../src/worker/sync/crypto/index.ts';
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';
import { deviceViews } from '../../src/worker/sync/data-worker/status.ts';
import { deviceRecord, type LetIn, recoveryRecord } from '../../src/worker/sync/data-worker/records.ts';
import { newHouseholdKeys, openHouseholdDevice, type HouseholdDevice } from '../support/household-device.ts';
import { openTestRelay, type OpenRelay } from '../support/open-relay.ts';
import { enter, newSyncId, newTestDevice, newTestHousehold, openSocket, register } from '../support/sync-device.ts';

let relay: OpenRelay;
beforeAll(async () => {
  relay = await openTestRelay();
});
afterAll(async () => {
  await relay.close();
});

/** The word of one that it let another one in. */
const wordOf = (device: HouseholdDevice) => (deviceId: string) => device.keys.letIn(deviceId, Date.now());

/** Three devices that know each other: the person's two, and one that is somebody else's by now. */
async function household() {
  const keys = newHouseholdKeys();
  const owner = await openHouseholdDevice(await relay.signIn(), keys, 'Laptop');
  const [phone, thief] = [
    await openHouseholdDevice(await relay.signIn(), keys, 'Phone', wordOf(owner)),
    await openHouseholdDevice(await relay.signIn(), keys, 'Lost tablet', wordOf(owner)),
  ] as const;
  for (const device of [owner, phone, thief]) await expect.poll(() => device.devices().length).toBe(3);
  return { keys, owner, phone, thief, close: () => Promise.all([owner, phone, thief].map((device) => device.close())) };
}

const recordOf = (by: HouseholdDevice, device: HouseholdDevice) => {
  const record = by.devices().find(({ deviceId }) => deviceId === device.id);
  if (!record) throw new Error('it is not known there');
  return record;
};
/** Whatever the relay was ever given with a rotation, opened with the keys of this device. */
const opensAny = (thief: HouseholdDevice, owner: HouseholdDevice) =>
  owner.keys
    .membership()
    .rotations.flatMap(({ boxes }) => Object.values(boxes))
    .filter((box) => deviceKeys(thief.seed).openBox(box) !== null);

describe('A removed device', () => {
  // SPEC 2.2
  it("gives no renewed key to a device that published another one's record with its own box key", async () => {
    const { keys, owner, phone, thief, close } = await household();
    const planted = { ...recordOf(thief, phone), boxKey: deviceKeys(thief.seed).boxKey, time: Date.now() + 86_400_000 };
    await thief.say({ devices: [planted] });
    await expect.poll(() => owner.heard()).toBeGreaterThanOrEqual(3);
    await owner.keyRotation.remove(thief.id, []);
    await expect.poll(() => thief.isRemoved()).toBe(true);
    expect(opensAny(thief, owner)).toEqual([]);
    // The phone got them.
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    // Nor does it come to what was sealed to the phone: the relay hands that to nobody who is not
    // the phone.
    const box = owner.keys.membership().rotations.at(-1)?.boxes[phone.id];
    expect(box).toBeDefined();
    const own = thief.keys.device;
    for (const { signKey, boxKey } of [
      own,
      phone.keys.device,
      { signKey: own.signKey, boxKey: phone.keys.device.boxKey },
    ]) {
      const browser = await relay.signIn();
      // With all that it has: the old key of the household, and its own.
      const asking = registrationBytes(keys.household, 1, phone.id, signKey);
      const asked = {
        ...thief.keys.registration(),
        device: phone.id,
        deviceKey: signKey,
        boxKey,
        proof: relayAuth(newest(keys)).sign(asking),
        deviceProof: own.sign(asking),
      };
      const answer = await browser.fetch(`/api/sync/households/${keys.household}`, { method: 'PUT', json: asked });
      const said = await answer.text();
      expect([answer.status, said]).toEqual([403, expect.stringContaining('bad-proof')]);
      expect(said).not.toContain(box);
      const line = await openSocket(browser);
      const { nonce } = await line.next('challenge');
      line.send({
        kind: 'hello',
        household: keys.household,
        device: phone.id,
        deviceKey: signKey,
        boxKey,
        signature: own.sign(socketBytes(keys.household, phone.id, nonce)),
      });
      expect(await line.next('refused')).toMatchObject({ what: 'hello' });
      await line.closed;
    }
    await close();
  });

  // SPEC 3.8
  it('readmits no device through its old entries that others forward', async () => {
    const { keys, owner, phone, thief, close } = await household();
    await owner.keyRotation.remove(thief.id, []);
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    // Whoever helps it: what it signed comes in an entry that was sealed with the new key.
    const helper = deviceKeys(new Uint8Array(32).fill(7));
    const time = Date.now();
    const forged = { ...deviceRecord(keys, helper, { name: 'Phone', addedAt: time, time }), epoch: 2 };
    const records = [
      deviceRecord(keys, deviceKeys(thief.seed), { name: 'Lost tablet', addedAt: time, time }),
      deviceRecord(keys, helper, { name: 'Phone', addedAt: time, time }),
      // As if it had the new key, which it does not.
      {
        ...forged,
        signature: helper.sign(deviceBytes(keys.household, forged)),
        proof: relayAuth(newest(keys)).sign(deviceBytes(keys.household, forged)),
      },
    ];
    const before = owner.heard();
    await phone.say({ devices: records });
    await phone.say({
      recovery: recoveryRecord(keys, deviceKeys(thief.seed), { id: helper.signKey, boxKey: helper.boxKey, time }),
    });
    await expect.poll(() => owner.heard()).toBe(before + 2);
    for (const device of [owner, phone]) {
      expect(
        device
          .devices()
          .map(({ deviceId }) => deviceId)
          .sort(),
      ).toEqual([owner.id, phone.id].sort());
      expect(device.keys.membership().recovery).toBeNull();
    }
    await owner.keyRotation.remove(newSyncId(), []);
    expect(Object.keys(owner.keys.membership().rotations.at(-1)?.boxes ?? {}).sort()).toEqual(
      [owner.id, phone.id].sort(),
    );
    await close();
  });

  // SPEC 3.8
  it('opens nothing with a secret phrase of the removed device', async () => {
    const { owner, phone, thief, close } = await household();
    const mine = recoveryOf(newPhrase((length) => new Uint8Array(length).fill(6)).words.join(' '));
    if (!mine.ok) throw new Error(mine.reason);
    await thief.keyRotation.keepRecovery({ id: mine.id, boxKey: mine.boxKey });
    await expect.poll(() => owner.keys.membership().recovery?.id).toBe(mine.id);
    await owner.keyRotation.remove(thief.id, []);
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    const sealed = owner.keys.membership().rotations.at(-1)?.recovery ?? null;
    expect(sealed === null ? null : mine.open(sealed.box)).toBeNull();
    const found = await (await relay.signIn()).fetch(`/api/sync/recoveries/${mine.id}`);
    expect(found.status).toBe(404);
    // The others have let go of it too, and it is told them again by nobody.
    for (const device of [owner, phone]) expect(device.keys.membership().recovery).toBeNull();
    await close();
  });
});

describe('A device of the household', () => {
  it('does not remove another device by a record that says so', async () => {
    const { owner, phone, thief, close } = await household();
    await thief.say({ devices: [{ ...recordOf(thief, phone), time: Date.now() + 86_400_000, removed: true }] });
    await thief.say({ docs: [] });
    await expect.poll(() => owner.heard()).toBeGreaterThanOrEqual(4);
    expect(owner.devices().map(({ deviceId }) => deviceId)).toContain(phone.id);
    expect(phone.isRemoved()).toBe(false);
    await close();
  });
});

describe('A device that a thief had let in while he had one', () => {
  it.each<[string, (thief: HouseholdDevice, phone: HouseholdDevice) => (deviceId: string) => LetIn | null]>([
    ['says so', (thief) => wordOf(thief)],
    ['hides it', () => () => null],
    ['says that another one did', (thief, phone) => (id) => ({ ...wordOf(thief)(id), by: phone.id })],
  ])("removes a device %s with the thief's, in one rotation, and sends it nothing after", async (_says, word) => {
    const { keys, owner, phone, thief, close } = await household();
    const accomplice = await openHouseholdDevice(await relay.signIn(), keys, 'Laptop 2', word(thief, phone));
    const second = await openHouseholdDevice(await relay.signIn(), keys, 'Phone 2', wordOf(accomplice));
    await expect.poll(() => owner.devices().length).toBe(5);
    await expect.poll(() => phone.devices().length).toBe(5);
    const out = [thief, accomplice, second].map(({ id }) => id).sort();
    expect([...(await owner.keyRotation.remove(thief.id, []))].sort()).toEqual(out);
    for (const one of [thief, accomplice, second]) await expect.poll(() => one.isRemoved()).toBe(true);
    const heard = [accomplice, second].map((one) => one.heard());
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    for (const one of [owner, phone])
      expect(
        one
          .devices()
          .map(({ deviceId }) => deviceId)
          .sort(),
      ).toEqual([owner.id, phone.id].sort());
    for (const one of [thief, accomplice, second]) expect(opensAny(one, owner)).toEqual([]);
    const before = phone.heard();
    await owner.say({ docs: [] });
    await expect.poll(() => phone.heard()).toBe(before + 1);
    expect([accomplice, second].map((one) => one.heard())).toEqual(heard);
    await Promise.all([accomplice.close(), second.close()]);
    await close();
  });

  // SPEC 3.10
  it('lists the device with its inviter under a readable name, and keeps it if the person wants', async () => {
    const { keys, owner, phone, thief, close } = await household();
    const name = 'Lap\u202etop\u200b \u2066(mine)';
    const accomplice = await openHouseholdDevice(await relay.signIn(), keys, name, wordOf(thief));
    await expect.poll(() => owner.devices().length).toBe(4);
    const shown = () =>
      deviceViews({ records: owner.known(), seen: new Map(), self: owner.id, isLive: true, direct: [] });
    const view = (of: HouseholdDevice) => shown().find(({ deviceId }) => deviceId === of.id);
    expect(view(accomplice)).toMatchObject({ name: 'Laptop mine', came: { kind: 'let-in', by: 'Lost tablet' } });
    expect(view(phone)).toMatchObject({ came: { kind: 'let-in', by: 'Laptop' }, along: [] });
    expect(view(thief)?.along).toEqual([accomplice.id]);
    expect(await owner.keyRotation.remove(thief.id, [accomplice.id])).toEqual([thief.id]);
    await expect.poll(() => accomplice.keys.epoch(), { timeout: 10_000 }).toBe(2);
    expect(accomplice.isRemoved()).toBe(false);
    // It is still known by whom it came, and goes when it is removed itself.
    expect(view(accomplice)).toMatchObject({ came: { kind: 'let-in', by: 'Lost tablet' } });
    await owner.keyRotation.remove(accomplice.id, []);
    await expect.poll(() => accomplice.isRemoved()).toBe(true);
    await expect.poll(() => phone.keys.epoch()).toBe(3);
    for (const one of [thief, accomplice]) {
      const last = owner.keys.membership().rotations.at(-1)?.boxes ?? {};
      expect(Object.values(last).filter((box) => deviceKeys(one.seed).openBox(box) !== null)).toEqual([]);
    }
    await accomplice.close();
    await close();
  });

  // SPEC 3.11
  it('counts against the limit of devices, whatever the device says of others', async () => {
    const { keys, owner, phone, thief, close } = await household();
    const time = Date.now();
    const made = Array.from({ length: SYNC.devices + 40 }, (_none, i) =>
      deviceRecord(keys, deviceKeys(new Uint8Array(32).fill(1).fill(i, 0, 1)), {
        name: `Phone ${i}`,
        addedAt: time,
        time,
      }),
    );
    await thief.say({ devices: made });
    await expect.poll(() => owner.devices().length).toBe(SYNC.devices);
    expect(owner.devices().map(({ deviceId }) => deviceId)).toEqual(
      expect.arrayContaining([owner.id, phone.id, thief.id]),
    );
    await owner.keyRotation.remove(thief.id, []);
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    await close();
  });
});

describe('Ten proofs that are wrong', () => {
  it('lock out the browser that made them, and no other at the same address', async () => {
    const [thief, other] = [await relay.signIn(), await relay.signIn()];
    const household = newTestHousehold();
    const device = newTestDevice();
    await (await enter(other, household, device)).close();
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries++)
      statuses.push((await register(thief, household, newTestDevice(), { proof: 'a'.repeat(86) })).status);
    expect(statuses.slice(0, 3)).toEqual([403, 403, 403]);
    expect(statuses.at(-1)).toBe(429);
    const line = await openSocket(thief);
    await line.next('challenge');
    line.send({
      kind: 'hello',
      household: household.id,
      device: device.id,
      deviceKey: device.key.publicKey,
      boxKey: device.boxKey,
      signature: 'a'.repeat(86),
    });
    expect(await line.next('refused')).toMatchObject({
      reason: expect.stringContaining('Too many proofs of this browser'),
    });
    for (let tries = 0; tries < 12; tries++) await thief.fetch(`/api/sync/recoveries/${device.key.publicKey}`);
    expect((await thief.fetch(`/api/sync/recoveries/${device.key.publicKey}`)).status).toBe(429);
    // Whoever sits beside it comes in, by both ways, and may look for a phrase.
    expect((await register(other, household, newTestDevice())).status).toBe(200);
    await (await enter(other, household, device)).close();
    expect((await other.fetch(`/api/sync/recoveries/${device.key.publicKey}`)).status).toBe(404);
  });
});
