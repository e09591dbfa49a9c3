/** What is derived from the key of one epoch. */
import type { EpochKey } from '../contract.ts';
import { derive } from './derive.ts';
import { LABEL, type Label } from './settings.ts';

/**
 * Derived keys by the key they come from: a backlog of ten thousand entries asks for the same one
 * each time.
 */
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
