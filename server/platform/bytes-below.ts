import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Bytes of the files below a folder. What disappears meanwhile, or what this process may not read,
 * does not count. Links are not followed.
 */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile())
        bytes += await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
    }
  }
  return bytes;
}
