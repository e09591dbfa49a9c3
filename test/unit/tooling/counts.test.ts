import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const COUNT = fileURLToPath(new URL('../../../.ci/count.mjs', import.meta.url));
let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'roost-counts-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const file = (...tests: ('passed' | 'failed')[]) => ({
  status: tests.includes('failed') ? 'failed' : 'passed',
  assertionResults: tests.map((status) => ({ status })),
});
const report = (more: object) => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [file('passed')],
  ...more,
});

/** What the last line says and how the process ends, for this report and this exit status of the run. */
function count(written: object | null, status = '0') {
  const path = join(folder, 'report.json');
  if (written) writeFileSync(path, JSON.stringify(written));
  const { stdout, status: end } = spawnSync(process.execPath, [COUNT, path, status], { encoding: 'utf8' });
  return { says: stdout.trimEnd(), end };
}

describe('the last line of the checks', () => {
  it('counts what passed', () => {
    expect(count(report({}))).toEqual({ says: '3 passed, 0 failed', end: 0 });
  });

  it('counts what failed, and a file that failed as a whole', () => {
    const failed = report({
      numFailedTests: 2,
      testResults: [file('failed', 'failed'), { status: 'failed', assertionResults: [] }],
    });
    expect(count(failed, '1')).toEqual({ says: '3 passed, 3 failed', end: 1 });
  });

  it('says what was skipped', () => {
    expect(count(report({ numPendingTests: 1, numTodoTests: 1 }))).toEqual({
      says: '3 passed, 0 failed, 2 skipped',
      end: 0,
    });
  });

  it('is a failure where no test could run', () => {
    expect(count(null, '1')).toEqual({ says: '0 passed, 1 failed', end: 1 });
  });

  it('is a failure where no test ran', () => {
    expect(count(report({ numPassedTests: 0, testResults: [] }))).toEqual({ says: '0 passed, 1 failed', end: 1 });
  });

  it('is a failure where the run failed beside its tests', () => {
    expect(count(report({}), '1')).toEqual({ says: '3 passed, 1 failed', end: 1 });
  });
});
