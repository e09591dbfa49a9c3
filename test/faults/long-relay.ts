/**
 * Each seed kills the relay once and the page once, in mid-answer, in a household that has been
 * through the seeds before it; so a seed is run again with those.
 */
import { MOMENTS, relayKillRound } from './relay-kill.ts';
import { ROUNDS_IN_A_HOUSE, runSeeds, seedsUpTo } from './seeds.ts';
import { ENDINGS, tabKillRound } from './tab-kill.ts';
import type { LongPart } from './long-part.ts';

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

export const relayPart: LongPart = {
  name: 'relay',
  short: ['faults/relay-kill.test.ts', 'faults/tab-kill.test.ts'],
  with: seedsUpTo,
  async run(seeds) {
    let words = 0;
    let answers = 0;
    await runSeeds(seeds, async ({ seed, place, house, random }) => {
      const at = performance.now();
      const moment = place === 0 ? 'birth' : (MOMENTS[(place - 1) % MOMENTS.length] ?? 'talk');
      const ending = ENDINGS[seed % ENDINGS.length] ?? 'close';
      await relayKillRound(house, moment, random);
      await tabKillRound(house, ending, random);
      if (place === ROUNDS_IN_A_HOUSE - 1 || seed === seeds.at(-1)) {
        answers += house.words.told.size;
        for (const text of house.words.told.values()) words += text.split(' ').length;
      }
      console.log(`seed ${seed}: relay killed (${moment}), page gone (${ending}), nothing lost, ${seconds(at)}`);
    });
    return `${seeds.length} kills of the relay, ${seeds.length} of the page; ${answers} answers of ${words} words begun; nothing lost, nothing twice`;
  },
};
