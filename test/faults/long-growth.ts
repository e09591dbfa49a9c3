/**
 * Each seed is a simulated day of a thousand messages in one store: what the home grows by is
 * printed for each.
 */
import { demand } from './checks.ts';
import { liveDays } from './growth.ts';
import type { LongPart } from './long-part.ts';

/** Days after which what is kept by promise is all there. */
const SETTLED = 4;
/** Bytes that it may grow by from then on. */
const MOST_BYTES = 2 * 2 ** 20;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

export const growthPart: LongPart = {
  name: 'growth',
  short: ['relay/store/store-growth.test.ts'],
  with: (seed) => Array.from({ length: seed }, (_none, i) => i + 1),
  async run(seeds) {
    const days = await liveDays(seeds.length, (day, bytes) => console.log(`day ${day}: ${mb(bytes)}`));
    const grown = (days.at(-1) ?? 0) - (days[SETTLED - 1] ?? 0);
    demand(
      'After the days',
      days.length > SETTLED && grown > MOST_BYTES ? [`it grew by ${mb(grown)} after day ${SETTLED}`] : [],
    );
    return `${seeds.length} days; from day ${SETTLED} on it grew by ${mb(grown)}, to ${mb(days.at(-1) ?? 0)}`;
  },
};
