/**
 * Group commit: writes that come close together share one transaction.
 *
 * The first write after a quiet time is committed immediately. Writes that arrive during a commit
 * join the next one. Writes that may wait, such as streamed words, are held until `windowMs` after
 * the last commit. So eight agents talking do not cause a transaction per word. A write that may
 * not wait takes the waiting ones with it.
 */

export interface Commits<Write, Result> {
  /** Resolves with the result of this write when it is on disk. Rejects if the commit failed. */
  add(write: Write, mayWait: boolean): Promise<Result>;
  /** Resolves when every write so far is on disk or has failed. */
  flush(): Promise<void>;
}

export interface CommitsDeps<Write, Result> {
  /** Writes all of them in order, or none. The results are in the same order. */
  readonly commit: (writes: readonly Write[]) => Promise<readonly Result[]>;
  readonly windowMs: number;
  /** Monotonic time in ms, so that a wall clock that goes back delays nothing. */
  readonly elapsed: () => number;
}

interface Pending<Write, Result> {
  readonly write: Write;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export function createCommits<Write, Result>({
  commit,
  windowMs,
  elapsed,
}: CommitsDeps<Write, Result>): Commits<Write, Result> {
  let pending: Pending<Write, Result>[] = [];
  let urgent = false;
  let lastCommit = -Infinity;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;

  async function commitPending(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      urgent = false;
      try {
        const results = await commit(batch.map((item) => item.write));
        batch.forEach((item, i) => {
          const result = results[i];
          if (result === undefined) item.reject(new Error('the commit answered too little'));
          else item.resolve(result);
        });
      } catch (error) {
        for (const item of batch) item.reject(error);
      }
      lastCommit = elapsed();
      if (!urgent) break;
    }
    running = null;
    schedule();
  }

  function start(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= commitPending();
  }

  function schedule(): void {
    if (running || pending.length === 0) return;
    const wait = urgent ? 0 : lastCommit + windowMs - elapsed();
    if (wait <= 0) start();
    else timer ??= setTimeout(start, wait);
  }

  return {
    add(write, mayWait) {
      return new Promise((resolve, reject) => {
        pending.push({ write, resolve, reject });
        if (!mayWait) urgent = true;
        // Deferred by a microtask, so that appends in the same tick share the first commit too.
        queueMicrotask(schedule);
      });
    },
    async flush() {
      while (running || pending.length > 0) {
        if (running) await running;
        else start();
      }
    },
  };
}
