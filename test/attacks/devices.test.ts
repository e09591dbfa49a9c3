/** A device that was one of the household, and is removed: nothing it left behind gives it the keys that come after. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceKeys, newPhrase, recoveryOf, relayAuth } from '../../src/sync/crypto/index.ts';
import { newestOf, newHouseholdKeys, openHouseholdDevice, type HouseholdDevice } from '../support/household-device.ts';
import { openTestRelay, type OpenRelay } from '../support/open-relay.ts';

let relay: OpenRelay;
beforeAll(async () => {
  relay = await openTestRelay();
});
afterAll(async () => {
  await relay.close();
});

const PHRASE = 'wicked';

/** Three devices that know each other: the person's two, and one that is somebody else's by now. */
async function household() {
  const keys = newHouseholdKeys();
  const [owner, phone, thief] = [
    await openHouseholdDevice(await relay.signIn(), keys, 'Laptop'),
    await openHouseholdDevice(await relay.signIn(), keys, 'Phone'),
    await openHouseholdDevice(await relay.signIn(), keys, 'Lost tablet'),
  ] as const;
  for (const device of [owner, phone, thief]) await expect.poll(() => device.devices().length).toBe(3);
  return { keys, owner, phone, thief, close: () => Promise.all([owner, phone, thief].map((device) => device.close())) };
}

const recordOf = (by: HouseholdDevice, device: HouseholdDevice) => {
  const record = by.devices().find(({ deviceId }) => deviceId === device.id);
  if (!record) throw new Error('it is not known there');
  return record;
};
/** Whatever the relay was ever given with a renewal, opened with the keys of this device. */
const opensAny = (thief: HouseholdDevice, owner: HouseholdDevice) =>
  owner.keys.membership().rotations.flatMap(({ boxes }) => Object.values(boxes)).filter((box) => deviceKeys(thief.seed).openBox(box) !== null);

describe('A removed device', () => {
  it('that had published another device’s record with its own box key gets no renewed key', async () => {
    const { keys, owner, phone, thief, close } = await household();
    const planted = { ...recordOf(thief, phone), boxKey: deviceKeys(thief.seed).boxKey, time: Date.now() + 86_400_000 };
    await thief.say({ devices: [planted] });
    await expect.poll(() => owner.heard()).toBeGreaterThanOrEqual(3);
    await owner.renewals.remove(thief.id);
    await expect.poll(() => thief.isRemoved()).toBe(true);
    expect(opensAny(thief, owner)).toEqual([]);
    // The phone got them.
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    // It asks in the phone’s name, with a sign-in that is not the phone’s.
    const browser = await relay.signIn();
    const auth = relayAuth(newestOf(keys));
    const answer = await browser.fetch(`/api/sync/households/${keys.household}`, {
      method: 'PUT',
      json: { ...thief.keys.registration(), device: phone.id, authKey: auth.publicKey },
    });
    expect(await answer.text()).not.toContain(owner.keys.membership().rotations.at(-1)?.boxes[phone.id] ?? 'no box');
    await close();
  });

  it('that had made a phrase of its own, which nobody else knows, opens nothing with it', async () => {
    const { owner, phone, thief, close } = await household();
    const mine = recoveryOf(newPhrase((length) => new Uint8Array(length).fill(PHRASE.length)).words.join(' '));
    if (!mine.ok) throw new Error(mine.reason);
    await thief.renewals.keepRecovery({ id: mine.id, boxKey: mine.boxKey });
    await expect.poll(() => owner.keys.membership().recovery?.id).toBe(mine.id);
    await owner.renewals.remove(thief.id);
    await expect.poll(() => phone.keys.epoch()).toBe(2);
    const sealed = owner.keys.membership().rotations.at(-1)?.recovery ?? null;
    expect(sealed === null ? null : mine.open(sealed.box)).toBeNull();
    const found = await (await relay.signIn()).fetch(`/api/sync/recoveries/${mine.id}`);
    expect(found.status).toBe(404);
    await close();
  });
});

describe('A device of the household', () => {
  it('does not put another one out by a record that says so', async () => {
    const { owner, phone, thief, close } = await household();
    await thief.say({ devices: [{ ...recordOf(thief, phone), time: Date.now() + 86_400_000, removed: true }] });
    await thief.say({ docs: [] });
    await expect.poll(() => owner.heard()).toBeGreaterThanOrEqual(4);
    expect(owner.devices().map(({ deviceId }) => deviceId)).toContain(phone.id);
    expect(phone.isRemoved()).toBe(false);
    await close();
  });
});
