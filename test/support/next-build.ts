/**
 * Roost as its next version would be installed: a package of its own, with a page whose files have
 * other names.
 */
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { madeOnce } from './made-once.ts';
import { relayMain } from './relay-build.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface NextBuild {
  /** Where its page lies. */
  readonly page: string;
  /** The relay's main file. */
  readonly main: string;
  remove(): Promise<void>;
}

/**
 * The page of the next version says so, and has a file that no page asks for,
 * `only-in-the-next-….txt`: `<html data-version="next">`.
 */
const nextPage = () =>
  madeOnce(
    'next-page',
    ['src', 'index.html', 'vite.config.ts', 'package.json', 'package-lock.json'],
    async (outDir) => {
      await build({
        root: ROOT,
        configFile: join(ROOT, 'vite.config.ts'),
        mode: 'uncompressed',
        logLevel: 'error',
        build: { outDir },
        plugins: [
          {
            name: 'next-version',
            buildStart() {
              this.emitFile({ type: 'asset', name: 'only-in-the-next.txt', source: 'new '.repeat(500) });
            },
            transform: (code, id) =>
              id.endsWith('/src/page/main.tsx') ? `${code}\ndocument.documentElement.dataset.version = 'next';` : null,
          },
        ],
      });
    },
  );

/** A copy of its own, in which files may be changed. */
export async function makeNextBuild(): Promise<NextBuild> {
  const root = await mkdtemp(join(tmpdir(), 'roost-next-'));
  const [page, server] = [join(root, 'dist/page'), join(root, 'dist/server')];
  for (const file of ['package.json', 'CLAUDE.md']) await cp(join(ROOT, file), join(root, file));
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  await cp(dirname(await relayMain()), server, { recursive: true });
  await cp(await nextPage(), page, { recursive: true });
  return { page, main: join(server, 'main.mjs'), remove: () => rm(root, { recursive: true, force: true }) };
}
