/** Ending whoever owns the ledger, from outside and without a word, as a crash does. */
import type { BrowserContext, Page } from 'playwright-core';

/**
 * Ends the SharedWorker's process side. Answers how many there were: 0 where it was just being
 * replaced.
 */
export async function killOwner(context: BrowserContext): Promise<number> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be reached.');
  const { targetInfos } = await session.send('Target.getTargets');
  const owners = targetInfos.filter(({ type }) => type === 'shared_worker');
  for (const { targetId } of owners) await session.send('Target.closeTarget', { targetId });
  await session.detach();
  return owners.length;
}

/**
 * Crashes the process of a tab, and its dedicated worker with it. Calls that wait for the tab
 * reject.
 */
export async function crashTab(tab: Page): Promise<void> {
  const session = await tab.context().newCDPSession(tab);
  const crashed = tab.waitForEvent('crash');
  // Nobody is left to answer.
  session.send('Page.crash').catch(() => undefined);
  await crashed;
}
