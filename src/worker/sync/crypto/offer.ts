/**
 * An offer to join, as text and QR code: `ROOST1.` and then, in Base32, the new device's X25519 key
 * (32) and a checksum. The checksum is the first 4 bytes of SHA-256 over a label and the key. The
 * offer's id, which the relay sees, is a hash of the key.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import type { RandomBytes } from '../contract.ts';
import { isSoundKey, publicKeyOf } from './box.ts';
import { base32, base32Length, base64url, draw, fromBase32 } from './bytes.ts';
import { CRYPTO, LABEL, type Label } from './settings.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

const CHECK_BYTES = 4;
const LETTERS = base32Length(CRYPTO.keyBytes + CHECK_BYTES);
/** The beginning of an offer inside any text. */
const BEGINNING = /roost\s*(\d{1,6})\s*\.\s*/giu;
/**
 * Characters that mail programs, chats and people put between letters: spaces, line breaks,
 * quotation marks of mail, hyphens.
 */
const BETWEEN = /[\s>*_`\u00ad\u200b-\u200f\u2060\ufeff-]/u;

export interface Offer {
  /** X25519, 32 bytes. It stays on the new device. */
  readonly secret: Uint8Array;
  /** 32 bytes as base64url. */
  readonly publicKey: string;
  /** The text to show and paste. */
  readonly text: string;
  /** 16 bytes as base64url. */
  readonly offerId: string;
}
export type ReadOffer =
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
  return (
    all.find(({ ok }) => ok) ??
    all.at(-1) ??
    wrong(
      sentence`This is no code to join with. Copy the whole text that the new device shows; it begins with “ROOST1.”.`,
    )
  );
}

function readFrom(version: number, rest: string): ReadOffer {
  if (version > CRYPTO.version)
    return wrong(sentence`This code was made by a newer Roost. Update Roost on this device, then try again.`);
  if (version < CRYPTO.version) return mistyped();
  const letters = firstLetters(rest);
  if (letters.length < LETTERS)
    return wrong(sentence`This code is not whole: its end is missing. Copy the whole text that the new device shows.`);
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
  wrong(sentence`This code was not copied right: a letter of it is wrong. Copy it again, or scan the picture.`);
