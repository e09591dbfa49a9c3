/**
 * Runs the bundle that lies beside it (`main.mjs` runs `main.bundle.cjs`) with what V8 made of it
 * at an earlier run: compiling seven million characters is a third of a start. With `KEEP_COMPILED`
 * it writes that down when the process ends.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

const bundle = fileURLToPath(import.meta.url).replace(/\.mjs$/, '.bundle.cjs');
/** V8 takes nothing that was made under other flags. */
const kept = `${bundle}.${['v8', ...process.execArgv].join('')}`;
const require = createRequire(bundle);

function read(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

const names = 'require, module, exports, __filename, __dirname';
const script = new Script(`(function (${names}) {${readFileSync(bundle, 'utf8')}\n})`, {
  filename: bundle,
  cachedData: read(kept),
});
if (process.env.KEEP_COMPILED !== undefined)
  process.once('exit', () => {
    // Another process may read it just now.
    writeFileSync(`${kept}.${process.pid}`, script.createCachedData());
    renameSync(`${kept}.${process.pid}`, kept);
  });
const module = { exports: {} };
script.runInThisContext()(require, module, module.exports, bundle, dirname(bundle));
