import { expect, it } from 'vitest';
import { sitExam } from '../../../exam/life.ts';
import { printedExam, shortfalls } from '../../../exam/report.ts';

/** ms: a relay of its own, on a machine that is busy with other tests. */
const TIMEOUT = 120_000;

it('finds every fact again after a short life, and invents none', { timeout: TIMEOUT }, async () => {
  const result = await sitExam({ seed: 1, sessions: 5, facts: 24 });
  expect(shortfalls(result), printedExam(result)).toEqual([]);
  expect(result.compactions).toBeGreaterThan(0);
});
