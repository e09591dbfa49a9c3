/** Limits and defaults of pages that agents read. Times in ms. */
export const WEB_LIMITS = {
  /** Characters of an address. */
  address: 2_000,
  /** Redirects that are followed. */
  redirects: 5,
  /** Time for the whole response. */
  pageMs: 20_000,
  /** Bytes of a page that are read. A longer page is cut, and marked as cut. */
  bytes: 2_000_000,
  /** Depth of its elements, as in browsers, and characters of its text. The rest is cut. */
  depth: 512,
  textChars: 300_000,
  titleChars: 300,
  /** Characters of a page that are parsed in one step. */
  pieceChars: 8_000,
  /** Characters of a page that an agent receives at once. */
  shownChars: 30_000,
  /** Pages per household that are stored for further reading, and for how long. */
  kept: 20,
  keptMs: 10 * 60_000,
  /** Concurrent pages per relay. */
  atOnce: 16,
} as const;

export type WebLimits = Readonly<Record<keyof typeof WEB_LIMITS, number>>;
