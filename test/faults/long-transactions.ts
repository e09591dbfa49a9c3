/**
 * Under Fireproof and under us: a browser that is killed while two readwrite transactions are under way in one
 * IndexedDB database may find it gone when it is back. Each seed is one kill with two at a time, which now and then
 * loses everything (it is counted, as it is a matter of chance), and one with one at a time, which never may.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createProfile } from '../support/chromium.ts';
import type {} from '../support/faults-page/main.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { createRandom } from '../support/random.ts';
import { demand } from './checks.ts';
import type { LongPart } from './run.ts';
import { withSeed } from './seeds.ts';

/** ms within which the browser is killed. */
const WITHIN = 1_500;

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

export const transactionsPart: LongPart = {
  name: 'transactions',
  with: (seed) => [seed],
  async run(seeds) {
    const page = await buildPage('faults-page');
    const server = await servePage(page);
    let gone = 0;
    try {
      for (const seed of seeds) {
        const ms = createRandom(seed)() * WITHIN;
        if ((await killedWhileWriting(server.url, 'two', ms)) === 0) gone += 1;
        await withSeed('transactions', seed, async () => {
          const left = await killedWhileWriting(server.url, 'one', ms);
          demand('After a kill with one transaction at a time', left === 0 ? ['the database is gone'] : []);
        });
        console.log(
          `seed ${seed}: killed after ${Math.round(ms)} ms; two transactions at a time have cost the database ${gone} times so far`,
        );
      }
    } finally {
      await server.close();
    }
    return `${seeds.length} kills of a bare database; with two transactions at a time it was gone ${gone} times, with one never`;
  },
};
