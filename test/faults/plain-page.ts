/**
 * What plain Fireproof 0.24.19 loses, beside ours on the same data. Where an upgrade cures a trap,
 * its test fails: then the rule that closes it in src/worker/ledger can go.
 */
import { notAgain } from './plain-record.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, it } from 'vitest';
import { launchBrowser } from '../support/chromium.ts';
import type {} from '../support/faults-page/main.ts';
import { buildPage, servePage, type BuiltPage, type PageServer } from '../support/page-server.ts';

export interface PlainPage {
  /** A page that has loaded nothing yet: what it reads comes from the disk. */
  tab(): Promise<Page>;
  /** Closes the page and opens another. */
  reopened(page: Page): Promise<Page>;
}

/**
 * A test of plain Fireproof alone: what it loses was seen with the version in
 * `plain-fireproof.json`, and is looked at again when another is installed, or by `npm run faults
 * -- plain`, which writes that file.
 */
export function itIsPlain(name: string, test: () => Promise<void>): void {
  if (notAgain().length === 0) it(name, test);
}

/**
 * Serves the page for the tests of one file; each test has a browser profile of its own, and no
 * browser is started for none.
 */
export function usePlainPage(): PlainPage {
  let page: BuiltPage;
  let server: PageServer;
  let browser: Browser | null = null;
  let context: BrowserContext | null = null;
  beforeAll(async () => {
    page = await buildPage('faults-page');
    server = await servePage(page);
  });
  afterAll(async () => {
    await browser?.close();
    await server.close();
  });
  afterEach(async () => {
    await context?.close();
    context = null;
  });
  const tab = async () => {
    browser ??= await launchBrowser();
    context ??= await browser.newContext();
    const opened = await context.newPage();
    await opened.goto(server.url);
    return opened;
  };
  return {
    tab,
    async reopened(old) {
      const fresh = await tab();
      await old.close();
      return fresh;
    },
  };
}

export const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix}-${String(n).padStart(4, '0')}`);

/** How many of what was written can be read; 0 where a ledger answers with an error alone. */
export const countOf = (found: readonly string[] | string) => (typeof found === 'string' ? 0 : found.length);
