import { describe, expect, it } from 'vitest';
import { countOf, ids, itIsPlain, usePlainPage } from './plain-page.ts';

const { tab, reopened } = usePlainPage();

describe('a named key that is given its material at every start', () => {
  itIsPlain('leaves plain Fireproof with a ledger that it cannot decrypt', async () => {
    const first = await tab();
    await first.evaluate(() => window.faults.giveKey('@shared@'));
    const second = await reopened(first);
    await second.evaluate(() => window.faults.giveKey('@shared@'));
    await second.evaluate((all) => window.faults.putKeyed('keyed', all), ids('doc', 2));
    expect(await second.evaluate(() => window.faults.readKeyed('keyed'))).toHaveLength(2);
    const found = await (await reopened(second)).evaluate(() => window.faults.readKeyed('keyed'));
    expect(countOf(found)).toBe(0);
  });

  it('changes nothing with ours: the key that is there stays', async () => {
    const first = await tab();
    await first.evaluate((all) => window.faults.ours.bulk('v00001', all, 10), ids('before', 2));
    const second = await reopened(first);
    await second.evaluate(() => window.faults.ours.giveKeyAgain());
    await second.evaluate((all) => window.faults.ours.bulk('v00001', all, 10), ids('later', 2));
    expect(await (await reopened(second)).evaluate(() => window.faults.ours.read('v00001'))).toEqual([
      ...ids('before', 2),
      ...ids('later', 2),
    ]);
  });
});
