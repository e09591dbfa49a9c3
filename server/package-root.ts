/** Where Roost itself is: the folder with its package.json, whether it runs from source or built. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export interface PackageRoot {
  readonly path: string;
  readonly version: string;
}

const packageSchema = z.object({ name: z.literal('roost'), version: z.string() });

/** Throws where no folder above `from` (a `file:` URL) is Roost's. */
export function findPackageRoot(from: string): PackageRoot {
  for (let path = dirname(fileURLToPath(from)); ; path = dirname(path)) {
    const file = join(path, 'package.json');
    if (existsSync(file)) {
      const found = packageSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
      if (found.success) return { path, version: found.data.version };
    }
    if (dirname(path) === path) throw new Error('Roost’s own package.json is not above its code; install it anew.');
  }
}
