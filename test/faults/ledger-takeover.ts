/** Three tabs write without a pause, and their owner is ended again and again at random moments. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Household, LedgerBench } from '../support/ledger-harness.ts';
import { demand } from './checks.ts';
import { faultsOfLedgerAfter } from './ledger-checks.ts';
import { killOwner } from './ledger-owners.ts';
import { createScribe } from './ledger-scribe.ts';

const TABS = 3;
/** Of the long form. */
const KILLS = 10;
/** ms at most from one kill to the next. */
const BETWEEN = 700;

/**
 * One story on a new household, which is removed. Rejects with a `Fault` where something is wrong.
 */
export async function ledgerTakeoverRound(bench: LedgerBench, random: () => number, kills = KILLS): Promise<void> {
  const home = await bench.household();
  try {
    await killedAgainAndAgain(home, random, kills);
  } finally {
    await home.remove();
  }
}

async function killedAgainAndAgain(home: Household, random: () => number, kills: number): Promise<void> {
  const pauses = Array.from({ length: kills }, () => random() * BETWEEN);
  const scribe = createScribe(random);
  let over = false;
  const tabs = [];
  for (let n = 0; n < TABS; n++) tabs.push(await home.tab());
  const writing = Promise.all(
    tabs.map(async (tab) => {
      while (!over) await scribe.write(tab);
    }),
  );
  for (const pause of pauses) {
    await sleep(pause);
    // Where the next one has not begun yet there is nobody to end.
    while ((await killOwner(home.context())) === 0) await sleep(5);
  }
  over = true;
  await writing;
  demand(`After ${kills} owners of ${TABS} tabs were killed`, await faultsOfLedgerAfter(home, scribe.story));
}
