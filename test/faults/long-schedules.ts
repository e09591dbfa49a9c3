/**
 * Each seed is a fiftieth of a year, with ten kills: fifty of them are a hundred routines over a
 * whole year, both changes of the clocks, and five hundred kills. Ten that follow each other are of
 * one household, so that faults meet an account that has been through others: a seed is run again
 * with those before it there. With the first come thirty idle nights, eight hours without a relay,
 * and relays that hang.
 */
import { createRandom } from '../support/random.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';
import { awayForHours, crowdAtOnce, hungRelay, idleNights } from './schedules-quiet.ts';
import { KILLS_IN_A_SLICE, liveSlice, openYear, SLICE_MS, type ScheduleHouse } from './schedules.ts';
import { YEAR_START } from './schedule-moments.ts';

const NIGHTS = 30;
const SEEDS_IN_A_HOUSE = 10;
const placeOf = (seed: number) => (seed - 1) % SEEDS_IN_A_HOUSE;
const counted = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

export const schedulesPart: LongPart = {
  name: 'schedules',
  short: ['relay/schedules/schedules-faults.test.ts'],
  with: (seed) => Array.from({ length: placeOf(seed) + 1 }, (_none, i) => seed - placeOf(seed) + i),
  async run(seeds) {
    if (seeds.includes(1)) {
      console.log(`idle: ${await idleNights(NIGHTS)} moments in ${NIGHTS} nights, 0 requests, 0 runs`);
      const { madeUp, missed, atOnce } = await awayForHours();
      console.log(`away 8 hours: ${madeUp} of 40 made up for once, at most ${atOnce} at once, ${missed} missed`);
      const crowd = await crowdAtOnce();
      console.log(
        `400 due at once: ${counted(crowd.ends)}, at most ${crowd.atOnce} at once, a list within ${crowd.slowest} ms`,
      );
      console.log(`hung ${await hungRelay('claimed')}; ${await hungRelay('in a run')}`);
    }
    let house = null as ScheduleHouse | null;
    const ends: Record<string, number> = {};
    const kills: Record<string, number> = {};
    let moments = 0;
    try {
      for (const seed of seeds) {
        const at = performance.now();
        await withSeed('schedules', seed, async () => {
          if (house === null || placeOf(seed) === 0) {
            await house?.close();
            house = await openYear(100, YEAR_START + (seed - 1) * SLICE_MS);
          }
          const open = house;
          const slice = await liveSlice(open, SLICE_MS, KILLS_IN_A_SLICE, createRandom(seed));
          moments += slice.moments;
          for (const [end, count] of Object.entries(slice.ends)) ends[end] = (ends[end] ?? 0) + count;
          for (const [where, count] of Object.entries(slice.kills)) kills[where] = (kills[where] ?? 0) + count;
          const day = new Date(open.clock.now()).toISOString().slice(0, 10);
          console.log(
            `seed ${seed}: to ${day}, ${slice.moments} moments, ${slice.runs} runs, ${((performance.now() - at) / 1_000).toFixed(1)} s`,
          );
        });
      }
    } finally {
      await house?.close();
    }
    return `${moments} moments of 100 routines, ${seeds.length * KILLS_IN_A_SLICE} kills (${counted(kills)}); one end each, none twice, all as told before: ${counted(ends)}`;
  },
};
