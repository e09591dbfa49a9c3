import { describe, it } from 'vitest';
import { runSeeds } from './seeds.ts';
import { ENDINGS, tabKillRound } from './tab-kill.ts';

const SEEDS = [1, 2, 3];

/** ms; a quarter of a minute on a quiet machine. */
const TIMEOUT = 240_000;

describe('The page, gone in mid-answer while the relay goes on', () => {
  it('shows every word once when it is opened again, and the session runs', { timeout: TIMEOUT }, async () => {
    await runSeeds(SEEDS, ({ house, place, random }) =>
      tabKillRound(house, ENDINGS[place % ENDINGS.length] ?? 'close', random),
    );
  });
});
