/**
 * A device's own keys, derived from one seed that stays on the device. Its id is derived from the
 * keys, so nobody can use other keys under it.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import { derive, isSoundKey, openBox, publicKeyOf } from './box.ts';
import { base64url, exactly } from './bytes.ts';
import { CRYPTO, LABEL } from './settings.ts';
import { createSigner } from './entry.ts';

/** The public keys of a device. */
export interface DevicePublicKeys {
  /**
   * Ed25519, 32 bytes as base64url. The device proves its identity and signs its records with it.
   */
  readonly signKey: string;
  /** X25519, 32 bytes as base64url. Renewed household keys are sealed to it. */
  readonly boxKey: string;
}

export interface DeviceKeys extends DevicePublicKeys {
  /** 16 bytes as base64url. */
  readonly deviceId: DeviceId;
  /** 64 bytes as base64url. */
  sign(bytes: Uint8Array): string;
  /** Null: not for this device, or changed on its way. */
  openBox(box: string): Uint8Array | null;
}

/** The first 16 bytes of SHA-256 over a label and both keys. Null where a key is unsound. */
export function deviceIdOf({ signKey, boxKey }: DevicePublicKeys): string | null {
  const [sign, box] = [exactly(signKey, CRYPTO.keyBytes), exactly(boxKey, CRYPTO.keyBytes)];
  if (!sign || !box || !isSoundKey(box)) return null;
  return base64url(sha256(concatBytes(utf8ToBytes(LABEL.deviceId), sign, box)).subarray(0, SYNC.idBytes));
}

/** `seed`: 32 random bytes. */
export function deviceKeys(seed: Uint8Array): DeviceKeys {
  const signer = createSigner(derive(seed, LABEL.deviceSign));
  const secret = derive(seed, LABEL.deviceBox);
  const open = { signKey: signer.publicKey, boxKey: base64url(publicKeyOf(secret)) };
  const deviceId = deviceIdOf(open);
  if (deviceId === null) throw new Error('The keys of this device are invalid.');
  return { deviceId, ...open, sign: signer.sign, openBox: (box) => openBox(secret, box) };
}
