/**
 * Seeded rounds. Some rounds in a row share a household, so that faults meet a ledger and a log
 * that have been through others; a seed is run again together with those before it in its
 * household.
 */
import { createRandom } from '../support/random.ts';
import { createHouse, type House } from './household.ts';

export const ROUNDS_IN_A_HOUSE = 5;

export interface SeededRound {
  readonly seed: number;
  /** 0 for the first in its household. */
  readonly place: number;
  readonly house: House;
  readonly random: () => number;
}

/** The seeds to run so that `seed` meets what it met: its household's, up to itself. */
export function seedsUpTo(seed: number): number[] {
  const first = seed - ((seed - 1) % ROUNDS_IN_A_HOUSE);
  return Array.from({ length: seed - first + 1 }, (_none, i) => first + i);
}

/** A failure says how to run its seed again. */
export async function withSeed(part: string, seed: number, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw new Error(
      `Seed ${seed} failed. Again: npm run faults -- ${part} --seed ${seed}\n${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Runs the seeds in order. A round that throws ends the run, with the seed in the message. */
export async function runSeeds(seeds: readonly number[], round: (given: SeededRound) => Promise<void>): Promise<void> {
  let house: House | null = null;
  try {
    for (const seed of seeds) {
      const place = (seed - 1) % ROUNDS_IN_A_HOUSE;
      if (house === null || place === 0) {
        await house?.close();
        house = null;
        house = await createHouse(seed - place);
      }
      const open = house;
      await withSeed('relay', seed, () => round({ seed, place, house: open, random: createRandom(seed) }));
    }
  } finally {
    await house?.close();
  }
}
