/**
 * `npm run build`: builds the current sources, if they have no build yet. `npm start` runs it, and
 * so do the tests and benchmarks before they begin.
 */
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMadeByAnother, isWhole, make, nameOfSources, prefer } from './builds.mjs';

/** Attempts where the sources change during the build. */
const TRIES = 5;
/** ms between two checks of another process's build. */
const CHECK_MS = 100;

const root = fileURLToPath(new URL('../..', import.meta.url));
// Always the production page, even where a test runner runs this.
process.env.NODE_ENV = 'production';

async function bundle(folder) {
  const { build } = await import('vite').catch((error) => {
    throw new Error('Roost is not installed whole. Run "npm install" first.', { cause: error });
  });
  const common = { root, configFile: join(root, 'vite.config.ts'), mode: 'production', logLevel: 'warn' };
  await build({ ...common, build: { outDir: join(folder, 'page'), emptyOutDir: true } });
  await build({
    ...common,
    build: { ssr: join(root, 'server/main.ts'), outDir: join(folder, 'server'), emptyOutDir: true },
  });
}

/** The name of the build, made by this process or another. */
async function built() {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const name = nameOfSources(root);
    if (isMadeByAnother(root, name)) console.log('Another process builds Roost; waiting for it...');
    while (!isWhole(root, name) && isMadeByAnother(root, name)) await sleep(CHECK_MS);
    if (isWhole(root, name)) return name;
    const outcome = await make(root, name, bundle);
    if (outcome === 'made') return name;
    if (outcome === 'changed') console.log('The sources have changed meanwhile; building again...');
  }
  throw new Error('The sources change faster than they are built. Try again when they rest.');
}

try {
  prefer(root, await built());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
