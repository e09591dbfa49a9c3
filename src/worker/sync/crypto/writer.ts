/**
 * A writer's id tells its stream to whoever has the household's first key: 8 random bytes, then the
 * first 8 of HMAC-SHA256(stream key, the stream's name followed by those 8). To everybody else it
 * is 16 random bytes.
 */
import { equalBytes } from '@noble/ciphers/utils.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { HouseholdKeys, Stream, RandomBytes } from '../contract.ts';
import { base64url, draw, idBytes } from './bytes.ts';
import { streamKey } from './epoch-keys.ts';

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

/** null: nobody of this household made this id. */
export function streamOf(keys: HouseholdKeys, writer: string): Stream | null {
  const bytes = idBytes(writer);
  if (!bytes) return null;
  const chance = bytes.subarray(0, HALF);
  return STREAMS.find((stream) => equalBytes(tag(keys, stream, chance), bytes.subarray(HALF))) ?? null;
}
