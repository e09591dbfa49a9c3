/** Every limit of what agents look for that is not a size of the wire. */
export const SEARCH_LIMITS = {
  /**
   * ms for which a page is waited for. It may just have been opened, and have its index still to
   * read.
   */
  answerMs: 8_000,
  /** Searches of one household that wait for pages at once. */
  atOnce: 8,
  /** Pieces that are given where nothing is said. */
  passages: 10,
  /** Characters of an outcome. */
  characters: 30_000,
  /**
   * Of the words that are looked for in a standing copy one in so many may be missing, where not
   * all stand in one message.
   */
  oneMissingOf: 4,
} as const;
export type SearchLimits = typeof SEARCH_LIMITS;
