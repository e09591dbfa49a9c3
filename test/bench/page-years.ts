/**
 * The page as years leave it: from a reload to the painted grid with few and with many messages
 * behind it, what blocks its thread while it opens, wakes, streams eight answers and exports, and
 * how soon a word that was streamed is on the screen.
 */
import { createDeferred } from '../../src/shared/domain/platform/deferred.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import type { Page } from 'playwright-core';
import type { HouseholdPlan } from '../support/household-generator.ts';
import { heldUp, watchHeldUp, type HeldUp } from '../support/held-up.ts';
import { startScriptedModel, teamScript, type Part, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';
import { median, percentile, type Figure } from './figures.ts';
import { watchGrid } from './grid-watch.ts';
import { chooseNoPlace, EMPTY_PATH, exportAll, reloaded, watchEmpty } from './page-steps.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL, type BenchHousehold, type BenchRelay, type Place } from './place.ts';

const SEED = 1;
const ACTS = ['opens', 'scrolls', 'exports', 'wakes'] as const;
type Act = (typeof ACTS)[number];
/**
 * Households; reloads, after those that are not counted; what the page is watched at; words, and
 * who says them: seats as people count, the last of which is shown, while the lead sits in the
 * middle. `ROOST_BENCH_SIZES` names other households.
 */
const FULL = {
  plans: (process.env['ROOST_BENCH_SIZES']?.split(',').map(Number) ?? [1_000, 100_000]).map((messages) => ({
    seed: SEED,
    messages,
  })) as readonly HouseholdPlan[],
  ...{ warmUp: 1, reloads: 9, acts: ACTS as readonly Act[], turns: 150 },
  ...{ words: 250, seats: [9, 8, 7, 6, 4, 3, 2, 1] },
};
const SMOKE: typeof FULL = {
  plans: [SMALL],
  ...{ warmUp: 0, reloads: 1, acts: ['scrolls', 'wakes'], turns: 2 },
  ...{ words: 2, seats: [1] },
};
type Sizes = typeof FULL;
/** ms between two words of each of the eight: some fifty tokens a second. */
const WORD_MS = 20;
const LIMIT = { reloadMs: 400, ratio: 1.3, blockMs: 50, wordMs: 50, empty: 3 } as const;
/** ms for which blocks are still counted after an act: it goes on drawing. */
const AFTERWARDS_MS = 300;
/** Pixels of a turn of the wheel, and ms until the next. */
const TURN = 1_500;
const TURN_MS = 30;
const ASKED = 'Go on, all of you.';

const STAMP = /\bat(\d{13})\b/g;

declare global {
  interface Window {
    /** ms from when the model sent a word to when it was on the screen. */
    shownAfter: number[];
  }
}

/**
 * Runs in a page: keeps how old each stamped word was when it was painted, wherever this element
 * shows it first.
 */
function watchWords([selector, pattern]: readonly [string, string]): void {
  const shown: number[] = [];
  window.shownAfter = shown;
  const seen = new Set<string>();
  const check = () => {
    const text = document.querySelector(selector)?.textContent ?? '';
    const fresh = [...text.matchAll(new RegExp(pattern, 'g'))].flatMap(([, at]) =>
      at === undefined || seen.has(at) ? [] : [at],
    );
    if (fresh.length === 0) return;
    for (const at of fresh) seen.add(at);
    requestAnimationFrame(() => setTimeout(() => fresh.forEach((at) => shown.push(Date.now() - Number(at)))));
  };
  new MutationObserver(check).observe(document, { childList: true, subtree: true, characterData: true });
}

/**
 * The peer, run in an empty page: writes what it hears of one agent into a text, and does nothing
 * else.
 */
async function showStream([header, stored]: readonly [string, string]): Promise<void> {
  const words = document.createElement('pre');
  words.id = 'words';
  document.body.replaceChildren(words);
  const stream = await fetch('/api/events', { headers: { [header]: localStorage.getItem(stored) ?? '' } });
  const lines = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async (): Promise<void> => {
    const { done, value = '' } = (await lines?.read()) ?? { done: true };
    words.append(
      value
        .split('\n')
        .filter((line) => line.includes('seat1 '))
        .join(''),
    );
    if (!done) await read();
  };
  void read();
}

/** Words that say when they were sent. */
const stampedWords = (seat: number, count: number): Part[] =>
  Array.from({ length: count }, (): Part[] => [
    {
      get say() {
        return `seat${seat} says at${Date.now()} `;
      },
    },
    { wait: WORD_MS },
  ]).flat();

interface Life {
  readonly blocks: ReadonlyMap<Act | 'streams eight answers', HeldUp>;
  readonly words: readonly number[];
  readonly bareWords: readonly number[];
}

/** All eight say their words at once, and the page shows one of them. */
async function streamed(
  visitor: Visitor,
  peer: Page,
  begun: { readonly all: Promise<void>; readonly go: () => void },
  { words: count, seats }: Sizes,
): Promise<Pick<Life, 'words' | 'bareWords'> & { readonly blocks: HeldUp }> {
  const { page } = visitor;
  for (const seat of seats) {
    await visitor.open(seat);
    await visitor.say(ASKED);
  }
  await begun.all;
  await page.waitForTimeout(1_000);
  await page.evaluate(watchWords, ['.log', STAMP.source] as const);
  await peer.evaluate(watchWords, ['#words', STAMP.source] as const);
  await peer.evaluate(showStream, [PAGE_KEY.header, PAGE_KEY.stored] as const);
  await peer.waitForTimeout(500);
  const end = await watchHeldUp(page.context());
  begun.go();
  for (const one of [page, peer])
    await one.waitForFunction((least) => window.shownAfter.length >= least, count * 0.99, { timeout: 120_000 });
  await page.waitForTimeout(AFTERWARDS_MS);
  return {
    blocks: await end(),
    words: await page.evaluate(() => window.shownAfter),
    bareWords: await peer.evaluate(() => window.shownAfter),
  };
}

/**
 * A household of so many messages, open in a browser of its own, and an empty page of its relay in
 * another tab.
 */
interface Open {
  readonly visitor: Visitor;
  readonly empty: Page;
  readonly relay: BenchRelay;
}

async function open({ profile, port }: BenchHousehold, model: ScriptedModel, place: Place): Promise<Open> {
  const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-figures' };
  const relay = await place.startRelay({ port, env });
  const context = await profile.open({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(watchGrid);
  await context.addInitScript(watchEmpty);
  await context.addInitScript(chooseNoPlace);
  const visitor = await createVisitor(context, relay.link);
  await visitor.untilAll('sleeping');
  const empty = await context.newPage();
  await empty.goto(new URL(EMPTY_PATH, relay.url).href);
  await visitor.page.bringToFront();
  return { visitor, empty, relay };
}

async function live({ visitor, empty }: Open, model: ScriptedModel, sizes: Sizes): Promise<Life> {
  const { page } = visitor;
  const blocksWhile = async (act: () => Promise<unknown>) => {
    const { held } = await heldUp(page, async () => {
      await act();
      await page.waitForTimeout(AFTERWARDS_MS);
    });
    return held;
  };
  const team = teamScript();
  const [all, begin] = [createDeferred(), createDeferred()];
  let asked = 0;
  model.follow((request) => {
    if (request.seat === null || request.last !== ASKED) return team(request);
    asked += 1;
    if (asked === sizes.seats.length) all.resolve();
    return [{ until: begin.promise }, ...stampedWords(request.seat, sizes.words)];
  });
  const does: Readonly<Record<Act, () => Promise<unknown>>> = {
    async opens() {
      await page.reload();
      await visitor.untilAll('sleeping');
    },
    async scrolls() {
      await visitor.log().hover();
      for (let n = 0; n < sizes.turns; n++) {
        await page.mouse.wheel(0, -TURN);
        await page.waitForTimeout(TURN_MS);
      }
    },
    exports: () => exportAll(visitor, null),
    async wakes() {
      await visitor.press('WAKE');
      await visitor.untilAll('awake');
    },
  };
  const blocks: (readonly [Act | 'streams eight answers', HeldUp])[] = [];
  for (const act of sizes.acts) {
    // Scrolling begins in a conversation that has been drawn.
    if (act === 'scrolls') {
      await visitor.open('lead');
      await page.waitForTimeout(1_000);
    }
    blocks.push([act, await blocksWhile(does[act])]);
  }
  const begun = { all: all.promise, go: begin.resolve };
  const { blocks: streams, ...shown } = await streamed(visitor, empty, begun, sizes);
  return { ...shown, blocks: new Map([...blocks, ['streams eight answers', streams]]) };
}

const count = (messages: number) => messages.toLocaleString('en');

/**
 * What the clock shows is stretched by whatever else wants the cores: so the wait for one stands
 * beside it.
 */
function byClock({ blocks, waited }: HeldUp): string {
  const longest = blocks.toSorted((a, b) => b.clock - a.clock)[0];
  const over = longest
    ? `${blocks.length} over it, the longest ${Math.round(longest.clock)} ms with ${Math.round(longest.cpu)} on a core`
    : 'none over it';
  return waited === null ? over : `${over}; waited ${Math.round(waited)} ms for a core`;
}

/** Two minutes, most of them for writing the larger household. */
export const pageYears = definePart({
  name: 'page-years',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const opened: Open[] = [];
      const model = keep(await startScriptedModel(teamScript()), (one) => one.close());
      const prepared: BenchHousehold[] = [];
      for (const plan of sizes.plans)
        prepared.push(keep(await place.prepare(plan), (household) => household.profile.remove()));
      for (const household of prepared)
        opened.push(keep(await open(household, model, place), (one) => one.relay.stop()));
      // One after the other, again and again: whatever else the machine does, it does to all of
      // them.
      const times = opened.map((): { grid: number[]; empty: number[] } => ({ grid: [], empty: [] }));
      for (let n = 0; n < sizes.warmUp + sizes.reloads; n++)
        for (const [i, { visitor, empty }] of opened.entries()) {
          times[i]?.grid.push(await reloaded(visitor.page, 'grid-painted'));
          times[i]?.empty.push(await reloaded(empty, 'page-painted'));
        }
      const medians = times.map(({ grid, empty }) => ({
        grid: median(grid.slice(sizes.warmUp)),
        empty: median(empty.slice(sizes.warmUp)),
      }));
      const [few, many] = [medians[0], medians.at(-1)];
      const last = opened.at(-1);
      if (!few || !many || !last) throw new Error('There are no sizes.');
      const { blocks: byAct, words, bareWords } = await live(last, model, sizes);
      const blocks = [...byAct].map(([what, held]): Figure => ({
        what: `longest block of the page while it ${what}`,
        value: held.longest,
        unit: 'ms',
        beside: { kind: 'limit', what: `of the processor; by the clock ${byClock(held)}`, value: LIMIT.blockMs },
      }));
      return {
        title: 'The page with years behind it',
        method: `households of seed ${SEED}; medians of ${sizes.reloads} reloads of the built page, by turns with an empty page of its relay; the rest with ${count(sizes.plans.at(-1)?.messages ?? 0)} messages behind`,
        figures: [
          ...medians.flatMap(({ grid, empty }, i): Figure[] => [
            {
              what: `reload to painted grid, ${count(sizes.plans[i]?.messages ?? 0)} messages behind`,
              value: grid,
              unit: 'ms',
              beside: { kind: 'limit', what: 'on this machine', value: LIMIT.reloadMs },
            },
            {
              what: '  against an empty page',
              value: grid,
              unit: 'ms',
              beside: { kind: 'peer', what: 'the empty page of the same relay', value: empty },
            },
          ]),
          {
            what: `  ${count(sizes.plans.at(-1)?.messages ?? 0)} against ${count(sizes.plans[0]?.messages ?? 0)}`,
            value: many.grid / few.grid,
            unit: '×',
            beside: { kind: 'limit', what: '', value: LIMIT.ratio },
          },
          ...blocks,
          {
            what: 'a streamed word to the screen, eight at once, p95',
            value: percentile(words, 0.95),
            unit: 'ms',
            beside: {
              kind: 'limit',
              what: `of ${words.length}, median ${Math.round(median(words))} ms`,
              value: LIMIT.wordMs,
            },
          },
          {
            what: '  against a page that writes out what it hears',
            value: percentile(words, 0.95),
            unit: 'ms',
            beside: { kind: 'peer', what: 'p95', value: percentile(bareWords, 0.95) },
          },
        ],
      };
    }),
});
