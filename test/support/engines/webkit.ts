/**
 * Safari's engine, as WebKitGTK has it, over plain WebDriver, on a screen of its own (Xvfb). A
 * driver serves one session, whose profile ends with it: a further browser is a further driver.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { createTab, FIND, until, type Driver, type Key, type RealBrowser, type Sought } from './tab.ts';

export interface WebKitPaths {
  readonly driver: string;
  readonly browser: string;
  readonly screen: string;
}

/** ms for any one call; a driver that hangs must not hang a test. */
const CALL = 30_000;
/** https://www.w3.org/TR/webdriver2/#elements */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
/** https://www.w3.org/TR/webdriver2/#keyboard-actions */
const KEYS: Record<Key, string> = { Enter: '\ue007', Escape: '\ue00c', ArrowDown: '\ue015', Tab: '\ue004' };
/** What an element answers that went, or that something lies over, just then. */
const GONE = new Set([
  'stale element reference',
  'element click intercepted',
  'element not interactable',
  'no such element',
]);

/**
 * A wish of the person: without a graphics card, what moves takes half of the processor for as long
 * as a page is open.
 */
const STILL = '[Settings]\ngtk-enable-animations=0\n';

class DriverError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

type Call = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<unknown>;

function callsTo(url: string): Call {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      signal: AbortSignal.timeout(CALL),
      ...(method === 'POST'
        ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body ?? {}) }
        : {}),
    });
    const { value } = (await response.json()) as { value: unknown };
    if (response.ok) return value;
    const { error, message } = value as { error: string; message: string };
    throw new DriverError(error, message);
  };
}

/** One window at a time is spoken to: each call names its own first. */
function driverOf(
  call: Call,
  session: string,
  handle: string,
  picture: () => Uint8Array,
  current: { handle: string | null },
): Driver {
  const at = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => {
    if (current.handle !== handle) await call('POST', `${session}/window`, { handle });
    current.handle = handle;
    return call(method, session + path, body);
  };
  const evaluate = (source: string, args: readonly unknown[]) =>
    at('POST', '/execute/async', {
      script: `const [given, done] = arguments; Promise.resolve().then(() => (${source})(...given)).then((value) => done({ value }), (error) => done({ error: String(error) }));`,
      args: [args],
    });
  const withFound = async (sought: Sought, act: (path: string) => Promise<unknown>) => {
    const found = (await at('POST', '/execute/sync', {
      // In a list that scrolls by itself the driver finds nothing to press beyond what is seen.
      script: `const found = (${FIND})(arguments[0]); found?.scrollIntoView({ block: 'center' }); return found`,
      args: [sought],
    })) as Record<string, string> | null;
    if (!found) return false;
    try {
      await act(`/element/${found[ELEMENT] ?? ''}`);
      return true;
    } catch (error) {
      if (error instanceof DriverError && GONE.has(error.code)) return false;
      throw error;
    }
  };
  return {
    goto: async (url) => void (await at('POST', '/url', { url })),
    reload: async () => void (await at('POST', '/refresh')),
    async evaluate(source, args) {
      const said = (await evaluate(source, args)) as { value?: unknown; error?: string } | null;
      if (said?.error !== undefined) throw new Error(`in the page: ${said.error}`);
      return said?.value;
    },
    click: (sought) => withFound(sought, (path) => at('POST', `${path}/click`)),
    fill: (sought, text) =>
      withFound(sought, async (path) => {
        await at('POST', `${path}/clear`);
        await at('POST', `${path}/value`, { text });
      }),
    choose: (sought, file) => withFound(sought, (path) => at('POST', `${path}/value`, { text: file })),
    async press(key) {
      const active = (await at('GET', '/element/active')) as Record<string, string>;
      await at('POST', `/element/${active[ELEMENT] ?? ''}/value`, { text: KEYS[key] });
    },
    picture: () => Promise.resolve(picture()),
    close: async () => void (await at('DELETE', '/window')),
  };
}

const ended = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise<void>((resolve) => child.once('exit', () => resolve()));

/** A screen that nobody sees. Answers its name. */
async function openScreen(path: string): Promise<{ name: string; close(): Promise<void> }> {
  const screen = spawn(path, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve, reject) => {
    screen.once('error', reject);
    screen.once('exit', (code) => reject(new Error(`Xvfb ended with ${code ?? 'a signal'}`)));
    screen.stdio[3]?.once('data', (data: Buffer) => resolve(String(data).trim()));
  });
  return {
    name: `:${number}`,
    async close() {
      screen.kill();
      await ended(screen);
    },
  };
}

async function openSession(paths: WebKitPaths, display: string): Promise<RealBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'roost-webkit-'));
  await mkdir(join(home, 'gtk-3.0'));
  await writeFile(join(home, 'gtk-3.0/settings.ini'), STILL);
  const port = await freePort();
  const driver = spawn(paths.driver, [`--port=${port}`], {
    env: {
      ...process.env,
      DISPLAY: display,
      HOME: home,
      XDG_DATA_HOME: home,
      XDG_CACHE_HOME: home,
      XDG_CONFIG_HOME: home,
    },
    stdio: 'ignore',
  });
  const call = callsTo(`http://127.0.0.1:${port}`);
  await until(
    () =>
      call('GET', '/status').then(
        () => true,
        () => false,
      ),
    () => 'WebKitWebDriver does not answer',
  );
  const { sessionId } = (await call('POST', '/session', {
    capabilities: {
      alwaysMatch: {
        browserName: 'MiniBrowser',
        'webkitgtk:browserOptions': { binary: paths.browser, args: ['--automation'] },
      },
    },
  })) as { sessionId: string };
  const session = `/session/${sessionId}`;
  const current: { handle: string | null } = { handle: null };
  // The driver's own call for a picture can hang: the screen is asked.
  const picture = () =>
    spawnSync('import', ['-display', display, '-window', 'root', 'png:-'], {
      timeout: CALL,
      maxBuffer: 64 * 1024 * 1024,
    }).stdout;
  const others: RealBrowser[] = [];
  let isFirst = true;
  return {
    async newTab() {
      const first = isFirst;
      // A window, and no tab: what is not to be seen is not laid out.
      isFirst = false;
      const handle = first
        ? String(await call('GET', `${session}/window`))
        : ((await call('POST', `${session}/window/new`, { type: 'window' })) as { handle: string }).handle;
      return createTab(driverOf(call, session, handle, picture, current));
    },
    async another() {
      const other = await openSession(paths, display);
      others.push(other);
      return other;
    },
    async close() {
      await Promise.all(others.map((other) => other.close()));
      await call('DELETE', session).catch(() => undefined);
      driver.kill();
      await ended(driver);
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

export async function launchWebKit(paths: WebKitPaths): Promise<RealBrowser> {
  const screen = await openScreen(paths.screen);
  const browser = await openSession(paths, screen.name).catch(async (error: unknown) => {
    await screen.close();
    throw error;
  });
  return {
    ...browser,
    async close() {
      await browser.close();
      await screen.close();
    },
  };
}
