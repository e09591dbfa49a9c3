/** Each seed makes a backup at a random moment while a device writes, and restores it. */
import { createRandom } from '../support/random.ts';
import { backUpUnderLoad } from './backup.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

export const backupPart: LongPart = {
  name: 'backup',
  short: ['relay/cli/backup.test.ts', 'relay/cli/kills.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    let entries = 0;
    for (const seed of seeds)
      await withSeed('backup', seed, async () => {
        const { before, restored, all } = await backUpUnderLoad(createRandom(seed));
        entries += all;
        console.log(`seed ${seed}: ${before} entries before the backup, ${restored} restored, ${all} in the end`);
      });
    return `${seeds.length} backups under load were restored, and devices gave back the rest of ${entries} entries`;
  },
};
