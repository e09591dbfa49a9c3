import type { Page } from 'playwright-core';
import { ownerOf, type Household } from './ledger-harness.ts';

/** Has the views written anew from the volumes. Nobody may have a tab open. Answers with the tab that saw it done. */
export async function rebuildViews(home: Household, query = ''): Promise<Page> {
  await (await home.tab('?closed')).evaluate(() => window.roost.putMeta('views', 'stale'));
  const tab = await home.tab(query);
  await ownerOf(tab).call('household');
  return tab;
}
