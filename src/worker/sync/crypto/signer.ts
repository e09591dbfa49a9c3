/** Ed25519 (RFC 8032), as the relay checks it. */
import { ed25519 } from '@noble/curves/ed25519.js';
import type { EpochKey } from '../contract.ts';
import { base64url, fromBase64url } from './bytes.ts';
import { relayAuthSeed } from './epoch-keys.ts';

export interface Signer {
  /** 32 bytes as base64url. */
  readonly publicKey: string;
  /** 64 bytes as base64url. */
  sign(bytes: Uint8Array): string;
}

export const createSigner = (seed: Uint8Array): Signer => ({
  publicKey: base64url(ed25519.getPublicKey(seed)),
  sign: (bytes) => base64url(ed25519.sign(bytes, seed)),
});

/** What whoever has this key of the household proves it with to a relay. */
export const relayAuth = (epochKey: EpochKey): Signer => createSigner(relayAuthSeed(epochKey));

/** Was this signed with the key of that name? False for whatever is no key or no signature. */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const [key, proof] = [fromBase64url(publicKey), fromBase64url(signature)];
  // As RFC 8032 has it: the laxer rules of ZIP 215 take keys of low order, under which anything is
  // signed.
  return key?.length === 32 && proof?.length === 64 && ed25519.verify(proof, bytes, key, { zip215: false });
}
