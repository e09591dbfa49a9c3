/**
 * `npm start`: builds the page and the relay, and runs the relay in this very process. What only asks is answered by the build
 * that is there: whoever wants a relay to end does not wait for a build.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';

const ASKS = ['--stop', '--help', '-h'];
const main = new URL('../dist/server/main.js', import.meta.url);
const shell = process.ppid;
const asks = process.argv.slice(2).some((arg) => ASKS.includes(arg));

if (!asks || !existsSync(main)) {
  console.log('Building Roost, a few seconds...');
  const { status } = spawnSync('npm run --silent build', {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    shell: true,
  });
  if (status !== 0) process.exit(status ?? 1);
  // npm was ended meanwhile: see `endWithNpm` of the relay.
  if (process.ppid !== shell) process.exit(0);
}
await import(main.href);
