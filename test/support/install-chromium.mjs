/**
 * Finds a Chromium for the browser tests, or installs one. Quick where one is there already.
 * Run by `npm test` before the tests; `findChromium` is what the tests themselves ask.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PACKAGES = ['chromium', 'fonts-dejavu-core', 'fonts-noto-color-emoji'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/** Ubuntu's `chromium-browser` may be a stub that only asks for a snap: what cannot say its version is not a browser. */
function runs(path) {
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/**
 * The path of a Chromium: the one `CHROME_PATH` names, one on the PATH, or Playwright's own. Null where
 * there is none. Throws where `CHROME_PATH` names a file that is not there.
 */
export function findChromium() {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROME_PATH names ${named}, and no file is there.`);
    return named;
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const onPath = COMMANDS.flatMap((command) => folders.map((folder) => join(folder, command)));
  const candidates = [...onPath, MAC].filter((path) => existsSync(path));
  const found = candidates.find(runs);
  if (found) return found;
  const own = chromium.executablePath();
  return existsSync(own) ? own : null;
}

function isDebian() {
  if (process.platform !== 'linux' || !existsSync('/etc/os-release')) return false;
  return /^ID(_LIKE)?=.*\bdebian\b/m.test(readFileSync('/etc/os-release', 'utf8'));
}

function run(command, args) {
  console.log(`  ${command} ${args.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env }).status === 0;
}

/** As root, or through a sudo that asks for no password; null where neither is to be had. */
function asRoot() {
  if (process.getuid?.() === 0) return [];
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : null;
}

function installFromDebian() {
  const prefix = isDebian() ? asRoot() : null;
  if (!prefix) return false;
  const apt = (...args) => {
    const [command, ...rest] = [...prefix, 'apt-get', '-q', ...args];
    return run(command, rest);
  };
  return apt('update') && apt('install', '-y', '--no-install-recommends', ...PACKAGES);
}

function installFromPlaywright() {
  return run('npx', ['playwright-core', 'install', 'chromium']);
}

function ready(how) {
  const path = findChromium();
  if (path) console.log(`Chromium for the browser tests: ${path}${how}`);
  return path !== null;
}

function main() {
  if (ready('')) return;
  console.log('No Chromium found for the browser tests. Installing one; this takes a minute or two, once.');
  if (installFromDebian() && ready(' (installed just now)')) return;
  if (installFromPlaywright() && ready(' (downloaded just now)')) return;
  console.error(
    'The browser tests need a Chromium, and none could be installed.\n' +
      'Install Chromium or Google Chrome, or name one with CHROME_PATH=/path/to/chromium, and run this again.',
  );
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
