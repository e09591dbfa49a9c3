/**
 * A relay whose home is deleted gets back from the page what it was set, and what was said in
 * threads: as a person lives it.
 */
import { rm } from 'node:fs/promises';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 740 };
const ARGS = ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })];

let home: string;
let relay: TestRelay;
let profile: Guest;
let context: BrowserContext;
let visitor: Visitor;
const start = async (port = 0) => {
  relay = await startRelay({ args: ARGS, home, ...(port === 0 ? {} : { port }) });
};
const go = (path: string) => goWithin(visitor.page, path);

/** How much of what was said in threads lies in this browser. */
const messagesStored = () =>
  visitor.page.evaluate(async () => {
    const { name } = (await indexedDB.databases()).find((each) => each.name?.startsWith('roost-views')) ?? {};
    if (name === undefined) return 0;
    return await new Promise<number>((resolve, reject) => {
      const opening = indexedDB.open(name);
      opening.onerror = () => reject(new Error('the views could not be opened'));
      opening.onsuccess = () => {
        const db = opening.result;
        const asked = db.transaction('records').objectStore('records').getAllKeys();
        asked.onsuccess = () => {
          resolve(asked.result.filter((key) => String(key).startsWith('thread-message:')).length);
          db.close();
        };
      };
    });
  });

beforeAll(async () => {
  home = await createHome();
  await start();
  profile = createGuest();
  context = await profile.open({ viewport: DESK, ...QUIET });
  visitor = await createVisitor(context, relay.link);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await rm(home, { recursive: true, force: true });
});

describe('A relay whose home was deleted', { timeout: 200_000 }, () => {
  it('restores a budget and a thread by one press, after a preview of the changes', async () => {
    const { page } = visitor;
    await visitor.begin('Marcus', 'Julian');
    await go('/settings/costs');
    const budget = page.getByLabel('Budget a day, all agents together');
    await budget.fill('7');
    // The page is left in the moment of the press: it holds all the same.
    await page.getByRole('button', { name: 'Save' }).evaluate((save: HTMLElement) => {
      save.click();
      location.replace('about:blank');
    });
    await page.waitForURL('about:blank');
    await page.goto(new URL('/settings/costs', relay.url).href);
    await expect.poll(() => budget.inputValue()).toBe('7');
    await go('/threads/new');
    await page.getByLabel('Title').fill('The bridge');
    await page.getByRole('checkbox', { name: /Julian/ }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Begin', exact: true }).click();
    for (const text of ['Which pier first?', 'The north one.']) {
      await page.getByRole('textbox', { name: 'Write in The bridge' }).fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByLabel('Messages in The bridge').getByText(text).waitFor();
    }
    await expect.poll(messagesStored).toBe(2);
    const card = page.getByRole('region', { name: 'What the relay does not know' });
    expect(await card.count()).toBe(0);

    const { port } = relay;
    await relay.kill('SIGTERM');
    await rm(home, { recursive: true });
    home = await createHome();
    await start(port);
    await page.goto(relay.link);
    await card.getByText('This relay does not know your limits and budgets and 1 thread.').waitFor();
    await card.getByText('Details', { exact: true }).click();
    await card.getByText('The household’s limits and budget.').waitFor();
    expect(await card.getByRole('listitem').allTextContents()).toContain('The thread “The bridge”, 2 messages.');
    await visitor.picture('records-offer-1440');
    await page.setViewportSize(PHONE);
    await visitor.picture('records-offer-360');
    expect(await visitor.axe()).toEqual([]);
    await card.getByRole('button', { name: 'Give them back' }).click();
    await card.getByText('The relay took limits and budgets, 1 thread and 2 messages.').waitFor();
    await visitor.picture('records-given-360');
    await page.setViewportSize(DESK);
    await visitor.picture('records-given-1440');
    await card.getByRole('button', { name: 'Done' }).click();
    await card.waitFor({ state: 'detached' });

    await go('/settings/costs');
    await expect.poll(() => page.getByLabel('Budget a day, all agents together').inputValue()).toBe('7');
    await go('/threads');
    await page.getByRole('link', { name: /The bridge/ }).click();
    const said = page.getByLabel('Messages in The bridge');
    await said.getByText('Which pier first?').waitFor();
    await said.getByText('The north one.').waitFor();
    expect(await said.getByText('Returned to the relay').count()).toBe(2);
    await page.reload();
    await said.getByText('The north one.').waitFor();
    expect(await card.count()).toBe(0);
    expect(visitor.complaints).toEqual([]);
  });
});
