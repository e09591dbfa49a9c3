import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { ownerOf } from '../support/ledger-harness.ts';
import { useOwnerPage } from './owner-page.ts';
import { countOf, ids, itIsPlain, usePlainPage } from './plain-page.ts';

const WRITES = 100;

const plain = usePlainPage();
const ours = useOwnerPage();

describe('closing while writes are waiting', () => {
  itIsPlain(
    'loses some of them with plain Fireproof, which stops what writes before its queue is drained',
    async () => {
      const writer = await plain.tab();
      const answered = await writer.evaluate((all) => window.faults.putAndClose('closing', all), ids('doc', WRITES));
      const found = await (await plain.reopened(writer)).evaluate(() => window.faults.read('closing'));
      expect(Math.min(answered, countOf(found))).toBeLessThan(WRITES);
    },
  );

  it('loses nothing with ours that was answered, though its tabs close at once', async () => {
    const tab = await ours.home().tab();
    const docs = Array.from({ length: WRITES }, (_, n) => messageDoc(n));
    await Promise.all(docs.map((doc) => ownerOf(tab).call('append', [doc])));
    await ours.home().closeTabs();
    expect(await ours.stored(await ours.home().tab())).toEqual(docs.map(({ _id }) => _id).sort());
  });
});
