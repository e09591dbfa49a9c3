/** Limits of threads that are not sizes of the protocol. Inclusive. `otherwise`: the default. */
export const THREAD_LIMITS = {
  /** Seconds that a call waits. Many clients abort a call after 60 s. */
  waitSeconds: { min: 0, max: 600, otherwise: 30 },
  /** Messages per page. */
  page: { min: 1, max: 200, otherwise: 50 },
  /** Threads per page of a list. */
  listPage: { min: 1, max: 200, otherwise: 100 },
  /** Characters of messages per page. A single message is always given whole. */
  pageCharacters: 100_000,
  /** Threads, or messages of threads, that are announced as records in one batch. */
  recordsAnnounced: 100,
  /** Agents that one call may name. */
  named: 9,
} as const;
