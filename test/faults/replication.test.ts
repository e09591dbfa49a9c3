import { describe, expect, it } from 'vitest';
import { runDevicesSeed } from './replication.ts';

/** Of the long form, `npm run faults -- devices`, a fifth. */
const OPERATIONS = 100;

describe('four devices and a relay, through drops, repeats, forgeries, cuts, restarts and older copies', () => {
  it('have the same in the end, and nothing is lost, where no device comes from an older copy', async () => {
    expect((await runDevicesSeed(1, { times: OPERATIONS })).documents).toBeGreaterThan(10);
  });

  it.each([36, 169])(
    'have the same in the end, and nothing is lost: seed %i, where once a copy had written under a writer that went on elsewhere',
    async (seed) => {
      expect((await runDevicesSeed(seed, { restored: true })).documents).toBeGreaterThan(100);
    },
  );

  it.each([
    { seed: 3, what: 'a device restored from an older copy fetched what would have covered up where it wrote twice' },
    { seed: 4, what: 'what two devices wrote in one place lay in the middle of what both had' },
    { seed: 117, what: 'a device fetched what it compares only after the comparison was over' },
    { seed: 10, what: 'a device had been under more writers than a peer compares at once' },
  ])('have the same in the end, and nothing is lost: seed $seed, where once $what', async ({ seed }) => {
    const { documents, entries } = await runDevicesSeed(seed, { restored: true, blind: true });
    expect(documents).toBeGreaterThan(100);
    expect(entries).toBeGreaterThanOrEqual(documents);
  });
});
