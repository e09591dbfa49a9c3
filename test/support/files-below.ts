import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * Everything below a folder that a running relay also writes to.
 * An entry that the relay deletes during the walk is left out; the recursive `readdir` of Node
 * throws then.
 */
export async function entriesBelow(folder: string): Promise<readonly Dirent[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
  const below = entries.filter((entry) => entry.isDirectory()).map((entry) => entriesBelow(join(folder, entry.name)));
  return [...entries, ...(await Promise.all(below)).flat()];
}

/** The files below a folder with their bytes. A file that is deleted meanwhile is left out. */
export async function filesBelow(folder: string): Promise<readonly { path: string; bytes: Buffer }[]> {
  const found: { path: string; bytes: Buffer }[] = [];
  for (const entry of await entriesBelow(folder)) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      found.push({ path, bytes: await readFile(path) });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return found;
}
