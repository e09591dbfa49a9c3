/**
 * The page key: what a browser has besides its cookie. A cookie goes to every port of a host; what
 * is in an origin's storage is read by that origin alone. The one-time link hands the key over, and
 * it goes with each call.
 */
export const PAGE_KEY = {
  /** The header of a call. */
  header: 'roost-page-key',
  /** Its name in the origin's localStorage. */
  stored: 'roost.page-key',
  /**
   * A WebSocket has no headers of ours: it offers two subprotocols, and this is the one that is
   * spoken.
   */
  protocol: 'roost',
  /** The other: this, and the key. */
  offered: 'roost.page-key.',
} as const;
