/** Limits of cost counting that are not settings of the household. */
export const COST_LIMITS = {
  /** Most requests under way at once, per agent and per credential. Others wait. */
  underWayPerAgent: 128,
  underWayPerCredential: 64,
  /**
   * Highest cost of a request, in millionths of a dollar. A higher figure is a mistake, and sums
   * must stay safe integers.
   */
  requestMicroUsd: 1_000_000_000_000,
  /** ms that a request waits for others to end when these may use up the budget. */
  waitMs: 120_000,
  /** Agents named in the message about a used-up budget: those that spent most. */
  spendersNamed: 3,
  /** UTF-8 bytes per token before a provider has counted any: English prose mixed with JSON. */
  bytesPerToken: 3.5,
  /** A provider's count is used only if its bytes per token are within these bounds. */
  bytesPerTokenLeast: 1,
  bytesPerTokenMost: 10,
  /** Models whose bytes per token are remembered, and requests remembered per model. */
  modelsKnown: 100,
  densitiesKept: 9,
  /** ms that measuring a wake may take. */
  measureMs: 10_000,
  /** Most sessions in a report. */
  sessions: 50,
  /** Most routines in a report. */
  routines: 50,
} as const;
