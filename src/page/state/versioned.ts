/**
 * Changes of records that somebody else may change at the same time. A change names the version
 * that it was made from. The relay refuses an old one, and answers with the record as it is now.
 * What another page has set since stands; what the person typed stays, and can be saved over that.
 */
import { t } from '../language/t.ts';
import { newerOf, type RelayResult } from '../../shared/relay-client/result.ts';

/** What the person reads where both changed the same. */
export const CHANGED_ELSEWHERE = t`Somebody has changed this elsewhere meanwhile. Save once more to put yours in its place.`;

/** Tries of a change while others keep changing the same record. */
const MOST_TRIES = 3;

/** `clash`: the record as it is now, over which the change is not made. */
export type OverNewest<Now> = RelayResult<Now> | { readonly ok: false; readonly clash: Now };

/**
 * Makes a change over a record, and again over the newer one where it was changed meanwhile.
 * `change` null: it clashes with what is there now, and is not made.
 */
export async function overNewest<Now>(
  known: Now,
  change: (now: Now) => Promise<RelayResult<Now>> | null,
): Promise<OverNewest<Now>> {
  let now = known;
  for (let tries = 1; ; tries++) {
    const result = await change(now);
    if (result === null) return { ok: false, clash: now };
    const newer = newerOf(result);
    if (newer === undefined || tries >= MOST_TRIES) return result;
    now = newer;
  }
}
