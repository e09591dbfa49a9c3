/**
 * Ed25519 (RFC 8032) and the ids of devices, by Node's own cryptography. What is signed stands in
 * src/shared/protocol/sync/control.ts.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';

/**
 * Did the owner of this public key sign these bytes? Keys and signatures are base64url, of the
 * lengths their schemas say.
 */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
}

/** Does this id follow from these keys, as src/worker/sync/README.md says? Nobody else's can. */
export const isDeviceOf = (
  device: string,
  { deviceKey, boxKey }: { readonly deviceKey: string; readonly boxKey: string },
): boolean =>
  createHash('sha256')
    .update('roost device id 1')
    .update(Buffer.from(deviceKey, 'base64url'))
    .update(Buffer.from(boxKey, 'base64url'))
    .digest()
    .subarray(0, SYNC.idBytes)
    .toString('base64url') === device;
