/**
 * Model servers that take only so many at once: by a line of their own, or by refusing the others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply, Script } from './scripted-model.ts';

export interface NarrowOptions {
  readonly atOnce: number;
  /** `queue`: it takes all and answers so many at once. `refuse`: 429 for the others. */
  readonly by: 'queue' | 'refuse';
  /** The value of `retry-after`; left out: it does not say. */
  readonly retryAfter?: string;
  readonly status?: 429 | 503 | 529;
  /** ms that an answer takes, from its first word to its last. */
  readonly answerMs: number;
}

export interface Narrow {
  readonly script: Script;
  /** Most that were answered at once, and how many were refused. */
  most(): number;
  refused(): number;
  /** Requests that it had at once, in its line or in answer. */
  mostHeld(): number;
}

/**
 * `says` is answered as fast as the server can; it says a first word at once when its turn comes.
 */
export function narrowModel({ atOnce, by, retryAfter, status = 429, answerMs }: NarrowOptions, says: Script): Narrow {
  let busy = 0;
  let most = 0;
  let held = 0;
  let mostHeld = 0;
  let refused = 0;
  const waiting: (() => void)[] = [];
  const done = () => {
    busy -= 1;
    held -= 1;
    waiting.shift()?.();
  };
  const refusal: Reply = {
    fail: {
      status,
      type: status === 429 ? 'rate_limit_error' : 'overloaded_error',
      message: 'one at a time, please',
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    },
  };
  return {
    most: () => most,
    refused: () => refused,
    mostHeld: () => mostHeld,
    async script(request) {
      if (busy >= atOnce && by === 'refuse') {
        refused += 1;
        return refusal;
      }
      held += 1;
      mostHeld = Math.max(mostHeld, held);
      while (busy >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
      busy += 1;
      most = Math.max(most, busy);
      const reply = await says(request);
      const work = sleep(answerMs).then(done);
      // Its answer ends a moment before the server turns to the next one.
      return Array.isArray(reply) ? [...reply, { until: work }] : reply;
    },
  };
}
