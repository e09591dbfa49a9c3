/**
 * `npm run gallery`: a picture of every state in the gallery, in dark and light, as wide as a phone and as a desk, in
 * test/artifacts/gallery. `npm run gallery -- WORD` takes those whose names hold the word.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { SCENES } from '../gallery/scenes.ts';
import { startDevPage } from './dev/page.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'test/artifacts/gallery');
const WIDTHS = [360, 1440];
const HEIGHT = 900;
const SCHEMES = ['dark', 'light'] as const;

const [word = ''] = process.argv.slice(2);
const names = Object.keys(SCENES).filter((name) => name.includes(word));
if (word === '') await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const port = await freePort();
// No relay is asked for anything: what a state needs of one is made up.
const server = await startDevPage({ root, port, relayPort: await freePort() });
const browser = await launchBrowser();
const faults: string[] = [];
try {
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  let at = '';
  page.on('pageerror', (error) => faults.push(`${at}: ${error.message}`));
  for (const name of names) {
    for (const width of WIDTHS) {
      at = `${name}, ${width}`;
      await page.setViewportSize({ width, height: HEIGHT });
      const address = `http://127.0.0.1:${port}/gallery?scene=${encodeURIComponent(name)}`;
      // The server reloads the page where it had to make a package ready first, which ends what is on its way.
      await page.goto(address).catch(() => page.goto(address));
      await page
        .waitForFunction(() => document.documentElement.dataset['scene'] !== undefined, null, { timeout: 20_000 })
        .catch(() => {
          faults.push(`${at}: it did not come about`);
        });
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        const file = `${name.replace(/[^a-z]+/g, '-')}-${colorScheme}-${width}.png`;
        await page.screenshot({ path: join(folder, file), animations: 'disabled' });
      }
    }
    process.stdout.write(`${name}\n`);
  }
} finally {
  await browser.close();
  await server.close();
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
process.exit();
