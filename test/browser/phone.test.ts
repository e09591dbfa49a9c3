/** The page on a phone: installed, opened without its relay, and carried over to a newer build. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProfile, STILL, type Profile } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { makeNextBuild, type NextBuild } from '../support/next-build.ts';
import { createHome, startRelay, type RelayOptions, type TestRelay } from '../support/relay.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';
import { shareSignIn } from '../support/sign-in.ts';
import { longTests } from '../support/long-tests.ts';

const itLong = longTests('browser/phone.test.ts');

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, ...STILL };
const FACT = 'the ferry leaves at a quarter past six';

let next: NextBuild;
let home: string;
let port: number;
let relay: TestRelay;
let profile: Profile;
let visitor: Visitor;
let page: Page;

async function start(from: RelayOptions['from'] = 'sources'): Promise<void> {
  relay = await startRelay({ home, port, from, args: ['--rehearsal', '{"delayMs":5,"wordMs":0}'] });
}
const outOfReach = () => page.getByRole('alert').getByText('The relay cannot be reached');
const cacheNames = () =>
  page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('roost-page-')));
const version = () => page.evaluate(() => document.documentElement.dataset['version'] ?? 'first');
const entry = () =>
  page.evaluate(() => new URL(document.querySelector<HTMLScriptElement>('script[type=module]')?.src ?? '').pathname);
/** Is the service worker of this page's own build at work, with all of it stored? */
async function isKept(): Promise<boolean> {
  return page.evaluate(
    async (script) => {
      const registration = await navigator.serviceWorker.getRegistration();
      if (registration?.active?.state !== 'activated' || registration.installing || registration.waiting) return false;
      const caught = await Promise.all(
        (await caches.keys()).map(async (name) => {
          const [shell, own] = await Promise.all(
            ['/index.html', script].map(async (path) => (await caches.open(name)).match(path)),
          );
          return shell !== undefined && own !== undefined;
        }),
      );
      return caught.includes(true);
    },
    await entry(),
  );
}
const untilKept = () => vi.waitUntil(isKept, { timeout: 15_000 });

beforeAll(async () => {
  [next, home, port, profile] = await Promise.all([makeNextBuild(), createHome(), freePort(), createProfile()]);
  await start();
  visitor = await createVisitor(await profile.open(PHONE), relay.link);
  ({ page } = visitor);
  await visitor.begin();
  await visitor.press('SUMMON');
  await visitor.untilAll('awake');
  await visitor.open(1);
  await visitor.ask(`Remember that ${FACT}.`);
  await untilKept();
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await next.remove();
});

describe('On a phone', () => {
  it('the page can be installed, and says as what', async () => {
    const session = await page.context().newCDPSession(page);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    expect(installabilityErrors).toEqual([]);
    const { url, errors, data } = await session.send('Page.getAppManifest');
    expect([url, errors]).toEqual([`${relay.url}/manifest.webmanifest`, []]);
    const manifest: unknown = JSON.parse(data ?? '');
    expect(manifest).toMatchObject({ name: 'Roost', id: '/', start_url: '/', display: 'standalone' });
    for (const purpose of ['any', 'maskable'])
      for (const sizes of ['192x192', '512x512'])
        expect(manifest).toHaveProperty('icons', expect.arrayContaining([expect.objectContaining({ purpose, sizes })]));
  });

  it('every target is wide enough for a finger, no field makes it zoom, and nothing is wider than the screen', async () => {
    const tooSmall = async () => {
      const found = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('button, a[href], input, select, textarea, summary')].flatMap(
          (each) => {
            const { width, height } = (each.closest('label') ?? each).getBoundingClientRect();
            // What is out of sight, and links that are words in a sentence.
            if (width < 2 || each.matches('.skip-link, p a, .md a')) return [];
            const least = each.matches('.icon-button, .ghost, .solid, .compose-button, .bottom-bar a')
              ? 44
              : each.matches('button, summary, select')
                ? 40
                : 24;
            const zooms = each.matches('input, select, textarea') && parseFloat(getComputedStyle(each).fontSize) < 16;
            return Math.min(width, height) < least - 0.5 || zooms
              ? [`${each.outerHTML.slice(0, 120)}: ${width} × ${height}`]
              : [];
          },
        ),
      );
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      return { at: page.url().replace(/^.*?:\d+/, ''), found, wide };
    };
    for (const view of ['Team', 'Inbox', 'Schedule', null]) {
      if (view === null) await visitor.open(1);
      else await page.locator('.bottom-bar').getByRole('link', { name: view }).click();
      expect(await tooSmall()).toMatchObject({ found: [], wide: 0 });
    }
  });

  it('keeps a draft above the keyboard, and after a reload by pulling', async () => {
    const box = page.getByRole('textbox', { name: /^Write to / });
    await box.fill('Half a sen');
    expect(await page.locator('meta[name=viewport]').getAttribute('content')).toContain(
      'interactive-widget=resizes-content',
    );
    await page.setViewportSize({ width: 360, height: 380 });
    expect(await box.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await page.setViewportSize(PHONE.viewport);
    await box.pressSequentially('t');
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('the pier is green') };
    await page.locator('.compose input[type=file]').setInputFiles(notes);
    const attached = page.getByRole('button', { name: 'Remove notes.txt' });
    await attached.waitFor();
    await page.reload();
    expect(await box.inputValue()).toBe('Half a sent');
    await attached.click();
    await box.fill('');
  });

  it('Enter begins a line where the keyboard is one on the screen, and with Ctrl it sends', async () => {
    const box = page.getByRole('textbox', { name: /^Write to / });
    await box.fill('The first line');
    await box.press('Enter');
    await box.pressSequentially('and the second');
    expect(await box.inputValue()).toBe('The first line\nand the second');
    await box.press('Control+Enter');
    expect(await box.inputValue()).toBe('');
    await visitor.untilRead('and the second');
  });

  itLong('where service workers are switched off, the page works as long as its relay does', async () => {
    const alone = await page
      .context()
      .browser()
      ?.newContext({ ...PHONE, serviceWorkers: 'block' });
    if (!alone) throw new Error('the browser has no further contexts');
    await shareSignIn(page.context(), alone, page.url());
    const stranger = await createVisitor(alone, relay.url);
    // It keeps nothing of the team that lives in the home of its sign-in, and begins beside it,
    // never in its place.
    await stranger.page.getByRole('heading', { name: 'Your team is on this relay' }).waitFor();
    await stranger.press('Start my household');
    await stranger.begin();
    // The other one proves its household again: what it proves is of its own sign-in alone.
    await visitor.hearth();
    await page.reload();
    await vi.waitUntil(
      async () => {
        const status = await createOwnerLine(page).call('syncStatus');
        return status.kind === 'alone' && status.kept?.link === 'live';
      },
      { timeout: 15_000 },
    );
    // Whichever proved it last had the home of both: the other one heard it.
    await visitor.untilAll('awake');
    await visitor.open(1);
    await stranger.page.reload();
    await stranger.page.getByRole('button', { name: 'SUMMON' }).and(stranger.page.locator(':enabled')).waitFor();
    const names = [...(await createOwnerLine(stranger.page).documents()).values()].filter(
      (doc) => (doc as { type?: string }).type === 'agent-identity',
    );
    expect(names).toHaveLength(1);
    const seats = await stranger.untilSeats('seats of its own', (all) => all.every(({ state }) => state === 'empty'));
    expect(seats).toHaveLength(8);
    expect(
      await stranger.page.evaluate(async () => [
        (await navigator.serviceWorker.getRegistrations()).length,
        (await caches.keys()).length,
      ]),
    ).toEqual([0, 0]);
    expect(stranger.complaints).toEqual([]);
    await alone.close();
  });

  it('opens without its relay: everyone asleep, conversations readable, with what is missing', async () => {
    await relay.kill('SIGKILL');
    await page.reload();
    await outOfReach().waitFor();
    await visitor.untilRead(FACT);
    await visitor.hearth();
    const seats = await visitor.untilAll('sleeping');
    expect(seats.every(({ name }) => name !== null)).toBe(true);
    await page.goto(`${relay.url}/settings/storage`);
    await page.getByRole('heading', { name: 'Storage' }).first().waitFor();
    await outOfReach().waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('reconnects to the relay by itself, and continues', async () => {
    await start();
    await outOfReach().waitFor({ state: 'hidden' });
    await page.getByText('A newer Roost is here.').waitFor({ state: 'detached' });
  });

  itLong('a build that is not whole is not taken: the one before still opens the page', async () => {
    const name = (await readdir(join(next.page, 'assets'))).find((file) => file.startsWith('only-in-the-next')) ?? '';
    const file = join(next.page, 'assets', name);
    const whole = await readFile(file);
    await writeFile(file, whole.subarray(0, 100));
    await relay.stop();
    await start({ main: next.main });
    const kept = await cacheNames();
    await page.reload();
    expect(await version()).toBe('next');
    const failed = await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      const worker = (await registration.update(), registration.installing);
      if (!worker) return 'nothing to install';
      if (worker.state !== 'redundant') await new Promise((resolve) => worker.addEventListener('statechange', resolve));
      return worker.state;
    });
    expect(failed).toBe('redundant');
    await relay.kill('SIGKILL');
    await page.reload();
    await outOfReach().waitFor();
    expect(await version()).toBe('first');
    expect(await cacheNames()).toEqual(expect.arrayContaining(kept));
    await writeFile(file, whole);
  });

  itLong(
    'an open page goes on with its own parts when the relay has another build, and takes that with a reload',
    async () => {
      const own = await entry();
      await start({ main: next.main });
      // The page may find it by itself first: nothing on the screen is waited for.
      await createOwnerLine(page).call('reconnect');
      await page.getByText('A newer Roost is here.').waitFor();
      const parts = await page.evaluate(async (path) => {
        const [old = ''] = [
          ...((await (await caches.match(path))?.text()) ?? '').matchAll(/assets\/wakes-page-[\w-]+\.js/g),
        ].map(([found]) => found);
        return (await fetch(`/${old}`)).status;
      }, own);
      expect(parts).toBe(200);
      expect(await cacheNames()).toHaveLength(2);
      expect(await version()).toBe('first');
      await page.reload();
      await untilKept();
      expect(await version()).toBe('next');
      // What no page needs is gone with the next visit.
      await page.reload();
      await expect.poll(cacheNames).toHaveLength(1);
      await relay.kill('SIGKILL');
      await page.reload();
      await outOfReach().waitFor();
      expect(await version()).toBe('next');
      expect(visitor.complaints).toEqual([]);
    },
  );
});
