import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const CI = fileURLToPath(new URL('../../../.ci', import.meta.url));
let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'roost-counts-'))));
afterEach(() => rmSync(folder, { recursive: true }));

type Status = 'passed' | 'failed' | 'pending' | 'todo';
const file = (name: string, ...tests: Status[]) => ({
  name: `/roost/test/${name}`,
  status: tests.includes('failed') ? 'failed' : 'passed',
  assertionResults: tests.map((status) => ({
    status,
    title: 'does so',
    failureMessages: status === 'failed' ? [`Error: ${name} went wrong\n    at somewhere`] : [],
  })),
});
/** A file that failed before any test of it. */
const whole = (name: string) => ({ ...file(name), status: 'failed', message: 'no hook' });
const report = (...testResults: ReturnType<typeof file>[]) => ({ testResults });
const PASSED = file('unit/a.test.ts', 'passed', 'passed', 'passed');

/** Runs a part of the checks in the folder where the reports lie. */
function run(script: string, ...args: string[]) {
  const { stdout, status } = spawnSync(process.execPath, [join(CI, script), ...args], { encoding: 'utf8' });
  return { says: stdout.trimEnd(), end: status };
}
function write(name: string, content: object | null): string {
  const path = join(folder, name);
  if (content) writeFileSync(path, JSON.stringify(content));
  else rmSync(path, { force: true });
  return path;
}
/**
 * What the last lines say and how the process ends, for this report and this exit status of the
 * run.
 */
const count = (written: object | null, status = '0') => run('count.mjs', write('report.json', written), status);
/** Likewise after a second run; `uncaught`: errors that belong to no test of the first. */
function countBoth(first: object, second: object | null, { uncaught = 0, end = '0', firstEnd = '1' } = {}) {
  write('run.json', { unhandled: uncaught });
  return run('count.mjs', write('report.json', first), firstEnd, write('again.json', second), end);
}
function filesToRunAgain(first: object, uncaught: number | null = 0) {
  write('run.json', uncaught === null ? null : { unhandled: uncaught });
  return run('again.mjs', write('report.json', first)).says.split('\n').filter(Boolean);
}

describe('the last line of the checks', () => {
  it('counts what passed', () => {
    expect(count(report(PASSED))).toEqual({ says: '3 passed, 0 failed', end: 0 });
  });

  it('counts what failed, and a file that failed as a whole', () => {
    const failed = report(PASSED, file('unit/b.test.ts', 'failed', 'failed'), whole('unit/c.test.ts'));
    expect(count(failed, '1')).toEqual({ says: '3 passed, 3 failed', end: 1 });
  });

  it('says what was skipped', () => {
    expect(count(report(file('unit/a.test.ts', 'passed', 'pending', 'todo')))).toEqual({
      says: '1 passed, 0 failed, 2 skipped',
      end: 0,
    });
  });

  it('fails when no test could run', () => {
    expect(count(null, '1')).toEqual({ says: '0 passed, 1 failed', end: 1 });
  });

  it('fails when no test ran', () => {
    expect(count(report())).toEqual({ says: '0 passed, 1 failed', end: 1 });
  });

  it('fails when the run failed beside its tests', () => {
    expect(count(report(PASSED), '1')).toEqual({ says: '3 passed, 1 failed', end: 1 });
  });
});

describe('a second run', () => {
  const [browser, relay] = ['browser/reach.test.ts', 'relay/agents/session/wake.test.ts'];
  const first = report(PASSED, file(browser, 'passed', 'failed'), whole(relay));
  const passed = report(file(browser, 'passed', 'passed'), file(relay, 'passed'));

  it('repeats failed files with real browsers or relays', () => {
    expect(filesToRunAgain(first)).toEqual([`/roost/test/${browser}`, `/roost/test/${relay}`]);
    expect(filesToRunAgain(report(PASSED))).toEqual([]);
    expect(run('again.mjs', join(folder, 'nothing.json'))).toEqual({ says: '', end: 0 });
  });

  it.each<[string, object, number | null]>([
    ['more than three files failed', report(...[1, 2, 3, 4].map((n) => file(`relay/${n}.test.ts`, 'failed'))), 0],
    ['a test of pure code failed', report(file(browser, 'failed'), file('unit/b.test.ts', 'failed')), 0],
    ['nobody caught an error', first, 1],
    ['nobody knows whether an error was caught', first, null],
  ])('repeats nothing where %s', (_what, failed, uncaught) => {
    expect(filesToRunAgain(failed, uncaught)).toEqual([]);
  });

  it('counts where a file passes in it, and says which did and why it failed before', () => {
    expect(countBoth(first, passed)).toEqual({
      says: [
        `unstable: test/${browser} (does so: Error: ${browser} went wrong)`,
        `unstable: test/${relay} (no hook)`,
        '6 passed, 0 failed',
      ].join('\n'),
      end: 0,
    });
  });

  it('fails when a file fails again, though another passes', () => {
    const second = report(file(browser, 'passed', 'passed'), file(relay, 'passed', 'failed'));
    expect(countBoth(first, second, { end: '1' })).toMatchObject({
      says: expect.stringMatching(/\n5 passed, 1 failed$/),
      end: 1,
    });
  });

  it('ignores a repetition with fewer tests, a bad end, or no run', () => {
    const fewer = report(file(browser, 'passed'), file(relay, 'passed'));
    expect(countBoth(first, fewer)).toMatchObject({ end: 1 });
    expect(countBoth(first, passed, { end: '1' })).toMatchObject({
      says: expect.stringMatching(/, 1 failed$/),
      end: 1,
    });
    expect(countBoth(first, null, { end: '1' })).toMatchObject({ says: '4 passed, 2 failed', end: 1 });
  });

  it('mends neither types nor lint', () => {
    expect(countBoth(first, passed, { firstEnd: '2' })).toMatchObject({
      says: expect.stringMatching(/\n6 passed, 1 failed$/),
      end: 1,
    });
  });

  it('mends nothing that it was not made for', () => {
    expect(countBoth(first, passed, { uncaught: 1 })).toMatchObject({ says: '4 passed, 2 failed', end: 1 });
  });
});
