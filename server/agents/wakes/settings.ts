/** Times of waking agents, in ms. */
export interface WakeSettings {
  /**
   * Between two checks whether an agent still works while a wake waits. Its run may belong to
   * another process.
   */
  readonly atWorkMs: number;
  /** Between a start and resuming what waited then. */
  readonly takenUpMs: number;
  /** Oldest wake, deferred or granted, that is resumed after a restart. */
  readonly deferredMs: number;
  /**
   * Between two checks whether an agent in the session has read the message that it was woken for.
   */
  readonly readMs: number;
  /** Until a stopped wake is requested again, where the time at which it would pass is unknown. */
  readonly againMs: number;
  /** Upper bound for any such wait, because the obstacle may disappear earlier. */
  readonly againMostMs: number;
}

/**
 * ms until a stopped wake is requested again. `until`: when it would pass, ms since the epoch.
 * Null: not known.
 */
export const againIn = (until: number | null, now: number, { againMs, againMostMs }: WakeSettings): number =>
  Math.min(Math.max(until === null ? againMs : until - now, 1), againMostMs);

export const WAKE_SETTINGS: WakeSettings = {
  atWorkMs: 5_000,
  takenUpMs: 1_000,
  deferredMs: 86_400_000,
  readMs: 1_000,
  againMs: 5_000,
  againMostMs: 60_000,
};
