/**
 * How long writing stands still when whoever owns the ledger is ended: from the kill to the next
 * acknowledged append.
 */
import { crashTab, killOwner } from '../faults/ledger-owners.ts';
import { messageDoc } from '../support/documents.ts';
import { openBench, ownerOf, type LedgerBench } from '../support/ledger-harness.ts';
import { median, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

const LIMIT_MS = 1_000;

const ENDED = ['worker', 'crashed tab', 'closed tab'] as const;
type Ended = (typeof ENDED)[number];

async function takeover(bench: LedgerBench, ended: Ended): Promise<number> {
  const query = ended === 'worker' ? '' : '?without-shared-worker';
  const home = await bench.household();
  try {
    const owner = await home.tab(query);
    await ownerOf(owner).call('append', [messageDoc(1)]);
    const other = await home.tab(query);
    await ownerOf(other).call('append', [messageDoc(2)]);
    const began = performance.now();
    if (ended === 'worker') await killOwner(home.context());
    else if (ended === 'closed tab') await owner.close();
    else await crashTab(owner);
    await ownerOf(other).call('append', [messageDoc(3)]);
    return performance.now() - began;
  } finally {
    await home.remove();
  }
}

/** About half a minute. */
export const ledgerTakeover = definePart({
  name: 'ledger-takeover',
  needs: 'browser',
  /** What is ended, and how often each. */
  full: { kills: 7, ended: ENDED as readonly Ended[] },
  smoke: { kills: 1, ended: ['crashed tab'] as readonly Ended[] },
  run: ({ kills, ended: all }) =>
    withOpened(async (keep) => {
      const bench = keep(await openBench(), (one) => one.close());
      bench.relay.refuse(503);
      const figures: Figure[] = [];
      for (const ended of all) {
        const times: number[] = [];
        for (let n = 0; n < kills; n++) times.push(await takeover(bench, ended));
        figures.push(
          {
            what: `${ended}, median`,
            value: median(times),
            unit: 'ms',
            beside: { kind: 'limit', what: 'until another writes', value: LIMIT_MS },
          },
          {
            what: '  longest',
            value: Math.max(...times),
            unit: 'ms',
            beside: { kind: 'limit', what: 'the same', value: LIMIT_MS },
          },
        );
      }
      return {
        title: 'Taking over',
        method: `${kills} times each, from the kill to the next acknowledged append of another tab; the tabs without SharedWorker`,
        figures,
      };
    }),
});
