/** Every limit of counting costs that is no setting of the household. */
export const COST_LIMITS = {
  /** Requests under way at once, of one agent and by one credential; others wait. */
  underWayPerAgent: 128,
  underWayPerCredential: 64,
  /** Millionths of a dollar: no request costs more. What says so has not counted, and sums must stay whole numbers. */
  requestMicroUsd: 1_000_000_000_000,
  /** ms that a request waits for others to end, where these may use up what is left. */
  waitMs: 120_000,
  /** Who spent most, named in the message that a budget is used up. */
  spendersNamed: 3,
  /** Sessions in a report. */
  sessions: 50,
  /** Routines in a report. */
  routines: 50,
} as const;
