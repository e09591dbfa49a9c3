/**
 * Every default and limit of telling a person something while they look elsewhere, in one place;
 * times in ms.
 */
export const NOTIFICATION_LIMITS = {
  /** Devices of a household that are told. */
  devices: 20,
  /**
   * A page that was used within this time is given so long to show it itself, before its device is
   * pushed.
   */
  usedMs: 120_000,
  graceMs: 10_000,
  /** An answer that took longer than this is worth telling. */
  longAnswerMs: 30_000,
  /** A mention that is older than this is no news. */
  newsMs: 86_400_000,
  /**
   * What agents did by themselves is told when the household's clocks show this hour next, so that
   * one night is one notification.
   */
  nightHour: 8,
  /**
   * While something waits for its time, the clock is looked at so often: a timer stands still while
   * the machine sleeps.
   */
  lookMs: 60_000,
  /** Pushes of one home that are sent in one go. */
  atOnce: 20,
  /** What is claimed by a relay that then dies is claimed anew after this. */
  claimMs: 30_000,
  /**
   * One push; one that did not come through is tried again after these times, and then not any
   * more.
   */
  sendMs: 15_000,
  retriesMs: [5_000, 30_000, 120_000, 600_000],
  /** Longest wait that a push service may ask for. */
  waitMs: 3_600_000,
  /** s that a push service keeps one for a phone that is switched off. */
  ttlSeconds: 86_400,
  /** What was told is remembered so long. */
  keptMs: 14 * 86_400_000,
} as const;
export type NotificationLimits = {
  readonly [Name in keyof typeof NOTIFICATION_LIMITS]: (typeof NOTIFICATION_LIMITS)[Name] extends number
    ? number
    : readonly number[];
};
