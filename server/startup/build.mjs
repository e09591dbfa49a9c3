/**
 * `npm run build`: makes the build of the sources as they are, where there is none yet. It is what
 * `npm start` runs, and what the tests and benchmarks run before they begin.
 */
import { join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMadeByAnother, isWhole, make, nameOfSources, prefer } from './builds.mjs';

/** How often it is tried anew where the sources change while they are built. */
const TRIES = 5;
/** ms between two looks at a build that another process makes. */
const LOOK_MS = 100;

const root = fileURLToPath(new URL('../..', import.meta.url));
// Whatever runs this, a test runner too: the page is the one that people get.
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
    while (!isWhole(root, name) && isMadeByAnother(root, name)) await sleep(LOOK_MS);
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
