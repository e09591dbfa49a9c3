/** One secret, many keys: HKDF-SHA256 (RFC 5869), with a label for each purpose. */
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Label } from './settings.ts';

/** `salt`: empty, or the public keys of both sides of an agreement. */
export const derive = (
  secret: Uint8Array,
  label: Label,
  salt: Uint8Array = new Uint8Array(0),
  length = 32,
): Uint8Array => hkdf(sha256, secret, salt, utf8ToBytes(label), length);
