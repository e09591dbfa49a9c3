/** Every limit of counting costs that is no setting of the household. */
export const COST_LIMITS = {
  /** Requests under way at once, of one agent and by one credential; others wait. */
  underWayPerAgent: 128,
  underWayPerCredential: 64,
  /**
   * Millionths of a dollar: no request costs more. What says so has not counted, and sums must stay
   * whole numbers.
   */
  requestMicroUsd: 1_000_000_000_000,
  /** ms that a request waits for others to end, where these may use up what is left. */
  waitMs: 120_000,
  /** Who spent most, named in the message that a budget is used up. */
  spendersNamed: 3,
  /**
   * UTF-8 bytes to a token, where nothing was counted yet by a model's server: English prose with
   * JSON in between.
   */
  bytesPerToken: 3.5,
  /** What a server counts is believed as long as it makes so many bytes to a token. */
  bytesPerTokenLeast: 1,
  bytesPerTokenMost: 10,
  /** Models of which it is remembered, and how many requests of each. */
  modelsKnown: 100,
  densitiesKept: 9,
  /** ms that measuring a wake may take. */
  measureMs: 10_000,
  /** Sessions in a report. */
  sessions: 50,
  /** Routines in a report. */
  routines: 50,
} as const;
