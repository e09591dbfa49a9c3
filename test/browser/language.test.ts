/**
 * Another language than English, in the built page: fetched by itself, whole on every page, and its
 * writing from right to left.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SEAT_ORDER, seatColor } from '../../src/shared/domain/seat.ts';
import { type Spoken, STORED } from '../../src/page/language/t.ts';
import { PATHS, PORTRAIT_TABS } from '../../src/page/ui/routes.ts';
import { SETTINGS_SECTIONS } from '../../src/page/ui/settings/pages.ts';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { letIn } from '../support/sign-in.ts';
import { createVisitor, goWithin } from '../support/visitor.ts';

let relay: TestRelay;
let profile: Guest;
beforeAll(async () => {
  relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
  profile = createGuest();
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
});

/**
 * What people wrote or chose, what a machine is told, and dates and numbers, which the browser
 * writes.
 */
const NOT_OURS =
  '[dir=auto], [translate=no], code, pre, kbd, time, textarea, script, style, noscript, option, svg, .chip, .seat-name, .grants-single label';

/**
 * Puts every text of the kept catalogue between marks, in a language that is written from right to
 * left.
 */
async function speakInMarks(page: Page): Promise<void> {
  await page.evaluate((name) => {
    const kept = JSON.parse(localStorage.getItem(name) ?? 'null') as Spoken;
    const texts = Object.entries(kept.texts).map(([key, text]) => {
      const [one = '', other = ''] = key.split('|').map((form) => `⟦${form}⟧`);
      return [key, typeof text === 'string' ? `⟦${key}⟧` : { one, other }];
    });
    const marked: Spoken = { ...kept, direction: 'rtl', texts: Object.fromEntries(texts) as Spoken['texts'] };
    localStorage.setItem(name, JSON.stringify(marked));
  }, STORED.texts);
  await page.reload();
}

/** Texts and labels on the page that stand outside of all marks. */
const unmarkedOn = (page: Page, names: readonly string[]) =>
  page.evaluate(
    ([notOurs, names]) => {
      const bare: string[] = [];
      const isText = (text: string) =>
        /\p{L}{3}/u.test(text) && !/^\d/.test(text.trim()) && !names.includes(text.trim());
      let depth = 0;
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        let outside = '';
        for (const letter of node.nodeValue ?? '') {
          if (letter === '⟦') depth += 1;
          else if (letter === '⟧') depth -= 1;
          else if (depth === 0) outside += letter;
        }
        if (isText(outside) && !node.parentElement?.closest(notOurs)) bare.push(outside.trim());
      }
      for (const element of document.querySelectorAll(':is([aria-label], [placeholder], [alt]):not(article)'))
        for (const name of ['aria-label', 'placeholder', 'alt']) {
          const text = element.getAttribute(name) ?? '';
          if (isText(text) && !text.includes('⟦') && !/[/.]\S/.test(text)) bare.push(`${name}: ${text}`);
        }
      return bare;
    },
    [NOT_OURS, names] as const,
  );

it('starts in the browser’s language, and switches to English when that is chosen', async () => {
  const context = await profile.open({ locale: 'de-AT', viewport: { width: 360, height: 740 }, ...QUIET });
  await letIn(context, relay.url, await relay.signIn());
  const page = await context.newPage();
  await page.goto(relay.url);
  await page.getByRole('heading', { name: 'Ein Zuhause für ein Team, das sich erinnert' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await page.evaluate((name) => localStorage.setItem(name, 'en'), STORED.chosen);
  await page.reload();
  await page.getByRole('heading', { name: 'A home for a team that remembers' }).waitFor();
  await context.close();
});

it('switches the language in the settings, and leaves no text of another on a page', async () => {
  const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
  await letIn(context, relay.url, await relay.signIn());
  const desk = await createVisitor(context, relay.url);
  await desk.begin();
  await desk.hatch(2);
  const { page } = desk;
  const goTo = async (path: string) => {
    await goWithin(page, path);
    await page.locator('main, [role=main], .page, .settings, .grid').first().waitFor();
  };
  await goTo(PATHS.settings('people'));
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de');
  await page.getByRole('combobox', { name: 'Sprache' }).waitFor();
  await speakInMarks(page);
  await page.getByRole('combobox', { name: '⟦Language⟧' }).waitFor();
  expect(await page.evaluate(() => getComputedStyle(document.body).direction)).toBe('rtl');

  await goTo(PATHS.hearth);
  await desk.page.locator('.seat-button').nth(1).click();
  const agentId = (await page.evaluate(() => location.pathname)).split('/').at(-1) as never;
  const paths = [
    ...[
      PATHS.hearth,
      PATHS.agent(agentId),
      PATHS.schedule(),
      PATHS.activity('wakes'),
      PATHS.threads,
      PATHS.inbox,
      PATHS.activity('costs'),
    ],
    ...PORTRAIT_TABS.map((tab) => PATHS.portrait(agentId, tab)),
    ...SETTINGS_SECTIONS.map((section) => PATHS.settings(section)),
    PATHS.advanced(agentId),
  ];
  const names = [
    // Called so in every language.
    'SUMMON',
    'Roost',
    ...(await page.locator('.seat-name').allTextContents()),
    ...SEAT_ORDER.map((at) => seatColor(at).colorName),
  ];
  for (const path of paths) {
    await goTo(path);
    // Twice the same: what was still on its way is there.
    let last = '';
    const settled = async () => {
      const now = await page.evaluate(() => document.body.innerText);
      const same = now === last;
      last = now;
      return same;
    };
    await expect.poll(settled, { interval: 60 }).toBe(true);
    expect({ path, bare: await unmarkedOn(page, names) }).toEqual({ path, bare: [] });
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  expect(await unmarkedOn(page, names)).toEqual([]);
  expect(desk.complaints).toEqual([]);
  await context.close();
});
