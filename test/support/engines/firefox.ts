/**
 * Firefox over WebDriver BiDi. A further browser is a container of its own, which shares nothing
 * with the others.
 */
import puppeteer, { type BrowserContext, type ElementHandle, type Page } from 'puppeteer-core';
import { createTab, FIND, LISTENING, type Driver, type RealBrowser, type Sought } from './tab.ts';

/**
 * Firefox's own words where a request fails or a page is left while one runs: the page says it in
 * its own.
 */
const OF_THE_BROWSER =
  /NetworkError when attempting to fetch|Firefox can’t establish a connection|The connection to .* was interrupted/;

/**
 * A wish of the person: without a graphics card, what moves takes half of the processor for as long
 * as a page is open.
 */
const STILL = { 'ui.prefersReducedMotion': 1 };

/**
 * Where what is pressed moves still, as the page does around a WAKE, the press would go where it
 * was.
 */
const UNTIL_STILL = (it: Element) =>
  new Promise<void>((resolve) => {
    let before = '';
    const check = () => {
      const { x, y } = it.getBoundingClientRect();
      const now = `${x} ${y}`;
      if (now === before) return resolve();
      before = now;
      requestAnimationFrame(check);
    };
    check();
  });

async function openTab(context: BrowserContext) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const heard: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !OF_THE_BROWSER.test(message.text())) heard.push(message.text());
  });
  await page.evaluateOnNewDocument(LISTENING);
  return createTab(driverOf(page), heard);
}

function driverOf(page: Page): Driver {
  async function find(sought: Sought): Promise<ElementHandle | null> {
    const handle = await page.evaluateHandle(`(${FIND})(${JSON.stringify(sought)})`);
    return handle.asElement() as ElementHandle | null;
  }
  const withFound = async (sought: Sought, act: (element: ElementHandle) => Promise<unknown>) => {
    const element = await find(sought);
    if (!element) return false;
    try {
      await act(element);
      return true;
    } catch (error) {
      // It went while it was reached for: it is looked for again.
      if (error instanceof Error && /not clickable|detached|no such|stale|not visible/i.test(error.message))
        return false;
      throw error;
    } finally {
      await element.dispose().catch(() => undefined);
    }
  };
  return {
    goto: async (url) => void (await page.goto(url)),
    reload: async () => void (await page.reload()),
    evaluate: (source, args) => page.evaluate(`(${source})(...${JSON.stringify(args)})`),
    async click(sought) {
      await page.bringToFront();
      return withFound(sought, async (element) => {
        await element.evaluate(UNTIL_STILL);
        await element.click();
      });
    },
    fill: (sought, text) =>
      withFound(sought, async (element) => {
        await page.bringToFront();
        await element.click({ count: 3 });
        await page.keyboard.press('Backspace');
        await element.type(text);
      }),
    choose: (sought, path) =>
      withFound(sought, (element) => (element as ElementHandle<HTMLInputElement>).uploadFile(path)),
    press: (key) => page.keyboard.press(key),
    picture: () => page.screenshot(),
    close: () => page.close(),
  };
}

export async function launchFirefox(executablePath: string): Promise<RealBrowser> {
  const firefox = await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    timeout: 60_000,
    defaultViewport: { width: 1280, height: 860 },
    extraPrefsFirefox: STILL,
  });
  const within = (context: BrowserContext): RealBrowser => ({
    newTab: () => openTab(context),
    another: async () => within(await firefox.createBrowserContext()),
    close: () => firefox.close(),
  });
  return within(firefox.defaultBrowserContext());
}
