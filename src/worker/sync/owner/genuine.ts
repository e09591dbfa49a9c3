/**
 * What devices say of themselves, and how the others find out that it is so. A record is signed by
 * the device that it names, whose id follows from its keys: nobody says anything in another’s name,
 * or under it with other keys. It is signed besides with the household’s key of its epoch: whoever
 * was left out of a rotation cannot come in again, nor bring anybody else in.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { deviceBytes, letInBytes, phraseBytes } from '../../../shared/protocol/sync/control.ts';
import type { HouseholdKeys } from '../contract.ts';
import { deviceIdOf, isSignedBy, keyOf, newest, relayAuth, type DeviceKeys } from '../crypto/index.ts';
import type { DeviceRecord, LetIn, RecoveryRecord } from './records.ts';

interface Signed {
  readonly epoch: number;
  readonly signature: string;
  readonly proof: string;
}

function bothSigned(
  keys: HouseholdKeys,
  device: DeviceKeys,
  bytes: Uint8Array,
): { readonly signature: string; readonly proof: string } {
  return { signature: device.sign(bytes), proof: relayAuth(newest(keys)).sign(bytes) };
}

function isBothSigned(
  keys: HouseholdKeys,
  signKey: string,
  { epoch, signature, proof }: Signed,
  bytes: Uint8Array,
): boolean {
  const key = keyOf(keys, epoch);
  return (
    key !== undefined && isSignedBy(signKey, bytes, signature) && isSignedBy(relayAuth(key).publicKey, bytes, proof)
  );
}

/** This device’s own record. */
export function deviceRecord(
  keys: HouseholdKeys,
  device: DeviceKeys,
  {
    name,
    addedAt,
    time,
    letIn = null,
  }: { readonly name: string; readonly addedAt: number; readonly time: number; readonly letIn?: LetIn | null },
): DeviceRecord {
  const { deviceId, signKey, boxKey } = device;
  const said = { deviceId, name, signKey, boxKey, addedAt, time, epoch: newest(keys).epoch, letIn };
  return { ...said, ...bothSigned(keys, device, deviceBytes(keys.household, said)) };
}

export const isGenuineDevice = (keys: HouseholdKeys, record: DeviceRecord): boolean =>
  deviceIdOf(record) === record.deviceId &&
  isBothSigned(keys, record.signKey, record, deviceBytes(keys.household, record));

/**
 * This device’s word that it let another one in, which that one carries with all that it says of
 * itself.
 */
export function letInBy(keys: HouseholdKeys, device: DeviceKeys, newcomer: string, time: number): LetIn {
  const { deviceId: by } = device;
  return { by, time, signature: device.sign(letInBytes(keys.household, newcomer, by, time)) };
}

/** `signKey`: of the device that is named as the one that let it in. */
export const isGenuineLetIn = (keys: HouseholdKeys, newcomer: string, letIn: LetIn, signKey: string): boolean =>
  isSignedBy(signKey, letInBytes(keys.household, newcomer, letIn.by, letIn.time), letIn.signature);

/** A phrase that this device has made. */
export function recoveryRecord(
  keys: HouseholdKeys,
  device: DeviceKeys,
  { id, boxKey, time }: { readonly id: string; readonly boxKey: string; readonly time: number },
): RecoveryRecord {
  const said = {
    id,
    boxKey,
    by: device.deviceId,
    keys: { signKey: device.signKey, boxKey: device.boxKey },
    epoch: newest(keys).epoch,
    time,
  };
  return { ...said, ...bothSigned(keys, device, phraseBytes(keys.household, said)) };
}

export const isGenuineRecovery = (keys: HouseholdKeys, record: RecoveryRecord): boolean =>
  deviceIdOf(record.keys) === record.by &&
  isBothSigned(keys, record.keys.signKey, record, phraseBytes(keys.household, record));

/**
 * Is a device one of the household: was it given the newest key, or has it shown since that it has
 * it?
 */
export const isOnRoll = (keys: HouseholdKeys, roll: readonly string[], deviceId: DeviceId, epoch: number): boolean =>
  epoch >= newest(keys).epoch || roll.includes(deviceId);
