/**
 * What a peer asked of the store: done one after the other, and only while its link has room for
 * the answer.
 */

/** Answers whether there is more of it to do. */
export type Task = () => Promise<'done' | 'again'>;

export interface Tasks {
  /** What the peer asked for is let go of where too much waits: it asks again. */
  add(task: Task, whose: 'ours' | 'theirs'): void;
  /** There may be room again. */
  kick(): void;
  stop(): void;
  /** Resolves when none runs. */
  idle(): Promise<void>;
}

export function createTasks({ hasRoom, most }: { readonly hasRoom: () => boolean; readonly most: number }): Tasks {
  const waiting: Task[] = [];
  let running: Promise<void> | null = null;
  let stopped = false;

  async function work(): Promise<void> {
    for (let task = waiting[0]; task !== undefined && !stopped && hasRoom(); task = waiting[0]) {
      if ((await task()) === 'done') waiting.shift();
    }
  }
  function kick(): void {
    if (running !== null || stopped || waiting.length === 0 || !hasRoom()) return;
    running = work().finally(() => {
      running = null;
      // Room or work may have come in between.
      kick();
    });
  }
  return {
    add(task, whose) {
      if (stopped || (whose === 'theirs' && waiting.length >= most)) return;
      waiting.push(task);
      kick();
    },
    kick,
    stop() {
      stopped = true;
      waiting.length = 0;
    },
    idle: async () => {
      await running;
    },
  };
}
