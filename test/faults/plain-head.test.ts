import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { drained, ownerOf } from '../support/ledger-harness.ts';
import { useOwnerPage } from './owner-page.ts';
import { ids, itIsPlain, usePlainPage } from './plain-page.ts';

const plain = usePlainPage();
const ours = useOwnerPage();

describe('a ledger that cannot read its head', () => {
  itIsPlain('opens empty with plain Fireproof, and the next write buries what was in it', async () => {
    const writer = await plain.tab();
    await writer.evaluate((all) => window.faults.put('headless', all), ids('doc', 5));
    const unlucky = await plain.reopened(writer);
    await unlucky.evaluate(() => window.faults.loseHead('headless'));
    const next = await plain.reopened(unlucky);
    expect(await next.evaluate(() => window.faults.read('headless'))).toEqual([]);
    await next.evaluate(() => window.faults.put('headless', ['after']));
    expect(await (await plain.reopened(next)).evaluate(() => window.faults.read('headless'))).toEqual(['after']);
  });

  it('is noticed by our code, which says so and still shows everything', async () => {
    let tab = await ours.home().tab();
    await ownerOf(tab).call('append', [messageDoc(1)]);
    await drained(tab);
    await ours.home().closeTabs();
    tab = await ours.home().tab('?closed');
    await tab.evaluate(() => window.roost.emptyVolume('v00001'));
    tab = await ours.home().tab();
    // Whether it is taken into the journal or refused, it must not bury the first.
    await Promise.allSettled([ownerOf(tab).call('append', [messageDoc(2)])]);
    await tab.waitForFunction(() => window.roost.news.some((item) => item.news === 'problem' && item.problem !== null));
    const { messages } = await ownerOf(tab).call('conversation', { agentId: 'a1', before: null, limit: 10 });
    expect(messages.map(({ messageId }) => messageId)).toContain('m1');
  });
});
