/** What plain Fireproof was last seen to lose, and in which version. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Set in the environment: the tests of plain Fireproof run, whatever is recorded. */
export const LOOK_AGAIN = 'ROOST_PLAIN_FIREPROOF';
export const RECORD = new URL('./plain-fireproof.json', import.meta.url);

/** `seen`: the tests that passed, which each say what is lost. */
const recordSchema = z.object({ version: z.string(), seen: z.array(z.string()) });

export const recorded = recordSchema.parse(JSON.parse(readFileSync(RECORD, 'utf8')));

export function installedVersion(): string {
  const file = new URL('../../node_modules/@fireproof/core/package.json', import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}
