/**
 * How soon each tab shows what an agent does, and a question of it on every page: from the moment
 * in which the model's server sends it, or in which the person presses.
 */
import type { Page } from 'playwright-core';
import { startScriptedModel, teamScript, type Part as Said } from '../support/scripted-model.ts';
import { createVisitor, goWithin } from '../support/visitor.ts';
import { percentile, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

/** Each round is one answer and one question. */
const FULL = { rounds: 20, warmUp: 2, tabs: 4 };
const SMOKE: typeof FULL = { rounds: 1, warmUp: 0, tabs: 2 };
const LIMIT_MS = 300;
/** ms after which a change counts as never shown. */
const LATEST_MS = 20_000;
/** Pages, one after the other, that show a question in a bar. The inbox shows its card instead. */
const PAGES = ['/projects', '/activity', '/settings', '/schedule'];

interface Watched {
  seen: { what: string; at: number }[];
}

/** Runs in a page: notes when the first tile and the question of an agent changed on the screen. */
function watchActs(): void {
  const watched: Watched = { seen: [] };
  Object.assign(globalThis, { watchedActs: watched });
  let before = '';
  const look = () => {
    const tile = document.querySelector<HTMLElement>('.seat:has([aria-label*=", seat 1, "])');
    const bar = document.querySelector('.ask-bar');
    const now = [tile?.dataset['line'] ?? '', bar ? 'bar' : ''].join();
    if (now === before) return;
    before = now;
    // A frame later it is on the screen.
    requestAnimationFrame(() => watched.seen.push({ what: now, at: performance.timeOrigin + performance.now() }));
  };
  new MutationObserver(look).observe(document.documentElement, {
    ...{ childList: true, subtree: true, attributes: true },
    attributeFilter: ['data-line'],
  });
  look();
}

/** ms from `since` until this tab showed it. */
async function shownAfter(page: Page, since: number, line: RegExp): Promise<number> {
  const at = await page.waitForFunction(
    ({ from, source }) => {
      const { watchedActs } = globalThis as unknown as { watchedActs: Watched };
      return watchedActs.seen.find((one) => one.at >= from && new RegExp(source).test(one.what))?.at;
    },
    { from: since, source: line.source },
    { timeout: LATEST_MS, polling: 20 },
  );
  return Number(await at.jsonValue()) - since;
}

const clock = () => performance.timeOrigin + performance.now();
/** As in `data-line` of a tile, and then whether the page has the question. */
const LINES = { writes: /^writes,/, awake: /^awake,/, asks: /^asks,/, bar: /,bar$/, noBar: /,$/ };

export const pageActs = definePart({
  name: 'page-acts',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: ({ rounds, warmUp, tabs }, place) =>
    withOpened(async (keep) => {
      const team = teamScript();
      const holds: (() => void)[] = [];
      const held = () => new Promise<void>((resolve) => void holds.push(resolve));
      const send = () => holds.shift()?.();
      const asks: readonly Said[] = [{ call: 'run_command', input: { command: 'wc -w notes.md' } }];
      const model = keep(
        await startScriptedModel((request) => {
          const { last, results } = request;
          if (results.some((result) => result.startsWith('This waits for the human'))) return [{ say: 'I asked.' }];
          if (last.includes('Write, the')) return [{ until: held() }, { say: 'Once.' }, { until: held() }];
          if (last.includes('Count, the')) return [{ until: held() }, ...asks];
          if (last.includes('The human said yes')) return [{ say: 'Thank you.' }];
          return team(request);
        }),
        (one) => one.close(),
      );
      const relay = keep(
        await place.startRelay({
          args: ['--scripts'],
          env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-bench' },
        }),
        (one) => one.stop(),
      );
      const profile = keep(await place.newProfile(), (one) => one.remove());
      const context = await profile.open({ viewport: { width: 1440, height: 900 } });
      const visitor = await createVisitor(context, relay.link);
      await visitor.begin();
      await visitor.hatch(1);
      const beside: Page[] = [];
      for (let n = 1; n < tabs; n++) beside.push(await context.newPage());
      const [first = visitor.page] = beside;
      await first.goto(new URL('/settings/agents', relay.url).href);
      await first.getByRole('radio', { name: /^Asks before commands/ }).click();
      await first.getByText(/saved\. It applies now/).waitFor();
      for (const page of beside) await page.goto(relay.url);
      for (const page of beside) await page.getByRole('list', { name: 'The team' }).waitFor();
      await visitor.open(1);
      const all = [visitor.page, ...beside];
      for (const page of all) await page.evaluate(watchActs);
      /** Other requests may come before the one that is held, such as the thanks for a yes. */
      const untilHeld = async () => {
        while (holds.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      };

      const took: Record<'writes' | 'awake' | 'asks' | 'bar' | 'gone', number[]> = {
        ...{ writes: [], awake: [], asks: [], bar: [], gone: [] },
      };
      async function measure(
        into: keyof typeof took,
        pages: readonly Page[],
        line: RegExp,
        act: () => unknown,
        counts: boolean,
      ) {
        const since = clock();
        await act();
        const each = await Promise.all(pages.map((page) => shownAfter(page, since, line)));
        if (counts) took[into].push(...each);
      }
      for (let n = 0; n < warmUp + rounds; n++) {
        const counts = n >= warmUp;
        await visitor.say(`Write, the ${n}th time.`);
        await untilHeld();
        await measure('writes', all, LINES.writes, () => send(), counts);
        await measure('awake', all, LINES.awake, () => send(), counts);
        for (const [i, page] of beside.entries()) await goWithin(page, PAGES[(n + i) % PAGES.length] ?? '/');
        await visitor.say(`Count, the ${n}th time.`);
        await untilHeld();
        const since = clock();
        send();
        const bars = Promise.all(beside.map((page) => shownAfter(page, since, LINES.bar)));
        const tile = await shownAfter(visitor.page, since, LINES.asks);
        if (counts) took.asks.push(tile);
        if (counts) took.bar.push(...(await bars));
        const yes = first
          .getByRole('region', { name: 'A question for you' })
          .getByRole('button', { name: 'Yes, once' });
        await bars;
        await yes.and(first.locator(':enabled')).waitFor();
        await measure('gone', beside, LINES.noBar, () => yes.click(), counts);
        await shownAfter(visitor.page, since, LINES.awake);
        for (const page of beside) await goWithin(page, '/');
      }
      const figure = (what: string, values: readonly number[], beside_: string): Figure => ({
        what: `${what}, p95`,
        value: percentile(values, 0.95),
        unit: 'ms',
        beside: { kind: 'limit', what: beside_, value: LIMIT_MS },
      });
      const inTabs = `in the slowest of ${tabs} tabs`;
      return {
        title: 'What agents do, in every tab',
        method: `${rounds} answers and questions of one agent, ${tabs} tabs of one browser; from the model's server, or the press, to the screen`,
        figures: [
          figure('the first word → the tile', took.writes, inTabs),
          figure('the end of an answer → the tile', took.awake, inTabs),
          figure('a question → the tile', took.asks, 'in the conversation'),
          figure('a question → the bar of every other page', took.bar, inTabs),
          figure('one press of Yes there → the bar is gone', took.gone, inTabs),
        ],
      };
    }),
});
