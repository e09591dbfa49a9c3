/** Every limit of counting costs that is no setting of the household. */
export const COST_LIMITS = {
  /** What a request is expected to cost, in millionths of a dollar, while none has been counted. */
  firstRequestMicroUsd: 50_000,
  /** Of so many last requests the mean is what the next one is expected to cost. */
  expectedFrom: 20,
  /** ms that a request waits for others to end, where these may use up what is left. */
  waitMs: 120_000,
  /** Who spent most, named in the message that a budget is used up. */
  spendersNamed: 3,
  /** Sessions in a report. */
  sessions: 50,
  /** Days in a report, and replies asked for at once. */
  reportDays: 90,
  defaultReportDays: 14,
  replies: 100,
} as const;
