import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { ownerOf } from '../support/ledger-harness.ts';
import { useOwnerPage } from './owner-page.ts';
import { itIsPlain, usePlainPage } from './plain-page.ts';

const plain = usePlainPage();
const ours = useOwnerPage();

describe('what changed since, where several wrote at once', () => {
  itIsPlain(
    'is nothing with plain Fireproof, though there is more; and the clock that it gives out changes by itself',
    async () => {
      const found = await (await plain.tab()).evaluate(() => window.faults.changesAcrossMerge('merged'));
      expect(found.heads).toBeGreaterThan(1);
      expect(found.all).toHaveLength(6);
      expect(found.changes).toEqual([]);
      expect(found.clockKept).toBe(false);
    },
  );

  it('is everything with ours, told to every tab', async () => {
    const [one, two] = [await ours.home().tab(), await ours.home().tab()];
    const docs = Array.from({ length: 6 }, (_, n) => messageDoc(n));
    await Promise.all(docs.map((doc, n) => ownerOf(n % 2 ? one : two).call('append', [doc])));
    for (const tab of [one, two]) {
      const heard = await tab.evaluate(() =>
        window.roost.news.flatMap((item) => (item.news === 'documents' ? item.docs.map(({ _id }) => _id) : [])),
      );
      expect(heard.sort()).toEqual(docs.map(({ _id }) => _id).sort());
    }
  });
});
