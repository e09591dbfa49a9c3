/**
 * Lanes: work of each household waits behind other work of that household, and of all only so much
 * runs at once. So a household that asks for much delays itself, and nobody else.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createLimiter } from '../../src/shared/domain/platform/queue.ts';

/**
 * Runs work when its turn has come. What is done within a turn has it already, and waits for no
 * other. Throws `LaneFullError`.
 */
export type Lane = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Too much of this household is waiting. */
export class LaneFullError extends Error {
  override readonly name = 'LaneFullError';
}

export interface LaneLimits {
  /** Pieces of work of one household, and of all households, that run at once. */
  readonly ofOne: number;
  readonly ofAll: number;
  /** Pieces of work of one household that may wait. */
  readonly waiting: number;
}

/** A lane for each key. */
export function createLanes({ ofOne, ofAll, waiting }: LaneLimits): (key: string) => Lane {
  const ofEverybody = createLimiter(ofAll);
  const lanes = new Map<string, Lane>();
  const turns = new AsyncLocalStorage<true>();
  let running = 0;
  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    running += 1;
    try {
      return await turns.run(true, work);
    } finally {
      running -= 1;
      // While it is enabled, it costs Node a hook on every promise of the relay.
      if (running === 0) turns.disable();
    }
  }
  function createLane(): Lane {
    const limited = createLimiter(ofOne);
    let pending = 0;
    return async (work) => {
      if (turns.getStore()) return await work();
      if (pending >= ofOne + waiting) throw new LaneFullError('Too much of this household is waiting.');
      pending += 1;
      try {
        return await limited(() => ofEverybody(() => inTurn(work)));
      } finally {
        pending -= 1;
      }
    };
  }
  return (key) => {
    const lane = lanes.get(key) ?? createLane();
    lanes.set(key, lane);
    return lane;
  };
}
