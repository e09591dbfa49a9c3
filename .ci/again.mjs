/**
 * Prints the files of a vitest JSON report that may be run a second time, one a line; nothing where
 * there are none.
 */
import { existsSync, readFileSync } from 'node:fs';
import { unsteady } from './failures.mjs';

const [path = ''] = process.argv.slice(2);
if (existsSync(path)) for (const { name } of unsteady(path, JSON.parse(readFileSync(path, 'utf8')))) console.log(name);
