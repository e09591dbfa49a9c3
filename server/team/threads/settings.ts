/**
 * Every limit of threads that is not a size of the wire. Inclusive; `otherwise` holds where nothing
 * is said.
 */
export const THREAD_LIMITS = {
  /** Seconds that a call waits. Many clients give a call up after 60 s. */
  waitSeconds: { min: 0, max: 600, otherwise: 30 },
  /** Messages on one page. */
  page: { min: 1, max: 200, otherwise: 50 },
  /** Threads on one page of a list. */
  listPage: { min: 1, max: 200, otherwise: 100 },
  /** Characters of messages on one page; a single message is given whole, whatever its length. */
  pageCharacters: 100_000,
  /** Threads, or messages of them, that are told as records at once. */
  recordsAnnounced: 100,
  /** Agents that one call names. */
  named: 9,
} as const;
