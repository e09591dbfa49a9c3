/** Runs tasks one after another. A task that fails does not stop the next. */
export function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
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
