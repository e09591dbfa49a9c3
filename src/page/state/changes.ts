/**
 * What the relay keeps beside its log: it says only that something has changed, and whoever shows
 * it asks again.
 */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Changed } from '../../shared/protocol/events.ts';

export interface Change {
  /** `everything`: the connection to the relay was cut, and nobody knows what was missed. */
  readonly what: Changed | 'everything';
  /** Whose; null: everybody's. */
  readonly agentId: AgentId | null;
}

export interface Changes {
  tell(change: Change): void;
  /** Returns the way to stop. */
  subscribe(listener: (change: Change) => void): () => void;
}

export function createChanges(): Changes {
  const listeners = new Set<(change: Change) => void>();
  return {
    tell: (change) => [...listeners].forEach((listener) => listener(change)),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
