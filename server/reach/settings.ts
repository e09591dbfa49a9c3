/** Times of waking agents, in ms. */
export interface ReachSettings {
  /** Between two looks whether an agent is still at work for which a wake waits: its run may be another process's. */
  readonly atWorkMs: number;
  /** How long ago a wake may have been deferred that is taken up after the relay was started anew. */
  readonly deferredMs: number;
  /** Between two looks whether an agent in the session has read what it was woken for. */
  readonly readMs: number;
  /** Until clearing a sleeping flag is tried again, where nobody knows when it would pass. */
  readonly flagAgainMs: number;
  /** As `flagAgainMs`, at most: what stops it may be changed meanwhile. */
  readonly flagMostMs: number;
}

export const REACH_SETTINGS: ReachSettings = {
  atWorkMs: 5_000,
  deferredMs: 86_400_000,
  readMs: 1_000,
  flagAgainMs: 5_000,
  flagMostMs: 60_000,
};
