/** How many entries of this device the relay does not have yet, as far as is known. */
import { count, subtract } from '../../../shared/domain/ranges.ts';
import type { Have } from '../../../shared/protocol/sync/page.ts';

export interface Unacknowledged {
  /**
   * A connection to the relay begins: it may have been put back from a copy, and has to say anew
   * what it has.
   */
  begin(): void;
  /** The relay said what it has; empty where there is none on the line. */
  heard(there: Have): void;
  /** These were sealed here just now. */
  sealed(entries: number): void;
  left(): number;
}

export function createUnacknowledged(here: () => Have): Unacknowledged {
  /** What the relay had when it was last heard; null: not since this page began. */
  let known: Have | null = null;
  let since = 0;
  let awaited = false;
  return {
    begin() {
      awaited = true;
    },
    heard(there) {
      if (there.size === 0) return;
      known = there;
      awaited = false;
    },
    sealed(entries) {
      since += entries;
    },
    left() {
      const have = here();
      // Before it was heard, at least what was sealed since waits for it.
      if (awaited || known === null) return Math.max(since, awaited && have.size > 0 ? 1 : 0);
      let left = 0;
      for (const [writer, ranges] of have) left += count(subtract(ranges, known.get(writer) ?? []));
      return left;
    },
  };
}
