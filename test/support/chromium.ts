/** Real Chromium for tests: which one, with which flags, and how to end it as a crash would. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { findChromium, findHeadlessShell } from './install-browsers.mjs';

/**
 * `--no-sandbox` because containers run tests as root; the rest keeps the browser off the network.
 */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** `shell`: the engine alone, in a fraction of the time. `whole`: the browser that people have. */
type Build = 'shell' | 'whole';

const found: Partial<Record<Build, string>> = {};
/** The path of a Chromium. Throws a sentence that says what to do where there is none. */
function chromiumPath(build: Build): string {
  const path = (found[build] ??= (build === 'shell' ? findHeadlessShell() : null) ?? findChromium() ?? '');
  if (path === '') throw new Error('No Chromium found. Install it, or set CHROME_PATH, or run: npm run browser');
  return path;
}

/**
 * For tests of something else than motion: while the hearth moves, a page without a graphics card
 * is busy for half of the time, as long as it is open.
 */
export const STILL = { reducedMotion: 'reduce' } as const;

/**
 * For tests of something else than motion and than pages without a relay, too: a page that puts its
 * whole build by for that, at the first visit, is busy with it for a second and a half.
 */
export const QUIET = { ...STILL, serviceWorkers: 'block' } as const;

/**
 * Where tests run straight from their sources (`tsx`), functions are named by a helper that no page
 * has.
 */
const NAMING = 'globalThis.__name ??= (named) => named;';

/**
 * A browser; a profile lives as long as a context of it (`browser.newContext()`). Close it with
 * `close()`.
 */
export async function launchBrowser(build: Build = 'shell'): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: chromiumPath(build), args: FLAGS, headless: true });
  return browser.on('context', (context) => void context.addInitScript(NAMING));
}

/** Ends with this process. */
let common: Promise<Browser> | null = null;

/**
 * As `Profile`, in a browser that others are in as well: it cannot be killed, and what it stores is
 * gone with its context.
 */
export interface Guest {
  open(options?: BrowserContextOptions): Promise<BrowserContext>;
  remove(): Promise<void>;
}

async function newCommonContext(options: BrowserContextOptions): Promise<BrowserContext> {
  common ??= launchBrowser().then((browser) => browser.on('disconnected', () => (common = null)));
  return await (await common).newContext(options);
}

/**
 * For tests that neither kill a browser nor look at what one left: the process is there already.
 */
export function createGuest(): Guest {
  const opened: BrowserContext[] = [];
  return {
    async open(options = {}) {
      const context = await newCommonContext(options);
      opened.push(context);
      return context;
    },
    async remove() {
      for (const context of opened.splice(0)) await context.close();
    },
  };
}

export interface Profile extends Guest {
  readonly directory: string;
  /** Starts a browser on this profile. One at a time. */
  open(options?: BrowserContextOptions): Promise<BrowserContext>;
  /**
   * Ends the browser process at once, as a crash or a power cut would, and waits until it is gone.
   */
  kill(): Promise<void>;
  /** Closes what is open and removes the directory. */
  remove(): Promise<void>;
}

/**
 * A guest that is opened again and again, as a profile is: closing it closes its pages, and with
 * them its workers; what it stored is there at the next opening. It is quiet. The options are those
 * of the first opening.
 */
export async function createLastingGuest(): Promise<Guest> {
  let context: BrowserContext | null = null;
  let end: () => Promise<void> = () => Promise.resolve();
  return {
    async open(options = {}) {
      if (context === null) {
        const opened = await newCommonContext({ ...QUIET, ...options });
        end = opened.close.bind(opened);
        opened.close = async () => {
          for (const page of opened.pages()) await page.close();
        };
        context = opened;
      }
      return context;
    },
    remove: () => end(),
  };
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
};

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * A profile directory of its own, so that what a browser stored can be looked at by the next one.
 */
export async function createProfile(): Promise<Profile> {
  const directory = await mkdtemp(join(tmpdir(), 'roost-profile-'));
  let context: BrowserContext | null = null;

  const mainProcess = async (open: BrowserContext): Promise<number> => {
    const browser = open.browser();
    if (!browser) throw new Error('The context has no browser of its own.');
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const main = processInfo.find((info) => info.type === 'browser');
    if (!main) throw new Error('The browser does not name its own process.');
    return main.id;
  };

  return {
    directory,
    async open(options = {}) {
      context = await chromium.launchPersistentContext(directory, {
        ...options,
        executablePath: chromiumPath('shell'),
        args: FLAGS,
        headless: true,
      });
      await context.addInitScript(NAMING);
      return context;
    },
    async kill() {
      if (!context) return;
      const dying = context;
      context = null;
      const pid = await mainProcess(dying);
      const closed = new Promise<void>((resolve) => dying.once('close', () => resolve()));
      process.kill(pid, 'SIGKILL');
      await closed;
      while (alive(pid)) await pause(10);
    },
    async remove() {
      await context?.close();
      context = null;
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
