import { afterAll, beforeAll, describe, it } from 'vitest';
import { openBench, type LedgerBench } from '../support/ledger-harness.ts';
import { endOf, runLedgerSeed, takesOver } from './ledger-seed.ts';

/** One for each that can be killed, one of which takes over; a seed that ever failed stays here. */
const SEEDS = [2, 3, 10];

let bench: LedgerBench;
beforeAll(async () => {
  bench = await openBench();
  bench.relay.refuse(503);
});
afterAll(() => bench.close());

describe('500 writes, and whoever owns the ledger killed at a random moment of them', () => {
  it.each(
    SEEDS.map((seed) => ({ seed, what: `${endOf(seed)}${takesOver(seed) ? ', then ten owners of three tabs' : ''}` })),
  )('leave every acknowledged document, none twice, and views that equal the volumes (seed $seed: $what)', ({ seed }) =>
    runLedgerSeed(bench, seed),
  );
});
