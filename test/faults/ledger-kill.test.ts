import { afterAll, beforeAll, describe, it } from 'vitest';
import { openBench, type LedgerBench } from '../support/ledger-harness.ts';
import { endOf, runLedgerSeed, takesOver } from './ledger-seed.ts';

/**
 * One for each that can be killed, one of which takes over, and short; the long form is `npm run
 * faults -- ledger`.
 */
const SEEDS = [2, 3, 10];
const WRITES = 100;
const KILLS = 2;

let bench: LedgerBench;
beforeAll(async () => {
  bench = await openBench();
  bench.relay.refuse(503);
});
afterAll(() => bench.close());

describe(`${WRITES} writes, and whoever owns the ledger killed at a random moment of them`, () => {
  it.each(
    SEEDS.map((seed) => ({
      seed,
      what: `${endOf(seed)}${takesOver(seed) ? `, then ${KILLS} owners of three tabs` : ''}`,
    })),
  )('leave every acknowledged document, none twice, and views that equal the volumes (seed $seed: $what)', ({ seed }) =>
    runLedgerSeed(bench, seed, { writes: WRITES, kills: KILLS }),
  );
});
