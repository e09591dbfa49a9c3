/**
 * How a new device gets the keys. Both sides have made a fresh X25519 key for this one offer; people compare six words
 * that stand for both public keys, and what is then sealed under their agreement is bound to both, and to its direction.
 */
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RandomBytes } from '../contract.ts';
import { decrypt, encrypt } from './aead.ts';
import { agreedKey, isSoundKey, publicKeyOf } from './agreement.ts';
import { base64url, draw, exactly, fromBase64url, uint } from './bytes.ts';
import { pack, unpack } from './plaintext.ts';
import { CRYPTO, LABEL } from './settings.ts';

const WORDS = 6;
const WORD_BITS = 11;

/** One side's key pair; the secret stays where it was made. */
export interface PairingKey {
  readonly secret: Uint8Array;
  /** 32 bytes as base64url. */
  readonly publicKey: string;
}
/** What a side knows of an agreement: its own secret, and both public keys, 32 bytes as base64url each. */
export interface PairingSide {
  readonly secret: Uint8Array;
  readonly offerKey: string;
  readonly inviterKey: string;
}
type Message = 'welcome' | 'joined';

/** A fresh key for one offer. */
export function newInvitation(random: RandomBytes): PairingKey {
  const secret = draw(random, CRYPTO.keyBytes);
  return { secret, publicKey: base64url(publicKeyOf(secret)) };
}

/** Is it the public key of a pairing: 32 bytes, and not of low order? */
export function isPairingKey(text: string): boolean {
  const bytes = exactly(text, CRYPTO.keyBytes);
  return bytes !== null && isSoundKey(bytes);
}

/** The first 66 bits of SHA-256 over a label and both keys, as six words of the BIP-39 list. Throws where a key is none. */
export function pairingWords(offerKey: string, inviterKey: string): readonly string[] {
  const [offer, inviter] = [exactly(offerKey, CRYPTO.keyBytes), exactly(inviterKey, CRYPTO.keyBytes)];
  if (!offer || !inviter) throw new RangeError('A public key of a pairing is 32 bytes.');
  const bits = [...sha256(concatBytes(utf8ToBytes(LABEL.words), offer, inviter))].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return Array.from({ length: WORDS }, (_, at) => wordlist[parseInt(bits.slice(at * WORD_BITS, (at + 1) * WORD_BITS), 2)] ?? '');
}

/** The key and the associated data of one direction; null where a public key is unsound. */
function agreement(message: Message, { secret, offerKey, inviterKey }: PairingSide) {
  const [offer, inviter] = [exactly(offerKey, CRYPTO.keyBytes), exactly(inviterKey, CRYPTO.keyBytes)];
  if (!offer || !inviter) return null;
  const own = base64url(publicKeyOf(secret));
  if (own !== offerKey && own !== inviterKey) return null;
  const key = agreedKey({ secret, other: own === offerKey ? inviter : offer, order: [offer, inviter], label: LABEL[message] });
  const header = uint(CRYPTO.version, 1);
  return key && { key, header, aad: concatBytes(utf8ToBytes(LABEL[message]), header, offer, inviter) };
}

/** version u8 | nonce 24 | ciphertext | tag 16, as base64url. Throws where a public key is unsound. */
function seal(message: Message, side: PairingSide, content: Uint8Array, random: RandomBytes): string {
  const agreed = agreement(message, side);
  if (!agreed) throw new Error('The other device’s key is not one that anything can be sealed to.');
  return base64url(concatBytes(agreed.header, encrypt(agreed.key, agreed.aad, pack(content, CRYPTO.mostPlaintext.slot), random)));
}

/** null: not of these two devices, not of this direction, changed on its way, or by a newer Roost. */
function open(message: Message, side: PairingSide, data: string): Uint8Array | null {
  const bytes = fromBase64url(data);
  const agreed = agreement(message, side);
  if (!bytes || !agreed || bytes[0] !== CRYPTO.version) return null;
  const plaintext = decrypt(agreed.key, agreed.aad, bytes.subarray(1));
  const payload = plaintext && unpack(plaintext);
  return payload === 'newer' ? null : payload;
}

/** From the inviting device to the new one. Throws where a public key is unsound. */
export const sealWelcome = (side: PairingSide, content: Uint8Array, random: RandomBytes) => seal('welcome', side, content, random);
export const openWelcome = (side: PairingSide, data: string) => open('welcome', side, data);

/** The new device's answer, when it has the keys. */
export const sealJoined = (side: PairingSide, content: Uint8Array, random: RandomBytes) => seal('joined', side, content, random);
export const openJoined = (side: PairingSide, data: string) => open('joined', side, data);
