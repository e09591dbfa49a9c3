/** Runs tasks one after another. A task that fails does not stop the next. */
export function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

interface SharedQueue {
  /** Runs the task with no other beside it. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Runs the task beside other such tasks, one after another for each key. */
  beside<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

/** Runs tasks in the order in which they came, as far as one has to wait for another. */
export function createSharedQueue(): SharedQueue {
  let lastAlone: Promise<unknown> = Promise.resolve();
  /** The last task of each key since then. */
  let shared = new Map<string, Promise<unknown>>();
  return {
    alone(work) {
      const turn = Promise.all([lastAlone, ...shared.values()]).then(work);
      lastAlone = turn.catch(() => undefined);
      shared = new Map();
      return turn;
    },
    beside(key, work) {
      const turn = (shared.get(key) ?? lastAlone).then(work);
      shared.set(
        key,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
}

/** Runs the tasks of each key one after another. Tasks of different keys run beside each other. */
export function createQueues<Key>(): <Result>(key: Key, work: () => Promise<Result>) => Promise<Result> {
  const queues = new Map<Key, { readonly inTurn: ReturnType<typeof createQueue>; waiting: number }>();
  return async (key, work) => {
    const queue = queues.get(key) ?? { inTurn: createQueue(), waiting: 0 };
    queues.set(key, queue);
    queue.waiting += 1;
    try {
      return await queue.inTurn(work);
    } finally {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(key);
    }
  };
}

/** Runs at most `most` tasks at once. The others wait in order of arrival. */
export function createLimiter(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
