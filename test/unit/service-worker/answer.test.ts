import { describe, expect, it } from 'vitest';
import { type Asked, createAnswer } from '../../../src/service-worker/precache.ts';

const ORIGIN = 'https://roost.example.org';
const SHELL = 'the page as it was kept';
const kept = new Map([
  ['/assets/index-1a2b.js', 'a script'],
  ['/manifest.webmanifest', 'a manifest'],
]);

/**
 * A service worker over a network that answers as `reply` says; `late()` lets the patience run out.
 */
function open(reply: () => Promise<Response>, { shell = true } = {}) {
  let late: () => void = () => undefined;
  const answer = createAnswer<Asked>({
    origin: ORIGIN,
    precache: {
      shell: () => Promise.resolve(shell ? new Response(SHELL) : undefined),
      file: (path) => Promise.resolve(kept.has(path) ? new Response(kept.get(path)) : undefined),
      has: (path) => path.startsWith('/assets/') || kept.has(path),
    },
    fetch: reply,
    after(_ms, run) {
      late = run;
      return () => (late = () => undefined);
    },
  });
  return {
    late: () => late(),
    ask: (path: string, more: Partial<Asked> = {}) =>
      answer({ method: 'GET', mode: 'cors', url: new URL(path, ORIGIN).href, ...more }),
    visit: (path: string) => answer({ method: 'GET', mode: 'navigate', url: new URL(path, ORIGIN).href }),
  };
}
const says = async (response: Promise<Response> | null) => (response === null ? null : await (await response).text());
const relay =
  (text: string, status = 200) =>
  () =>
    Promise.resolve(new Response(text, { status }));
const gone = () => Promise.reject(new TypeError('Failed to fetch'));

describe('a page that is visited', () => {
  it('comes from the relay, also when it asks for a sign-in or refuses', async () => {
    for (const status of [200, 401, 403, 429])
      expect(await says(open(relay('from the relay', status)).visit('/settings/storage'))).toBe('from the relay');
  });

  it('comes from the cache when the relay is gone, or a proxy cannot reach it', async () => {
    expect(await says(open(gone).visit('/agent/a1'))).toBe(SHELL);
    for (const status of [500, 502, 503, 504])
      expect(await says(open(relay('Bad gateway', status)).visit('/'))).toBe(SHELL);
  });

  it('comes from the cache when the relay is silent for too long', async () => {
    const { visit, late } = open(() => new Promise(() => undefined));
    const page = visit('/');
    // The shell is looked up first.
    await new Promise(setImmediate);
    late();
    expect(await says(page)).toBe(SHELL);
  });

  it('comes from the relay, however slow, when none is cached', async () => {
    expect(await says(open(relay('from the relay', 503), { shell: false }).visit('/'))).toBe('from the relay');
    await expect(open(gone, { shell: false }).visit('/')).rejects.toThrow('Failed to fetch');
  });
});

describe('a file', () => {
  it('comes from the cache, and a file of another build from the relay', async () => {
    expect(await says(open(gone).ask('/assets/index-1a2b.js'))).toBe('a script');
    expect(await says(open(gone).ask('/manifest.webmanifest', { mode: 'no-cors' }))).toBe('a manifest');
    expect(await says(open(relay('a later script')).ask('/assets/index-9z.js'))).toBe('a later script');
  });
});

it('calls, links to sign in, other sites and everything that changes something are left alone', () => {
  const { ask, visit } = open(gone);
  for (const path of ['/api/health', '/api', '/v1/agents/a1', '/mcp', '/llm/secret/v1/messages', '/none.js'])
    expect(ask(path), path).toBeNull();
  for (const path of ['/api/events', '/enter?code=x', 'https://elsewhere.example/'])
    expect(visit(path), path).toBeNull();
  expect(ask('/assets/index-1a2b.js', { method: 'POST' })).toBeNull();
  expect(ask('https://elsewhere.example/assets/index-1a2b.js')).toBeNull();
  expect(visit('/apiary'), 'only whole names').not.toBeNull();
});
