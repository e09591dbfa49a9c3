/**
 * What plain Fireproof 0.24.19 loses, beside our volumes on the same data. Where an upgrade cures a trap,
 * its test here fails: then the rule that closes it in src/ledger/volumes can go.
 */
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBrowser } from '../support/chromium.ts';
import type {} from '../support/faults-page/main.ts';
import { buildPage, servePage, type BuiltPage, type PageServer } from '../support/page-server.ts';

let page: BuiltPage;
let server: PageServer;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  page = await buildPage(fileURLToPath(new URL('../support/faults-page', import.meta.url)));
  server = await servePage(page);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.close();
  await page.remove();
});
beforeEach(async () => {
  context = await browser.newContext();
});
afterEach(() => context.close());

/** A page that has loaded nothing yet: what it reads comes from the disk. */
async function tab(): Promise<Page> {
  const opened = await context.newPage();
  await opened.goto(server.url);
  return opened;
}
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${String(n).padStart(4, '0')}`);

describe('two tabs that write one ledger', () => {
  it('lose what one of them wrote, with plain Fireproof', async () => {
    const [one, two] = [await tab(), await tab()];
    // Both have it open before either writes.
    await Promise.all([one, two].map((each) => each.evaluate(() => window.faults.read('shared'))));
    await Promise.all([
      one.evaluate((mine) => window.faults.put('shared', mine), ids('one', 10)),
      two.evaluate((mine) => window.faults.put('shared', mine), ids('two', 10)),
    ]);
    const found = await (await tab()).evaluate(() => window.faults.read('shared'));
    expect(typeof found === 'string' ? 0 : found.length).toBeLessThan(20);
  });
});

describe('300 documents put one by one', () => {
  it('are not all there after a reload with plain Fireproof, whose compaction races with its writes', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.put('many', all), ids('doc', 300));
    await writer.close();
    const found = await (await tab()).evaluate(() => window.faults.read('many'));
    expect(typeof found === 'string' ? 0 : found.length).toBeLessThan(300);
  });

  it('are all there with ours, which compacts between writes and only under the lock', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.put('v00001', all), ids('doc', 300));
    await writer.close();
    expect(await (await tab()).evaluate(() => window.faults.ours.read('v00001'))).toEqual(ids('doc', 300));
  });

  it('are not compacted by ours while the lock is not held', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.bulk('v00001', all, 10), ids('a', 2));
    await writer.evaluate((all) => window.faults.ours.bulk('v00001', all, 10), ids('b', 2));
    expect(await writer.evaluate(() => window.faults.ours.compactWithoutLock('v00001'))).toMatch(/CARs/);
    expect(await (await tab()).evaluate(() => window.faults.ours.read('v00001'))).toEqual([...ids('a', 2), ...ids('b', 2)]);
  });
});

describe('a commit of 2.4 MB', () => {
  it('cannot be read after a reload with plain Fireproof, which splits it and loads the first piece', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.bulk('large', all, 300_000), ids('doc', 8));
    await writer.close();
    const found = await (await tab()).evaluate(() => window.faults.read('large'));
    expect(typeof found === 'string' ? 0 : found.length).toBeLessThan(8);
  });

  it('is all there with ours, which never splits one', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.bulk('v00001', all, 300_000), ids('doc', 8));
    await writer.close();
    expect(await (await tab()).evaluate(() => window.faults.ours.read('v00001'))).toEqual(ids('doc', 8));
  });
});

describe('a named key that is given its material at every start', () => {
  it('leaves plain Fireproof with a ledger that it cannot decrypt', async () => {
    const first = await tab();
    await first.evaluate(() => window.faults.giveKey('@shared@'));
    await first.close();
    const second = await tab();
    await second.evaluate(() => window.faults.giveKey('@shared@'));
    await second.evaluate((all) => window.faults.putKeyed('keyed', all), ids('doc', 2));
    expect(await second.evaluate(() => window.faults.readKeyed('keyed'))).toHaveLength(2);
    await second.close();
    const found = await (await tab()).evaluate(() => window.faults.readKeyed('keyed'));
    expect(typeof found === 'string' ? 0 : found.length).toBe(0);
  });
});
