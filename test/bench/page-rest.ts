/**
 * What the page takes of a core while nobody does anything: all processes of a real Chromium that
 * draws in software, beside the same browser on an empty page of the same relay.
 */
import type { BrowserContext } from 'playwright-core';
import { createVisitor } from '../support/visitor.ts';
import { openBrowserCpu } from './browser-cpu.ts';
import { median, type Figure } from './figures.ts';
import { EMPTY_PATH } from './page-steps.ts';
import { definePart, withOpened } from './part.ts';
import { SMALL } from './place.ts';

/**
 * - Whether the eight are looked at while they are awake, too.
 * - `afterwardsMs` until what a page does once for what was said (its index, its second copy) is
 *   done; the longest begins after half a minute.
 * - `settleMs` of quiet before it is measured; so many `samples` of `sampleMs`.
 */
const FULL = {
  ...{ plan: { seed: 1, messages: 100, lastSession: 20 }, isAwake: true },
  ...{ afterwardsMs: 45_000, settleMs: 4_000, sampleMs: 5_000, samples: 3 },
};
const SMOKE: typeof FULL = {
  ...{ plan: SMALL, isAwake: false },
  ...{ afterwardsMs: 0, settleMs: 0, sampleMs: 50, samples: 1 },
};
const LIMIT = 1;
/**
 * Percent that a hidden page may take beyond an empty one: what two looks at the same differ by.
 */
const NOTHING = 0.2;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Percent of one core. */
async function taken(
  context: BrowserContext,
  { settleMs, sampleMs: lookMs, samples: count }: typeof FULL,
): Promise<number> {
  const { seconds, close } = await openBrowserCpu(context);
  await pause(settleMs);
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const [cpu, clock] = [await seconds(), performance.now()];
    await pause(lookMs);
    samples.push(((await seconds()) - cpu) / ((performance.now() - clock) / 1_000));
  }
  await close();
  return median(samples) * 100;
}

/** About four minutes. */
export const pageRest = definePart({
  name: 'page-rest',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const args = ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })];
      const { profile, port } = keep(await place.prepare(sizes.plan), (household) => household.profile.remove());
      const relay = keep(await place.startRelay({ port, args }), (one) => one.stop());
      const context = await profile.open({ viewport: { width: 1440, height: 900 } });
      const visitor = await createVisitor(context, relay.link);
      const { page } = visitor;
      const others = () =>
        Promise.all(
          context
            .pages()
            .filter((one) => one !== page)
            .map((one) => one.close()),
        );
      await visitor.untilAll('sleeping');
      await others();
      const inBoth = async () => {
        await pause(sizes.afterwardsMs);
        await page.emulateMedia({ colorScheme: 'light' });
        const light = await taken(context, sizes);
        await page.emulateMedia({ colorScheme: 'dark' });
        return { light, dark: await taken(context, sizes) };
      };
      const whileAwake = async () => {
        await visitor.press('WAKE');
        await visitor.untilAll('awake');
        await visitor.open(1);
        const both = await inBoth();
        await visitor.press('End session');
        await visitor.untilAll('sleeping');
        return both;
      };
      const awake = sizes.isAwake ? await whileAwake() : null;
      const asleep = await inBoth();
      await page.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
        Object.defineProperty(document, 'hidden', { get: () => true });
        document.dispatchEvent(new Event('visibilitychange'));
      });
      const hidden = await taken(context, sizes);
      await page.goto(new URL(EMPTY_PATH, relay.url).href);
      const empty = await taken(context, sizes);
      const figure = (what: string, value: number): Figure => ({
        what,
        value,
        unit: '%',
        beside: {
          kind: 'limit',
          what: `of a core; an empty page of the relay takes ${empty.toFixed(2)} %`,
          value: LIMIT,
        },
      });
      return {
        title: 'The page at rest',
        method: `CPU time of all of Chromium’s processes, drawing in software, 1440 × 900; median of ${sizes.samples} looks of ${sizes.sampleMs / 1_000} s, ${sizes.settleMs / 1_000} s after a change of its light, ${sizes.afterwardsMs / 1_000} s after what was said last`,
        figures: [
          ...(awake ? [figure('eight awake, dark', awake.dark), figure('eight awake, light', awake.light)] : []),
          figure('everyone asleep, dark', asleep.dark),
          figure('everyone asleep, light', asleep.light),
          {
            what: 'hidden, beyond an empty page',
            value: Math.max(0, hidden - empty),
            unit: '%',
            beside: { kind: 'limit', what: 'told that nobody sees it; drawn all the same', value: NOTHING },
          },
        ],
      };
    }),
});
