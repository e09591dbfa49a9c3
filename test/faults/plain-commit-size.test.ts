import { describe, expect, it } from 'vitest';
import { countOf, ids, itIsPlain, usePlainPage } from './plain-page.ts';

const { tab, reopened } = usePlainPage();

describe('a commit of 2.4 MB', () => {
  itIsPlain(
    'cannot be read after a reload with plain Fireproof, which splits it and loads the first piece',
    async () => {
      const writer = await tab();
      await writer.evaluate((all) => window.faults.bulk('large', all, 300_000), ids('doc', 8));
      const found = await (await reopened(writer)).evaluate(() => window.faults.read('large'));
      expect(countOf(found)).toBeLessThan(8);
    },
  );

  it('is all there with ours, which never splits one', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.bulk('v00001', all, 300_000), ids('doc', 8));
    expect(await (await reopened(writer)).evaluate(() => window.faults.ours.read('v00001'))).toEqual(ids('doc', 8));
  });
});
