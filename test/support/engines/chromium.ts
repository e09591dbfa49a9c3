/** Chromium, as the oldest browsers of the README are: without what came later than those. */
import type { BrowserContext, ElementHandle, Page } from 'playwright-core';
import { launchBrowser, STILL } from '../chromium.ts';
import { createTab, FIND, LISTENING, type Driver, type RealBrowser, type Sought } from './tab.ts';

/** What Chromium itself logs of a request that failed; the page says it in its own words. */
const OF_THE_BROWSER = /Failed to load resource|An unknown error occurred when fetching the script/;

function driverOf(page: Page): Driver {
  const withFound = async (sought: Sought, act: (element: ElementHandle) => Promise<unknown>) => {
    const handle = await page.evaluateHandle(`(${FIND})(${JSON.stringify(sought)})`);
    const element = handle.asElement();
    if (!element) return false;
    await act(element as ElementHandle);
    return true;
  };
  return {
    goto: async (url) => void (await page.goto(url)),
    reload: async () => void (await page.reload()),
    evaluate: (source, args) => page.evaluate(`(${source})(...${JSON.stringify(args)})`),
    // Long enough that a click which was done is never told as one that was not: it would be done
    // twice.
    click: (sought) => withFound(sought, (element) => element.click({ timeout: 15_000 })).catch(() => false),
    fill: (sought, text) => withFound(sought, (element) => element.fill(text)),
    choose: (sought, path) => withFound(sought, (element) => element.setInputFiles(path)),
    press: (key) => page.keyboard.press(key),
    picture: () => page.screenshot(),
    close: () => page.close(),
  };
}

async function push(page: Page, data: string): Promise<void> {
  const { origin } = new URL(page.url());
  await page.context().grantPermissions(['notifications'], { origin });
  const session = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin));
      if (own) resolve(own.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data });
  await session.detach();
}

/** `before`: the source of what runs in every page before its own scripts do. */
export async function launchChromium(before: string): Promise<RealBrowser> {
  const chromium = await launchBrowser('whole');
  const within = (context: BrowserContext): RealBrowser => ({
    async newTab() {
      const page = await context.newPage();
      const heard: string[] = [];
      page.on('pageerror', (error) => heard.push(`threw: ${error.message}`));
      page.on('console', (message) => {
        if (message.type() === 'error' && !OF_THE_BROWSER.test(message.text())) heard.push(message.text());
      });
      return { ...createTab(driverOf(page), heard), push: (text) => push(page, text) };
    },
    another: () => open(),
    close: () => chromium.close(),
  });
  async function open(): Promise<RealBrowser> {
    const context = await chromium.newContext({ ...STILL, viewport: { width: 1280, height: 860 } });
    await context.addInitScript(`${before};${LISTENING}`);
    return within(context);
  }
  return open();
}
