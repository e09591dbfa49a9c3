/** Calls of the sleeping flag. */
import type { Call } from './call.ts';

export const SLEEPING_CALLS: readonly Call[] = [];
