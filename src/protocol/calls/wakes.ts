/** Calls of wakes, and the limits they keep to. */
import type { Call } from './call.ts';

export const WAKE_CALLS: readonly Call[] = [];
