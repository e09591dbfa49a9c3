/**
 * What years cost: the same household with 1,000, 10,000 and 100,000 messages behind the same last session. The
 * page is the built one, on its relay; what it reads was written by its own owner before.
 */
import type { BrowserContext } from 'playwright-core';
import type {} from '../support/bench-page/main.ts';
import type { Profile } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { AGENTS } from '../support/household-generator.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { prepareHousehold, type PreparedHousehold } from '../support/prepared-household.ts';
import { startRelay } from '../support/relay.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';
import { median, type Figure, type Section } from './figures.ts';
import { watchBlocked, watchGrid } from './grid-watch.ts';
import { blockedSince, chooseNoPlace, exportAll, reloaded } from './page-acts.ts';
import { workerMemory } from './worker-memory.ts';

const SEED = 1;
const SIZES = [1_000, 10_000, 100_000] as const;
const RELOADS = 9;
const WAKES = 15;
const CAPS = { usual: 24_000, all: 400_000 } as const;
const RELOAD_LIMIT_MS = 400;
const WAKE_LIMIT_MS = 50;
const RATIO_LIMIT = 1.3;
const MEMORY_LIMIT_MB = 150;
const BLOCKED_LIMIT_MS = 50;
/** Turns of the wheel, and pixels in each, while a long conversation is scrolled. */
const TURNS = 150;
const TURN = 1_500;
const EXPORT_PAGE = 500;
/** Documents that are appended before the worker's memory is looked at. */
const WRITTEN = 100;
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
  /** ms from the press of the button to the word that it is done; `sealed`: under a passphrase. */
  readonly exported: Readonly<Record<'plain' | 'sealed', number>>;
  /** Longest stretch, and how many, by what went on. */
  readonly blocked: Readonly<Record<'open' | 'wake' | 'scroll' | 'export', readonly number[]>>;
}

const medianOf = (wakes: readonly Wake[]): Wake => ({
  ms: median(wakes.map(({ ms }) => ms)),
  chars: wakes[0]?.chars ?? 0,
  messages: wakes[0]?.messages ?? 0,
});

/** What the owner does for a page, without the page. */
async function throughOwner(
  profile: Profile,
  port: number,
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
      for (let n = 0; n <= WAKES; n++)
        all.push(
          await page.evaluate(({ agentIds, cap }) => window.bench.wakePayload(agentIds, cap), { agentIds, cap }),
        );
      return medianOf(all.slice(1));
    };
    const usual = await wakes(CAPS.usual);
    const all = await wakes(CAPS.all);
    // As it is while people talk: with the current volume open, and written.
    await page.evaluate((count) => window.bench.ours(count), WRITTEN);
    await page.evaluate(() => window.bench.rest());
    const { used, resident } = await workerMemory(context);
    const copied = await page.evaluate((limit) => window.bench.readAll(limit), EXPORT_PAGE);
    await context.close();
    return { usual, all, used, resident, copied };
  } finally {
    await server.close();
  }
}

async function scroll(visitor: Visitor): Promise<number[]> {
  const { page } = visitor;
  await visitor.open('lead');
  await page.waitForTimeout(1_000);
  await blockedSince(page);
  await visitor.log().hover();
  for (let n = 0; n < TURNS; n++) {
    await page.mouse.wheel(0, -TURN);
    await page.waitForTimeout(30);
  }
  return blockedSince(page);
}

/** The real page on its relay. */
async function throughPage(profile: Profile, port: number): Promise<Pick<Years, 'reload' | 'blocked' | 'exported'>> {
  const relay = await startRelay({ from: 'built', port });
  try {
    const context: BrowserContext = await profile.open({ viewport: { width: 1280, height: 900 } });
    await context.addInitScript(watchGrid);
    await context.addInitScript(watchBlocked);
    await context.addInitScript(chooseNoPlace);
    const visitor = await createVisitor(context, relay.link);
    const { page } = visitor;
    await visitor.untilAll('sleeping');
    const times: number[] = [];
    for (let n = 0; n <= RELOADS; n++) times.push(await reloaded(page, 'grid-painted'));
    const reload = median(times.slice(1));
    await blockedSince(page);
    await page.reload();
    await visitor.untilAll('sleeping');
    const open = await blockedSince(page);
    const scrolled = await scroll(visitor);
    const exported = {
      plain: await exportAll(visitor, null),
      sealed: await exportAll(visitor, 'four words that hold'),
    };
    const exporting = await blockedSince(page);
    await page.evaluate(() =>
      fetch('/api/rehearsal', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ delayMs: 0, wordMs: 0 }),
      }),
    );
    await visitor.press('WAKE');
    await visitor.untilAll('awake');
    const wake = await blockedSince(page);
    await context.close();
    return { reload, exported, blocked: { open, wake, scroll: scrolled, export: exporting } };
  } finally {
    await relay.stop();
  }
}

/** All households are written first, so that what is compared is measured within moments of each other. */
async function measure(sizes: readonly number[]): Promise<Years[]> {
  const ready: (PreparedHousehold & { readonly messages: number; readonly port: number })[] = [];
  try {
    for (const messages of sizes) {
      const port = await freePort();
      ready.push({ ...(await prepareHousehold({ seed: SEED, messages }, port)), messages, port });
    }
    // The owner first: the page wakes everyone, and the session after that is another last one.
    const owners = [];
    for (const { profile, port } of ready) owners.push(await throughOwner(profile, port));
    const years: Years[] = [];
    for (const [n, { profile, port, ...household }] of ready.entries()) {
      const owner = owners[n];
      if (owner) years.push({ ...household, ...owner, ...(await throughPage(profile, port)) });
    }
    return years;
  } finally {
    for (const { profile } of ready) await profile.remove();
  }
}

const count = (messages: number) => messages.toLocaleString('en');
const longest = (stretches: readonly number[]) => Math.max(0, ...stretches);

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
  const blocked = (during: keyof Years['blocked'], what: string): Figure => ({
    what: `longest block of the page while it ${what}, ${count(last.messages)} behind`,
    value: longest(last.blocked[during]),
    unit: 'ms',
    beside: { kind: 'limit', what: `${last.blocked[during].length} over it`, value: BLOCKED_LIMIT_MS },
  });
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
    blocked('open', 'opens'),
    blocked('wake', 'wakes'),
    blocked('scroll', 'scrolls'),
    blocked('export', 'exports'),
    {
      what: `export of everything into a file, ${count(last.messages)} behind`,
      value: last.exported.plain / 1_000,
      unit: 's',
      beside: null,
    },
    { what: '  under a passphrase', value: last.exported.sealed / 1_000, unit: 's', beside: null },
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

/** The figures; some minutes, most of them for writing the largest household. `ROOST_BENCH_SIZES` names other sizes. */
export async function ledgerYears(): Promise<Section> {
  const sizes = process.env['ROOST_BENCH_SIZES']?.split(',').map(Number) ?? SIZES;
  const years = await measure(sizes);
  return {
    title: 'Years behind the page',
    method: `a household of seed ${SEED} at ${years.length} sizes; medians of ${RELOADS} reloads and ${WAKES} payloads; the built page in a browser of its own, its only tab`,
    figures: figuresOf(years),
    notes: years.map(
      (each) =>
        `${count(each.messages)} messages and the last session, ${count(each.documents)} documents: durable after ${(each.appended / 1_000).toFixed(1)} s, all in volumes ${(each.drained / 1_000).toFixed(1)} s later`,
    ),
  };
}
