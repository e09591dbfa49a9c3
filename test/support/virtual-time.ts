/**
 * Time that passes when it is told to: what is due runs in order, and what it sets off in promises
 * runs before the next.
 */

export interface VirtualTime {
  /** ms since the beginning. */
  now(): number;
  after(ms: number, run: () => void): () => void;
  /** Runs what is due within so many ms. */
  pass(ms: number): Promise<void>;
  /**
   * Runs until the check holds; answers whether it did within so many ms. It is checked after each
   * thing that ran.
   */
  until(holds: () => boolean, ms: number): Promise<boolean>;
}

interface Due {
  readonly at: number;
  readonly place: number;
  readonly run: () => void;
}
const earlier = (a: Due, b: Due) => a.at - b.at || a.place - b.place;

/** Microtasks only: enough for promises, and no real time passes. */
async function settled(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}

export function createVirtualTime(): VirtualTime {
  let now = 0;
  let places = 0;
  /** A binary heap: the earliest first. */
  const heap: Due[] = [];
  const dead = new Set<Due>();

  function push(due: Due): void {
    heap.push(due);
    for (let i = heap.length - 1; i > 0;) {
      const up = (i - 1) >> 1;
      const [child, parent] = [heap[i], heap[up]];
      if (!child || !parent || earlier(parent, child) <= 0) break;
      [heap[i], heap[up]] = [parent, child];
      i = up;
    }
  }
  function pop(): Due | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (!last || !first || heap.length === 0) return first;
    heap[0] = last;
    for (let i = 0; ;) {
      const next = [2 * i + 1, 2 * i + 2].reduce(
        (least, at) => (heap[at] && earlier(heap[at], heap[least] ?? last) < 0 ? at : least),
        i,
      );
      if (next === i) return first;
      const [a, b] = [heap[i], heap[next]];
      if (!a || !b) return first;
      [heap[i], heap[next]] = [b, a];
      i = next;
    }
  }

  const time: VirtualTime = {
    now: () => now,
    after(ms, run) {
      const due = { at: now + ms, place: places++, run };
      push(due);
      return () => {
        dead.add(due);
      };
    },
    async pass(ms) {
      await time.until(() => false, ms);
    },
    async until(holds, ms) {
      const end = now + ms;
      for (;;) {
        await settled();
        if (holds()) return true;
        const next = heap[0];
        if (!next || next.at > end) break;
        now = next.at;
        // All of one moment together: what they set off comes after.
        while (heap[0] && heap[0].at <= now) {
          const due = pop();
          if (due && !dead.delete(due)) due.run();
        }
      }
      now = end;
      return holds();
    },
  };
  return time;
}
