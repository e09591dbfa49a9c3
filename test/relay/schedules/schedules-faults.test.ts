/**
 * What runs by itself, through relays that die, hang and stay away: the short form of `npm run
 * faults -- schedules`.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { awayForHours, crowdAtOnce, hungRelay, idleNights } from '../../faults/schedules-quiet.ts';
import { DAY, liveSlice, openScheduleHouse, openYear, STATEMENTS, type ScheduleHouse } from '../../faults/schedules.ts';
import { faultsOfOutcomes } from '../../faults/schedule-outcomes.ts';
import type { Store } from '../../../server/store/index.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { routine } from '../../support/schedules.ts';
import { createRandom } from '../../support/random.ts';
import { createStorePlace, type StorePlace } from '../../support/stores.ts';

const HOUR = 3_600_000;

describe('every moment at which something is due', () => {
  // One for all: each household has a home of its own in it, and an idle one costs the others
  // nothing.
  let place: StorePlace;
  let store: Store;
  beforeAll(async () => {
    place = await createStorePlace();
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

  it('misses all moments of an absence of eight hours but one per schedule, two at a time', async () => {
    expect(await awayForHours(16, store)).toMatchObject({ atOnce: 2 });
  });

  it('ends each of many moments once, and limits concurrent runs', async () => {
    expect(await crowdAtOnce(32, store)).toMatchObject({ ends: { done: 32 } });
  });

  it.each(['claimed', 'in a run'] as const)('is not ended again by a relay that hung %s', async (where) => {
    expect(await hungRelay(where, store)).toContain('once');
  });

  const newAnswer = () => createDeferred();
  describe('has the outcome that its run had', () => {
    let house: ScheduleHouse;
    let answer: ReturnType<typeof newAnswer>;
    /** A run goes on, and is about to say its words. */
    beforeEach(async () => {
      answer = newAnswer();
      house = await openScheduleHouse({
        start: Date.UTC(2027, 5, 1, 12),
        script: () => [{ until: answer.promise }, { say: 'I looked around.' }],
        agents: 1,
        shared: store,
      });
      const { schedules } = house.relay().team;
      const written = await schedules.add(routine({ timing: { kind: 'every', minutes: 60, offset: 1 } }));
      if (!written.ok) throw new Error(written.reason);
      house.clock.pass(60_000);
      schedules.clock.wake();
      await expect.poll(() => house.model.requests.length, { timeout: 20_000 }).toBe(1);
    });
    afterEach(() => house.close());
    const rows = () => house.eyes.between(0, house.clock.now(), { most: 10 });
    async function is(what: object): Promise<void> {
      expect(await rows()).toMatchObject([what]);
      expect(await faultsOfOutcomes(store, await rows())).toEqual([]);
      expect(house.model.requests).toHaveLength(1);
    }

    it('keeps the outcome when the relay dies between the last words and the end', async () => {
      house.relay().dieAt(STATEMENTS['while it ends'], false);
      answer.resolve();
      await house.relay().dead;
      await house.restart();
      await is({ state: 'done', said: 'I looked around.' });
    });

    it('keeps the outcome when the store is away at the end', async () => {
      house.relay().refuse(STATEMENTS['while it ends'], 2);
      answer.resolve();
      await house.relay().team.schedules.clock.whenQuiet();
      await is({ state: 'done', said: 'I looked around.' });
    });

    it('keeps the outcome when the machine slept for ten minutes in the middle', async () => {
      house.clock.pass(10 * 60_000);
      const { clock } = house.relay().team.schedules;
      clock.wake();
      await expect.poll(() => clock.seenAt()).toBe(house.clock.now());
      answer.resolve();
      await clock.whenQuiet();
      await is({ state: 'done', said: 'I looked around.' });
    });
  });
});
