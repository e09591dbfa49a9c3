/**
 * The person's words to an agent that a client plays: a call of that client that only waits ends
 * with them.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { EventLog, Inbox, SessionHost } from '../../contracts/index.ts';

export interface HeardDeps {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly inbox: Pick<Inbox, 'waiting'>;
  readonly stateOf: SessionHost['stateOf'];
}

export interface Heard {
  /**
   * `signal` aborts when the person has written something that waits for this agent's client, also
   * before the call.
   */
  listen(agentId: AgentId): Promise<{ readonly signal: AbortSignal; stop(): void }>;
  close(): void;
}

export function createHeard({ log, inbox, stateOf }: HeardDeps): Heard {
  /** Calls that wait now, by agent. */
  const calls = new Map<string, Set<AbortController>>();
  const close = log.subscribe(({ event }) => {
    // What a mind of the relay's reads is nothing for a client.
    if (event.kind === 'message' && event.author === 'human' && event.waiting)
      for (const call of calls.get(event.agentId) ?? []) call.abort();
  });
  return {
    async listen(agentId) {
      const call = new AbortController();
      const mine = calls.get(agentId) ?? new Set();
      calls.set(agentId, mine.add(call));
      const stop = () => {
        mine.delete(call);
        if (mine.size === 0 && calls.get(agentId) === mine) calls.delete(agentId);
      };
      try {
        if (stateOf(agentId) === 'played' && (await inbox.waiting(agentId, 0)).some(({ from }) => from === 'human'))
          call.abort();
      } catch (error) {
        stop();
        throw error;
      }
      return { signal: call.signal, stop };
    },
    close,
  };
}
