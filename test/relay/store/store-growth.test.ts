import { describe, expect, it } from 'vitest';
import { liveDays } from '../../faults/growth.ts';

/** The long form, 60 days, is `npm run faults -- growth --seeds 60`. */
const DAYS = 7;
/**
 * What a home may grow by over those days beside its rows: half a day's messages, where it was 3.2
 * MB for each day.
 */
const MOST_BYTES = 1.5 * 2 ** 20;

describe('the embedded store over days of a thousand messages', () => {
  it('does not grow by messages that were stored by a browser and deleted', { timeout: 120_000 }, async () => {
    const days = await liveDays(DAYS);
    // The first two days are kept by promise; from then on what comes takes the room of what went.
    const [settled = 0, last = 0] = [days[3], days.at(-1)];
    expect(last - settled).toBeLessThan(MOST_BYTES);
  });
});
