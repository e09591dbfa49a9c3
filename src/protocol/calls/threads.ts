/** Calls of threads. */
import type { Call } from './call.ts';

export const THREAD_CALLS: readonly Call[] = [];
