/** This device's part in the household: its own keys, the household's as they are renewed, and the proofs made with them. */
import { z } from 'zod';
import type { Register, Rotation } from '../../protocol/sync/control.ts';
import { recoveryBytes, registrationBytes, rotationBytes } from '../../protocol/sync/proofs.ts';
import type { EpochKey, HouseholdKeys, RandomBytes } from '../contract.ts';
import { base64url, deviceKeys, fromBase64url, isSignedBy, newest, readKeys, relayAuth, renewed, sealBox, writeKeys } from '../crypto/index.ts';
import { readJson, writeJson } from './json.ts';
import type { Remember } from './database.ts';
import type { DeviceRecord, Membership, Recovery } from './records.ts';

export interface Keys {
  membership(): Membership;
  household(): HouseholdKeys;
  readonly device: ReturnType<typeof deviceKeys>;
  epoch(): number;
  /** Durable when it resolves. */
  change(part: Partial<Membership>): Promise<void>;
  registration(): Register;
  /**
   * Renewed keys that came sealed to this device. Answers whether they were taken: signed by a device that
   * `signKeyOf` knows as one of the household, of this household, and ours with more at the end.
   */
  adopt(box: string, signKeyOf: (deviceId: string) => string | null): Promise<boolean>;
  /** A renewal that leaves these devices out, and the keyring as it will be. Nothing is changed by it. */
  renewal(removed: readonly string[], staying: readonly DeviceRecord[]): { readonly rotation: Rotation; readonly keyring: readonly EpochKey[] };
  recoveryProof(recoveryId: string): string;
  /** The keyring, sealed to a phrase. */
  recoveryBox(boxKey: string): string;
}

export function createKeys({ remember, random, onChange, ...given }: { readonly remember: Remember; readonly random: RandomBytes; readonly membership: Membership; readonly onChange: () => void }): Keys {
  let { membership } = given;
  const device = deviceKeys(membership.seed);

  const household = (): HouseholdKeys => ({ household: membership.household, keyring: membership.keyring });
  const current = () => newest(household());
  async function change(part: Partial<Membership>) {
    const next = { ...membership, ...part };
    await remember({ membership: next });
    membership = next;
    onChange();
  }
  const sealedTo = (boxKey: string, bytes: Uint8Array) => sealBox(boxKey, bytes, random);

  /** Anybody can seal to a device; so that nobody else hands it keys, whoever renews them signs. */
  function signed(keys: HouseholdKeys): Uint8Array {
    const bytes = writeKeys(keys);
    const by = membership.deviceId;
    return writeJson({ keys: base64url(bytes), by, signature: device.sign(renewalBytes(by, bytes)) });
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
      return {
        epoch,
        authKey: auth.publicKey,
        rotations: [...rotations],
        device: deviceId,
        deviceKey: device.signKey,
        proof: auth.sign(registrationBytes(id, epoch, deviceId, device.signKey)),
      };
    },
    async adopt(box, signKeyOf) {
      const opened = device.openBox(box);
      const renewal = opened === null ? null : readRenewal(opened);
      const signKey = renewal === null ? null : signKeyOf(renewal.by);
      if (renewal === null || signKey === null || !isSignedBy(signKey, renewalBytes(renewal.by, renewal.bytes), renewal.signature)) return false;
      const keys = readKeys(renewal.bytes);
      if (keys === null || keys.household !== membership.household || keys.keyring.length <= membership.keyring.length) return false;
      if (membership.keyring.some(({ key }, i) => !sameKey(key, keys.keyring[i]?.key))) return false;
      await change({ keyring: keys.keyring });
      return true;
    },
    renewal(removed, staying) {
      const keys = renewed(household(), random);
      const last = newest(keys);
      const auth = relayAuth(last);
      const { recovery } = membership;
      const rotation: Rotation = {
        epoch: last.epoch,
        authKey: auth.publicKey,
        proof: relayAuth(current()).sign(rotationBytes(membership.household, last.epoch, auth.publicKey, removed)),
        removed: [...removed],
        boxes: Object.fromEntries(staying.map(({ deviceId, boxKey }) => [deviceId, sealedTo(boxKey, signed(keys))])),
        recovery: recovery === null ? null : { id: recovery.id, box: sealedTo(recovery.boxKey, writeKeys(keys)) },
      };
      return { rotation, keyring: keys.keyring };
    },
    recoveryProof: (recoveryId) => relayAuth(current()).sign(recoveryBytes(membership.household, current().epoch, recoveryId)),
    recoveryBox: (boxKey) => sealedTo(boxKey, writeKeys(household())),
  };
}

const sameKey = (a: Uint8Array, b: Uint8Array | undefined) => b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);

/** What a device signs when it renews the keys: a label, its id, the keyring. */
const renewalBytes = (by: string, keys: Uint8Array) => new TextEncoder().encode(`roost renewal 1\n${by}\n${base64url(keys)}`);

const renewalSchema = z.object({ keys: z.string(), by: z.string(), signature: z.string() });

function readRenewal(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly by: string; readonly signature: string } | null {
  const renewal = readJson(renewalSchema, bytes);
  const keys = renewal && fromBase64url(renewal.keys);
  return renewal && keys ? { bytes: keys, by: renewal.by, signature: renewal.signature } : null;
}

/** A recovery as it is kept; null where there is no phrase. */
export const recoveryOfRotation = (recovery: Recovery | null, rotation: Rotation): Recovery | null =>
  recovery === null || rotation.recovery === null ? recovery : { ...recovery, box: rotation.recovery.box };
