/** Ed25519 (RFC 8032), by Node's own cryptography. What is signed stands in src/protocol/sync/proofs.ts. */
import { createPublicKey, verify } from 'node:crypto';

/** Did the owner of this public key sign these bytes? Keys and signatures are base64url, of the lengths their schemas say. */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
}
