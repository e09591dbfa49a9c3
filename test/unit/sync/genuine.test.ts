import { describe, expect, it } from 'vitest';
import { deviceKeys, newest, newHousehold, renewed, relayAuth } from '../../../src/sync/crypto/index.ts';
import { deviceBytes, phraseBytes } from '../../../src/protocol/sync/proofs.ts';
import {
  deviceRecord,
  isGenuineDevice,
  isGenuineRecovery,
  isOnRoll,
  recoveryRecord,
} from '../../../src/sync/owner/genuine.ts';
import { createMembers } from '../../../src/sync/owner/members.ts';
import type { DeviceRecord } from '../../../src/sync/owner/records.ts';
import { random } from './support.ts';

const keys = newHousehold(random);
const [phone, thief] = [deviceKeys(random(32)), deviceKeys(random(32))];
const record = deviceRecord(keys, phone, { name: 'Phone', addedAt: 1, time: 2 });
const phrase = recoveryRecord(keys, phone, { id: thief.signKey, boxKey: thief.boxKey, time: 3 });

/** As somebody signs it who has the household’s key and a device of their own. */
function signedByThief(said: DeviceRecord): DeviceRecord {
  const bytes = deviceBytes(keys.household, said);
  return { ...said, signature: thief.sign(bytes), proof: relayAuth(newest(keys)).sign(bytes) };
}

describe('what a device says of itself', () => {
  it('is genuine as it said it, for this household and no other', () => {
    expect(isGenuineDevice(keys, record)).toBe(true);
    expect(isGenuineDevice({ ...newHousehold(random), keyring: keys.keyring }, record)).toBe(false);
    expect(isGenuineDevice({ ...keys, keyring: newHousehold(random).keyring }, record)).toBe(false);
  });

  it.each<[string, Partial<DeviceRecord>]>([
    ['id', { deviceId: thief.deviceId }],
    ['name', { name: 'Phone\n' }],
    ['key that it signs with', { signKey: thief.signKey }],
    ['key that others seal to', { boxKey: thief.boxKey }],
    ['both keys', { signKey: thief.signKey, boxKey: thief.boxKey }],
    ['time of its coming', { addedAt: 0 }],
    ['time', { time: 9 }],
    ['epoch', { epoch: 2 }],
    ['key of low order', { boxKey: 'A'.repeat(43) }],
    ['key that is none', { boxKey: '' }],
  ])('is not with another %s, whoever signed it', (_what, changed) => {
    expect(isGenuineDevice(keys, { ...record, ...changed })).toBe(false);
    expect(isGenuineDevice(keys, signedByThief({ ...record, ...changed }))).toBe(false);
  });

  it('is not without either signature', () => {
    const bytes = deviceBytes(keys.household, record);
    expect(isGenuineDevice(keys, { ...record, signature: thief.sign(bytes) })).toBe(false);
    expect(isGenuineDevice(keys, { ...record, proof: relayAuth(newest(newHousehold(random))).sign(bytes) })).toBe(
      false,
    );
    for (const nothing of ['', 'A'.repeat(86)]) {
      expect(isGenuineDevice(keys, { ...record, signature: nothing })).toBe(false);
      expect(isGenuineDevice(keys, { ...record, proof: nothing })).toBe(false);
    }
  });
});

describe('a phrase', () => {
  it('is of the device that made it, and of no other', () => {
    expect(isGenuineRecovery(keys, phrase)).toBe(true);
    for (const changed of [
      { by: thief.deviceId },
      { keys: { signKey: thief.signKey, boxKey: thief.boxKey } },
      { boxKey: phone.boxKey },
      { id: phone.signKey },
      { time: 4 },
      { epoch: 2 },
    ]) {
      const said = { ...phrase, ...changed };
      expect(isGenuineRecovery(keys, said)).toBe(false);
      const bytes = phraseBytes(keys.household, said);
      // Of the phone’s, with what the thief has: the household’s key, and its own.
      expect(
        isGenuineRecovery(keys, { ...said, signature: thief.sign(bytes), proof: relayAuth(newest(keys)).sign(bytes) }),
      ).toBe(false);
    }
  });
});

describe('the members of a household', () => {
  const later = renewed(keys, random);
  const membersOf = (roll: readonly string[], held: readonly DeviceRecord[] = []) =>
    createMembers({
      remember: () => Promise.resolve(),
      devices: held,
      tips: [],
      isGenuine: (one) => isGenuineDevice(later, one),
      isOnRoll: (id, epoch) => isOnRoll(later, roll, id, epoch),
      onChange: () => undefined,
    });
  const forged = signedByThief({ ...record, boxKey: thief.boxKey, time: 99 });

  it('knows a device by its own keys, whichever of two records is heard first', async () => {
    for (const order of [
      [forged, record],
      [record, forged],
    ]) {
      const members = membersOf([phone.deviceId]);
      for (const one of order) await members.hear({ devices: [one] });
      expect(members.devices()).toEqual([{ ...record, removed: false }]);
    }
  });

  it('passes over what was planted where it begins: in this profile, with the keys, or in a mark', () => {
    expect(membersOf([phone.deviceId], [forged, record]).devices()).toEqual([{ ...record, removed: false }]);
  });

  it('counts who is on the roll, and who came since with the newest key; nobody else, however late it was written', async () => {
    const old = deviceRecord(keys, thief, { name: 'Tablet', addedAt: 1, time: Number.MAX_SAFE_INTEGER });
    const newcomer = deviceRecord(later, deviceKeys(random(32)), { name: 'Desk', addedAt: 1, time: 0 });
    const members = membersOf([phone.deviceId]);
    await members.hear({ devices: [record, old, newcomer] });
    expect(members.devices().map(({ name, removed }) => [name, removed])).toEqual([
      ['Phone', false],
      ['Tablet', true],
      ['Desk', false],
    ]);
  });

  it('keeps what a device says with the newer key, also where its clock went back', async () => {
    const renamed = deviceRecord(later, phone, { name: 'Old phone', addedAt: 1, time: 1 });
    const members = membersOf([]);
    for (const one of [record, renamed, record]) await members.hear({ devices: [one] });
    expect(members.devices()).toMatchObject([{ name: 'Old phone', removed: false }]);
  });
});
