import { describe, expect, it } from 'vitest';
import { deviceKeys, newest, newHousehold, renewed, relayAuth } from '../../../../../src/worker/sync/crypto/index.ts';
import { deviceBytes, phraseBytes } from '../../../../../src/shared/protocol/sync/control.ts';
import {
  deviceRecord,
  type DeviceRecord,
  isGenuineDevice,
  isGenuineLetIn,
  isGenuineRecovery,
  isOnRoll,
  letInBy,
  recoveryRecord,
} from '../../../../../src/worker/sync/data-worker/records.ts';
import {
  cameOf,
  createMembers,
  goesWith,
  type KnownDevice,
} from '../../../../../src/worker/sync/data-worker/members.ts';
import { random } from '../support.ts';

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
  it("accepts a device's statement for this household and no other", () => {
    expect(isGenuineDevice(keys, record)).toBe(true);
    expect(isGenuineDevice({ ...newHousehold(random), keyring: keys.keyring }, record)).toBe(false);
    expect(isGenuineDevice({ ...keys, keyring: newHousehold(random).keyring }, record)).toBe(false);
  });

  // SPEC 3.5, 3.6
  it.each<[string, Partial<DeviceRecord>]>([
    ['id', { deviceId: thief.deviceId }],
    ['name', { name: 'Phone\n' }],
    ['key that it signs with', { signKey: thief.signKey }],
    ['key that others seal to', { boxKey: thief.boxKey }],
    ['both keys', { signKey: thief.signKey, boxKey: thief.boxKey }],
    ['time of its coming', { addedAt: 0 }],
    ['time', { time: 9 }],
    ['epoch', { epoch: 2 }],
    ['word of who let it in', { letIn: letInBy(keys, thief, phone.deviceId, 1) }],
    ['key of low order', { boxKey: 'A'.repeat(43) }],
    ['key that is none', { boxKey: '' }],
  ])('refuses a statement with another %s, whoever signed it', (_what, changed) => {
    expect(isGenuineDevice(keys, { ...record, ...changed })).toBe(false);
    expect(isGenuineDevice(keys, signedByThief({ ...record, ...changed }))).toBe(false);
  });

  // SPEC 3.6
  it('refuses a statement without either signature', () => {
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
  // SPEC 3.3, 3.5
  it('accepts a phrase of the device that made it, and of no other', () => {
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
      writeMeta: () => Promise.resolve(),
      devices: held,
      tips: [],
      isGenuine: (one) => isGenuineDevice(later, one),
      isOnRoll: (id, epoch) => isOnRoll(later, roll, id, epoch),
      isLetIn: (id, letIn, signKey) => isGenuineLetIn(later, id, letIn, signKey),
      onChange: () => undefined,
    });
  const forged = signedByThief({ ...record, boxKey: thief.boxKey, time: 99 });

  // SPEC 2.2
  it('knows a device by its own keys, whichever of two records is heard first', async () => {
    for (const order of [
      [forged, record],
      [record, forged],
    ]) {
      const members = membersOf([phone.deviceId]);
      for (const one of order) await members.hear({ devices: [one] });
      expect(members.devices()).toEqual([{ ...record, removed: false, letInBy: null }]);
    }
  });

  // SPEC 3.6
  it('passes over what was planted where it begins: in this profile, with the keys, or in a mark', () => {
    expect(membersOf([phone.deviceId], [forged, record]).devices()).toEqual([
      { ...record, removed: false, letInBy: null },
    ]);
  });

  // SPEC 3.7
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

describe('who let a device in', () => {
  const seeds = Array.from({ length: 7 }, () => deviceKeys(random(32)));
  type Device = (typeof seeds)[number];
  const [laptop, tablet, stolen, accomplice, second, hidden, other] = seeds as [
    Device,
    Device,
    Device,
    Device,
    Device,
    Device,
    Device,
  ];
  const came = (device: Device, name: string, by: Device | null, signedBy = by) =>
    deviceRecord(keys, device, {
      name,
      addedAt: 1,
      time: 2,
      letIn: by && signedBy && { ...letInBy(keys, signedBy, device.deviceId, 5), by: by.deviceId },
    });
  async function household(records: readonly DeviceRecord[]) {
    const members = createMembers({
      writeMeta: () => Promise.resolve(),
      devices: [],
      tips: [],
      isGenuine: (one) => isGenuineDevice(keys, one),
      isOnRoll: () => true,
      isLetIn: (id, letIn, signKey) => isGenuineLetIn(keys, id, letIn, signKey),
      onChange: () => undefined,
    });
    for (const record of records) await members.hear({ devices: [record] });
    return members.devices();
  }
  const named = (all: readonly KnownDevice[], ids: readonly string[]) =>
    ids.map((id) => all.find(({ deviceId }) => deviceId === id)?.name).sort();
  const all = [
    came(laptop, 'Laptop', null),
    came(tablet, 'Tablet', laptop),
    came(stolen, 'Stolen', laptop),
    came(accomplice, 'Accomplice', stolen),
    came(second, 'Second', accomplice),
    came(hidden, 'Hidden', null),
    // Signed by the thief, in the tablet’s name.
    came(other, 'Forged', tablet, stolen),
  ];

  // SPEC 3.9, 3.10
  it('removes with a device those that it let in, directly or not, and those without a valid inviter', async () => {
    for (const order of [all, all.toReversed()]) {
      const devices = await household(order);
      const gone = ['Accomplice', 'Forged', 'Hidden', 'Second'];
      for (const self of [laptop, tablet])
        expect(named(devices, goesWith(devices, stolen.deviceId, self.deviceId))).toEqual(gone);
      // Nobody who is known to have come otherwise goes with whoever else is removed.
      expect(named(devices, goesWith(devices, tablet.deviceId, laptop.deviceId))).toEqual(['Forged', 'Hidden']);
      // One of those it let in removes it: itself it stays, and so does all by which both came.
      expect(named(devices, goesWith(devices, stolen.deviceId, accomplice.deviceId))).toEqual([
        'Forged',
        'Hidden',
        'Second',
      ]);
    }
  });

  // SPEC 3.2
  it('believes a device about its own inviter, and no other device in its name', async () => {
    const devices = await household(all);
    const told = (device: Device) => cameOf(devices, device.deviceId, tablet.deviceId);
    expect(told(accomplice)).toEqual({ kind: 'let-in', by: 'Stolen', time: 5 });
    expect(told(laptop)).toEqual({ kind: 'first' });
    expect(told(hidden)).toEqual({ kind: 'unsaid' });
    expect(told(other)).toEqual({ kind: 'unsaid' });
  });

  // SPEC 3.9
  it('accepts no inviter when two devices name each other', async () => {
    const devices = await household([
      came(laptop, 'Laptop', null),
      came(stolen, 'Stolen', laptop),
      came(accomplice, 'Accomplice', second),
      came(second, 'Second', accomplice),
    ]);
    expect(named(devices, goesWith(devices, stolen.deviceId, laptop.deviceId))).toEqual(['Accomplice', 'Second']);
  });
});
