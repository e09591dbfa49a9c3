/**
 * Finds the browsers of the tests, or installs them: Chromium, which every browser test needs, its
 * headless shell, which does the same work for a fifth less of the processor, and Firefox and
 * Safari's engine (WebKitGTK), in which the story is lived too where they can be had. Quick where
 * they are there already. Bubblewrap too, in which the commands of agents run. Run by `npm test`
 * before the tests; the finders are what the tests themselves ask.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const CHROMIUM = {
  name: 'Chromium',
  find: findChromium,
  packages: ['chromium', 'fonts-dejavu-core', 'fonts-noto-color-emoji'],
};
const HEADLESS_SHELL = {
  name: "Chromium's headless shell",
  find: findHeadlessShell,
  packages: ['chromium-headless-shell'],
};
const FIREFOX = { name: 'Firefox', find: findFirefox, packages: ['firefox-esr'] };
const WEBKIT = {
  name: 'WebKit',
  find: () => findWebKit()?.browser ?? null,
  packages: ['webkit2gtk-driver', 'xvfb', 'imagemagick'],
};

const SANDBOX = { name: 'bubblewrap', find: () => onPath('bwrap')[0] ?? null, packages: ['bubblewrap'] };

const CHROMIUM_COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_CHROMIUM = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const MAC_FIREFOX = '/Applications/Firefox.app/Contents/MacOS/firefox';
/**
 * Where distributions put WebKitGTK's own small browser; the folders' names say the version of its
 * interface.
 */
const LIBRARIES = ['/usr/lib', '/usr/libexec'];

/**
 * Ubuntu's `chromium-browser` and `firefox` may be stubs that only ask for a snap: what cannot say
 * its version is not a browser.
 */
function runs(path) {
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

function onPath(...commands) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return commands
    .flatMap((command) => folders.map((folder) => join(folder, command)))
    .filter((path) => existsSync(path));
}

/** What the environment names by hand. Throws where no file is there. */
function named(variable) {
  const path = process.env[variable];
  if (path && !existsSync(path)) throw new Error(`${variable} names ${path}, and no file is there.`);
  return path || null;
}

export function findChromium() {
  const found =
    named('CHROME_PATH') ?? [...onPath(...CHROMIUM_COMMANDS), ...[MAC_CHROMIUM].filter(existsSync)].find(runs);
  if (found) return found;
  const own = chromium.executablePath();
  return existsSync(own) ? own : null;
}

/**
 * Chromium's engine without a window around it. Where `CHROME_PATH` names a browser, that one is
 * meant for everything.
 */
export function findHeadlessShell() {
  return named('CHROME_PATH') ?? onPath('chromium-headless-shell', 'chrome-headless-shell').find(runs) ?? null;
}

export function findFirefox() {
  return (
    named('FIREFOX_PATH') ??
    [...onPath('firefox-esr', 'firefox'), ...[MAC_FIREFOX].filter(existsSync)].find(runs) ??
    null
  );
}

function miniBrowsers() {
  const subfolders = (folder) =>
    existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map((entry) => join(folder, entry.name))
      : [];
  const machines = LIBRARIES.flatMap((folder) => [
    folder,
    ...subfolders(folder).filter((path) => path.endsWith('-linux-gnu')),
  ]);
  return machines
    .flatMap(subfolders)
    .filter((path) => /\/webkit(2)?gtk-[\d.]+$/.test(path))
    .map((path) => join(path, 'MiniBrowser'))
    .filter((path) => existsSync(path));
}

export function findWebKit() {
  const [driver, browser, screen] = [onPath('WebKitWebDriver')[0], miniBrowsers().at(-1), onPath('Xvfb')[0]];
  return driver && browser && screen ? { driver, browser, screen } : null;
}

function isDebian() {
  if (process.platform !== 'linux' || !existsSync('/etc/os-release')) return false;
  return /^ID(_LIKE)?=.*\bdebian\b/m.test(readFileSync('/etc/os-release', 'utf8'));
}

/** As root, or through a sudo that asks for no password; null where neither is to be had. */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : null;
}

/**
 * Debian itself, as root: there all of them can be had, and a test that needs one that is missing
 * fails.
 */
export function canInstallAll() {
  return isDebian() && process.getuid?.() === 0 && /^ID="?debian/m.test(readFileSync('/etc/os-release', 'utf8'));
}

function run(command, args) {
  console.log(`  ${command} ${args.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env }).status === 0;
}

let isUpdated = false;
function installFromDebian(packages) {
  const prefix = isDebian() ? asRoot() : null;
  if (!prefix) return false;
  const apt = (...args) => {
    const [command, ...rest] = [...prefix, 'apt-get', '-q', ...args];
    return run(command, rest);
  };
  isUpdated ||= apt('update');
  return isUpdated && apt('install', '-y', '--no-install-recommends', ...packages);
}

function ready({ name, find }, how) {
  const path = find();
  if (path) console.log(`${name} for the tests: ${path}${how}`);
  return path !== null;
}

/** True where it is there in the end. */
function provide(browser) {
  if (ready(browser, '')) return true;
  console.log(`No ${browser.name} found for the tests. Installing it; this takes a minute, once.`);
  if (installFromDebian(browser.packages) && ready(browser, ' (installed just now)')) return true;
  return (
    browser === CHROMIUM &&
    run('npx', ['playwright-core', 'install', 'chromium']) &&
    ready(browser, ' (downloaded just now)')
  );
}

function main() {
  if (!provide(CHROMIUM)) {
    console.error(
      'The browser tests need a Chromium, and none could be installed.\n' +
        'Install Chromium or Google Chrome, or name one with CHROME_PATH=/path/to/chromium, and run this again.',
    );
    process.exitCode = 1;
  }
  if (!provide(SANDBOX))
    console.log('bubblewrap is not here and could not be installed: what runs in a sandbox cannot be tested.');
  if (!provide(HEADLESS_SHELL)) console.log('Chromium itself is used for all tests: they take longer.');
  for (const browser of [FIREFOX, WEBKIT])
    if (!provide(browser))
      console.log(`${browser.name} is not here and could not be installed: the story is not run in it.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
