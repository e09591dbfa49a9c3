import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOrigins, createRateLimit, createSignIn, isOwnRequest } from '../../../server/access/index.ts';
import { NOTE_EVERY_MS } from '../../../server/access/sign-in.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { freePort } from '../../support/free-port.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';
import { headersOf, keyIn } from '../../support/sign-in.ts';
import { storeFor } from '../../support/store-for.ts';
import { USUAL_STORES } from '../../support/stores.ts';

/** Every route, with a method it takes. */
const ROUTES = [
  ['POST', '/api/sessions'],
  ['DELETE', '/api/sessions/current'],
  ['POST', '/api/messages'],
  ['POST', '/api/agents/lead/stop'],
  ['POST', '/api/agents/lead/sleep'],
  ['GET', '/api/events'],
  ['POST', '/api/events/ack'],
  ['GET', '/api/rehearsal'],
  ['PUT', '/api/rehearsal'],
  ['GET', '/api/none-such'],
  ['OPTIONS', '/api/messages'],
  ['GET', '/'],
  ['GET', '/seat/1'],
  ['GET', '/assets/index.js'],
  ['GET', '/manifest.webmanifest'],
  ['GET', '/service-worker.js'],
  ['POST', '/'],
  ['POST', '/enter'],
] as const;

const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

describe.each(USUAL_STORES)('access, with the store on %s', (kind) => {
  let relay: TestRelay;
  let cookie: string;
  /** What the page sends: the cookie, and what only its origin can read. */
  let own: Record<string, string>;
  beforeAll(async () => {
    relay = await startRelay({ store: kind });
  });
  afterAll(async () => {
    const { code } = await relay.stop();
    expect(code).toBe(0);
  });
  const call = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    rawRequest({ port: relay.port, path, method, headers: { host: `127.0.0.1:${relay.port}`, ...headers } });
  const problemOf = (text: string) => problemSchema.parse(JSON.parse(text));

  it('refuses every route without the cookie, but reports to everyone that it is alive', async () => {
    for (const [method, path] of ROUTES) {
      const { status, headers, text } = await call(path, {}, method);
      expect(status, `${method} ${path}`).toBe(401);
      expect(headers['content-type']).toBe('application/problem+json');
      expect(problemOf(text)).toMatchObject({ type: 'about:roost/not-signed-in', status: 401 });
    }
    for (const forged of ['x', '', 'a'.repeat(43), '%00', 'é']) {
      const { status } = await call('/api/rehearsal', { cookie: `roost_${relay.port}=${encodeURIComponent(forged)}` });
      expect(status).toBe(401);
    }
    const health = await call('/api/health');
    expect(health.status).toBe(200);
    const open = {
      status: 'ok',
      version: expect.any(String),
      clock: { standsStillMs: null, stoodMs: null, copied: false },
      database: { awayMs: null, trouble: null },
    };
    expect(JSON.parse(health.text)).toEqual(open);
    expect(JSON.parse((await call('/health')).text)).toEqual(open);
  });

  it('shows a person who opens the page without a cookie what to do, and runs nothing there', async () => {
    const { status, headers, text } = await call('/seat/1', NAVIGATION);
    expect(status).toBe(401);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain('Open the link that Roost printed');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; img-src 'self'; style-src 'sha256-[A-Za-z0-9+/=]+';/,
    );
    expect(text).not.toContain('<script');
  });

  it('serves the icon to a browser without a sign-in', async () => {
    const { status, headers } = await call('/favicon.ico');
    // The second where the page has not been built.
    expect([200, 204]).toContain(status);
    if (status === 200) expect(headers['content-type']).toBe('image/svg+xml');
  });

  it('refuses a wrong code with a page that says where to look, and keeps the right one good', async () => {
    for (const path of [
      '/enter',
      '/enter?code=',
      '/enter?code=wrong',
      `/enter?code=${'%00'.repeat(5)}`,
      '/enter?code=%ff%fe',
    ]) {
      const { status, headers, text } = await call(path);
      expect(status).toBe(401);
      expect(headers['set-cookie']).toBeUndefined();
      expect(text).toContain('Look at the terminal');
    }
    const answered = await call(new URL(relay.link).pathname + new URL(relay.link).search, {}, 'HEAD');
    expect(answered.status).toBe(405);
  });

  it('lets the browser in that opens the link, once', async () => {
    const path = new URL(relay.link).pathname + new URL(relay.link).search;
    const answers = await Promise.all([1, 2, 3, 4].map(() => call(path, NAVIGATION)));
    const [entered, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    const key = keyIn(entered?.text ?? '') ?? '';
    expect(Buffer.from(key, 'base64url')).toHaveLength(32);
    expect(entered?.headers['cache-control']).toBe('no-store');
    const [set = ''] = entered?.headers['set-cookie'] ?? [];
    expect(set).toMatch(
      new RegExp(`^roost_${relay.port}=[A-Za-z0-9_-]{43}; Max-Age=7776000; Path=/; HttpOnly; SameSite=Strict$`),
    );
    cookie = set.split(';')[0] ?? '';
    own = headersOf({ cookie, key });
    expect((await call('/api/rehearsal', own)).status).toBe(200);
    expect((await call(path, NAVIGATION)).status).toBe(401);
    expect((await call(path, { ...NAVIGATION, cookie })).text, 'who is in already goes on').toContain(
      "location.replace('/')",
    );
  });

  it('answers under its own host names only, and refuses a rebound name', async () => {
    const names = [
      `127.0.0.1:${relay.port}`,
      `localhost:${relay.port}`,
      `LOCALHOST:${relay.port}`,
      `[::1]:${relay.port}`,
    ];
    for (const host of names) expect((await call('/api/rehearsal', { ...own, host })).status, host).toBe(200);
    const others = [
      'evil.example',
      `evil.example:${relay.port}`,
      '127.0.0.1',
      `127.0.0.1:${relay.port + 1}`,
      `127.0.0.1.evil.example:${relay.port}`,
      `127.0.0.2:${relay.port}`,
    ];
    for (const host of others)
      for (const path of ['/api/health', '/api/rehearsal', '/', '/enter?code=x']) {
        const { status, text } = await call(path, { cookie, host });
        expect(status, `${host}${path}`).toBe(403);
        expect(problemOf(text).type).toBe('about:roost/other-host');
      }
  });

  it('accepts calls from its own page only', async () => {
    const page = { ...own, origin: `http://127.0.0.1:${relay.port}`, 'sec-fetch-site': 'same-origin' };
    expect((await call('/api/rehearsal', page)).status).toBe(200);
    const origins = [
      'http://evil.example',
      'null',
      `https://127.0.0.1:${relay.port}`,
      `http://127.0.0.1:${relay.port + 1}`,
      'http://localhost',
      '',
    ];
    for (const origin of origins)
      for (const [method, path] of [...ROUTES, ['GET', '/api/health'] as const]) {
        const { status, text } = await call(path, { cookie, origin }, method);
        expect(status, `${origin} ${method} ${path}`).toBe(403);
        expect(problemOf(text).type).toBe('about:roost/other-site');
      }
    for (const site of ['cross-site', 'same-site', 'nonsense']) {
      const { status } = await call('/api/rehearsal', { cookie, 'sec-fetch-site': site });
      expect(status, site).toBe(403);
      expect(
        (
          await call('/', {
            cookie,
            'sec-fetch-site': site,
            accept: 'text/html',
            'sec-fetch-mode': 'navigate',
            'sec-fetch-dest': 'iframe',
          })
        ).status,
      ).toBe(403);
      expect(
        (await call('/', { cookie, 'sec-fetch-site': site, ...NAVIGATION })).status,
        'a link that is followed',
      ).not.toBe(403);
    }
  });

  it('sends every answer with headers that keep strangers out', async () => {
    const answers = await Promise.all([
      call('/api/health'),
      call('/'),
      call('/api/none', { cookie }),
      call('/', { ...NAVIGATION }),
      call('/api/health', { host: 'evil.example' }),
    ]);
    for (const { headers } of answers)
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
    const policy = String((await call('/api/health')).headers['content-security-policy']);
    expect(policy.split('; ').sort()).toEqual(
      [
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data: blob:",
        "style-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ].sort(),
    );
  });

  it('lets its own page use camera and microphone, and nobody anything else of the device', async () => {
    const policy = String((await call('/')).headers['permissions-policy']);
    expect(policy.split(', ').sort()).toEqual([
      'camera=(self)',
      'geolocation=()',
      'microphone=(self)',
      'payment=()',
      'usb=()',
    ]);
  });

  it('knows the browser again after a restart', async () => {
    const { home, port } = relay;
    await relay.kill('SIGTERM');
    relay = await startRelay({ home, port });
    expect((await call('/api/rehearsal', own)).status).toBe(200);
  });

  it('takes a link that is pasted whole, where there is no address bar', async () => {
    const page = await call('/', NAVIGATION);
    expect(page.text).toContain('<form action="/enter">');
    expect(page.headers['content-security-policy']).toContain("form-action 'self'");
    const { status, headers } = await call(`/enter?code=${encodeURIComponent(` ${relay.link} `)}`, NAVIGATION);
    expect([status, String(headers['set-cookie'])]).toEqual([200, expect.stringContaining('HttpOnly')]);
  });

  describe('sign-in', () => {
    const store = storeFor(kind);
    let clock = 1_000_000_000;
    const signIn = (name = 'home') =>
      createSignIn({
        db: store().db,
        relay: name,
        now: () => clock,
        linkMs: 3_600_000,
        cookieMs: 10 * NOTE_EVERY_MS,
        deviceCodes: { take: () => Promise.resolve(null) },
      });

    it('keeps neither codes nor tokens, only their hashes', async () => {
      const code = await signIn().newCode();
      const kept = await store().db.selectFrom('codes').selectAll().execute();
      const { token = '', key = '' } = (await signIn().take(code)) ?? {};
      expect([token, key].map((secret) => Buffer.from(secret, 'base64url').length)).toEqual([32, 32]);
      const browsers = await store().db.selectFrom('browsers').selectAll().execute();
      expect(JSON.stringify([kept, browsers])).not.toContain(code);
      for (const secret of [token, key]) expect(JSON.stringify([kept, browsers])).not.toContain(secret);
      for (const hash of [browsers[0]?.token_hash, browsers[0]?.key_hash]) expect(hash).toMatch(/^[0-9a-f]{64}$/);
      expect(Buffer.from(code, 'base64url')).toHaveLength(32);
    });

    it('lets an unused code grow old, and forgets a browser that stays away, but not one that comes by', async () => {
      const old = await signIn().newCode();
      clock += 3_600_001;
      expect(await signIn().take(old)).toBeNull();
      const token = (await signIn().take(await signIn().newCode()))?.token ?? '';
      expect(await signIn().check(token)).toMatchObject({ ok: true, renew: false });
      for (let visit = 0; visit < 5; visit++) {
        clock += 9 * NOTE_EVERY_MS;
        expect(await signIn().check(token)).toMatchObject({ ok: true, renew: true });
        expect(await signIn().check(token)).toMatchObject({ ok: true, renew: false });
      }
      clock += 10 * NOTE_EVERY_MS + 1;
      expect(await signIn().check(token)).toEqual({ ok: false });
    });

    it('keeps the sign-in of a browser that comes with a token and a new code, and gives it another key', async () => {
      const { token = '', key = '' } = (await signIn().take(await signIn().newCode())) ?? {};
      const known = await signIn().check(token, key);
      expect(known).toMatchObject({ ok: true, own: true });
      const again = await signIn().take(await signIn().newCode(), token);
      expect(again?.token).toBe(token);
      expect(await signIn().check(token, again?.key)).toEqual(known);
      for (const other of [key, token, '', undefined])
        expect(await signIn().check(token, other)).toMatchObject({ ok: true, own: false });
      expect((await signIn().take(await signIn().newCode(), 'forged'))?.token).not.toBe('forged');
    });

    it('refuses the codes and browsers of another home', async () => {
      const code = await signIn('one').newCode();
      expect(await signIn('two').take(code)).toBeNull();
      const token = (await signIn('one').take(code))?.token ?? '';
      expect(await signIn('two').check(token)).toEqual({ ok: false });
    });
  });
});

describe('origins', () => {
  it('answer for the TLS proxy too where a public URL is set, and only with TLS', () => {
    const origins = createOrigins({
      port: 4747,
      host: '127.0.0.1',
      publicUrl: new URL('https://roost.example.org'),
      tls: false,
      proxied: false,
    });
    expect(origins.isHost('roost.example.org')).toBe(true);
    expect(origins.isHost('Roost.Example.org:443')).toBe(true);
    expect(origins.isHost('roost.example.org:80')).toBe(false);
    expect(origins.isOrigin('https://roost.example.org')).toBe(true);
    expect(origins.isOrigin('http://roost.example.org')).toBe(false);
    expect(origins.isHost(undefined)).toBe(false);
  });

  it('leave out the usual port', () => {
    const origins = createOrigins({ port: 80, host: '::1', publicUrl: null, tls: false, proxied: false });
    expect(['localhost', 'localhost:80', '[::1]'].every((host) => origins.isHost(host))).toBe(true);
    expect(origins.isOrigin('http://localhost')).toBe(true);
    expect(origins.isOrigin('http://localhost:81')).toBe(false);
  });

  it('includes TLS origins when the relay speaks TLS, and never every address at once', () => {
    const origins = createOrigins({ port: 4747, host: '192.168.1.2', publicUrl: null, tls: true, proxied: false });
    expect(origins.isHost('192.168.1.2:4747')).toBe(true);
    expect([origins.isOrigin('https://192.168.1.2:4747'), origins.isOrigin('http://192.168.1.2:4747')]).toEqual([
      true,
      false,
    ]);
    for (const host of ['0.0.0.0', '::']) {
      const everywhere = createOrigins({
        port: 443,
        host,
        publicUrl: new URL('https://roost.example.org'),
        tls: true,
        proxied: false,
      });
      expect(['0.0.0.0', '0.0.0.0:443', '[::]:443'].some((name) => everywhere.isHost(name))).toBe(false);
      expect(['roost.example.org', 'localhost'].every((name) => everywhere.isHost(name))).toBe(true);
    }
  });

  it('leave out the listening address behind a proxy', () => {
    const origins = createOrigins({
      port: 4747,
      host: '192.168.1.2',
      publicUrl: new URL('https://roost.example.org'),
      tls: false,
      proxied: true,
    });
    expect(['192.168.1.2', '192.168.1.2:4747'].some((name) => origins.isHost(name))).toBe(false);
    expect(['roost.example.org', 'localhost:4747'].every((name) => origins.isHost(name))).toBe(true);
  });

  it('take a request without any browser header: it is none of a website', () => {
    const origins = createOrigins({ port: 4747, host: '127.0.0.1', publicUrl: null, tls: false, proxied: false });
    const plain = {
      method: 'POST',
      path: '/api/messages',
      origin: undefined,
      site: undefined,
      mode: undefined,
      dest: undefined,
    };
    expect(isOwnRequest(plain, origins)).toBe(true);
    expect(
      isOwnRequest({ ...plain, site: 'cross-site', mode: 'navigate', dest: 'document' }, origins),
      'a form of another site',
    ).toBe(false);
  });
});

describe('a relay behind a TLS proxy', () => {
  it('prints the public link, makes its cookie Secure, and answers the proxy', async () => {
    const port = await freePort();
    const relay = await startRelay({ args: ['--public-url', 'https://roost.example.org'], port });
    try {
      expect(relay.link).toMatch(/^https:\/\/roost\.example\.org\/enter\?code=/);
      const { pathname, search } = new URL(relay.link);
      const entered = await rawRequest({
        port,
        path: pathname + search,
        headers: { host: 'roost.example.org', ...NAVIGATION },
      });
      expect(String(entered.headers['set-cookie'])).toMatch(
        new RegExp(`^__Host-roost_${port}=[^;]+; Max-Age=7776000; Path=/; HttpOnly; Secure; SameSite=Strict$`),
      );
      const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
      const headers = {
        host: 'roost.example.org',
        origin: 'https://roost.example.org',
        'sec-fetch-site': 'same-origin',
        ...headersOf({ cookie, key: keyIn(entered.text) ?? '' }),
      };
      expect((await rawRequest({ port, path: '/api/rehearsal', headers })).status).toBe(200);
      expect(
        (
          await rawRequest({
            port,
            path: '/api/rehearsal',
            headers: { ...headers, origin: 'http://roost.example.org' },
          })
        ).status,
      ).toBe(403);
    } finally {
      await relay.stop();
    }
  });
});

describe('the address of a caller', () => {
  /** How many of these calls, made at once, were too many. */
  const refusedOf = async (relay: TestRelay, forwarded: readonly string[]) => {
    const calls = forwarded.map((from) =>
      rawRequest({
        port: relay.port,
        path: '/enter?code=wrong',
        headers: { host: `127.0.0.1:${relay.port}`, 'x-forwarded-for': from },
      }),
    );
    return (await Promise.all(calls)).filter(({ status }) => status === 429).length;
  };
  const LIMITS = ['--rate', '1', '--burst', '1'];

  it("reads a caller's address from the declared proxy, and ignores what the caller wrote before it", async () => {
    const relay = await startRelay({
      port: await freePort(),
      args: [...LIMITS, '--behind-proxy', '--public-url', 'https://roost.example.org'],
    });
    try {
      expect(await refusedOf(relay, ['1.1.1.1', '2.2.2.2', '9.9.9.9, 3.3.3.3', '2001:db8::1', 'nonsense'])).toBe(0);
      expect(await refusedOf(relay, ['7.7.7.7', '8.8.8.8, 7.7.7.7', '9.9.9.9,7.7.7.7'])).toBeGreaterThan(0);
      expect(
        await refusedOf(relay, ['', 'nonsense', '1.1.1.1, nonsense']),
        'without one, the socket’s own',
      ).toBeGreaterThan(0);
    } finally {
      await relay.stop();
    }
  });

  it("reads a caller's address from the socket without a declared proxy, whatever the call says", async () => {
    const relay = await startRelay({ args: LIMITS });
    try {
      expect(await refusedOf(relay, ['1.1.1.1', '2.2.2.2', '3.3.3.3'])).toBeGreaterThan(0);
    } finally {
      await relay.stop();
    }
  });
});

describe('the rate limit', () => {
  it('lets a burst through, then the long run, each caller apart', () => {
    let now = 0;
    const rate = createRateLimit({ perSecond: 2, burst: 3, elapsed: () => now });
    expect([1, 2, 3].map(() => rate.take('a'))).toEqual([0, 0, 0]);
    expect(rate.take('a')).toBe(1);
    expect([rate.wait('a'), rate.wait('b'), rate.wait('b')], 'asking takes nothing').toEqual([1, 0, 0]);
    expect(rate.take('b')).toBe(0);
    now += 500;
    expect(rate.take('a')).toBe(0);
    expect(rate.take('a')).toBe(1);
    now += 100_000;
    expect([1, 2, 3, 4].map(() => rate.take('a'))).toEqual([0, 0, 0, 1]);
  });

  it('says when to come again', async () => {
    const relay = await startRelay({ args: ['--rate', '1', '--burst', '3'] });
    try {
      await relay.signIn();
      // At once: one after the other, a busy machine asks no oftener than it may.
      const answers = await Promise.all(Array.from({ length: 30 }, () => relay.fetch('/api/rehearsal')));
      const refused = answers.filter(({ status }) => status === 429);
      expect(answers.some(({ status }) => status === 200)).toBe(true);
      expect(refused.length).toBeGreaterThan(0);
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(problemSchema.parse(await refused[0]?.json())).toMatchObject({ type: 'about:roost/too-many-calls' });
      expect((await relay.fetch('/api/health')).status).toBe(200);
    } finally {
      await relay.stop();
    }
  });
});
