import { describe, it } from 'vitest';
import { MOMENTS, relayKillRound } from './relay-kill.ts';
import { runSeeds } from './seeds.ts';

/** One of each moment; the long form is `npm run faults`. */
const SEEDS = [1, 2, 3, 4];

/** ms; a quarter of a minute on a quiet machine. */
const TIMEOUT = 240_000;

describe('The relay, killed in mid-answer', () => {
  it('has stored every word that was shown, and wakes the team unchanged', { timeout: TIMEOUT }, async () => {
    await runSeeds(SEEDS, ({ house, place, random }) =>
      relayKillRound(house, place === 0 ? 'birth' : (MOMENTS[place - 1] ?? 'talk'), random),
    );
  });
});
