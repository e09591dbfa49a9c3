/**
 * The household’s keys and the roll of who has the newest of them, as they are handed to a device
 * or sealed to a phrase.
 */
import { z } from 'zod';
import type { HouseholdKeys } from '../contract.ts';
import { base64url, fromBase64url, readKeys, writeKeys } from '../crypto/index.ts';
import { readJson, writeJson } from './json.ts';

export interface KeyGrant {
  readonly keys: HouseholdKeys;
  /** Ids of devices. */
  readonly roll: readonly string[];
}
/** `keysText`: the keys as they are written, base64url. */
export interface SignedKeyGrant extends KeyGrant {
  readonly by: string;
  readonly keysText: string;
  readonly signature: string;
}

const keyGrantSchema = z.object({ keys: z.string(), roll: z.array(z.string()) });
const signedGrantSchema = keyGrantSchema.extend({ by: z.string(), signature: z.string() });

const keysOf = (text: string): HouseholdKeys | null => {
  const bytes = fromBase64url(text);
  return bytes && readKeys(bytes);
};

export const writeKeyGrant = ({ keys, roll }: KeyGrant): Uint8Array =>
  writeJson({ keys: base64url(writeKeys(keys)), roll });

/** null: it is none, or a newer Roost wrote it. */
export function readKeyGrant(bytes: Uint8Array): KeyGrant | null {
  const grant = readJson(keyGrantSchema, bytes);
  const keys = grant && keysOf(grant.keys);
  return grant && keys ? { keys, roll: grant.roll } : null;
}

/** `sign`: signs these keys, as they are written. */
export function writeSignedKeyGrant(
  { keys, roll }: KeyGrant,
  by: string,
  sign: (keysText: string) => string,
): Uint8Array {
  const keysText = base64url(writeKeys(keys));
  return writeJson({ keys: keysText, roll, by, signature: sign(keysText) });
}

/** null: it is none, or a newer Roost wrote it. Nothing of it is checked. */
export function readSignedKeyGrant(bytes: Uint8Array): SignedKeyGrant | null {
  const grant = readJson(signedGrantSchema, bytes);
  const keys = grant && keysOf(grant.keys);
  return grant && keys
    ? { keys, roll: grant.roll, by: grant.by, keysText: grant.keys, signature: grant.signature }
    : null;
}
