/**
 * Keys, fields, drops and small windows in a real browser: input methods, undo, Back, a browser
 * that translates the page.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, QUIET, type Guest } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1440, height: 900 };
const GROWING = 'The heron stood in the shallow water';

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
let page: Page;
let cdp: CDPSession;
/** Lets the answer that grows go on. */
let goOn: () => void = () => undefined;
let folder: string;

beforeAll(async () => {
  const team = teamScript();
  model = await startScriptedModel(async (request) => {
    if (request.last.includes('a formula')) return [{ say: 'It is $x^2$ then, and [a page](https://example.com/a).' }];
    if (request.last.includes('a paragraph'))
      return [
        { say: `${GROWING}, and ` },
        { until: new Promise<void>((resolve) => (goOn = resolve)) },
        { say: 'it did not move, **not once**, until the rain came.' },
      ];
    return team(request);
  });
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  folder = await mkdtemp(join(tmpdir(), 'roost-dropped-'));
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: DESK, ...QUIET }), relay.link);
  ({ page } = visitor);
  page.setDefaultTimeout(15_000);
  cdp = await page.context().newCDPSession(page);
  await visitor.begin();
  await visitor.press('SUMMON');
  await visitor.untilAll('awake');
  await visitor.open(1);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
  await rm(folder, { recursive: true });
});

const field = () => page.getByRole('textbox', { name: /^Write to / });
const palette = () => page.getByRole('dialog', { name: 'Find anything' });
const openPalette = async () => {
  await page.keyboard.press('Control+k');
  await palette().waitFor();
};

/**
 * A press as Safari gives it when it ends a composition: nothing is composed any more, and the key
 * has the number of an input method.
 */
async function pressOfInputMethod(key: 'Enter' | 'Escape'): Promise<void> {
  const press = { key, code: key, windowsVirtualKeyCode: 229 };
  await cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...press });
  await cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...press });
}
/** A press while something is composed, as Chromium and Firefox give it. */
async function pressWhileComposing(key: 'Enter' | 'Escape', text: string): Promise<void> {
  await cdp.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  const press = { key, code: key, windowsVirtualKeyCode: key === 'Enter' ? 13 : 27 };
  await cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...press });
  await cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...press });
}

describe('A key that an input method takes', () => {
  it('sends nothing, in whatever order a browser tells of it', async () => {
    await field().fill('');
    await field().focus();
    const before = model.requests.length;
    await cdp.send('Input.insertText', { text: '日本語' });
    await pressOfInputMethod('Enter');
    expect(await field().inputValue()).toBe('日本語');
    await pressWhileComposing('Enter', 'にほん');
    expect(await field().inputValue()).toBe('日本語にほん');
    await cdp.send('Input.insertText', { text: '日本' });
    expect(model.requests).toHaveLength(before);
    await field().press('Enter');
    expect(await field().inputValue()).toBe('');
    await visitor.untilRead('Seat 1 heard: 日本語日本');
  });

  it('neither chooses in the palette nor closes it', async () => {
    await openPalette();
    await page.keyboard.insertText('costs');
    await palette()
      .getByRole('option', { name: /^Costs/ })
      .first()
      .waitFor();
    const at = page.url();
    for (const key of ['Enter', 'Escape'] as const) {
      await pressOfInputMethod(key);
      expect([page.url(), await palette().isVisible()]).toEqual([at, true]);
      await pressWhileComposing(key, 'こすと');
      expect([page.url(), await palette().isVisible()]).toEqual([at, true]);
    }
    await page.keyboard.insertText('costs');
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
  });

  it('keeps an edit when an input method takes the key', async () => {
    await field().focus();
    await page.keyboard.press('ArrowUp');
    const editing = page.getByText('Cancel', { exact: true });
    await editing.waitFor();
    await field().fill('Something else');
    await pressOfInputMethod('Escape');
    await pressWhileComposing('Escape', 'に');
    expect(await field().inputValue()).toContain('Something else');
    await cdp.send('Input.insertText', { text: '' });
    await page.keyboard.press('Escape');
    await editing.waitFor({ state: 'detached' });
    await field().fill('');
  });
});

describe('Undo', () => {
  it('undoes a quotation, and keeps the earlier text', async () => {
    await field().fill('');
    await field().pressSequentially('Before.');
    const message = page.locator('.msg').last();
    await message.hover();
    await message.getByRole('button', { name: /^More for/ }).click();
    await page.getByRole('menuitem', { name: 'Quote' }).click();
    expect(await field().inputValue()).toContain('> ');
    await field().focus();
    await page.keyboard.press('Control+z');
    expect(await field().inputValue()).toBe('Before.');
    await field().fill('');
  });

  it('undoes a choice from the list, and keeps the typed text', async () => {
    const threads = await page.context().newPage();
    await threads.goto(new URL('/threads/new', relay.url).href);
    await threads.getByLabel('Title').fill('The bridge');
    await threads.getByRole('checkbox', { name: /Name1/ }).check();
    await threads.getByRole('dialog').getByRole('button', { name: 'Begin', exact: true }).click();
    const box = threads.getByRole('textbox', { name: 'Write in The bridge' });
    await box.pressSequentially('Ask @Name');
    await threads.getByRole('listbox', { name: 'Who is meant' }).waitFor();
    await threads.keyboard.press('Enter');
    expect(await box.inputValue()).toMatch(/^Ask @Name1 /);
    await threads.keyboard.press('Control+z');
    expect(await box.inputValue()).toBe('Ask @Name');
    await threads.close();
  });

  it('undoes dictated text', async () => {
    await page.evaluate(() => {
      // The browser's own needs a microphone and a service. This one hears one sentence.
      class Recognizer extends EventTarget {
        start() {
          const heard = { resultIndex: 0, results: [{ isFinal: true, 0: { transcript: 'and bring the string' } }] };
          setTimeout(() => this.dispatchEvent(Object.assign(new Event('result'), heard)));
          setTimeout(() => this.dispatchEvent(new Event('end')), 50);
        }
        stop() {}
        abort() {}
      }
      for (const name of ['SpeechRecognition', 'webkitSpeechRecognition']) Reflect.set(window, name, Recognizer);
    });
    await field().fill('');
    await field().pressSequentially('Come home');
    await page.getByRole('button', { name: 'Dictate', exact: true }).click();
    await page.getByRole('button', { name: 'Begin', exact: true }).click();
    await expect.poll(() => field().inputValue()).toBe('Come home and bring the string');
    await field().focus();
    await page.keyboard.press('Control+z');
    expect(await field().inputValue()).toBe('Come home');
    await field().fill('');
  });
});

describe('What is selected', () => {
  it('stays while its paragraph grows', async () => {
    await visitor.say('Tell me a paragraph.');
    await page.locator('.msg .md', { hasText: GROWING }).waitFor();
    await page.evaluate(() => {
      const words = document.createTreeWalker(
        [...document.querySelectorAll('.msg .md')].at(-1) ?? document.body,
        NodeFilter.SHOW_TEXT,
      );
      while (words.nextNode()) {
        const node = words.currentNode as Text;
        const at = node.data.indexOf('heron stood');
        if (at >= 0) document.getSelection()?.setBaseAndExtent(node, at, node, at + 'heron stood'.length);
      }
    });
    const selected = () => page.evaluate(() => String(document.getSelection()));
    expect(await selected()).toBe('heron stood');
    goOn();
    await page.locator('.msg .md', { hasText: 'until the rain came' }).waitFor();
    // The answer is done, and drawn anew as a message.
    await page.locator('.writing').waitFor({ state: 'detached' });
    await expect.poll(selected).toBe('heron stood');
  });

  it('copies text as read: without words for screen readers, and formulas as written', async () => {
    await visitor.say('Tell me a formula.');
    await page.locator('.md-maths math').last().waitFor();
    const copied = await page.evaluate(async () => {
      const last = [...document.querySelectorAll('.msg .md')].at(-1);
      if (last) document.getSelection()?.selectAllChildren(last);
      const text = new Promise<string>((resolve) =>
        addEventListener('copy', (event) => resolve(event.clipboardData?.getData('text/plain') ?? ''), { once: true }),
      );
      document.execCommand('copy');
      return text;
    });
    expect(copied.trim()).toBe('It is $x^2$ then, and a page.');
  });
});

describe('Back', () => {
  it.each([
    ['the palette', 'Control+k', 'Find anything'],
    ['the list of keys', '?', 'Keys'],
  ])('closes %s, and the page stays', async (_what, key, name) => {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const at = page.url();
    await page.keyboard.press(key);
    const dialog = page.getByRole('dialog', { name });
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    expect(page.url()).toBe(at);
    // Closed otherwise, it leaves no step behind.
    await page.keyboard.press(key);
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(() => JSON.stringify(history.state))).not.toContain('overlay');
  });

  it('leads from a palette choice back to where the palette was opened', async () => {
    const at = page.url();
    await openPalette();
    await page.keyboard.insertText('costs');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/costs/);
    await page.goBack();
    await page.waitForURL(at);
    await field().waitFor();
  });
});

describe('Files that are dropped', () => {
  const drop = async (paths: readonly string[], { x, y }: { x: number; y: number }) => {
    const data = { items: [], files: [...paths], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await cdp.send('Input.dispatchDragEvent', { type, x, y, data });
  };
  const middleOf = async (selector: string) => {
    const box = await page.locator(selector).first().boundingBox();
    return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
  };
  const chips = () => page.locator('.attached-file');
  const clear = async () => {
    for (let left = await chips().count(); left > 0; left = await chips().count())
      await chips()
        .first()
        .getByRole('button', { name: /^Remove/ })
        .click();
  };

  it('shows one short note with a list, however many files are refused', async () => {
    const paths = Array.from({ length: 100 }, (_none, i) => join(folder, `file-${i}.bin`));
    for (const path of paths) await writeFile(path, Buffer.from([0, 1, 2, 3]));
    await drop(paths, await middleOf('.log'));
    const note = page.locator('.compose-note');
    await note.getByText('Of 100 files, 100 could not be attached unchanged.').waitFor();
    const height = async () => (await note.boundingBox())?.height ?? Infinity;
    expect(await height()).toBeLessThan(80);
    await note.locator('summary').click();
    expect(await note.getByRole('listitem').count()).toBe(100);
    expect(await height()).toBeLessThan(260);
    await clear();
  });

  it('reads dropped files out of a folder with any name', async () => {
    const trip = join(folder, 'trip.txt');
    await mkdir(join(trip, 'day one'), { recursive: true });
    await writeFile(join(trip, 'plan.md'), 'The ferry leaves at six.');
    await writeFile(join(trip, 'day one', 'notes.txt'), 'It rained.');
    await drop([trip], await middleOf('.log'));
    await expect.poll(() => chips().count()).toBe(2);
    expect((await chips().allInnerTexts()).join()).toMatch(/notes\.txt.*plan\.md|plan\.md.*notes\.txt/s);
    await clear();
  });

  it('never take the page away, wherever they are dropped', async () => {
    const at = page.url();
    const path = join(folder, 'page.html');
    await writeFile(path, '<title>Opened by the browser</title>');
    for (const selector of ['.header', '.grid', 'aside.beside']) await drop([path], await middleOf(selector));
    await page.waitForTimeout(200);
    expect(page.url()).toBe(at);
    await openPalette();
    await drop([path], await middleOf('.palette-field'));
    await page.waitForTimeout(200);
    expect(page.url()).toBe(at);
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
  });

  it.each([
    ['UTF-16', Buffer.from('\ufeffÄpfel und Birnen', 'utf16le')],
    ['Latin-1', Buffer.from('Äpfel und Birnen', 'latin1')],
    ['Windows-1252', Buffer.from([0x93, ...Buffer.from('Äpfel und Birnen', 'latin1'), 0x94, 0x80])],
  ])('reads dropped files in %s', async (name, buffer) => {
    await page
      .locator('.compose input[type=file]')
      .setInputFiles({ name: 'fruit.txt', mimeType: 'text/plain', buffer });
    await expect.poll(() => chips().count()).toBe(1);
    const before = model.requests.length;
    await visitor.say(`Read ${name}.`);
    await expect.poll(() => model.requests.length).toBeGreaterThan(before);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain('Äpfel und Birnen');
  });
});

describe('In a small window', () => {
  const heights = () =>
    page.evaluate(() => {
      const log = document.querySelector('.log')?.getBoundingClientRect();
      const box = document.querySelector('.compose textarea')?.getBoundingClientRect();
      return { log: log?.height ?? 0, isWritable: (box?.bottom ?? Infinity) <= innerHeight };
    });
  it.each([
    [320, 256],
    [360, 300],
    [740, 360],
  ])('leaves most of a window of %i × %i to messages, with a usable field', async (width, height) => {
    await page.setViewportSize({ width, height });
    await expect.poll(async () => (await heights()).log).toBeGreaterThan(height * 0.4);
    expect((await heights()).isWritable).toBe(true);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.setViewportSize(DESK);
  });

  it('letters are as large as the browser is set to', async () => {
    const sizes = () =>
      page.evaluate(() =>
        ['body', '.md', '.compose textarea', '.seat-name'].map((selector) =>
          Number.parseFloat(getComputedStyle(document.querySelector(selector) ?? document.body).fontSize),
        ),
      );
    // The window is as wide as it was, and the page has drawn itself for that.
    await expect.poll(() => page.evaluate(() => innerWidth)).toBe(DESK.width);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const before = await sizes();
    await cdp.send('Page.setFontSizes', { fontSizes: { standard: 20 } });
    await expect.poll(sizes).toEqual(before.map((size) => size * 1.25));
    await cdp.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
    await expect.poll(sizes).toEqual(before);
  });
});

// The last: what a translation did to the page stays.
describe('A browser that translates the page', () => {
  it('keeps the page working when a browser translates it', async () => {
    await page.evaluate(() => {
      const LEFT = 'script, style, textarea, option, font, svg, math';
      const translate = (root: Node) => {
        const texts: Text[] = [];
        const all = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        if (root instanceof Text) texts.push(root);
        while (all.nextNode()) texts.push(all.currentNode as Text);
        for (const text of texts) {
          if (text.data.trim() === '' || !text.parentElement || text.parentElement.closest(LEFT)) continue;
          // As browsers do it: the text itself goes, another stands in its place.
          const outer = document.createElement('font');
          const inner = document.createElement('font');
          inner.textContent = `${text.data}·`;
          outer.append(inner);
          text.replaceWith(outer);
        }
      };
      translate(document.body);
      new MutationObserver((changes) => {
        for (const { addedNodes, target } of changes)
          for (const node of addedNodes.length > 0 ? addedNodes : [target]) if (node.isConnected) translate(node);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    const whole = async (where: string) => {
      const found = await page.evaluate(() =>
        [...document.querySelectorAll('.broken, .broken-part')].map((each) => each.textContent),
      );
      expect([where, found]).toEqual([where, []]);
    };
    await field().fill('Tell me a formula once more.');
    await field().press('Enter');
    await expect.poll(() => page.locator('.md-maths math').count()).toBeGreaterThan(1);
    await whole('a formula that arrives');
    await page.keyboard.press('Control+k');
    await palette().waitFor();
    for (const typed of ['heron', 'heron stood', 'formula', 'costs', 'xyzzy', '']) {
      await palette().locator('.palette-field').fill(typed);
      await page.waitForTimeout(150);
      await whole(`the palette with “${typed}”`);
    }
    await page.keyboard.press('Escape');
    await visitor.say('Tell me a paragraph.');
    await expect.poll(() => page.getByText(GROWING).count()).toBeGreaterThan(1);
    goOn();
    await expect.poll(() => page.getByText('until the rain came').count()).toBeGreaterThan(1);
    await whole('a paragraph that grew');
    const home = new URL(page.url()).pathname;
    for (const path of [
      '/settings',
      '/settings/limits',
      '/threads',
      '/schedule',
      '/activity/costs',
      '/agent/none',
      home,
    ]) {
      await page.evaluate((to) => history.pushState(null, '', to), path);
      await page.waitForTimeout(300);
      await whole(path);
    }
    await page.locator('.pill button, .session-end, button:has-text("End session")').first().click();
    await page.locator('button:has-text("End now")').first().click();
    await expect.poll(() => page.locator('.big-button').innerText()).toMatch(/WAKE/);
    await whole('the end of a session');
    expect(await field().isVisible()).toBe(true);
  });
});

// Everyone sleeps now.
describe('A press before what is stored was read', () => {
  it('counts: WAKE wakes as soon as it is visible', async () => {
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        const button = document.querySelector<HTMLButtonElement>('.big-button');
        if (!button) return;
        observer.disconnect();
        // What would be remembered is only known once the ledger was read.
        const isRead = document.body.innerText.includes('to remember');
        Object.assign(window, { pressed: { label: button.innerText, isRead } });
        button.click();
      });
      observer.observe(document, { childList: true, subtree: true });
    });
    await page.reload();
    await visitor.untilAll('awake');
    expect(await page.evaluate(() => Reflect.get(window, 'pressed') as unknown)).toEqual({
      label: 'WAKE',
      isRead: false,
    });
  });
});
