/** Calls of tokens and money. */
import type { Call } from './call.ts';

export const COST_CALLS: readonly Call[] = [];
