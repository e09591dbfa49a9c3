/** Limits and defaults of the model proxy that are not settings of the household. */
export const PROXY_LIMITS = {
  /**
   * ms between two pings of a streaming request that waits. Clients commonly give up after 60 s of
   * silence.
   */
  pingMs: 10_000,
  /** Seconds before a client that waited too long should ask again. It then waits again. */
  retryAfterSeconds: 1,
  /**
   * ms without a byte from the upstream before the request fails. A model may think that long
   * before its first byte.
   */
  upstreamSilenceMs: 600_000,
  /** Bytes of a JSON answer that are read for its usage; depth and number of values of its JSON. */
  readBytes: 8_000_000,
  json: { depth: 100, values: 20_000 },
  /** The same limits for one event of a stream. An event with usage is short. */
  eventBytes: 65_536,
  eventJson: { depth: 16, values: 1_000 },
  /** Bytes of an answer that are read in one step. */
  pieceBytes: 16_384,
  /** Bytes of an upstream's error that are passed on. */
  refusalBytes: 1_000_000,
  /**
   * Calls of models with other protocols whose sealed parts are stored for the request that brings
   * their results.
   */
  sealedCalls: 500,
  /**
   * Estimate of a request's tokens where the upstream cannot count them. Prose has about four bytes
   * per token, code three.
   */
  bytesPerToken: 3.5,
  tokensPerPicture: 1_600,
} as const;

/** The API version of the oldest clients, and of clients that send none. */
export const FIRST_VERSION = '2023-06-01';
