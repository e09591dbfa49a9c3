/**
 * Under Fireproof and under us: a browser that is killed while two readwrite transactions are under
 * way in one IndexedDB database may find it gone when it is back. Each seed is one kill with two at
 * a time, which now and then loses everything (it is counted, as it is a matter of chance), and one
 * with one at a time, which never may.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createProfile } from '../support/chromium.ts';
import type {} from '../support/faults-page/main.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { createRandom } from '../support/random.ts';
import { demand } from './checks.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

/** How many records are there after the kill; 0 where the database is gone or cannot be opened. */
async function killedWhileWriting(url: string, atOnce: 'two' | 'one', ms: number): Promise<number> {
  const profile = await createProfile();
  try {
    const writer = await (await profile.open()).newPage();
    await writer.goto(url);
    await writer.evaluate((how) => window.faults.writeWithoutEnd(how), atOnce);
    await sleep(ms);
    await profile.kill();
    const reader = await (await profile.open()).newPage();
    await reader.goto(url);
    return await reader.evaluate(() => window.faults.leftOfWriting().catch(() => 0));
  } finally {
    await profile.remove();
  }
}

export interface TransactionsPlan {
  /** The browser is killed within so many ms. */
  readonly withinMs: number;
  /**
   * How many transactions are under way, one kill each: with one the database must be there
   * afterwards.
   */
  readonly kills: readonly ('two' | 'one')[];
}
const FULL: TransactionsPlan = { withinMs: 1_500, kills: ['two', 'one'] };

/** Answers how often two transactions at a time have cost the database. */
export async function killTransactions(
  seeds: readonly number[],
  { withinMs, kills }: TransactionsPlan,
  onSeed: (seed: number, ms: number, gone: number) => void = () => undefined,
): Promise<number> {
  const server = await servePage(await buildPage('faults-page'));
  let gone = 0;
  try {
    for (const seed of seeds) {
      const ms = createRandom(seed)() * withinMs;
      for (const atOnce of kills)
        await withSeed('transactions', seed, async () => {
          const isGone = (await killedWhileWriting(server.url, atOnce, ms)) === 0;
          if (atOnce === 'two') gone += Number(isGone);
          else demand('After a kill with one transaction at a time', isGone ? ['the database is gone'] : []);
        });
      onSeed(seed, ms, gone);
    }
  } finally {
    await server.close();
  }
  return gone;
}

export const transactionsPart: LongPart = {
  name: 'transactions',
  short: ['faults/transactions.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const gone = await killTransactions(seeds, FULL, (seed, ms, so) =>
      console.log(
        `seed ${seed}: killed after ${Math.round(ms)} ms; two transactions at a time have cost the database ${so} times so far`,
      ),
    );
    return `${seeds.length} kills of a bare database; with two transactions at a time it was gone ${gone} times, with one never`;
  },
};
