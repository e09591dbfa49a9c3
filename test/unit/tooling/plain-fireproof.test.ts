import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkAgain } from '../../faults/long-plain.ts';
import { installedVersion, recorded } from '../../faults/plain-record.ts';

const FAULTS = new URL('../../faults/', import.meta.url);

it('has seen each loss of plain Fireproof with the installed version', () => {
  const named = readdirSync(FAULTS)
    .filter((file) => /^plain-.*\.test\.ts$/.test(file))
    .flatMap((file) => [...readFileSync(new URL(file, FAULTS), 'utf8').matchAll(/itIsPlain\(\s*'([^']+)'/g)])
    .map(([, name]) => name);
  expect(recorded.version, 'run: npm run faults -- plain').toBe(installedVersion());
  expect(recorded.seen, 'run: npm run faults -- plain').toEqual(named.sort());
});

it('reads the outcome of those tests from their report', () => {
  const seen = checkAgain(['--project', 'unit', 'test/unit/shared/domain/blackouts.test.ts'], { quiet: true });
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter(({ status }) => status !== 'passed')).toEqual([]);
});
