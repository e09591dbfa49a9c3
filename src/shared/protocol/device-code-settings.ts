/** Separate from the schemas, so that the page's first chunk does not have to load them. */
export const DEVICE_CODES = {
  /** ms for which a code can be opened. */
  openMs: 5 * 60_000,
  /** ms that a guest has, from when the code was made, to become a device of the household. */
  guestMs: 15 * 60_000,
  /** Maximum number of open codes per sign-in. */
  most: 5,
  /** Maximum characters of an offer to join. */
  offerLength: 2_000,
  /** ms between two polls of the state of a code that the page shows. */
  pollEveryMs: 1_000,
  /** Key in the fragment of a code's link, which no server and no link preview receives. */
  fragment: 'join=',
  /** Storage key under which a tab remembers, across page loads, that it came by a code. */
  remembered: 'roost-came-by-code',
} as const;

/** The link of a code. `address`: an origin. */
export const deviceLink = (address: string, code: string): string => `${address}/enter#${DEVICE_CODES.fragment}${code}`;
