/** Times of waking agents, in ms. */
export interface ReachSettings {
  /**
   * Between two looks whether an agent is still at work for which a wake waits: its run may be
   * another process's.
   */
  readonly atWorkMs: number;
  /** From a start until what waited then is taken up. */
  readonly takenUpMs: number;
  /**
   * How long ago a wake may have been deferred, or granted, that is taken up after the relay was
   * started anew.
   */
  readonly deferredMs: number;
  /** Between two looks whether an agent in the session has read what it was woken for. */
  readonly readMs: number;
  /**
   * Until what the gate has stopped, and is not given up, is asked for again, where nobody knows
   * when it would pass.
   */
  readonly againMs: number;
  /** As `againMs`, at most: what stops it may be changed meanwhile. */
  readonly againMostMs: number;
}

/**
 * ms until what the gate has stopped is asked for again. `until`: ms since the epoch when it would
 * pass; null: not known.
 */
export const againIn = (until: number | null, now: number, { againMs, againMostMs }: ReachSettings): number =>
  Math.min(Math.max(until === null ? againMs : until - now, 1), againMostMs);

export const REACH_SETTINGS: ReachSettings = {
  atWorkMs: 5_000,
  takenUpMs: 1_000,
  deferredMs: 86_400_000,
  readMs: 1_000,
  againMs: 5_000,
  againMostMs: 60_000,
};
