/**
 * The key agreement of pairing, by which a new device gets the household's keys. Both sides make a
 * fresh X25519 key for this one offer. People compare six words, which stand for these keys and for
 * the permanent keys of both devices. The payload is then sealed under the agreed key, which is
 * bound to all these keys and to one direction.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import { sentence } from '../../../shared/domain/names.ts';
import type { RandomBytes } from '../contract.ts';
import { agreedKey, decrypt, encrypt, isSoundKey, pack, publicKeyOf, unpack } from './box.ts';
import { base32, base32Length, base64url, draw, exactly, fromBase32, fromBase64url, uint } from './bytes.ts';
import { CRYPTO, LABEL, type Label } from './settings.ts';
import type { DevicePublicKeys } from './device.ts';

// An offer to join, as text and QR code: `ROOST1.` and then, in Base32, the new device's X25519 key
// (32) and a checksum. The checksum is the first 4 bytes of SHA-256 over a label and the key. The
// offer's id, which the relay sees, is a hash of the key.

const CHECK_BYTES = 4;
const LETTERS = base32Length(CRYPTO.keyBytes + CHECK_BYTES);
/** The beginning of an offer inside any text. */
const BEGINNING = /roost\s*(\d{1,6})\s*\.\s*/giu;
/**
 * Characters that mail programs, chats and people put between letters: spaces, line breaks,
 * quotation marks of mail, hyphens.
 */
const BETWEEN = /[\s>*_`\u00ad\u200b-\u200f\u2060\ufeff-]/u;

interface Offer {
  /** X25519, 32 bytes. It stays on the new device. */
  readonly secret: Uint8Array;
  /** 32 bytes as base64url. */
  readonly publicKey: string;
  /** The text to show and paste. */
  readonly text: string;
  /** 16 bytes as base64url. */
  readonly offerId: string;
}
type ReadOffer =
  | { readonly ok: true; readonly publicKey: string; readonly offerId: string }
  /** A sentence: what is wrong with the text, and what to do. */
  | { readonly ok: false; readonly reason: string };

const hash = (label: Label, key: Uint8Array, length: number) =>
  sha256(concatBytes(utf8ToBytes(label), key)).subarray(0, length);
const idOf = (key: Uint8Array) => base64url(hash(LABEL.offerId, key, SYNC.idBytes));

export function newOffer(random: RandomBytes): Offer {
  const secret = draw(random, CRYPTO.keyBytes);
  const key = publicKeyOf(secret);
  const text = `ROOST${CRYPTO.version}.${base32(concatBytes(key, hash(LABEL.offerCheck, key, CHECK_BYTES)))}`;
  return { secret, publicKey: base64url(key), text, offerId: idOf(key) };
}

/**
 * Finds the offer in a scanned or pasted text. Accepts any case, line breaks, and other text around
 * it.
 */
export function readOffer(text: string): ReadOffer {
  const all = [...text.matchAll(BEGINNING)].map((found) =>
    readFrom(Number(found[1]), text.slice(found.index + found[0].length)),
  );
  return all.find(({ ok }) => ok) ?? all.at(-1) ?? mistyped();
}

function readFrom(version: number, rest: string): ReadOffer {
  if (version > CRYPTO.version)
    return wrong(sentence`This code was made by a newer Roost. Update Roost on this device, then try again.`);
  if (version < CRYPTO.version) return mistyped();
  const letters = firstLetters(rest);
  if (letters.length < LETTERS) return mistyped();
  const bytes = fromBase32(letters);
  const key = bytes?.subarray(0, CRYPTO.keyBytes);
  if (!bytes || !key) return mistyped();
  const check = hash(LABEL.offerCheck, key, CHECK_BYTES);
  if (check.some((byte, at) => byte !== bytes[CRYPTO.keyBytes + at]) || !isSoundKey(key)) return mistyped();
  return { ok: true, publicKey: base64url(key), offerId: idOf(key) };
}

/** The letters of an offer, up to its length or to the first character that cannot be one. */
function firstLetters(text: string): string {
  let letters = '';
  for (const letter of text) {
    if (BETWEEN.test(letter)) continue;
    if (!/[0-9a-z]/iu.test(letter) || letters.length === LETTERS) break;
    letters += letter;
  }
  return letters;
}

const wrong = (reason: string): ReadOffer => ({ ok: false, reason });
const mistyped = () =>
  wrong(
    sentence`This is not a whole code to join with. Copy all of the new device’s text, which begins with “ROOST1.”, or scan the picture.`,
  );

const WORDS = 6;
const WORD_BITS = 11;

/** One side's key pair. The secret stays on the device that made it. */
interface PairingKey {
  readonly secret: Uint8Array;
  /** 32 bytes as base64url. */
  readonly publicKey: string;
}
/**
 * The public keys of one side: its key for this offer, and its device's permanent keys. 32 bytes as
 * base64url each.
 */
export interface PairingFace extends DevicePublicKeys {
  readonly key: string;
}
/** One side's view of an agreement: its own secret, and the public keys of both. */
export interface PairingSide {
  readonly secret: Uint8Array;
  readonly offer: PairingFace;
  readonly inviter: PairingFace;
}
type Message = 'welcome' | 'joined';

/** A fresh key for one offer. */
export function newInvitation(random: RandomBytes): PairingKey {
  const secret = draw(random, CRYPTO.keyBytes);
  return { secret, publicKey: base64url(publicKeyOf(secret)) };
}

/** key 32 | sign key 32 | box key 32, as base64url. Throws for an invalid key. */
export function writeFace(face: PairingFace): string {
  const bytes = faceBytes(face);
  if (!bytes) throw new RangeError('A public key of a pairing is 32 bytes.');
  return base64url(bytes);
}

/** Null: invalid, or one of the keys is of low order. */
export function readFace(text: string): PairingFace | null {
  const bytes = exactly(text, 3 * CRYPTO.keyBytes);
  if (!bytes) return null;
  const [key, signKey, boxKey] = [0, 1, 2].map((at) =>
    bytes.subarray(at * CRYPTO.keyBytes, (at + 1) * CRYPTO.keyBytes),
  );
  if (!key || !signKey || !boxKey || !isSoundKey(key) || !isSoundKey(boxKey)) return null;
  return { key: base64url(key), signKey: base64url(signKey), boxKey: base64url(boxKey) };
}

function faceBytes({ key, signKey, boxKey }: PairingFace): Uint8Array | null {
  const parts = [key, signKey, boxKey].flatMap((text) => exactly(text, CRYPTO.keyBytes) ?? []);
  return parts.length === 3 ? concatBytes(...parts) : null;
}

/**
 * The first 66 bits of SHA-256 over a label and the public keys of both sides, as six words of the
 * BIP-39 list. Throws for an invalid key.
 */
export function pairingWords(offer: PairingFace, inviter: PairingFace): readonly string[] {
  const [ours, theirs] = [faceBytes(offer), faceBytes(inviter)];
  if (!ours || !theirs) throw new RangeError('A public key of a pairing is 32 bytes.');
  const bits = [...sha256(concatBytes(utf8ToBytes(LABEL.words), ours, theirs))]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return Array.from(
    { length: WORDS },
    (_, at) => wordlist[parseInt(bits.slice(at * WORD_BITS, (at + 1) * WORD_BITS), 2)] ?? '',
  );
}

/** The key and the associated data of one direction. Null where a public key is unsound. */
function agreement(message: Message, { secret, offer, inviter }: PairingSide) {
  const [ours, theirs] = [faceBytes(offer), faceBytes(inviter)];
  if (!ours || !theirs) return null;
  const own = base64url(publicKeyOf(secret));
  if (own !== offer.key && own !== inviter.key) return null;
  const other = exactly(own === offer.key ? inviter.key : offer.key, CRYPTO.keyBytes);
  const key = other && agreedKey({ secret, other, order: [ours, theirs], label: LABEL[message] });
  const header = uint(CRYPTO.version, 1);
  return key && { key, header, aad: concatBytes(utf8ToBytes(LABEL[message]), header, ours, theirs) };
}

/**
 * version u8 | nonce 24 | ciphertext | tag 16, as base64url. Throws where a public key is unsound.
 */
function seal(message: Message, side: PairingSide, content: Uint8Array, random: RandomBytes): string {
  const agreed = agreement(message, side);
  if (!agreed) throw new Error('Nothing can be sealed to the other device’s key.');
  return base64url(
    concatBytes(agreed.header, encrypt(agreed.key, agreed.aad, pack(content, CRYPTO.mostPlaintext.slot), random)),
  );
}

/**
 * Null: not from these two devices, not in this direction, changed on its way, or made by a newer
 * Roost.
 */
function open(message: Message, side: PairingSide, data: string): Uint8Array | null {
  const bytes = fromBase64url(data);
  const agreed = agreement(message, side);
  if (!bytes || !agreed || bytes[0] !== CRYPTO.version) return null;
  const plaintext = decrypt(agreed.key, agreed.aad, bytes.subarray(1));
  const payload = plaintext && unpack(plaintext);
  return payload === 'newer' ? null : payload;
}

/** From the inviting device to the new one. Throws where a public key is unsound. */
export const sealWelcome = (side: PairingSide, content: Uint8Array, random: RandomBytes) =>
  seal('welcome', side, content, random);
export const openWelcome = (side: PairingSide, data: string) => open('welcome', side, data);

/** The new device's answer, once it has the keys. */
export const sealJoined = (side: PairingSide, content: Uint8Array, random: RandomBytes) =>
  seal('joined', side, content, random);
export const openJoined = (side: PairingSide, data: string) => open('joined', side, data);
