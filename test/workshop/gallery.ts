/**
 * `npm run gallery`: a picture of every state in the gallery, in dark and light, as wide as a
 * phone, a tablet and a desk, in test/artifacts/gallery. `npm run gallery -- WORD` takes those
 * whose names hold the word, `--language de` the page in German.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { SCENES } from '../gallery/scenes.ts';
import { startDevPage } from './dev/page.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const WIDTHS = [360, 1024, 1440];
const HEIGHT = 900;
const SCHEMES = ['dark', 'light'] as const;

const {
  values: { language },
  positionals: [word = ''],
} = parseArgs({ allowPositionals: true, options: { language: { type: 'string', default: 'en' } } });
const folder = join(root, 'test/artifacts/gallery', language === 'en' ? '' : language);
const names = Object.keys(SCENES).filter((name) => name.includes(word));
if (word === '') await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const port = await freePort();
// No relay is asked for anything: what a state needs of one is made up.
const server = await startDevPage({ root, port, relayPort: await freePort() });
const browser = await launchBrowser();
const faults: string[] = [];
/** One state at one width, in both lights; a page of its own, which takes its memory along. */
async function take(name: string, width: number): Promise<void> {
  const page = await browser.newPage({
    ...{ reducedMotion: 'reduce', locale: language },
    viewport: { width, height: HEIGHT },
  });
  try {
    page.on('pageerror', (error) => faults.push(`${name}, ${width}: ${error.message}`));
    const address = `http://127.0.0.1:${port}/gallery?scene=${encodeURIComponent(name)}`;
    // The server reloads the page where it had to make a package ready first, which ends what is on
    // its way.
    await page.goto(address).catch(() => page.goto(address));
    await page
      .waitForFunction(() => document.documentElement.dataset['scene'] !== undefined, null, { timeout: 60_000 })
      .catch(() => {
        faults.push(`${name}, ${width}: it did not come about`);
      });
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const file = `${name.replace(/[^a-z]+/g, '-')}-${colorScheme}-${width}.png`;
      await page.screenshot({ path: join(folder, file), animations: 'disabled' });
    }
  } finally {
    await page.close();
  }
}

try {
  for (const name of names) {
    await Promise.all(WIDTHS.map((width) => take(name, width)));
    process.stdout.write(`${name}\n`);
  }
} finally {
  await browser.close();
  await server.close();
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
process.exit();
