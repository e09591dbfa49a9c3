/**
 * A sealed entry: version u8 | epoch u16 | nonce 24 | ciphertext | tag 16. All of it is bound to
 * its place. Associated data: the label, version u8, epoch u16, household 16, writer 16, counter
 * u64.
 */
import { equalBytes } from '@noble/ciphers/utils.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { EpochKey, HouseholdKeys, KeyOfEntry, Opened, RandomBytes, Stream } from '../contract.ts';
import { base64url, draw, fromBase64url, idBytes, uint, uint16At } from './bytes.ts';
import { entryKey, householdBytes, keyOf, newest, relayAuthSeed, streamKey } from './keyring.ts';
import { decrypt, encrypt, pack, unpack } from './box.ts';
import { CRYPTO, LABEL } from './settings.ts';

// A writer's id reveals its stream to holders of the household's first key: 8 random bytes, then
// the first 8 of HMAC-SHA256(stream key, the stream's name followed by those 8). To everybody else
// the id is 16 random bytes.

const HALF = 8;
const STREAMS: readonly Stream[] = ['people', 'talk', 'attachments'];

function tag(keys: HouseholdKeys, stream: Stream, chance: Uint8Array): Uint8Array {
  const first = keys.keyring[0];
  if (!first) throw new Error('The household has no key.');
  return hmac(sha256, streamKey(first), concatBytes(utf8ToBytes(stream), chance)).subarray(0, HALF);
}

export function newWriter(keys: HouseholdKeys, stream: Stream, random: RandomBytes): string {
  const chance = draw(random, HALF);
  return base64url(concatBytes(chance, tag(keys, stream, chance)));
}

/** Null: no device of this household made this id. */
export function streamOf(keys: HouseholdKeys, writer: string): Stream | null {
  const bytes = idBytes(writer);
  if (!bytes) return null;
  const chance = bytes.subarray(0, HALF);
  return STREAMS.find((stream) => equalBytes(tag(keys, stream, chance), bytes.subarray(HALF))) ?? null;
}

// Ed25519 (RFC 8032), as the relay checks it.

interface Signer {
  /** 32 bytes as base64url. */
  readonly publicKey: string;
  /** 64 bytes as base64url. */
  sign(bytes: Uint8Array): string;
}

export const createSigner = (seed: Uint8Array): Signer => ({
  publicKey: base64url(ed25519.getPublicKey(seed)),
  sign: (bytes) => base64url(ed25519.sign(bytes, seed)),
});

/** The signer with which a device proves to a relay that it has this key of the household. */
export const relayAuth = (epochKey: EpochKey): Signer => createSigner(relayAuthSeed(epochKey));

/** Was this signed with that key? False for an invalid key or signature. */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const [key, proof] = [fromBase64url(publicKey), fromBase64url(signature)];
  // RFC 8032 rules. The laxer rules of ZIP 215 accept keys of low order, under which any signature
  // is valid.
  return key?.length === 32 && proof?.length === 64 && ed25519.verify(proof, bytes, key, { zip215: false });
}

const HEADER = 3;

/** Null: there is no such place. */
function entryAad(keys: HouseholdKeys, header: Uint8Array, key: KeyOfEntry): Uint8Array | null {
  const writer = idBytes(key.writer);
  if (!writer || !Number.isSafeInteger(key.counter) || key.counter < 1) return null;
  return concatBytes(utf8ToBytes(LABEL.entry), header, householdBytes(keys), writer, uint(key.counter, 8));
}

/**
 * Seals with the newest key. Throws a RangeError for an invalid place, or where the entry would be
 * too large to send.
 */
export function sealEntry(
  options: KeyOfEntry & { readonly keys: HouseholdKeys; readonly payload: Uint8Array; readonly random: RandomBytes },
): Uint8Array {
  const epochKey = newest(options.keys);
  const header = concatBytes(uint(CRYPTO.version, 1), uint(epochKey.epoch, 2));
  const aad = entryAad(options.keys, header, options);
  if (!aad) throw new RangeError(`Writer “${options.writer}” has no place ${options.counter}.`);
  return concatBytes(
    header,
    encrypt(entryKey(epochKey), aad, pack(options.payload, CRYPTO.mostPlaintext.entry), options.random),
  );
}

/**
 * The epoch of the key that sealed the entry. Null where the entry is too short or has an unknown
 * version.
 */
export function epochOf(sealed: Uint8Array): number | null {
  return sealed.length >= HEADER && sealed[0] === CRYPTO.version ? uint16At(sealed, 1) : null;
}

export function openEntry(options: KeyOfEntry & { readonly keys: HouseholdKeys; readonly sealed: Uint8Array }): Opened {
  const { keys, sealed } = options;
  if ((sealed[0] ?? 0) > CRYPTO.version) return { ok: false, reason: 'newer-version' };
  const epoch = epochOf(sealed);
  const aad = epoch && entryAad(keys, sealed.subarray(0, HEADER), options);
  if (!epoch || !aad) return { ok: false, reason: 'forged' };
  const epochKey = keyOf(keys, epoch);
  if (!epochKey) return { ok: false, reason: 'unknown-epoch' };
  const plaintext = decrypt(entryKey(epochKey), aad, sealed.subarray(HEADER));
  const payload = plaintext && unpack(plaintext);
  if (payload === 'newer') return { ok: false, reason: 'newer-version' };
  return payload ? { ok: true, payload } : { ok: false, reason: 'forged' };
}

/** Identifies the exact bytes of a sealed entry: SHA-256, the first 16 bytes as hex. */
export const digestOf = (sealed: Uint8Array): string => bytesToHex(sha256(sealed).subarray(0, 16));
