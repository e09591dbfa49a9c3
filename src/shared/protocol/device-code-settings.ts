/** Apart from the schemas, so that the page's first parts need not bring them. */
export const DEVICE_CODES = {
  /** ms that a code can be opened. */
  openMs: 5 * 60_000,
  /** ms that a guest has, from when the code was made, to become one of the devices. */
  guestMs: 15 * 60_000,
  /** Of one sign-in, open at once. */
  most: 5,
  /** Characters of an offer to join, at most. */
  offerLength: 2_000,
  /** ms between two looks of a page at what became of the code that it shows. */
  lookEveryMs: 1_000,
  /** What the link of a code carries behind its `#`, of which no server and no preview is told. */
  fragment: 'join=',
  /** Under this name a tab remembers, from one page to the next, that it came by a code. */
  remembered: 'roost-came-by-code',
} as const;

/** The link in a code. `address`: an origin. */
export const deviceLink = (address: string, code: string): string => `${address}/enter#${DEVICE_CODES.fragment}${code}`;
