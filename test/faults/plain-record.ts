/** What plain Fireproof was last seen to lose, and in which version. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Set in the environment: the tests of plain Fireproof run, whatever is recorded. */
export const CHECK_AGAIN = 'ROOST_PLAIN_FIREPROOF';
export const RECORD = new URL('./plain-fireproof.json', import.meta.url);

/**
 * Files whose traps ours avoids in what other tests do all the time, with more tabs, kills and
 * documents: they run with those of plain Fireproof alone.
 */
const HELD_BESIDE = {
  changes: 'browser/ledger-tabs: every tab hears of each document',
  close: 'browser/ledger-tabs: a tab closes, or crashes, in the middle of its writes',
  'commit-size': 'browser/ledger: documents of 300 KB, and 2,000 that are sealed',
  head: 'browser/ledger: volumes that open empty against what is known of them',
  'put-cost': 'npm run bench -- ledger',
  query: 'unit/tooling/unused-fireproof: it is called nowhere',
  'two-tabs': 'browser/ledger-tabs: several tabs have one owner, and write into one ledger',
};

/** `seen`: the tests that passed, which each say what is lost. */
const recordSchema = z.object({ version: z.string(), seen: z.array(z.string()) });

export const recorded = recordSchema.parse(JSON.parse(readFileSync(RECORD, 'utf8')));

export function installedVersion(): string {
  const file = new URL('../../node_modules/@fireproof/core/package.json', import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

/**
 * Of the tests in this folder, those that need not be run: the installed Fireproof was looked at.
 */
export const notAgain = (): readonly string[] =>
  process.env[CHECK_AGAIN] !== undefined || recorded.version !== installedVersion()
    ? []
    : Object.keys(HELD_BESIDE).map((name) => `test/faults/plain-${name}.test.ts`);
