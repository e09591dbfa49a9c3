import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { drained, ownerOf } from '../support/ledger-harness.ts';
import { useOwnerPage } from './owner-page.ts';
import { ids, itIsPlain, usePlainPage } from './plain-page.ts';

const PUTS = 90;
const GROUP = 20;

const plain = usePlainPage();
const ours = useOwnerPage();

describe('what a put costs', () => {
  itIsPlain(
    'grows with every put before it with plain Fireproof: each is a commit that lists all commits',
    async () => {
      const bytes = await (
        await plain.tab()
      ).evaluate((all) => window.faults.bytesOfEachPut('cost', all), ids('doc', PUTS));
      expect(bytes.at(-1)).toBeGreaterThan(2 * (bytes[0] ?? 0));
    },
  );

  it('is shared with ours: many documents lie in one commit', async () => {
    const tab = await ours.home().tab();
    await Promise.all(Array.from({ length: PUTS }, (_, n) => ownerOf(tab).call('append', [messageDoc(n)])));
    await drained(tab);
    await ours.home().closeTabs();
    const cars = await (await ours.home().tab('?closed')).evaluate(() => window.roost.carsOf('v00001'));
    // One more for the first that went alone, and one for the last.
    expect(cars).toBeLessThanOrEqual(Math.ceil(PUTS / GROUP) + 2);
  });
});
