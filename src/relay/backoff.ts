import { RELAY_TIMES } from './settings.ts';

/**
 * How long to wait, in ms, before try number `failures` + 1: doubling, and anywhere in the upper half of
 * that, so that many pages do not come back to one relay at the same moment. `random` gives 0 to 1.
 */
export function backoff(failures: number, random: () => number): number {
  const full = Math.min(RELAY_TIMES.backoffMost, RELAY_TIMES.backoffFirst * 2 ** Math.min(failures, 16));
  return full / 2 + (full / 2) * random();
}
