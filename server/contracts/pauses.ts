/** The sleeping flags, and whoever waits for them. */
import type { AgentId, SessionId } from '../../src/domain/ids.ts';

/** `late`: still asleep after the longest wait. `ended`: the session is over. `aborted`: whoever waits has gone. */
export type PauseWait = 'awake' | 'late' | 'ended' | 'aborted';

/** The sleeping flags of the running session, and everything that waits for one of them. */
export interface Pauses {
  /** A session begins: who is in it is known by `join`. */
  begin(sessionId: SessionId): void;
  /** An agent is in the running session now; its flag is set where `agent_started` is among its sleep events. */
  join(agentId: AgentId): Promise<void>;
  /** Whoever waits is told that the session is over. */
  end(sessionId: SessionId): void;
  isPaused(agentId: AgentId): boolean;
  /** Null where the session or the agent is not known. `by`: who or what set it, for the event. */
  set(sessionId: SessionId, agentId: AgentId, paused: boolean, by: string): Promise<boolean | null>;
  get(sessionId: SessionId, agentId: AgentId): boolean | null;
  /** At once where the agent is not asleep, is not in the session, or no session runs; one that joins just now waits until it is known. `limitMs`: Infinity waits as long as the session. */
  wait(agentId: AgentId, options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  /** How many wait now. */
  waiting(): number;
  /** Called after each change, when it is on disk. */
  subscribe(
    listener: (change: { readonly sessionId: SessionId; readonly agentId: AgentId; readonly paused: boolean }) => void,
  ): () => void;
}
