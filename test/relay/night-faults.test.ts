/** What runs by itself, through relays that die, hang and stay away: the short form of `npm run faults -- night`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awayForHours, hungRelay, idleNights } from '../faults/night-quiet.ts';
import { DAY, liveSlice, openYear } from '../faults/night.ts';
import type { Store } from '../../server/store/index.ts';
import { createRandom } from '../support/random.ts';
import { createStorePlace, type StorePlace } from '../support/stores.ts';

const HOUR = 3_600_000;

describe('every moment at which something is due', () => {
  // One for all: each household has a home of its own in it, and an idle one costs the others nothing.
  let place: StorePlace;
  let store: Store;
  beforeAll(async () => {
    place = await createStorePlace('pglite');
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  it.each([
    ['forward', Date.UTC(2027, 2, 27)],
    ['back', Date.UTC(2027, 9, 30)],
  ])('comes to one end, as it was told before, over kills and the night on which clocks go %s', async (_way, start) => {
    const house = await openYear(12, start, store);
    try {
      const { moments, kills } = await liveSlice(house, 1.5 * DAY, 4, createRandom(1));
      expect(moments).toBeGreaterThan(8);
      expect(Object.values(kills).reduce((sum, count) => sum + count)).toBe(4);
    } finally {
      await house.close();
    }
  });

  it('passes by without a request where nothing waits', async () => {
    expect(await idleNights(1, 2 * HOUR, store)).toBeGreaterThan(0);
  });

  it('in an absence of eight hours is missed, but for one of each schedule, two at a time', async () => {
    expect(await awayForHours(store)).toMatchObject({ atOnce: 2 });
  });

  it.each(['claimed', 'in a run'] as const)('is not ended again by a relay that hung %s', async (where) => {
    expect(await hungRelay(where, store)).toContain('once');
  });
});
