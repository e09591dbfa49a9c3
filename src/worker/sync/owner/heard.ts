/**
 * Ids of documents that came in entries of other devices lately: what the relay tells all of them
 * need not be sealed by each.
 */
import { SYNC_OWNER } from '../settings.ts';

export interface Heard {
  add(ids: readonly string[]): void;
  has(id: string): boolean;
}

export function createHeard(): Heard {
  let known = new Set<string>();
  let previous = new Set<string>();
  return {
    add(ids) {
      for (const id of ids) known.add(id);
      if (known.size <= SYNC_OWNER.heardIds) return;
      previous = known;
      known = new Set();
    },
    has: (id) => known.has(id) || previous.has(id),
  };
}
