/**
 * Live state for observers: agents that are queued for the model's server, and current calls of API
 * clients. It is shown and never stored.
 */
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Waiting } from '../../../src/shared/protocol/stream.ts';

export interface WaitingAgents {
  /** `position`: 1 is next; null: the agent is not queued. */
  set(agentId: AgentId, position: number | null): void;
  clear(): void;
  /**
   * An API client has called this tool, or a model if it is null. Returns a function that reports
   * its end.
   */
  begin(agentId: AgentId, tool: string | null, input: unknown): () => void;
  now(): Waiting;
  /**
   * Called after each change. Changes of the same moment are announced once. Returns a function
   * that unsubscribes.
   */
  subscribe(listener: (waiting: Waiting) => void): () => void;
}

/** Characters shown of a text in a call's input. A tile has little room. */
const SHOWN_CHARS = 200;

/** The texts in the input by name, each cut. */
const textsIn = (input: unknown): Record<string, string> =>
  typeof input === 'object' && input !== null
    ? Object.fromEntries(
        Object.entries(input).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, value.slice(0, SHOWN_CHARS)]] : [],
        ),
      )
    : {};

export function createWaiting(clock: () => number): WaitingAgents {
  const positions = new Map<string, number>();
  const calls = new Set<NonNullable<Waiting['clients']>[number]>();
  const listeners = createListeners<[Waiting]>();
  let telling = false;

  const now = (): Waiting => ({
    waiting: [...positions]
      .map(([agentId, position]) => ({ agentId, position }))
      .sort((a, b) => a.position - b.position),
    ...(calls.size === 0 ? {} : { clients: [...calls] }),
  });

  function changed(): void {
    if (telling) return;
    telling = true;
    queueMicrotask(() => {
      telling = false;
      listeners.tell(now());
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
    begin(agentId, tool, input) {
      const call = { agentId, tool, input: textsIn(input), since: clock() };
      calls.add(call);
      changed();
      return () => {
        if (calls.delete(call)) changed();
      };
    },
    now,
    subscribe: listeners.subscribe,
  };
}
