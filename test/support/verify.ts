/**
 * `npm run verify`: everything that must hold. `npm run verify -- --changed` looks at what differs from main, for an answer
 * in about a minute while working. Other arguments go to Vitest.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const REPORTERS = ['--reporter=default', '--reporter=./test/support/seconds-reporter.ts'];

/** Runs a command to its end. What it says is printed in one piece, with how long it took. */
function run(name: string, command: string, args: readonly string[]): Promise<boolean> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => said.push(bytes));
  return new Promise((resolve) => {
    const end = (held: boolean, why = '') => {
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(Buffer.concat(said));
      console.log(`${held ? '✓' : '✗'} ${name} ${seconds} s${why}`);
      resolve(held);
    };
    child.once('error', (error) => end(false, ` ${error.message}`));
    child.once('close', (code) => end(code === 0));
  });
}
const script = (name: string) => run(name, 'npm', ['run', '--silent', name]);
const tool = (name: string, ...args: string[]) => run(name, 'npx', ['--no-install', name, ...args]);
/** Prints as it goes. */
const vitest = (...args: string[]) =>
  spawnSync('npx', ['--no-install', 'vitest', ...args], { stdio: 'inherit' }).status === 0;

/** One after the other, as long as each holds. */
async function inTurn(...steps: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const step of steps) if (!(await step())) return false;
  return true;
}

/** Each of these is busy on one core. */
async function everything(args: readonly string[]): Promise<boolean> {
  const lanes = await Promise.all([
    inTurn(
      () => script('types'),
      () => script('lint:format'),
      () => script('browser'),
      () => script('build'),
    ),
    script('lint:code'),
  ]);
  return lanes.every(Boolean) && vitest('run', ...REPORTERS, ...args);
}

function changedFiles(since: string): string[] {
  const ask = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const [base = 'HEAD'] = ask('merge-base', since, 'HEAD');
  const all = new Set([...ask('diff', '--name-only', base), ...ask('ls-files', '--others', '--exclude-standard')]);
  return [...all].filter((file) => existsSync(file));
}

async function changed(since: string, args: readonly string[]): Promise<boolean> {
  const files = changedFiles(since);
  if (files.length === 0) {
    console.log(`Nothing differs from ${since}.`);
    return true;
  }
  const code = files.filter((file) => /\.(tsx?|m?js)$/.test(file));
  const related = code.filter((file) => /^(src|server|test)\//.test(file));
  const lanes = await Promise.all([
    tool('tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/roost-test/types.tsbuildinfo'),
    inTurn(
      () => tool('prettier', '--check', '--log-level', 'warn', '--ignore-unknown', ...files),
      () =>
        code.length === 0 ? Promise.resolve(true) : tool('eslint', '--max-warnings', '0', '--no-warn-ignored', ...code),
    ),
  ]);
  if (!lanes.every(Boolean)) return false;
  const projects = ['unit', 'ui', 'relay'].flatMap((name) => ['--project', name]);
  return (
    related.length === 0 ||
    vitest('related', '--run', '--passWithNoTests', ...projects, ...REPORTERS, ...args, ...related)
  );
}

const rest = process.argv.slice(2).filter((arg) => arg !== '--changed');
const held = rest.length < process.argv.length - 2 ? await changed('main', rest) : await everything(rest);
process.exitCode = held ? 0 : 1;
