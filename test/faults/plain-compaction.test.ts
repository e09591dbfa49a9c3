import { describe, expect, it } from 'vitest';
import { countOf, ids, itIsPlain, usePlainPage } from './plain-page.ts';

const { tab, reopened } = usePlainPage();

describe('300 documents put one by one', () => {
  itIsPlain(
    'are not all there after a reload with plain Fireproof, whose compaction races with its writes',
    async () => {
      const writer = await tab();
      await writer.evaluate((all) => window.faults.put('many', all), ids('doc', 300));
      const found = await (await reopened(writer)).evaluate(() => window.faults.read('many'));
      expect(countOf(found)).toBeLessThan(300);
    },
  );

  it('are all there with ours, which compacts between writes and only under the lock', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.put('v00001', all), ids('doc', 300));
    expect(await (await reopened(writer)).evaluate(() => window.faults.ours.read('v00001'))).toEqual(ids('doc', 300));
  });

  it('are not compacted by our code while the lock is free', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.bulk('v00001', all, 10), ids('a', 2));
    await writer.evaluate((all) => window.faults.ours.bulk('v00001', all, 10), ids('b', 2));
    expect(await writer.evaluate(() => window.faults.ours.compactWithoutLock('v00001'))).toMatch(/CARs/);
    expect(await (await tab()).evaluate(() => window.faults.ours.read('v00001'))).toEqual([
      ...ids('a', 2),
      ...ids('b', 2),
    ]);
  });
});
