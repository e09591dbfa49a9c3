/**
 * What takes seconds to make and is the same as long as what it is made of is: made once, by
 * whoever needs it first, in this run or an earlier one. Named by the contents of all that decides
 * what is in it.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nameOfSources } from '../../server/startup/builds.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Inside the project, so that packages are found from there. */
export const CACHE = join(ROOT, 'node_modules/.cache/roost-test');

async function make(name: string, from: readonly string[], into: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE, `${name}-${nameOfSources(ROOT, from)}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  await into(making);
  try {
    await rename(making, folder);
  } catch (error) {
    // Another test process was first.
    if (!existsSync(folder)) throw error;
    await rm(making, { recursive: true });
  }
  return folder;
}

const made = new Map<string, Promise<string>>();

/**
 * The folder that `into` fills, from the files and folders `from` of the project. Nobody changes
 * anything in it.
 */
export function madeOnce(
  name: string,
  from: readonly string[],
  into: (folder: string) => Promise<void>,
): Promise<string> {
  const making = made.get(name) ?? make(name, from, into);
  made.set(name, making);
  return making;
}
