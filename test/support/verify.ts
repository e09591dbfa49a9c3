/**
 * `npm run verify`: types, lint and the tests, without those that guard only what has not changed
 * (`guarded.ts`). `npm run verify -- --all` runs every test, on both stores. `npm run verify --
 * --changed` looks at what differs from main, for an answer in about a minute while working. Other
 * arguments go to Vitest.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { changedSincePassed, LEFT_OUT, leftOut } from './guarded.ts';

const REPORTERS = ['--reporter=default', '--reporter=./test/support/seconds-reporter.ts'];

/**
 * How a run ends: the second also where tests failed besides. No second run of a file makes that
 * good.
 */
const ENDS = { held: 0, testsFailed: 1, checksFailed: 2 } as const;
type End = (typeof ENDS)[keyof typeof ENDS];

/** Runs a command to its end. What it says is printed in one piece, with how long it took. */
function run(name: string, command: string, args: readonly string[], priority = 0): Promise<boolean> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined && priority !== 0) setPriority(child.pid, priority);
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
const script = (name: string, priority?: number) => run(name, 'npm', ['run', '--silent', name], priority);
const tool = (name: string, ...args: string[]) => run(name, 'npx', ['--no-install', name, ...args]);
/** Prints as it goes. */
function vitest(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<boolean> {
  const child = spawn('npx', ['--no-install', 'vitest', ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });
}

/** One after the other, as long as each holds. */
async function inTurn(...steps: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const step of steps) if (!(await step())) return false;
  return true;
}

/** All of them, whatever becomes of one, and with what others leave of the processor. */
async function aside(...scripts: readonly string[]): Promise<boolean> {
  const held: boolean[] = [];
  for (const name of scripts) held.push(await script(name, constants.priority.PRIORITY_LOW));
  return held.every(Boolean);
}

/**
 * Tests wait a good part of their time: types and lint have the processor meanwhile, and give way
 * to every test.
 */
async function tests(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<End> {
  const checks = aside('types-and-lint', 'lint:format');
  const ready = await inTurn(
    () => script('browser'),
    () => script('build'),
  );
  const passed = ready && (await vitest(['run', ...REPORTERS, ...args], env));
  if (!(await checks) || !ready) return ENDS.checksFailed;
  return passed ? ENDS.held : ENDS.testsFailed;
}

const everything = (args: readonly string[]) => tests(args, { ROOST_TEST_STORE: 'both' });

async function usual(args: readonly string[]): Promise<End> {
  const files = leftOut(changedSincePassed()).map(({ file }) => file);
  if (files.length > 0)
    console.log(`Not run, since nothing that they guard has changed (\`--all\` runs them): ${files.join(', ')}`);
  return await tests(args, { [LEFT_OUT]: files.join(' ') });
}

function changedFiles(since: string): string[] {
  const ask = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const [base = 'HEAD'] = ask('merge-base', since, 'HEAD');
  const all = new Set([...ask('diff', '--name-only', base), ...ask('ls-files', '--others', '--exclude-standard')]);
  return [...all].filter((file) => existsSync(file));
}

async function changed(since: string, args: readonly string[]): Promise<End> {
  const files = changedFiles(since);
  if (files.length === 0) {
    console.log(`Nothing differs from ${since}.`);
    return ENDS.held;
  }
  const code = files.filter((file) => /\.(tsx?|m?js)$/.test(file));
  const related = code.filter((file) => /^(src|server|test)\//.test(file));
  const lanes = await Promise.all([
    tool('tsc', '-p', '.', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/roost-test/types.tsbuildinfo'),
    inTurn(
      () => tool('oxfmt', '--check', '--no-error-on-unmatched-pattern', ...files),
      () =>
        code.length === 0
          ? Promise.resolve(true)
          : tool('oxlint', '-c', 'oxlint.config.js', '--deny-warnings', ...code),
    ),
  ]);
  if (!lanes.every(Boolean)) return ENDS.checksFailed;
  const projects = ['unit', 'ui', 'relay'].flatMap((name) => ['--project', name]);
  const passed =
    related.length === 0 ||
    (await vitest(['related', '--run', '--passWithNoTests', ...projects, ...REPORTERS, ...args, ...related]));
  return passed ? ENDS.held : ENDS.testsFailed;
}

const given = process.argv.slice(2);
const rest = given.filter((arg) => arg !== '--changed' && arg !== '--all');
if (given.includes('--changed')) process.exitCode = await changed('main', rest);
else process.exitCode = await (given.includes('--all') ? everything : usual)(rest);
