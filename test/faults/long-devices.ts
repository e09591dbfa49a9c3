import { OPERATIONS, runDevicesSeed } from './replication.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

const part = (name: string, restored: boolean): LongPart => ({
  name,
  short: ['faults/replication.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const together: number[] = [];
    for (const seed of seeds) {
      const at = performance.now();
      await withSeed(name, seed, async () => {
        const { documents, entries, togetherMs, happened } = await runDevicesSeed(seed, { restored });
        together.push(togetherMs);
        const told = Object.entries(happened)
          .sort(([, a], [, b]) => b - a)
          .map(([what, times]) => `${times} × ${what}`);
        console.log(
          `seed ${seed}: ${documents} documents in ${entries} entries everywhere, equal after ${(togetherMs / 1_000).toFixed(1)} s of virtual time, ${((performance.now() - at) / 1_000).toFixed(1)} s; ${told.join(', ')}`,
        );
      });
    }
    const middle = together.sort((a, b) => a - b)[Math.floor(together.length / 2)] ?? 0;
    return `${seeds.length} of ${seeds.length} equal after ${OPERATIONS} operations on 4 devices and a relay, nothing lost; median ${(middle / 1_000).toFixed(1)} s of virtual time once the faults were over`;
  },
});

export const devicesPart = part('devices', false);
/** The same, and devices that are put back to older copies of their profiles. */
export const restoredPart = part('restored-devices', true);
