import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { ownerOf } from '../support/ledger-harness.ts';
import { useOwnerPage } from './owner-page.ts';
import { countOf, ids, itIsPlain, usePlainPage } from './plain-page.ts';

const plain = usePlainPage();
const ours = useOwnerPage();

describe('two tabs that write one ledger', () => {
  itIsPlain('lose what one of them wrote, with plain Fireproof', async () => {
    const [one, two] = [await plain.tab(), await plain.tab()];
    // Both have it open before either writes.
    await Promise.all([one, two].map((each) => each.evaluate(() => window.faults.read('shared'))));
    await Promise.all([
      one.evaluate((mine) => window.faults.put('shared', mine), ids('one', 10)),
      two.evaluate((mine) => window.faults.put('shared', mine), ids('two', 10)),
    ]);
    const found = await (await plain.tab()).evaluate(() => window.faults.read('shared'));
    expect(countOf(found)).toBeLessThan(20);
  });

  it('lose nothing with ours: one owner writes for both', async () => {
    const [one, two] = [await ours.home().tab(), await ours.home().tab()];
    const docs = Array.from({ length: 20 }, (_, n) => messageDoc(n));
    await Promise.all(docs.map((doc, n) => ownerOf(n % 2 ? one : two).call('append', [doc])));
    expect(await ours.stored(one)).toEqual(docs.map(({ _id }) => _id).sort());
  });
});
