/**
 * Group commit: writes that come close together share one transaction.
 *
 * The first write after a quiet moment goes at once; what comes while a commit is under way goes
 * with the next. Writes that may wait (the words of a stream) are held until `windowMs` after the
 * last commit, so that eight agents talking do not make a transaction for every word; one that may
 * not wait takes them along.
 */

export interface Commits<Write, Result> {
  /** Resolves with this write's result when it is on disk; rejects where the commit failed. */
  add(write: Write, mayWait: boolean): Promise<Result>;
  /** Resolves when everything added so far is on disk or has failed. */
  flush(): Promise<void>;
}

export interface CommitsDeps<Write, Result> {
  /** Writes all of them, in order, or none; answers in the same order. */
  readonly commit: (writes: readonly Write[]) => Promise<readonly Result[]>;
  readonly windowMs: number;
  /** ms, only ever forward: words must not wait for a clock that went back. */
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
        // A microtask later, so that appends made in one go share the first commit too.
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
