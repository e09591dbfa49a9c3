/** Roost's own folder: the one with its package.json, whether it runs from source or built. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export interface PackageRoot {
  readonly path: string;
  readonly version: string;
  /**
   * The built page: that of the build from which the relay runs, else the newest one. It is a real
   * path, so that a newer build does not change what a running relay serves.
   */
  readonly pageFolder: string;
}

const packageSchema = z.object({ name: z.literal('roost'), version: z.string() });

/** Throws where no folder above `from` (a `file:` URL) is Roost's. */
export function findPackageRoot(from: string): PackageRoot {
  let page: string | null = null;
  for (let path = dirname(fileURLToPath(from)); ; path = dirname(path)) {
    if (page === null && existsSync(join(path, 'page/index.html'))) page = join(path, 'page');
    const file = join(path, 'package.json');
    if (existsSync(file)) {
      const manifest = packageSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
      if (manifest.success) {
        const newest = page ?? join(path, 'dist/page');
        const pageFolder = existsSync(newest) ? realpathSync(newest) : newest;
        return { path, version: manifest.data.version, pageFolder };
      }
    }
    if (dirname(path) === path) throw new Error('Roost’s own package.json is not above its code; install it anew.');
  }
}
