/** The household's keys, one for each epoch, and their binary format. */
import { concatBytes } from '@noble/hashes/utils.js';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import type { EpochKey, HouseholdKeys, RandomBytes } from '../contract.ts';
import { derive } from './box.ts';
import { CRYPTO, LABEL, type Label } from './settings.ts';
import { base64url, draw, idBytes, newId, uint, uint16At } from './bytes.ts';

// Keys derived from the key of one epoch.

/** Cache of derived keys: a backlog of ten thousand entries needs the same one each time. */
const known = new WeakMap<Uint8Array, Map<Label, Uint8Array>>();

function derived({ key }: EpochKey, label: Label): Uint8Array {
  const ofKey = known.get(key) ?? new Map<Label, Uint8Array>();
  known.set(key, ofKey);
  const made = ofKey.get(label) ?? derive(key, label);
  ofKey.set(label, made);
  return made;
}

export const entryKey = (epochKey: EpochKey) => derived(epochKey, LABEL.entry);
export const signalKey = (epochKey: EpochKey) => derived(epochKey, LABEL.signal);
export const streamKey = (epochKey: EpochKey) => derived(epochKey, LABEL.stream);
export const relayAuthSeed = (epochKey: EpochKey) => derived(epochKey, LABEL.relayAuth);

const HEADER = 1 + SYNC.idBytes + 2;

export const newHousehold = (random: RandomBytes): HouseholdKeys => ({
  household: newId(random),
  keyring: [{ epoch: 1, key: draw(random, CRYPTO.keyBytes) }],
});

/** The key that seals. Throws for an empty keyring, which no parser accepts. */
export function newest(keys: HouseholdKeys): EpochKey {
  const last = keys.keyring.at(-1);
  if (!last) throw new Error('The household has no key.');
  return last;
}

/** Adds an epoch. A device without its key cannot read what is sealed from now on. */
export function renewed(keys: HouseholdKeys, random: RandomBytes): HouseholdKeys {
  const epoch = newest(keys).epoch + 1;
  if (epoch > CRYPTO.mostEpoch)
    throw new RangeError(`The household key was renewed ${CRYPTO.mostEpoch} times; there are no more.`);
  return { household: keys.household, keyring: [...keys.keyring, { epoch, key: draw(random, CRYPTO.keyBytes) }] };
}

export const keyOf = (keys: HouseholdKeys, epoch: number): EpochKey | undefined =>
  keys.keyring.find((one) => one.epoch === epoch);

/** The household's 16 bytes. Throws for an invalid id, which no parser accepts. */
export function householdBytes(keys: HouseholdKeys): Uint8Array {
  const bytes = idBytes(keys.household);
  if (!bytes) throw new Error('The household’s id is not 16 bytes.');
  return bytes;
}

/** version u8 | household 16 | number of keys u16 | the keys of epochs 1, 2, 3 … 32 each. */
export function writeKeys(keys: HouseholdKeys): Uint8Array {
  const bytes = concatBytes(
    uint(CRYPTO.version, 1),
    householdBytes(keys),
    uint(keys.keyring.length, 2),
    ...keys.keyring.map(({ key }) => key),
  );
  if (!readKeys(bytes) || keys.keyring.some(({ epoch }, at) => epoch !== at + 1))
    throw new Error('The keyring is incomplete.');
  return bytes;
}

/** Null: not a keyring, or written by a newer Roost. */
export function readKeys(bytes: Uint8Array): HouseholdKeys | null {
  if (bytes.length < HEADER || bytes[0] !== CRYPTO.version) return null;
  const count = uint16At(bytes, HEADER - 2);
  if (count === 0 || bytes.length !== HEADER + count * CRYPTO.keyBytes) return null;
  return {
    household: base64url(bytes.subarray(1, 1 + SYNC.idBytes)),
    keyring: Array.from({ length: count }, (_, at) => {
      const from = HEADER + at * CRYPTO.keyBytes;
      return { epoch: at + 1, key: bytes.slice(from, from + CRYPTO.keyBytes) };
    }),
  };
}
