/**
 * `npm start`: runs the relay in this process, from the build of the current sources. If there is
 * no such build, it is made first. `--stop` and `--help` use the latest build, because ending a
 * relay must not wait for a build.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL, URL } from 'node:url';
import { isWhole, mainOf, nameOfSources, newestMain, prefer, use } from './startup/builds.mjs';

const ASKS = ['--stop', '--help', '-h'];
const root = fileURLToPath(new URL('..', import.meta.url));
const build = fileURLToPath(new URL('startup/build.mjs', import.meta.url));
const shell = process.ppid;

/** The main file of the current build. The build stays as long as this process lives. */
function currentMain() {
  for (;;) {
    const name = nameOfSources(root);
    use(root, name);
    if (isWhole(root, name)) {
      prefer(root, name);
      return mainOf(root, name);
    }
    console.log('Building Roost, a few seconds...');
    const { status } = spawnSync(process.execPath, [build], { stdio: 'inherit' });
    if (status !== 0) process.exit(status ?? 1);
    // npm was ended in the meantime: see `endWithParent` of the relay.
    if (process.ppid !== shell) process.exit(0);
  }
}

const asks = process.argv.slice(2).some((arg) => ASKS.includes(arg));
await import(pathToFileURL((asks && newestMain(root)) || currentMain()).href);
