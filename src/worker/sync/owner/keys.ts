/**
 * This device's part in the household: its own keys, the household's as they are renewed, and the
 * proofs made with them.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import {
  recoveryBytes,
  type Register,
  registrationBytes,
  type Rotation,
  rotationBytes,
  signedGrantBytes,
} from '../../../shared/protocol/sync/control.ts';
import type { HouseholdKeys, RandomBytes } from '../contract.ts';
import { deviceKeys, isSignedBy, newest, relayAuth, renewed, sealBox, type DeviceKeys } from '../crypto/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { WriteMeta } from './database.ts';
import {
  deviceRecord,
  isGenuineDevice,
  isGenuineLetIn,
  isGenuineRecovery,
  isOnRoll,
  letInBy,
  recoveryRecord,
} from './genuine.ts';
import { readSignedKeyGrant, writeKeyGrant, writeSignedKeyGrant } from './key-grant.ts';
import type { DeviceRecord, LetIn, Membership, Recovery, RecoveryRecord } from './records.ts';

export interface Keys {
  membership(): Membership;
  household(): HouseholdKeys;
  readonly device: DeviceKeys;
  epoch(): number;
  /** Durable when it resolves. */
  change(part: Partial<Membership>): Promise<void>;
  registration(): Register;
  /**
   * Renewed keys that came sealed to this device. Answers whether they were taken: signed by a
   * device that `signKeyOf` knows as one of the household, of this household, and ours with more at
   * the end.
   */
  adopt(box: string, signKeyOf: (deviceId: DeviceId) => string | null): Promise<boolean>;
  /**
   * A rotation that leaves these devices out, and the membership as it will be. Nothing is changed
   * by it.
   */
  rotation(
    removed: readonly string[],
    staying: readonly DeviceRecord[],
  ): { readonly rotation: Rotation; readonly next: Pick<Membership, 'keyring' | 'roll' | 'rotations' | 'recovery'> };
  /** This device’s own record, as of now. */
  record(said: {
    readonly name: string;
    readonly addedAt: number;
    readonly time: number;
    readonly letIn: LetIn | null;
  }): DeviceRecord;
  /** This device’s word that it let in the device of this id. */
  letIn(deviceId: DeviceId, time: number): LetIn;
  /** Is it the word of the device that signs with `signKey`? */
  isLetIn(deviceId: DeviceId, letIn: LetIn, signKey: string): boolean;
  /** Does the device that it names say this itself, and had it the household’s key? */
  isGenuine(record: DeviceRecord): boolean;
  /** Is it one of the household, by the newest epoch that it has shown the key of? */
  isOnRoll(deviceId: DeviceId, epoch: number): boolean;
  recoveryRecord(made: { readonly id: string; readonly boxKey: string; readonly time: number }): RecoveryRecord;
  /**
   * Another device has made a phrase: from then on keys are sealed to it, if it is of the household
   * and the newest.
   */
  hearRecovery(record: RecoveryRecord): Promise<void>;
  recoveryProof(recoveryId: string): string;
  /** The keyring, sealed to a phrase. */
  recoveryBox(boxKey: string): string;
}

export function createKeys({
  writeMeta,
  random,
  now,
  onChange,
  ...given
}: {
  readonly writeMeta: WriteMeta;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
  readonly membership: Membership;
  readonly onChange: () => void;
}): Keys {
  let { membership } = given;
  const device = deviceKeys(membership.seed);

  const household = (): HouseholdKeys => ({ household: membership.household, keyring: membership.keyring });
  const current = () => newest(household());
  async function change(part: Partial<Membership>) {
    const next = { ...membership, ...part };
    await writeMeta({ membership: next });
    membership = next;
    onChange();
  }
  const sealedTo = (boxKey: string, bytes: Uint8Array) => sealBox(boxKey, bytes, random);

  const recoveryBox = (boxKey: string) => sealedTo(boxKey, writeKeyGrant({ keys: household(), roll: membership.roll }));

  /** Anybody can seal to a device; so that nobody else hands it keys, whoever renews them signs. */
  function signed(keys: HouseholdKeys, roll: readonly string[]): Uint8Array {
    return writeSignedKeyGrant({ keys, roll }, device.deviceId, (keysText) =>
      device.sign(signedGrantBytes(device.deviceId, keysText, roll)),
    );
  }
  /**
   * A phrase counts as long as the device that made it is of the household; sealed to it is what
   * there is now.
   */
  function recoveryAfter(keys: HouseholdKeys, roll: readonly string[]): Recovery | null {
    const { recovery } = membership;
    return recovery !== null && roll.includes(recovery.by)
      ? { ...recovery, box: sealedTo(recovery.boxKey, writeKeyGrant({ keys, roll })) }
      : null;
  }

  return {
    membership: () => membership,
    household,
    device,
    epoch: () => current().epoch,
    change,
    registration() {
      const { epoch } = current();
      const auth = relayAuth(current());
      const { household: id, deviceId, rotations } = membership;
      const bytes = registrationBytes(id, epoch, deviceId, device.signKey);
      return {
        epoch,
        authKey: auth.publicKey,
        rotations: [...rotations],
        device: deviceId,
        deviceKey: device.signKey,
        boxKey: device.boxKey,
        proof: auth.sign(bytes),
        deviceProof: device.sign(bytes),
      };
    },
    async adopt(box, signKeyOf) {
      const opened = device.openBox(box);
      const grant = opened === null ? null : readSignedKeyGrant(opened);
      const signKey = grant === null ? null : signKeyOf(grant.by);
      if (
        grant === null ||
        signKey === null ||
        !isSignedBy(signKey, signedGrantBytes(grant.by, grant.keysText, grant.roll), grant.signature)
      )
        return false;
      const { keys, roll } = grant;
      if (keys.household !== membership.household || keys.keyring.length <= membership.keyring.length) return false;
      if (membership.keyring.some(({ key }, i) => !sameKey(key, keys.keyring[i]?.key))) return false;
      await change({ keyring: keys.keyring, roll, recovery: recoveryAfter(keys, roll) });
      return true;
    },
    rotation(removed, staying) {
      const keys = renewed(household(), random);
      const last = newest(keys);
      const auth = relayAuth(last);
      const roll = [...new Set([membership.deviceId, ...staying.map(({ deviceId }) => deviceId)])];
      const recovery = recoveryAfter(keys, roll);
      const rotation: Rotation = {
        epoch: last.epoch,
        authKey: auth.publicKey,
        proof: relayAuth(current()).sign(rotationBytes(membership.household, last.epoch, auth.publicKey, removed)),
        removed: [...removed],
        boxes: Object.fromEntries(
          staying.map(({ deviceId, boxKey }) => [deviceId, sealedTo(boxKey, signed(keys, roll))]),
        ),
        recovery: recovery && { id: recovery.id, box: recovery.box },
      };
      return {
        rotation,
        next: { keyring: keys.keyring, roll, rotations: [...membership.rotations, rotation], recovery },
      };
    },
    record: (said) => deviceRecord(household(), device, said),
    letIn: (deviceId, time) => letInBy(household(), device, deviceId, time),
    isLetIn: (deviceId, letIn, signKey) => isGenuineLetIn(household(), deviceId, letIn, signKey),
    isGenuine: (record) => isGenuineDevice(household(), record),
    isOnRoll: (deviceId, epoch) => isOnRoll(household(), membership.roll, deviceId, epoch),
    recoveryRecord: (made) => recoveryRecord(household(), device, made),
    async hearRecovery(record) {
      const { id, boxKey, by, time } = record;
      const held = membership.recovery;
      const isNewer = held?.id !== id && time > (held?.time ?? 0) && time <= now() + SYNC_OWNER.clockAhead;
      if (
        !isNewer ||
        !isGenuineRecovery(household(), record) ||
        !isOnRoll(household(), membership.roll, by, record.epoch)
      )
        return;
      await change({ recovery: { id, boxKey, by, time, box: recoveryBox(boxKey) } });
    },
    recoveryProof: (recoveryId) =>
      relayAuth(current()).sign(recoveryBytes(membership.household, current().epoch, recoveryId)),
    recoveryBox,
  };
}

const sameKey = (a: Uint8Array, b: Uint8Array | undefined) =>
  b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
