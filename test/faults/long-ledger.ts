import { openBench } from '../support/ledger-harness.ts';
import { WRITES } from './ledger-kill.ts';
import { endOf, runLedgerSeed, takesOver } from './ledger-seed.ts';
import type { LongPart } from './long-part.ts';

export const ledgerPart: LongPart = {
  name: 'ledger',
  short: ['faults/ledger-kill.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const bench = await openBench();
    bench.relay.refuse(503);
    try {
      for (const seed of seeds) {
        const at = performance.now();
        await runLedgerSeed(bench, seed);
        console.log(
          `seed ${seed}: ${endOf(seed)} killed in ${WRITES} writes${takesOver(seed) ? ', ten owners of three tabs killed' : ''}, nothing lost, ${((performance.now() - at) / 1_000).toFixed(1)} s`,
        );
      }
    } finally {
      await bench.close();
    }
    return `${seeds.length} runs of ${WRITES} writes with a kill in each, ${seeds.filter(takesOver).length} with ten; nothing lost, nothing twice`;
  },
};
