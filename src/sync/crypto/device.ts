/** A device's own keys, from one seed that never leaves it. */
import { publicKeyOf } from './agreement.ts';
import { base64url } from './bytes.ts';
import { openBox } from './box.ts';
import { derive } from './derive.ts';
import { LABEL } from './settings.ts';
import { createSigner } from './signer.ts';

export interface DeviceKeys {
  /** Ed25519, 32 bytes as base64url: with it the device proves itself to the relay. */
  readonly signKey: string;
  /** X25519, 32 bytes as base64url: renewed keys are sealed to it. */
  readonly boxKey: string;
  /** 64 bytes as base64url. */
  sign(bytes: Uint8Array): string;
  /** null: not for this device, or changed on its way. */
  openBox(box: string): Uint8Array | null;
}

/** `seed`: 32 random bytes. */
export function deviceKeys(seed: Uint8Array): DeviceKeys {
  const signer = createSigner(derive(seed, LABEL.deviceSign));
  const secret = derive(seed, LABEL.deviceBox);
  return { signKey: signer.publicKey, boxKey: base64url(publicKeyOf(secret)), sign: signer.sign, openBox: (box) => openBox(secret, box) };
}
