/**
 * What the page takes of a core while nobody does anything: all processes of a real Chromium that draws in software, beside
 * the same browser on an empty page of the same relay.
 */
import type { BrowserContext } from 'playwright-core';
import { createProfile } from '../support/chromium.ts';
import { startRelay } from '../support/relay.ts';
import { createVisitor } from '../support/visitor.ts';
import { median, type Figure, type Section } from './figures.ts';
import { EMPTY_PATH } from './page-acts.ts';

/** ms until what a page does once for what was said (its index, its second copy) is done; the longest begins after half a minute. */
const AFTERWARDS_MS = 45_000;
/** ms of quiet before it is measured, ms of each look, and looks. */
const SETTLE_MS = 4_000;
const LOOK_MS = 5_000;
const LOOKS = 3;
const LIMIT = 1;
/** Percent that a hidden page may take beyond an empty one: what two looks at the same differ by. */
const NOTHING = 0.2;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Percent of one core. */
async function taken(context: BrowserContext): Promise<number> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The context has no browser of its own.');
  const seconds = async () =>
    (await session.send('SystemInfo.getProcessInfo')).processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  await pause(SETTLE_MS);
  const looks: number[] = [];
  for (let i = 0; i < LOOKS; i++) {
    const [cpu, clock] = [await seconds(), performance.now()];
    await pause(LOOK_MS);
    looks.push(((await seconds()) - cpu) / ((performance.now() - clock) / 1_000));
  }
  await session.detach();
  return median(looks) * 100;
}

/** The figures; about four minutes. */
export async function pageRest(): Promise<Section> {
  const relay = await startRelay({ from: 'built', args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
  const profile = await createProfile();
  try {
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
    await visitor.begin();
    await visitor.press('SUMMON');
    await visitor.untilAll('awake');
    await visitor.open(1);
    await others();
    const inBoth = async () => {
      await pause(AFTERWARDS_MS);
      await page.emulateMedia({ colorScheme: 'light' });
      const light = await taken(context);
      await page.emulateMedia({ colorScheme: 'dark' });
      return { light, dark: await taken(context) };
    };
    const awake = await inBoth();
    await visitor.press('End session');
    await visitor.untilAll('sleeping');
    const asleep = await inBoth();
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
      Object.defineProperty(document, 'hidden', { get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    const hidden = await taken(context);
    await page.goto(new URL(EMPTY_PATH, relay.url).href);
    const empty = await taken(context);
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
      method: `CPU time of all of Chromium’s processes, drawing in software, 1440 × 900; median of ${LOOKS} looks of ${LOOK_MS / 1_000} s, ${SETTLE_MS / 1_000} s after a change of its light, ${AFTERWARDS_MS / 1_000} s after what was said last`,
      figures: [
        figure('eight awake, dark', awake.dark),
        figure('eight awake, light', awake.light),
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
  } finally {
    await profile.remove();
    await relay.stop();
  }
}
