/**
 * A page of its own for tests: built by Vite from a folder with an index.html, served over HTTP.
 */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { madeOnce } from './made-once.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** What the relay allows its own page. */
export const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'";

export interface BuiltPage {
  /** Shared with others: nothing is changed in it. */
  readonly directory: string;
  /** Paths of the built files, below `directory`. */
  readonly files: readonly string[];
}

/**
 * Builds the page in `folder` of `test/support`, where it has not been built from the same sources
 * before. `plugins`: for what is to be otherwise in it, and in its workers.
 */
export async function buildPage(folder: string, plugins: readonly Plugin[] = []): Promise<BuiltPage> {
  const name = [folder, ...plugins.map((plugin) => plugin.name)].join('-');
  // A plugin stands in the test that needs it.
  const from = ['src', 'test/support', 'package-lock.json', ...(plugins.length > 0 ? ['test/browser'] : [])];
  const directory = await madeOnce(name, from, async (outDir) => {
    await build({
      configFile: false,
      root: fileURLToPath(new URL(folder, import.meta.url)),
      // What Fireproof has for Node alone is warned of at every build.
      logLevel: 'error',
      plugins: [...plugins],
      worker: { format: 'es', plugins: () => [...plugins] },
      build: { outDir, emptyOutDir: true, target: 'es2023', chunkSizeWarningLimit: 2_000 },
    });
  });
  return { directory, files: await readdir(directory, { recursive: true }) };
}

export interface PageServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  close(): Promise<void>;
}

export interface ServeOptions {
  /** Every address that names no file is the page's own. */
  readonly anyPath?: boolean;
  readonly policy?: string;
  /** 0: any that is free. */
  readonly port?: number;
}

/** Serves a built page; `/api/…` goes to `api`, which answers 404 where there is none. */
export async function servePage(
  page: Pick<BuiltPage, 'directory'>,
  api?: (request: IncomingMessage, response: ServerResponse) => void,
  { anyPath = false, policy = POLICY, port = 0 }: ServeOptions = {},
): Promise<PageServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (path.startsWith('/api/')) {
      if (api) api(request, response);
      else response.writeHead(404).end();
      return;
    }
    const file = join(
      page.directory,
      normalize(path === '/' || (anyPath && extname(path) === '') ? '/index.html' : path),
    );
    stat(file).then(
      () => {
        response.writeHead(200, {
          'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
          'content-security-policy': policy,
          // As the relay has it: what is named by its contents never changes.
          'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        });
        createReadStream(file).pipe(response);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The page server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}
