/** Defaults and limits of notifications. Times in ms. */
export const NOTIFICATION_LIMITS = {
  /** Devices per household. */
  devices: 20,
  /**
   * A page that was used within this time gets the second one to show a notification itself, before
   * its device is pushed.
   */
  usedMs: 120_000,
  graceMs: 10_000,
  /** An answer that took longer deserves a notification. */
  longAnswerMs: 30_000,
  /** An older mention is not announced. */
  newsMs: 86_400_000,
  /**
   * Hour of the household's time zone at which agents' own activity is announced, so that one night
   * is one notification.
   */
  nightHour: 8,
  /**
   * Longest timer while something waits for its time: a timer stands still while the machine
   * sleeps.
   */
  checkMs: 60_000,
  /** Pushes of one home that are sent together. */
  atOnce: 20,
  /** After this, claims of a dead relay pass to another. */
  claimMs: 30_000,
  /** Time-out of one push, and pauses before its retries. After the last one it is not retried. */
  sendMs: 15_000,
  retriesMs: [5_000, 30_000, 120_000, 600_000],
  /** Longest wait that a push service may ask for. */
  waitMs: 3_600_000,
  /** s that a push service stores a push for a phone that is switched off. */
  ttlSeconds: 86_400,
  /** How long notifications are remembered. */
  keptMs: 14 * 86_400_000,
} as const;
