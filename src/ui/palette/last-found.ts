/** What was found last, to go through it by a key, as long as the page is open. */
import type { SearchHit } from '../../protocol/search.ts';
import { pathOf } from './hit-path.ts';

let found: readonly SearchHit[] = [];
let at = -1;

/** These were found, and this one is shown. */
export function keepFound(hits: readonly SearchHit[], shown: SearchHit): void {
  found = hits;
  at = hits.indexOf(shown);
}

export const hasFound = (): boolean => found.length > 1;

/** Where the next of them is, or with -1 the one before; round and round. null: nothing was found. */
export function nextFound(step: 1 | -1): string | null {
  at = (at + step + found.length) % found.length;
  const hit = found[at];
  return hit ? pathOf(hit) : null;
}
