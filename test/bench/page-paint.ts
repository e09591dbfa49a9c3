/**
 * How long a person looks at nothing: from opening the address to the painted grid, in real
 * Chromium against the built relay, with a team of eight in the ledger, the worker not running yet
 * and nothing in the cache.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { storeSignIn } from '../support/sign-in.ts';
import { median } from './figures.ts';
import { watchGrid } from './grid-watch.ts';
import { EMPTY_PATH, marked, watchEmpty } from './page-steps.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL } from './place.ts';

/** The household, and how often the page is opened. */
const FULL = { plan: { seed: 1, messages: 100, lastSession: 20 }, visits: 7 };
const SMOKE: typeof FULL = { plan: SMALL, visits: 1 };
const GRID_LIMIT_MS = 1000;
const EMPTY_LIMIT = 3;

interface Visit {
  readonly grid: number;
  readonly firstPaint: number;
  readonly scriptBytes: number;
  readonly requests: number;
}

async function measure(page: Page): Promise<Visit> {
  const grid = await marked(page, 'grid-painted');
  return page.evaluate((grid) => {
    const resources = performance
      .getEntriesByType('resource')
      .flatMap((entry) => (entry instanceof PerformanceResourceTiming ? [entry] : []));
    const scripts = resources.filter((entry) => entry.name.endsWith('.js') && entry.responseEnd <= grid);
    return {
      grid,
      firstPaint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      // The page itself is none of its resources.
      requests: 1 + resources.filter((entry) => entry.responseEnd <= grid).length,
      scriptBytes: scripts.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
    };
  }, grid);
}

/** Opens the page anew, in a browser that holds the ledger and nothing else of it. */
async function visit(context: BrowserContext, url: string): Promise<Visit> {
  const page = await context.newPage();
  const debug = await context.newCDPSession(page);
  await debug.send('Network.clearBrowserCache');
  await page.addInitScript(watchGrid);
  await page.goto(url);
  const seen = await measure(page);
  await page.close();
  return seen;
}

/** The same of a page that has nothing in it. */
async function emptyVisit(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  await (await context.newCDPSession(page)).send('Network.clearBrowserCache');
  await page.addInitScript(watchEmpty);
  await page.goto(new URL(EMPTY_PATH, url).href);
  return marked(page, 'page-painted');
}

/** About a minute. */
export const pagePaint = definePart({
  name: 'page-paint',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: ({ plan, visits: count }, place) =>
    withOpened(async (keep) => {
      const { profile, port } = keep(await place.prepare(plan), (household) => household.profile.remove());
      const relay = keep(await place.startRelay({ port }), (one) => one.stop());
      const first = await profile.open();
      await storeSignIn(first, relay.url, await relay.signIn(), EMPTY_PATH);
      await first.close();

      const visits: Visit[] = [];
      const empty: number[] = [];
      for (let i = 0; i < count; i++) {
        const context = await profile.open();
        visits.push(await visit(context, relay.url));
        await context.close();
        const beside = await profile.open();
        empty.push(await emptyVisit(beside, relay.url));
        await beside.close();
      }
      const of = (field: keyof Visit) => median(visits.map((each) => each[field]));
      return {
        title: 'First load of the built page: time',
        method: `median of ${count} starts of Chromium with an empty cache and a team of eight asleep in the ledger`,
        figures: [
          { what: 'something painted', value: of('firstPaint'), unit: 'ms', beside: null },
          {
            what: 'grid painted',
            value: of('grid'),
            unit: 'ms',
            beside: { kind: 'limit', what: 'on this machine', value: GRID_LIMIT_MS },
          },
          {
            what: '  against an empty page of the same relay',
            value: of('grid') / median(empty),
            unit: '×',
            beside: { kind: 'limit', what: `which takes ${Math.round(median(empty))} ms`, value: EMPTY_LIMIT },
          },
          { what: 'answers over the line by then', value: of('requests'), unit: '', beside: null },
          { what: 'JavaScript over the line by then', value: of('scriptBytes') / 1000, unit: 'KB', beside: null },
        ],
      };
    }),
});
