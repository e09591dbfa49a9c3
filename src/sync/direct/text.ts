/**
 * The texts that introduce two devices where there is no relay: `ROOST-LINE1.` and, as base64url,
 *
 *     household 16 | from 16 | to 16 | sealed introduction | SHA-256 of all before it, first 4 bytes
 *
 * `from` and `to` are devices; an offer is `to` the household, since any of its devices may take it. White space
 * anywhere in it counts for nothing.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { SYNC } from '../../protocol/sync/settings.ts';
import { base64url, fromBase64url } from '../crypto/index.ts';

const NAME = /^ROOST-LINE(\d+)\./i;
const VERSION = '1';
const CHECK_BYTES = 4;

export interface LineText {
  readonly household: string;
  readonly from: string;
  readonly to: string;
  /** As `sealSignal` gives it. */
  readonly data: string;
}

function bytesOf(text: string): Uint8Array {
  const bytes = fromBase64url(text);
  if (!bytes) throw new RangeError('A text is made of ids and sealed bytes, in base64url.');
  return bytes;
}
const check = (bytes: Uint8Array) => sha256(bytes).subarray(0, CHECK_BYTES);

export function writeText({ household, from, to, data }: LineText): string {
  const bytes = concatBytes(...[household, from, to, data].map(bytesOf));
  return `ROOST-LINE${VERSION}.${base64url(concatBytes(bytes, check(bytes)))}`;
}

/** other: not such a text; newer: of a version that is not known here; damaged: something of it is missing or changed. */
export function readText(text: string): LineText | 'other' | 'newer' | 'damaged' {
  const close = text.replace(/\s/g, '');
  const name = NAME.exec(close);
  if (!name) return 'other';
  if (name[1] !== VERSION) return 'newer';
  const bytes = fromBase64url(close.slice(name[0].length));
  if (!bytes || bytes.length < 3 * SYNC.idBytes + CHECK_BYTES) return 'damaged';
  const said = bytes.subarray(0, -CHECK_BYTES);
  const rest = bytes.subarray(-CHECK_BYTES);
  if (check(said).some((byte, at) => byte !== rest[at])) return 'damaged';
  const id = (place: number) => base64url(said.subarray(place * SYNC.idBytes, (place + 1) * SYNC.idBytes));
  return { household: id(0), from: id(1), to: id(2), data: base64url(said.subarray(3 * SYNC.idBytes)) };
}
