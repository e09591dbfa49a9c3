import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { DIGEST_BYTES } from './frames.ts';

/** The first 16 bytes of the SHA-256, as hex: what `EntryStore.drop` compares. */
export const digestOf = (sealed: Uint8Array): string => bytesToHex(sha256(sealed).subarray(0, DIGEST_BYTES.refused));
