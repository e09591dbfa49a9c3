/**
 * A sealed introduction of two browsers, from one device to another: version u8 | epoch u16 | nonce
 * 24 | ciphertext | tag 16. Associated data: the label, version u8, epoch u16, household 16, from
 * 16, to 16.
 */
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { HouseholdKeys, RandomBytes } from '../contract.ts';
import { decrypt, encrypt, pack, unpack } from './box.ts';
import { base64url, fromBase64url, idBytes, uint } from './bytes.ts';
import { householdBytes, newest, signalKey } from './keyring.ts';
import { CRYPTO, LABEL } from './settings.ts';

const HEADER = 3;

/** The header with the newest epoch, and the associated data. Null where a device id is invalid. */
function frame(keys: HouseholdKeys, from: string, to: string) {
  const header = concatBytes(uint(CRYPTO.version, 1), uint(newest(keys).epoch, 2));
  const ids = [idBytes(from), idBytes(to)];
  return ids[0] && ids[1]
    ? { header, aad: concatBytes(utf8ToBytes(LABEL.signal), header, householdBytes(keys), ids[0], ids[1]) }
    : null;
}

/** `from`, `to`: ids of devices. Throws for an invalid id. */
export function sealSignal(keys: HouseholdKeys, from: string, to: string, text: string, random: RandomBytes): string {
  const framed = frame(keys, from, to);
  if (!framed) throw new RangeError('A signal goes from one device to another.');
  const plaintext = pack(utf8ToBytes(text), CRYPTO.mostPlaintext.signal);
  return base64url(concatBytes(framed.header, encrypt(signalKey(newest(keys)), framed.aad, plaintext, random)));
}

/**
 * Opens with the newest key only. Removed devices know the older keys and must not be introduced. A
 * signal that crosses a rotation is lost, and its connection is tried again. Null: not from or to
 * these devices.
 */
export function openSignal(keys: HouseholdKeys, from: string, to: string, data: string): string | null {
  const bytes = fromBase64url(data);
  const framed = frame(keys, from, to);
  if (!bytes || !framed || bytes.length < HEADER || framed.header.some((byte, at) => byte !== bytes[at])) return null;
  const plaintext = decrypt(signalKey(newest(keys)), framed.aad, bytes.subarray(HEADER));
  const payload = plaintext && unpack(plaintext);
  return payload && payload !== 'newer' ? new TextDecoder().decode(payload) : null;
}
