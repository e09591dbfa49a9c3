/** Who waits in line before the model's server, for those who look on: it is shown, and kept nowhere. */
import type { Waiting } from '../../src/protocol/stream.ts';

export interface Line {
  /** `place`: 1 is next; null: it does not wait. */
  set(agentId: string, place: number | null): void;
  clear(): void;
  now(): Waiting;
  /** Called after each change; changes of one moment are told once. Returns the way to stop. */
  subscribe(listener: (waiting: Waiting) => void): () => void;
}

export function createLine(): Line {
  const places = new Map<string, number>();
  const listeners = new Set<(waiting: Waiting) => void>();
  let telling = false;

  const now = (): Waiting => ({
    waiting: [...places].map(([agentId, place]) => ({ agentId, place })).sort((a, b) => a.place - b.place),
  });

  function changed(): void {
    if (telling) return;
    telling = true;
    queueMicrotask(() => {
      telling = false;
      for (const listener of [...listeners]) listener(now());
    });
  }

  return {
    set(agentId, place) {
      if ((places.get(agentId) ?? null) === place) return;
      if (place === null) places.delete(agentId);
      else places.set(agentId, place);
      changed();
    },
    clear() {
      if (places.size === 0) return;
      places.clear();
      changed();
    },
    now,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
