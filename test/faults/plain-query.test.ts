import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { drained, ownerOf } from '../support/ledger-harness.ts';
import { useOwnerPage } from './owner-page.ts';
import { ids, itIsPlain, usePlainPage } from './plain-page.ts';

const plain = usePlainPage();
const ours = useOwnerPage();

describe('a query after a write', () => {
  itIsPlain('indexes every document again with plain Fireproof', async () => {
    const indexed = await (
      await plain.tab()
    ).evaluate((all) => window.faults.indexedByQueries('asked', all), ids('doc', 50));
    expect(indexed).toEqual([50, 51]);
  });

  it('is answered by ours from views alone, with no volume to ask', async () => {
    let tab = await ours.home().tab();
    const docs = Array.from({ length: 50 }, (_, n) => messageDoc(n));
    await ownerOf(tab).call('append', docs);
    await drained(tab);
    await ours.home().closeTabs();
    await (await ours.home().tab('?closed')).evaluate(() => window.roost.emptyVolume('v00001'));
    tab = await ours.home().tab();
    expect((await ownerOf(tab).call('conversation', { agentId: 'a1', before: null, limit: 100 })).messages).toEqual(
      docs,
    );
  });
});
