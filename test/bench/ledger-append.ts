/**
 * What it costs to make a document durable: appends through the owner, beside a bare IndexedDB
 * transaction and a plain `put`, in turns in one page, so that what else the machine does meets all
 * of them.
 */
import type { Page } from 'playwright-core';
import type {} from '../support/bench-page/main.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { median } from './figures.ts';
import { definePart, withOpened } from './part.ts';

/**
 * Rounds; documents in each that are awaited, put by plain Fireproof, and sent while so many others
 * wait.
 */
const FULL = { warmUp: 1, rounds: 9, awaited: 150, plain: 40, waiting: 100, waitedFor: 2_000 };
const SMOKE: typeof FULL = { warmUp: 0, rounds: 1, awaited: 2, plain: 1, waiting: 2, waitedFor: 4 };
const OF_BARE = 0.8;
const OF_PLAIN = 4;
const WAITING_LEAST = 10_000;

interface Round {
  readonly bare: number;
  readonly plain: number;
  readonly ours: number;
  readonly waiting: number;
  readonly together: number;
}

/** Documents a second of each, in turns. */
async function round(page: Page, { awaited, plain: puts, waiting: atOnce, waitedFor }: typeof FULL): Promise<Round> {
  const a_second = (count: number, ms: number) => (count / ms) * 1_000;
  const half = awaited / 2;
  const bare = () => page.evaluate((count) => window.bench.bare(count), half);
  const ours = () => page.evaluate((count) => window.bench.ours(count), half);
  // Each before and after the other: what drifts, drifts for both.
  const times = { ours: 0, bare: 0 };
  times.bare += await bare();
  times.ours += await ours();
  times.ours += await ours();
  times.bare += await bare();
  const together = await page.evaluate(({ count, size }) => window.bench.bareTogether(count, size), {
    count: waitedFor,
    size: atOnce,
  });
  const waiting = await page.evaluate(({ count, atOnce }) => window.bench.oursWaiting(count, atOnce), {
    count: waitedFor,
    atOnce,
  });
  await page.evaluate(() => window.bench.rest());
  const plain = await page.evaluate((count) => window.bench.plain(count), puts);
  return {
    bare: a_second(awaited, times.bare),
    ours: a_second(awaited, times.ours),
    waiting: a_second(waitedFor, waiting),
    together: a_second(waitedFor, together),
    plain: a_second(puts, plain),
  };
}

/** About two minutes. */
export const ledgerAppend = definePart({
  name: 'ledger-append',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const server = keep(await servePage(await buildPage('bench-page')), (one) => one.close());
      const profile = keep(await place.newProfile(), (one) => one.remove());
      const context = await profile.open();
      const page = await context.newPage();
      await page.goto(server.url);
      const all: Round[] = [];
      for (let n = 0; n < sizes.warmUp + sizes.rounds; n++) all.push(await round(page, sizes));
      const rounds = all.slice(sizes.warmUp);
      const of = (field: keyof Round) => median(rounds.map((each) => each[field]));
      const beside = (field: 'bare' | 'plain') => median(rounds.map((each) => each.ours / each[field]));
      return {
        title: 'Durable appends',
        method: `median of ${sizes.rounds} rounds in turns, after one that is not counted; profile on disk; documents of about 700 characters as JSON`,
        figures: [
          { what: 'a strict IndexedDB transaction each', value: of('bare'), unit: '/s', beside: null },
          { what: 'plain put into a new ledger', value: of('plain'), unit: '/s', beside: null },
          {
            what: 'appends, each awaited',
            value: of('ours'),
            unit: '/s',
            beside: { kind: 'least', what: `${OF_BARE} × the bare transaction`, value: OF_BARE * of('bare') },
          },
          {
            what: '  against the bare transaction of the same round',
            value: beside('bare'),
            unit: '×',
            beside: { kind: 'least', what: 'of its rate', value: OF_BARE },
          },
          {
            what: '  against plain put of the same round',
            value: beside('plain'),
            unit: '×',
            beside: { kind: 'least', what: 'of its rate', value: OF_PLAIN },
          },
          {
            what: `appends, ${sizes.waiting} waiting at once`,
            value: of('waiting'),
            unit: '/s',
            beside: { kind: 'least', what: 'on this machine', value: WAITING_LEAST },
          },
          {
            what: '  the same',
            value: of('waiting'),
            unit: '/s',
            beside: {
              kind: 'peer',
              what: `a strict transaction of ${sizes.waiting} each, by the page itself: no more is to be had here`,
              value: of('together'),
            },
          },
        ],
      };
    }),
});
