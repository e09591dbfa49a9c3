/** Every limit and default of pages that agents read; times in ms. */
export const WEB_LIMITS = {
  /** Characters of an address. */
  address: 2_000,
  /** From an address to the next that it points to, and so on. */
  redirects: 5,
  /** Until all of it has come. */
  pageMs: 20_000,
  /** Bytes of a page that are read. What is longer is cut, and said to be. */
  bytes: 2_000_000,
  /**
   * Levels of its elements, as browsers draw them, and characters of its text. What is beyond is
   * cut.
   */
  depth: 512,
  textChars: 300_000,
  titleChars: 300,
  /** Of a page, read in one step. */
  pieceChars: 8_000,
  /** Characters that an agent is given of a page at once. */
  shownChars: 30_000,
  /** Pages of one household that are kept to be read on, and for how long. */
  kept: 20,
  keptMs: 10 * 60_000,
  /** Pages of one relay at once. */
  atOnce: 16,
} as const;

export type WebLimits = Readonly<Record<keyof typeof WEB_LIMITS, number>>;
