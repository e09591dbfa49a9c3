/**
 * What years cost: the same household with 1,000, 10,000 and 100,000 messages behind the same last
 * session. The page is the built one, on its relay; what it reads was written by its own owner
 * before.
 */
import type { BrowserContext } from 'playwright-core';
import type {} from '../support/bench-page/main.ts';
import { AGENTS, type HouseholdPlan } from '../support/household-generator.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { createVisitor } from '../support/visitor.ts';
import { median, type Figure } from './figures.ts';
import { watchGrid } from './grid-watch.ts';
import { chooseNoPlace, exportAll, reloaded } from './page-steps.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL, type BenchHousehold, type Place } from './place.ts';
import { workerMemory } from './worker-memory.ts';

const SEED = 1;
/** How everything is exported: under a passphrase, or not. */
const WAYS = ['plain', 'sealed'] as const;
type Way = (typeof WAYS)[number];
/**
 * Households; reloads and payloads, each after those that are not counted; documents that are
 * appended before the worker's memory is looked at; and ways to export. `ROOST_BENCH_SIZES` names
 * other households.
 */
const FULL = {
  plans: (process.env['ROOST_BENCH_SIZES']?.split(',').map(Number) ?? [1_000, 10_000, 100_000]).map((messages) => ({
    seed: SEED,
    messages,
  })) as readonly HouseholdPlan[],
  ...{ warmUp: 1, reloads: 9, wakes: 15, written: 100 },
  ways: WAYS as readonly Way[],
};
const SMOKE: typeof FULL = {
  plans: [SMALL],
  ...{ warmUp: 0, reloads: 1, wakes: 1, written: 1 },
  ways: ['plain'],
};
type Sizes = typeof FULL;
const CAPS = { usual: 24_000, all: 400_000 } as const;
const RELOAD_LIMIT_MS = 400;
const WAKE_LIMIT_MS = 50;
const RATIO_LIMIT = 1.3;
const MEMORY_LIMIT_MB = 150;
const EXPORT_PAGE = 500;
const PASSPHRASE = 'four words that hold';
const MB = 1_000_000;

interface Wake {
  readonly ms: number;
  readonly chars: number;
  readonly messages: number;
}

interface Years {
  readonly messages: number;
  readonly documents: number;
  readonly appended: number;
  readonly drained: number;
  readonly reload: number;
  readonly usual: Wake;
  readonly all: Wake;
  readonly used: number;
  readonly resident: number;
  readonly copied: { readonly ms: number; readonly documents: number; readonly chars: number };
  /** ms from the press of the button to the word that it is done. */
  readonly exported: ReadonlyMap<Way, number>;
}

const medianOf = (wakes: readonly Wake[]): Wake => ({
  ms: median(wakes.map(({ ms }) => ms)),
  chars: wakes[0]?.chars ?? 0,
  messages: wakes[0]?.messages ?? 0,
});

/** What the owner does for a page, without the page. */
async function throughOwner(
  { profile, port }: BenchHousehold,
  { warmUp, wakes: count, written }: Sizes,
): Promise<Pick<Years, 'usual' | 'all' | 'copied' | 'used' | 'resident'>> {
  const built = await buildPage('bench-page');
  const server = await servePage(built, undefined, { port });
  try {
    const context = await profile.open();
    const page = await context.newPage();
    await page.goto(server.url);
    const agentIds = AGENTS.map(({ agentId }) => agentId);
    const wakes = async (cap: number) => {
      const all: Wake[] = [];
      for (let n = 0; n < warmUp + count; n++)
        all.push(
          await page.evaluate(({ agentIds, cap }) => window.bench.wakePayload(agentIds, cap), { agentIds, cap }),
        );
      return medianOf(all.slice(warmUp));
    };
    const usual = await wakes(CAPS.usual);
    const all = await wakes(CAPS.all);
    // As it is while people talk: with the current volume open, and written.
    await page.evaluate((many) => window.bench.ours(many), written);
    await page.evaluate(() => window.bench.rest());
    const { used, resident } = await workerMemory(context);
    const copied = await page.evaluate((limit) => window.bench.readAll(limit), EXPORT_PAGE);
    await context.close();
    return { usual, all, used, resident, copied };
  } finally {
    await server.close();
  }
}

/** The real page on its relay. */
async function throughPage(
  { profile, port }: BenchHousehold,
  { warmUp, reloads, ways }: Sizes,
  place: Place,
): Promise<Pick<Years, 'reload' | 'exported'>> {
  const relay = await place.startRelay({ port, args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
  try {
    const context: BrowserContext = await profile.open({ viewport: { width: 1280, height: 900 } });
    await context.addInitScript(watchGrid);
    await context.addInitScript(chooseNoPlace);
    const visitor = await createVisitor(context, relay.link);
    const { page } = visitor;
    await visitor.untilAll('sleeping');
    const times: number[] = [];
    for (let n = 0; n < warmUp + reloads; n++) times.push(await reloaded(page, 'grid-painted'));
    const exported = new Map<Way, number>();
    for (const way of ways) exported.set(way, await exportAll(visitor, way === 'plain' ? null : PASSPHRASE));
    await context.close();
    return { reload: median(times.slice(warmUp)), exported };
  } finally {
    await relay.stop();
  }
}

/**
 * All households are written first, so that what is compared is measured within moments of each
 * other.
 */
const measure = (sizes: Sizes, place: Place): Promise<Years[]> =>
  withOpened(async (keep) => {
    const ready: (BenchHousehold & { readonly messages: number })[] = [];
    for (const plan of sizes.plans) {
      const household = keep(await place.prepare(plan), (made) => made.profile.remove());
      ready.push({ ...household, messages: plan.messages });
    }
    // The owner first: the page wakes everyone, and the session after that is another last one.
    const owners = [];
    for (const household of ready) owners.push(await throughOwner(household, sizes));
    const years: Years[] = [];
    for (const [n, household] of ready.entries()) {
      const owner = owners[n];
      if (owner) years.push({ ...household, ...owner, ...(await throughPage(household, sizes, place)) });
    }
    return years;
  });

const count = (messages: number) => messages.toLocaleString('en');

function figuresOf(years: readonly Years[]): Figure[] {
  const [first] = years;
  const last = years.at(-1);
  if (!first || !last) return [];
  const against = (what: string, of: (each: Years) => number): Figure => ({
    what: `  ${count(last.messages)} against ${count(first.messages)}`,
    value: of(last) / of(first),
    unit: '×',
    beside: { kind: 'limit', what, value: RATIO_LIMIT },
  });
  const wake = (cap: keyof typeof CAPS, what: string): Figure[] => [
    ...years.map((each): Figure => ({
      what: `${what}, ${count(each.messages)} behind`,
      value: each[cap].ms,
      unit: 'ms',
      beside: {
        kind: 'limit',
        what: `${each[cap].messages} messages, ${Math.round(each[cap].chars / 1_000)} thousand characters`,
        value: WAKE_LIMIT_MS,
      },
    })),
    against('WAKE payload', (each) => each[cap].ms),
  ];
  return [
    ...years.map((each): Figure => ({
      what: `reload to painted grid, ${count(each.messages)} messages behind`,
      value: each.reload,
      unit: 'ms',
      beside: { kind: 'limit', what: 'on this machine', value: RELOAD_LIMIT_MS },
    })),
    against('reload', (each) => each.reload),
    ...wake('usual', 'WAKE payload of eight, usual cap'),
    ...wake('all', 'WAKE payload of eight, all 200 messages each'),
    ...years.map((each): Figure => ({
      what: `memory of the worker, ${count(each.messages)} behind`,
      value: each.used / MB,
      unit: 'MB',
      beside: {
        kind: 'limit',
        what: `JavaScript of the worker, its volume open, after garbage collection; its process, with the tab: ${Math.round(each.resident / MB)} MB resident`,
        value: MEMORY_LIMIT_MB,
      },
    })),
    ...[...last.exported].map(([way, ms]): Figure => ({
      what:
        way === 'plain' ? `export of everything into a file, ${count(last.messages)} behind` : '  under a passphrase',
      value: ms / 1_000,
      unit: 's',
      beside: null,
    })),
    {
      what: `reading all of it for a copy, ${count(last.messages)} behind`,
      value: last.copied.ms / 1_000,
      unit: 's',
      beside: null,
    },
    {
      what: `  documents, ${Math.round(last.copied.chars / MB)} million characters`,
      value: (last.copied.documents / last.copied.ms) * 1_000,
      unit: '/s',
      beside: null,
    },
  ];
}

/** Some minutes, most of them for writing the largest household. */
export const ledgerYears = definePart({
  name: 'ledger-years',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  async run(sizes, place) {
    const years = await measure(sizes, place);
    return {
      title: 'Years behind the page',
      method: `a household of seed ${SEED} at ${years.length} sizes; medians of ${sizes.reloads} reloads and ${sizes.wakes} payloads; the built page in a browser of its own, its only tab`,
      figures: figuresOf(years),
      notes: years.map(
        (each) =>
          `${count(each.messages)} messages and the last session, ${count(each.documents)} documents: durable after ${(each.appended / 1_000).toFixed(1)} s, all in volumes ${(each.drained / 1_000).toFixed(1)} s later`,
      ),
    };
  },
});
