/** Who waits in line before the model's server, for those who look on: it is shown, and kept nowhere. */
import type { AgentId } from '../../src/domain/ids.ts';
import type { Waiting } from '../../src/protocol/stream.ts';

export interface WaitingAgents {
  /** `position`: 1 is next; null: it does not wait. */
  set(agentId: AgentId, position: number | null): void;
  clear(): void;
  now(): Waiting;
  /** Called after each change; changes of one moment are told once. Returns the way to stop. */
  subscribe(listener: (waiting: Waiting) => void): () => void;
}

export function createWaiting(): WaitingAgents {
  const positions = new Map<string, number>();
  const listeners = new Set<(waiting: Waiting) => void>();
  let telling = false;

  const now = (): Waiting => ({
    waiting: [...positions]
      .map(([agentId, position]) => ({ agentId, position }))
      .sort((a, b) => a.position - b.position),
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
    set(agentId, position) {
      if ((positions.get(agentId) ?? null) === position) return;
      if (position === null) positions.delete(agentId);
      else positions.set(agentId, position);
      changed();
    },
    clear() {
      if (positions.size === 0) return;
      positions.clear();
      changed();
    },
    now,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
