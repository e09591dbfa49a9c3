/**
 * Plain Fireproof's traps, each looked at again in real Chromium; what was seen is recorded with
 * the version. One round, whatever the seeds.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { demand } from './checks.ts';
import { installedVersion, CHECK_AGAIN, RECORD } from './plain-record.ts';
import type { LongPart } from './long-part.ts';

const reportSchema = z.object({
  testResults: z.array(z.object({ assertionResults: z.array(z.object({ title: z.string(), status: z.string() })) })),
});

const TRAPS = ['test/faults/plain-'];
const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

/** What came of these tests, run by a Vitest of their own. `quiet`: it prints nothing. */
export function checkAgain(
  tests: readonly string[] = TRAPS,
  { quiet = false } = {},
): readonly { readonly title: string; readonly status: string }[] {
  const folder = mkdtempSync(join(tmpdir(), 'roost-plain-'));
  const report = join(folder, 'report.json');
  try {
    spawnSync(
      process.execPath,
      [VITEST, 'run', ...tests, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      { stdio: quiet ? 'ignore' : 'inherit', env: { ...process.env, [CHECK_AGAIN]: '1' } },
    );
    const { testResults } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const plainPart: LongPart = {
  name: 'plain',
  short: ['unit/tooling/plain-fireproof.test.ts'],
  with: (seed) => [seed],
  run() {
    const tests = checkAgain();
    const seen = tests.filter(({ title }) => title.includes('plain Fireproof'));
    demand(
      'With plain Fireproof',
      tests.filter(({ status }) => status !== 'passed').map(({ title }) => `no longer so: ${title}`),
    );
    const record = { version: installedVersion(), seen: seen.map(({ title }) => title).sort() };
    writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
    return Promise.resolve(`${seen.length} traps of ${record.version} are as they were`);
  },
};
