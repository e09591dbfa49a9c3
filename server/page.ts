/** The built page and its assets. Addresses that are no file are places in the page: it reads them itself. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { etag } from 'hono/etag';
import { notBuiltPage, wantsPage } from './access/index.ts';
import { problem } from './problem.ts';

/** Vite puts a hash of the content into these names: what is there never changes. */
const HASHED = /^\/assets\//;
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_FIRST = 'no-cache';

/** Browsers ask for it on every page of an origin, also before they are let in, and complain where it is missing. */
export function faviconOf(folder: string): () => Response {
  const assets = join(folder, 'assets');
  const name = existsSync(assets) ? readdirSync(assets).find((file) => /^favicon-.*\.svg$/.test(file)) : undefined;
  const icon = name === undefined ? null : readFileSync(join(assets, name));
  return () =>
    new Response(icon, {
      status: icon ? 200 : 204,
      headers: { ...(icon ? { 'content-type': 'image/svg+xml' } : {}), 'cache-control': 'public, max-age=86400' },
    });
}

/** Routes for everything that is not a call. `folder` is what the build made. */
export function createPageRoutes(folder: string): Hono {
  const routes = new Hono();
  const built = existsSync(join(folder, 'index.html'));
  // The build has compressed it once in Brotli; whoever does not take that gets gzip, made for them.
  routes.use(compress({ encoding: 'gzip' }), etag());
  if (built) {
    routes.use(async (context, next) => {
      // Everything here is small and is given whole: a server may ignore a Range (RFC 9110, 14.2), also a senseless one.
      context.req.raw.headers.delete('range');
      await next();
      if (context.res.ok) context.header('cache-control', HASHED.test(context.req.path) ? FOREVER : ASK_FIRST);
    });
    routes.use(serveStatic({ root: folder, precompressed: true }));
  }
  const index = built ? serveStatic({ root: folder, path: 'index.html', precompressed: true }) : null;
  routes.get('*', async (context, next) => {
    if (!wantsPage(context)) throw problem(404, 'no-such-file', 'There is nothing under this address.');
    return index ? index(context, next) : notBuiltPage();
  });
  routes.all('*', () => {
    throw problem(405, 'method', 'Pages can only be read.', { headers: { allow: 'GET, HEAD' } });
  });
  return routes;
}
