import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../support/failing-parts.ts', import.meta.url));

/** One that has ended may wait for its parent still. */
function runs(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^ZX\s]/.test(stdout);
}

it('a part that fails says why, and those after it run; nothing that it started is left', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', PROGRAM], { encoding: 'utf8' });
  expect(stderr).toContain('its own words');
  expect(stderr).toContain('too late');
  expect(stdout).toContain('✗ throws failed after');
  expect(stdout).toMatch(/✗ hangs failed after .*it has not ended within 5 s/);
  expect(stdout).toContain('held\nfailed: throws, breaks, hangs\n');
  const left = Number(/left (\d+)/.exec(stdout)?.[1]);
  expect(left).toBeGreaterThan(0);
  expect(runs(left)).toBe(false);
});
