/**
 * Where things stand and what takes the keys, measured in a real browser: boxes, words and focus at
 * the sizes people have.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATHS } from '../../src/page/ui/routes.ts';
import { SETTINGS_SECTIONS } from '../../src/page/ui/settings/pages.ts';
import { createGuest, type Guest, QUIET, STILL } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { crowdedIn } from '../support/crowded.ts';
import { createVisitor, goWithin, withoutTransitions, type Visitor } from '../support/visitor.ts';

const TABLE = `| where | what was found | who |
|---|---|---|
| Unterammergauerstrasse | Donaudampfschifffahrtsgesellschaft | Bartholomew |`;

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  const team = teamScript();
  model = await startScriptedModel(async (request) =>
    request.last.includes('a table') ? [{ say: TABLE }] : await team(request),
  );
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
  visitor = await createVisitor(context, relay.link);
  await visitor.begin();
  await visitor.press('SUMMON');
  await visitor.untilAll('awake');
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
});

const sizes = {
  desktop: [1440, 900],
  tablet: [1024, 768],
  phone: [360, 740],
  'phone on its side': [740, 360],
  'laptop at 200 %': [720, 450],
} as const;
const resize = ([width, height]: readonly [number, number]) => visitor.page.setViewportSize({ width, height });

const crowded = () => crowdedIn(visitor.page);
/** Seats that the big button stands on. */
const covered = () =>
  visitor.page.evaluate(() => {
    const top = document.querySelector('.big')?.getBoundingClientRect().top ?? 0;
    return [...document.querySelectorAll('.seat')].flatMap((seat, i) => {
      const { bottom } = seat.getBoundingClientRect();
      return bottom > top ? [`seat ${i + 1}: ${bottom} below ${top}`] : [];
    });
  });

/**
 * Seats whose words do not stand in the middle of them, where the face stands beside: by how many
 * px.
 */
const uneven = () =>
  visitor.page.evaluate(() =>
    [...document.querySelectorAll('.seat')].flatMap((seat, i) => {
      const { top, bottom } = seat.getBoundingClientRect();
      const words = [...seat.querySelectorAll('.seat-name, .seat-sub')].map((each) => each.getBoundingClientRect());
      const middle = (Math.min(...words.map((each) => each.top)) + Math.max(...words.map((each) => each.bottom))) / 2;
      const off = middle - (top + bottom) / 2;
      return Math.abs(off) > 2 ? [`seat ${i + 1}: ${off}`] : [];
    }),
  );

describe('the grid', () => {
  it.each(Object.entries(sizes))('keeps every seat apart, and every word in its seat: %s', async (_, size) => {
    await resize(size);
    await visitor.hearth();
    expect(await crowded()).toEqual([]);
    expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    if (size === sizes['laptop at 200 %']) expect(await uneven()).toEqual([]);
  });
});

describe('a menu', () => {
  it('takes the focus when it is opened by a click, moves by arrows, and gives the focus back on Escape', async () => {
    await resize(sizes.desktop);
    const button = visitor.page.getByRole('button', { name: 'More places' });
    await button.click();
    const items = visitor.page.getByRole('menuitem');
    await expect.poll(() => items.first().evaluate((item) => item === document.activeElement)).toBe(true);
    await visitor.page.keyboard.press('ArrowDown');
    expect(await items.nth(1).evaluate((item) => item === document.activeElement)).toBe(true);
    await visitor.page.keyboard.press('Escape');
    await expect.poll(() => items.count()).toBe(0);
    expect(await button.evaluate((it) => it === document.activeElement)).toBe(true);
  });
});

describe('a key', () => {
  it('opens the field from another page by a key, also when the conversation has to be fetched first', async () => {
    await resize(sizes.desktop);
    const { page } = visitor;
    const home = new URL(page.url()).origin;
    await page.goto(`${home}/threads`);
    await page.getByRole('heading', { name: 'Threads', exact: true }).waitFor();
    await page.keyboard.press('c');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''))
      .toMatch(/^Write to /);
  });
});

describe('a conversation', () => {
  it('shows a table with whole words that scrolls sideways on a phone', async () => {
    await resize(sizes.phone);
    await visitor.open(1);
    await visitor.ask('Make me a table.');
    const cell = visitor.page.getByRole('cell', { name: 'Donaudampfschifffahrtsgesellschaft' });
    await cell.waitFor();
    const lines = await cell.evaluate((it) => {
      const range = document.createRange();
      range.selectNodeContents(it);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    });
    expect(lines).toBe(1);
    expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  });

  it('shows no raw Markdown at any moment of a reload', async () => {
    const { page } = visitor;
    await page.addInitScript(() => {
      const raw: string[] = [];
      Object.assign(window, { raw });
      const measure = () => {
        const words = document.createTreeWalker(
          document.querySelector('.log') ?? document.createElement('p'),
          NodeFilter.SHOW_TEXT,
        );
        while (words.nextNode()) {
          const { data, parentElement } = words.currentNode as Text;
          if (/\|\s*-{3}/.test(data) && parentElement?.checkVisibility({ visibilityProperty: true })) raw.push(data);
        }
        requestAnimationFrame(measure);
      };
      measure();
    });
    await page.reload();
    await page.getByRole('cell', { name: 'Donaudampfschifffahrtsgesellschaft' }).waitFor();
    expect(await page.evaluate(() => Reflect.get(window, 'raw') as unknown)).toEqual([]);
  });

  it('says that a pasted picture without content cannot be sent', async () => {
    const field = visitor.page.getByRole('textbox', { name: /^Write to / });
    await field.focus();
    await field.evaluate((element) => {
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array([137, 80, 78, 71])], 'picture.png', { type: 'image/png' }));
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true }));
    });
    await visitor.page
      .getByRole('alert')
      .getByText(/^picture\.png /)
      .waitFor();
  });
});

const OF_ONE = ['', '/about', '/conversations', '/deeds', '/costs', '/more', '/inbox', '/change'];
/** Every address that a person can come to, but those that have tests of their own for this. */
const placesOf = (agent: string) => [
  ...OF_ONE.map((tab) => `${agent}${tab}`),
  ...[
    '/activity/wakes',
    '/activity/costs',
    '/schedule',
    '/inbox',
    '/files',
    '/threads',
    '/threads/new',
    '/wake-preview',
    '/wake-some',
    '/connect',
  ],
  ...[null, ...SETTINGS_SECTIONS].map((section) => PATHS.settings(section)),
];
/** As a link within the page goes. */
const goTo = async (path: string) => {
  await goWithin(visitor.page, path);
  await expect.poll(() => visitor.page.locator('.lazy, .chat-skeleton, .chat-opening').count()).toBe(0);
};

/**
 * Runs in the page: whether it goes sideways, and what sticks out of it and cannot be brought into
 * sight.
 */
const cutOff = () => {
  const over = document.documentElement.scrollWidth - innerWidth;
  const isScrolled = (element: Element): boolean => {
    for (let above = element.parentElement; above; above = above.parentElement)
      if (/auto|scroll/.test(getComputedStyle(above).overflowX) && above.scrollWidth > above.clientWidth) return true;
    return false;
  };
  const out = [...document.querySelectorAll('main *, dialog *, header *')].filter((element) => {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const { left, right, width, height } = element.getBoundingClientRect();
    if (width < 2 || height < 2 || (right <= innerWidth + 1 && left >= -1)) return false;
    return !element.closest('.visually-hidden') && !isScrolled(element);
  });
  return [
    ...(over > 0 ? [`goes sideways by ${over} px`] : []),
    ...out.slice(0, 3).map((element) => `${element.tagName} ${element.className.toString()} sticks out`),
  ];
};

/**
 * What is opened by a button has no address of its own: where the button is, and how it is called.
 */
const dialogsOf = (agent: string): readonly (readonly [string, string | RegExp])[] => [
  ['/schedule', 'A new routine'],
  ['/schedule', 'A new script'],
  ['/settings/devices', 'Add a device'],
  ['/settings/devices', 'Make a recovery phrase'],
  ['/settings/devices', 'Join from another device'],
  ['/settings/devices', 'I have a recovery phrase'],
  [`${agent}/about`, 'Change'],
  [`${agent}/more`, /^Forget this conversation/],
  [`${agent}/more`, /^Forget (?!this)/],
];
/**
 * A dialog that is scrolled sideways, or is higher than the window, has its buttons out of sight.
 */
const sideways = () =>
  [...document.querySelectorAll('dialog[open], dialog[open] .dialog-body')].flatMap((each) => {
    const { top, bottom } = each.getBoundingClientRect();
    const over = each.scrollWidth - each.clientWidth;
    return [
      ...(over > 1 ? [`${each.className} goes sideways by ${over} px`] : []),
      ...(top < 0 || bottom > innerHeight ? [`${each.className} is higher than the window`] : []),
    ];
  });

describe('every page and dialog', () => {
  it('fits on a phone and at 200 %, and axe finds nothing serious', async () => {
    const { page } = visitor;
    await resize(sizes.desktop);
    await visitor.open(1);
    const agent = new URL(page.url()).pathname;
    const found: string[] = [];
    await withoutTransitions(page);
    for (const path of placesOf(agent)) {
      await goTo(path);
      for (const size of [sizes.phone, [640, 400]] as const) {
        await resize(size);
        found.push(...(await page.evaluate(cutOff)).map((what) => `${path} at ${size[0]} px: ${what}`));
      }
      found.push(...(await visitor.axe()).map((what) => `${path}: ${what}`));
      // The others are looked at by night in the tests of what they do; in the other light only
      // colours are others.
      if (!path.startsWith(agent)) continue;
      await page.emulateMedia({ colorScheme: 'dark', ...STILL });
      found.push(...(await visitor.axe(['color-contrast'])).map((what) => `${path} by night: ${what}`));
      await page.emulateMedia({ colorScheme: 'light', ...STILL });
    }
    for (const [path, button] of dialogsOf(agent)) {
      await resize(sizes.desktop);
      await goTo(path);
      await page
        .getByRole('button', { name: button, exact: typeof button === 'string' })
        .first()
        .click();
      await page.getByRole('dialog').first().waitFor();
      for (const size of [sizes.phone, [640, 400]] as const) {
        await resize(size);
        const wrong = [...(await page.evaluate(cutOff)), ...(await page.evaluate(sideways))];
        found.push(...wrong.map((what) => `${String(button)} at ${size[0]} px: ${what}`));
      }
      found.push(...(await visitor.axe()).map((what) => `${String(button)}: ${what}`));
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    }
    expect(found).toEqual([]);
    // Where the system has colours of its own, what is pressed has an edge and a switch its knob.
    await goTo('/schedule');
    await page.emulateMedia({ forcedColors: 'active', ...STILL });
    const seen = await page.evaluate(() => ({
      edges: [...document.querySelectorAll('main .solid, main .ghost')].map((button) => {
        const { outlineStyle, outlineWidth, borderWidth } = getComputedStyle(button);
        return outlineStyle !== 'none' ? outlineWidth : borderWidth;
      }),
      knobs: [...document.querySelectorAll('.switch[aria-checked="false"] .switch-knob')].map((knob) => {
        const { backgroundColor } = getComputedStyle(knob);
        return getComputedStyle(knob, '::after').backgroundColor !== backgroundColor;
      }),
    }));
    expect([...new Set(seen.edges)]).toEqual(['1px']);
    expect(seen.knobs).toEqual(seen.knobs.map(() => true));
    expect(seen.knobs.length).toBeGreaterThan(0);
    await page.emulateMedia({ forcedColors: null, ...STILL });
    await goTo('/');
  });
});

describe('the big button', () => {
  it('shows the big button without scrolling while everyone sleeps, in any short window', async () => {
    await resize(sizes.desktop);
    await visitor.press(/End session/);
    await visitor.untilAll('sleeping');
    // Who sleeps has closed eyes, the lead too.
    const eyes = visitor.page.locator('.seat[data-asleep="true"] .face-eyes');
    expect(new Set(await eyes.evaluateAll((all) => all.map((each) => getComputedStyle(each).opacity)))).toEqual(
      new Set(['0']),
    );
    // And is dimmed, but for the name.
    const figures = visitor.page.locator('.seat[data-asleep="true"] .seat-figure');
    await expect
      .poll(() => figures.evaluateAll((all) => [...new Set(all.map((each) => getComputedStyle(each).opacity))]))
      .toEqual(['0.4']);
    const wake = visitor.page.getByRole('button', { name: 'WAKE', exact: true });
    const isInSight = async () =>
      await wake.evaluate((button) => {
        const { left, top, width, height, bottom } = button.getBoundingClientRect();
        const at = document.elementFromPoint(left + width / 2, top + height / 2);
        return top >= 0 && bottom <= innerHeight && at === button;
      });
    for (const [what, size] of Object.entries({ ...sizes, low: [1024, 700], tall: [390, 844] } as const)) {
      await resize(size);
      await visitor.hearth();
      await expect.poll(isInSight, { message: what }).toBe(true);
      await visitor.page.locator('.hearth').evaluate((hearth) => {
        const above = Object.assign(document.createElement('div'), { id: 'above' });
        above.style.cssText = 'flex: none; height: 400px';
        hearth.prepend(above);
      });
      expect(await isInSight(), `${what}, with something above the grid`).toBe(true);
      await visitor.page.locator('#above').evaluate((above) => above.remove());
      expect(await crowded(), what).toEqual([]);
      if (size === sizes['laptop at 200 %']) expect(await covered(), what).toEqual([]);
    }
    expect(visitor.complaints).toEqual([]);
  });

  it('lets one go on choosing who shall wake where the window becomes narrow beside a conversation', async () => {
    await resize(sizes.desktop);
    await expect.poll(() => visitor.page.locator('.bottom-bar').count()).toBe(0);
    await visitor.open(1);
    await visitor.press('More ways to wake');
    await visitor.page.getByRole('menuitem', { name: 'Wake only some…' }).click();
    const dialog = visitor.page.getByRole('dialog', { name: 'Who shall wake?' });
    const first = dialog.getByRole('checkbox').first();
    await first.check();
    await resize(sizes.phone);
    await expect.poll(() => visitor.page.locator('.bottom-bar').count()).toBe(1);
    expect(await first.isChecked()).toBe(true);
    await visitor.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await visitor.page.getByRole('button', { name: 'WAKE', exact: true }).waitFor();
  });
});
