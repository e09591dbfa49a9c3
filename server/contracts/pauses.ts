/** The sleeping flags, and whoever waits for them. */

/** `late`: still asleep after the longest wait. `ended`: the session is over. `aborted`: whoever waits has gone. */
export type PauseWait = 'awake' | 'late' | 'ended' | 'aborted';

/** The sleeping flags of the running session, and everything that waits for one of them. */
export interface Pauses {
  /** A session begins: who is in it is known by `join`. */
  begin(sessionId: string): void;
  /** An agent is in the running session now; its flag is set where `agent_started` is among its sleep events. */
  join(agentId: string): Promise<void>;
  /** Whoever waits is told that the session is over. */
  end(sessionId: string): void;
  isPaused(agentId: string): boolean;
  /** Null where the session or the agent is not known. `by`: who or what set it, for the event. */
  set(sessionId: string, agentId: string, paused: boolean, by: string): Promise<boolean | null>;
  get(sessionId: string, agentId: string): boolean | null;
  /** At once where the agent is not asleep, is not in the session, or no session runs; one that joins just now waits until it is known. `limitMs`: Infinity waits as long as the session. */
  wait(agentId: string, options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  /** How many wait now. */
  waiting(): number;
  /** Called after each change, when it is on disk. */
  subscribe(
    listener: (change: { readonly sessionId: string; readonly agentId: string; readonly paused: boolean }) => void,
  ): () => void;
}
