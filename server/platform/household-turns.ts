/**
 * Turns of households at something of which there are few, such as connections to a database. Each
 * household waits behind its own work, and is served as often as every other. So one that asks for
 * much delays itself.
 *
 * Main functions: `inHousehold`, `createTurns`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const households = new AsyncLocalStorage<string>();
/** Work of the relay itself. */
const NOBODY = '';
/**
 * Whether anything is done in turns. Without that nobody asks whose work it is, and to know it
 * costs Node a hook on every promise.
 */
let hasTurns = false;

/**
 * Does this in the name of a household, with all that follows from it. Where nobody knows yet whose
 * it is, the secret of the caller stands for it.
 */
export const inHousehold = <Result>(household: string, work: () => Result): Result =>
  hasTurns ? households.run(household, work) : work();

/** `most`: turns at once. Resolves with the function that ends a turn, which is called once. */
export function createTurns(most: number): () => Promise<() => void> {
  hasTurns = true;
  let free = most;
  /** Waiting tasks by household. The first household is served next. */
  const waiting = new Map<string, (() => void)[]>();

  function end(): void {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    const [household, queue] = next;
    const begin = queue.shift();
    waiting.delete(household);
    if (queue.length > 0) waiting.set(household, queue);
    begin?.();
  }

  return async () => {
    if (free > 0) {
      free -= 1;
      return end;
    }
    const household = households.getStore() ?? NOBODY;
    await new Promise<void>((begin) => {
      const queue = waiting.get(household) ?? [];
      queue.push(begin);
      waiting.set(household, queue);
    });
    return end;
  };
}
