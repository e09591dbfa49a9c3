/**
 * What it costs to make a document durable: appends through the owner, beside a bare IndexedDB transaction and
 * a plain `put`, in turns in one page, so that what else the machine does meets all of them.
 */
import type { Page } from 'playwright-core';
import type {} from '../support/bench-page/main.ts';
import { createProfile } from '../support/chromium.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { median, type Section } from './figures.ts';

const ROUNDS = 9;
/** Documents a round. */
const AWAITED = 150;
const PLAIN = 40;
const WAITING = 100;
const WAITED_FOR = 2_000;
const OF_BARE = 0.8;
const OF_PLAIN = 4;
const WAITING_LEAST = 10_000;

interface Round {
  readonly bare: number;
  readonly plain: number;
  readonly ours: number;
  readonly waiting: number;
}

/** Documents a second of each, in turns. */
async function round(page: Page): Promise<Round> {
  const a_second = (count: number, ms: number) => (count / ms) * 1_000;
  const half = AWAITED / 2;
  const bare = () => page.evaluate((count) => window.bench.bare(count), half);
  const ours = () => page.evaluate((count) => window.bench.ours(count), half);
  // Each before and after the other: what drifts, drifts for both.
  const times = { ours: 0, bare: 0 };
  times.bare += await bare();
  times.ours += await ours();
  times.ours += await ours();
  times.bare += await bare();
  const waiting = await page.evaluate(({ count, waiting }) => window.bench.oursWaiting(count, waiting), {
    count: WAITED_FOR,
    waiting: WAITING,
  });
  await page.evaluate(() => window.bench.rest());
  const plain = await page.evaluate((count) => window.bench.plain(count), PLAIN);
  return {
    bare: a_second(AWAITED, times.bare),
    ours: a_second(AWAITED, times.ours),
    waiting: a_second(WAITED_FOR, waiting),
    plain: a_second(PLAIN, plain),
  };
}

/** The figures; about two minutes. */
export async function ledgerAppend(): Promise<Section> {
  const built = await buildPage('bench-page');
  const server = await servePage(built);
  const profile = await createProfile();
  try {
    const context = await profile.open();
    const page = await context.newPage();
    await page.goto(server.url);
    await round(page);
    const rounds: Round[] = [];
    for (let n = 0; n < ROUNDS; n++) rounds.push(await round(page));
    const of = (field: keyof Round) => median(rounds.map((each) => each[field]));
    const beside = (field: 'bare' | 'plain') => median(rounds.map((each) => each.ours / each[field]));
    return {
      title: 'Durable appends',
      method: `median of ${ROUNDS} rounds in turns, after one that is not counted; profile on disk; documents of about 700 characters as JSON`,
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
          what: `appends, ${WAITING} waiting at once`,
          value: of('waiting'),
          unit: '/s',
          beside: { kind: 'least', what: 'on this machine', value: WAITING_LEAST },
        },
      ],
    };
  } finally {
    await profile.remove();
    await server.close();
  }
}
