/** Amounts in US dollars, and what is left of a daily budget. */

export const MICRO_USD = 1_000_000;

/** All in millionths of a dollar. `held` is the maximum cost of all requests under way. */
export interface BudgetState {
  /** Null: no limit. 0: no request is allowed. */
  readonly budget: number | null;
  readonly spent: number;
  readonly held: number;
}

/**
 * Whether another request that may cost `most` can be sent.
 *
 * - `open`: it fits, or no other request is under way. A budget is therefore exceeded by one
 *   request at most, and is never left unused because nothing fits.
 * - `held`: it has to wait until a request under way is done.
 * - `spent`: not today.
 */
export function roomIn({ budget, spent, held }: BudgetState, most: number): 'open' | 'held' | 'spent' {
  if (budget === null) return 'open';
  if (spent >= budget) return 'spent';
  return held > 0 && spent + held + most > budget ? 'held' : 'open';
}

/** A budget in dollars as whole millionths of a dollar. */
export const microUsdOf = (usd: number | null): number | null => (usd === null ? null : Math.round(usd * MICRO_USD));

/** An amount as people read it: `$5.00`, with more decimals below a cent. */
export function usdText(microUsd: number): string {
  const usd = microUsd / MICRO_USD;
  return `$${microUsd > 0 && usd < 0.01 ? usd.toFixed(6).replace(/0+$/, '') : usd.toFixed(2)}`;
}
