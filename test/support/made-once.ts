/**
 * What takes seconds to make and is the same as long as what it is made of is: made once, by whoever needs it first, in
 * this run or an earlier one. Named by the contents of all that decides what is in it.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Inside the project, so that packages are found from there. */
export const CACHE = join(ROOT, 'node_modules/.cache/roost-test');

/** Every file at these paths, below the project. */
async function filesAt(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const whole = join(ROOT, path);
      if ((await stat(whole)).isFile()) return [whole];
      const entries = await readdir(whole, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  return found.flat().sort();
}

async function make(name: string, from: readonly string[], into: (folder: string) => Promise<void>): Promise<string> {
  const hash = createHash('sha256');
  for (const path of await filesAt(from)) hash.update(path).update(await readFile(path));
  const folder = join(CACHE, `${name}-${hash.digest('hex').slice(0, 16)}`);
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

/** The folder that `into` fills, from the files and folders `from` of the project. Nobody changes anything in it. */
export function madeOnce(
  name: string,
  from: readonly string[],
  into: (folder: string) => Promise<void>,
): Promise<string> {
  const making = made.get(name) ?? make(name, from, into);
  made.set(name, making);
  return making;
}
