/** Chains of renewals: each household key hands over to the next. Pure. */
import type { Rotation } from '../../src/protocol/sync/control.ts';
import { rotationBytes } from '../../src/protocol/sync/proofs.ts';
import { isSignedBy } from './proofs.ts';

export interface AuthKey {
  readonly epoch: number;
  readonly authKey: string;
}

/** Does the key before hand over to this one? */
export const isSucceeded = (household: string, from: AuthKey, rotation: Rotation): boolean =>
  rotation.epoch === from.epoch + 1 &&
  isSignedBy(
    from.authKey,
    rotationBytes(household, rotation.epoch, rotation.authKey, rotation.removed),
    rotation.proof,
  );

/** The renewals that lead on from a key, in order; null where one of them is not handed over to, or one is missing between. */
export function chainFrom(
  household: string,
  from: AuthKey,
  rotations: readonly Rotation[],
): readonly Rotation[] | null {
  const chain = rotations.filter(({ epoch }) => epoch > from.epoch).sort((a, b) => a.epoch - b.epoch);
  let last: AuthKey = from;
  for (const rotation of chain) {
    if (!isSucceeded(household, last, rotation)) return null;
    last = rotation;
  }
  return chain;
}
