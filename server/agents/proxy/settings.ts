/** Every limit and default of the model proxy that is no setting of the household. */
export const PROXY_LIMITS = {
  /**
   * ms between two pings of a streaming request that is held; clients commonly give up after 60 s
   * of silence.
   */
  pingMs: 10_000,
  /**
   * What a client that was held too long is told to wait before it asks again, and is held again.
   */
  retryAfterSeconds: 1,
  /**
   * ms without a byte from the upstream, before the request is given up. A model may think that
   * long before its first.
   */
  upstreamSilenceMs: 600_000,
  /** Bytes of a JSON answer that are read for its usage; levels and values of its JSON. */
  readBytes: 8_000_000,
  json: { depth: 100, values: 20_000 },
  /** The same of one event of a stream. One that tells what an answer took is short. */
  eventBytes: 65_536,
  eventJson: { depth: 16, values: 1_000 },
  /** Bytes of an answer that are read in one step. */
  pieceBytes: 16_384,
  /** Bytes of an upstream's refusal that are passed on. */
  refusalBytes: 1_000_000,
  /**
   * Calls of models of other protocols whose sealed parts are kept, for the request that brings
   * their results.
   */
  sealedCalls: 500,
  /** Of a request, where the upstream cannot count its tokens: prose has about four, code three. */
  bytesPerToken: 3.5,
  tokensPerPicture: 1_600,
} as const;

/** What clients of the oldest generation send, and what is sent for those that send none. */
export const FIRST_VERSION = '2023-06-01';
