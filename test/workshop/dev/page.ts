/**
 * The page from its sources, reloaded as they change, under the address at which everything else is
 * the relay's. The browser sees what it sees of a relay: the same policy (with a nonce for what
 * Vite puts in), the same sign-in page where it is not let in, and nothing for other websites.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  createLogger,
  createServer,
  type Connect,
  type Logger,
  type Plugin,
  type ProxyOptions,
  type ViteDevServer,
} from 'vite';
import { OFFLINE } from '../../../src/service-worker/settings.ts';

export interface DevPageDeps {
  readonly root: string;
  /** Where the page is; 127.0.0.1. */
  readonly port: number;
  readonly relayPort: number;
}

const CALLS = `^(${OFFLINE.relayOnly.join('|')})(/|\\?|$)`;
const address = (port: number) => `http://127.0.0.1:${port}`;

const isPage = ({ method, headers }: Connect.IncomingMessage) =>
  (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;

/** Rooms of the page that are there while it is being worked on: an address, and its document. */
const ROOMS: ReadonlyMap<string, string> = new Map([['/gallery', '/test/gallery/index.html']]);

/** Asks the relay whether it would show its page, and lets it say no in its own words. */
function asRelay(relay: string, nonce: string): Plugin {
  const withNonce = (policy: string) =>
    policy.replace(/(script-src|style-src) 'self'/g, (allowed) => `${allowed} 'nonce-${nonce}'`);
  /** The gallery shows itself, many times. */
  const inFrames = (text: string) =>
    `${text.replace("frame-ancestors 'none'", "frame-ancestors 'self'")}; frame-src 'self'`;
  let policy: string | null = null;

  async function answer(
    request: Connect.IncomingMessage,
    response: Parameters<Connect.NextHandleFunction>[1],
  ): Promise<boolean> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const cookie = request.headers.cookie;
    const headers = { accept: 'text/html', ...(cookie === undefined ? {} : { cookie }) };
    try {
      policy ??= (await fetch(`${relay}/api/health`)).headers.get('content-security-policy');
      const page = await fetch(`${relay}/`, { headers });
      if (page.status === 401) {
        const text = await page.text();
        for (const name of ['content-type', 'cache-control', 'content-security-policy'])
          response.setHeader(name, page.headers.get(name) ?? '');
        response.writeHead(401).end(text);
        return true;
      }
    } catch (error) {
      // The relay starts again, or is broken: the page opens without it, as it does.
      if (!(error instanceof TypeError)) throw error;
    }
    const room = ROOMS.get(path);
    if (policy !== null) response.setHeader('content-security-policy', withNonce(room ? inFrames(policy) : policy));
    if (room) request.url = `${room}${(request.url ?? '').slice(path.length)}`;
    return false;
  }

  return {
    name: 'as-the-relay',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!isPage(request) || new RegExp(CALLS).test(request.url ?? '')) return next();
        answer(request, response).then((isAnswered) => isAnswered || next(), next);
      });
    },
  };
}

/**
 * A relay that starts again refuses every call for a moment, as the page expects of one: no news.
 */
function quietLogger(): Logger {
  const logger = createLogger('warn', { allowClearScreen: false });
  const error = logger.error.bind(logger);
  logger.error = (message, options) => {
    if (!/proxy (socket )?error/.test(message)) error(message, options);
  };
  return logger;
}

export async function startDevPage({ root, port, relayPort }: DevPageDeps): Promise<ViteDevServer> {
  const relay = address(relayPort);
  const nonce = randomBytes(16).toString('base64url');
  const own = [address(port), `http://localhost:${port}`];
  const calls: ProxyOptions = {
    target: relay,
    changeOrigin: true,
    ws: true,
    configure(proxy) {
      // Only what the page itself asks is asked in the relay's own name: another website's stays
      // another website's.
      const asOwn = (request: {
        getHeader(name: string): unknown;
        setHeader(name: string, value: string): unknown;
      }) => {
        if (own.includes(String(request.getHeader('origin')))) request.setHeader('origin', relay);
      };
      proxy.on('proxyReq', asOwn);
      proxy.on('proxyReqWs', asOwn);
    },
  };
  const server = await createServer({
    root,
    configFile: join(root, 'vite.config.ts'),
    clearScreen: false,
    customLogger: quietLogger(),
    html: { cspNonce: nonce },
    plugins: [asRelay(relay, nonce)],
    // All that is needed at once: what is found later would reload the page.
    optimizeDeps: {
      entries: ['index.html', 'test/gallery/index.html', 'src/worker/worker.ts', 'src/page/exports/export-worker.ts'],
    },
    server: {
      host: '127.0.0.1',
      port,
      strictPort: true,
      proxy: { [CALLS]: calls },
      watch: { ignored: ['**/.dev/**', '**/dist/**', '**/test/**', '**/server/**'] },
    },
  });
  return server.listen();
}
