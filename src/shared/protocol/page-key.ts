/**
 * The page key: a secret that a browser has besides its cookie. A cookie is sent to every port of a
 * host, while an origin's storage is only readable by that origin. The one-time link hands the key
 * over, and every call sends it.
 */
export const PAGE_KEY = {
  /** Header of a call. */
  header: 'roost-page-key',
  /** Key in the origin's localStorage. */
  stored: 'roost.page-key',
  /**
   * A WebSocket cannot send custom headers, so the page offers two subprotocols. This is the one
   * that is used.
   */
  protocol: 'roost',
  /** Prefix of the other subprotocol, followed by the key. */
  offered: 'roost.page-key.',
} as const;
