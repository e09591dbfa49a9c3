import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { rawRequest, type RawRequest } from '../../support/raw-http.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';

/** Requests per property. Each is answered by a real relay over HTTP. */
const RUNS = 500;
/** What wrong input may be told. `GET` of the page is 503 where it has not been built. */
const REFUSALS = [400, 401, 403, 404, 405, 409, 410, 413, 415, 426, 429];
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];
const CALLS = [
  '/api/health',
  '/api/sessions',
  '/api/sessions/current',
  '/api/messages',
  '/api/agents/lead/stop',
  '/api/agents/lead/sleep',
  '/api/events',
  '/api/events/ack',
  '/api/rehearsal',
  '/api/sync/socket',
  `/api/sync/households/${'h'.repeat(22)}`,
  `/api/sync/offers/${'o'.repeat(43)}`,
  `/api/sync/offers/${'o'.repeat(43)}/welcome`,
  `/api/sync/recoveries/${'r'.repeat(43)}`,
  '/enter',
];

/**
 * A path and query as they travel: printable ASCII without spaces, with every kind of broken escape
 * in it.
 */
const junk = fc.stringMatching(/^[!-"$-~]{0,40}$/);
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...CALLS) },
  { weight: 2, arbitrary: junk.map((id) => `/api/agents/${id}/stop`) },
  { weight: 2, arbitrary: junk.map((rest) => `/${rest}`) },
  { weight: 1, arbitrary: junk.map((rest) => `/api/${rest}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '*',
      'http://evil.example/',
      '//evil.example/',
      '/%',
      '/..',
      '/assets/../../package.json',
    ),
  },
);
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: junk.map((rest) => `?${rest}`) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('after', 'log', 'code'), junk).map(([name, value]) => `?${name}=${value}`),
  },
);

/**
 * Bodies that are near to what the schemas take, so that each check is reached, and bodies that are
 * not.
 */
const nearText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    'hello',
    '\u0000',
    '\ud800',
    '[WAKE AGENTS]',
    '[SUMMON AGENTS]\n<seats></seats>',
    '[WAKE AGENTS]<agent-payloads><agent name="x"',
  ),
);
const anything = fc.jsonValue({ maxDepth: 4 });
const odd = <Value>(usual: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: anything });
const nearMessage = fc.record(
  { text: odd(nearText), to: odd(nearText), clientId: odd(nearText), replaces: odd(nearText) },
  { requiredKeys: [] },
);
const nearSession = fc.record(
  {
    human: odd(fc.record({ name: odd(nearText) })),
    lead: odd(fc.record({ name: odd(nearText), soul: odd(nearText), transcript: odd(fc.option(nearText)) })),
    settings: odd(
      fc.record(
        { idleMs: odd(fc.integer()), wakeTemplate: odd(nearText), leadModel: odd(nearText) },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);
const nearOptions = fc.record(
  {
    seed: odd(fc.nat()),
    delayMs: odd(fc.constant(0)),
    fail: odd(fc.array(fc.integer({ min: -1, max: 9 }), { maxLength: 3 })),
    leadIgnores: odd(fc.boolean()),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .oneof(nearMessage, nearSession, nearOptions, fc.record({ upTo: odd(fc.integer()) }), anything)
      .map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 80 }) },
);

const headerValue = fc.stringMatching(/^[!-~][ -~]{0,30}$/);
const headers = fc.record(
  {
    'content-type': fc.oneof(
      { weight: 4, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: headerValue },
    ),
    accept: fc.oneof(fc.constantFrom('text/html', '*/*', 'application/json'), headerValue),
    'accept-encoding': fc.oneof(fc.constantFrom('gzip', 'br', 'identity;q=0', '*;q=0'), headerValue),
    'last-event-id': fc.oneof(fc.nat().map(String), headerValue),
    origin: headerValue,
    'sec-fetch-site': fc.oneof(fc.constantFrom('same-origin', 'none', 'cross-site', 'same-site'), headerValue),
    'sec-fetch-mode': headerValue,
    range: fc.oneof(fc.constantFrom('bytes=0-1', 'bytes=-', 'bytes=9-1'), headerValue),
    'if-none-match': headerValue,
    'x-forwarded-for': headerValue,
    cookie: headerValue,
    host: headerValue,
  },
  { requiredKeys: [] },
);

type Shot = Pick<RawRequest, 'path' | 'method' | 'headers' | 'body'>;
const shot = fc.record({
  path: fc.tuple(path, query).map((parts) => parts.join('')),
  method: fc.constantFrom(...METHODS),
  headers,
  body,
});

describe('any input to any route', () => {
  let relay: TestRelay;
  let own: Record<string, string>;
  beforeAll(async () => {
    relay = await startRelay({
      args: ['--rate', '100000', '--burst', '1000000', '--streams', '1000', '--rehearsal', '{"delayMs":0,"wordMs":0}'],
    });
    own = await relay.headers();
  });
  afterAll(async () => {
    const { code, stderr } = await relay.stop();
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  /** Sends it, and checks that the answer is one that the relay may give. */
  async function check(
    { path: target, method, headers: given, body: sent }: Shot,
    own: Record<string, string>,
  ): Promise<number> {
    const bodied = method !== 'GET' && method !== 'HEAD' && method !== 'TRACE';
    // A stream has no end: its beginning is looked at elsewhere.
    const isStream = method === 'GET' && /^\/api\/events\/?(\?|$)/.test(target);
    if (isStream) return 200;
    const answer = await rawRequest({
      port: relay.port,
      path: target,
      ...(method ? { method } : {}),
      headers: { ...given, ...own },
      ...(bodied && sent ? { body: sent } : {}),
    });
    const { status, headers: got, text } = answer;
    if (status >= 200 && status < 400) return status;
    const isPage = String(got['content-type']).startsWith('text/html');
    // Answers to HEAD have no body; a page that is not there or not allowed is told to a person.
    if (isPage) expect([401, 503]).toContain(status);
    else {
      expect(REFUSALS, `${method ?? ''} ${target}: ${status} ${text}`).toContain(status);
      if (method !== 'HEAD') expect(problemSchema.parse(JSON.parse(text)).status).toBe(status);
      expect(got['content-type']).toBe('application/problem+json');
    }
    return status;
  }
  const signedIn = () => ({ ...own, host: `127.0.0.1:${relay.port}` });

  it('answers or refuses any input with a problem, and never breaks the relay', { timeout: 120_000 }, async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(shot, async (request) => {
        seen.add(await check(request, signedIn()));
      }),
      { numRuns: RUNS },
    );
    // Both sides of the door were tried.
    expect([...seen]).toEqual(expect.arrayContaining([400, 403, 404, 405]));
    expect((await relay.fetch('/api/health')).status).toBe(200);
  });

  it('refuses any input without a sign-in', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(shot, async (request) => {
        const status = await check(
          { ...request, headers: { ...request.headers, host: `127.0.0.1:${relay.port}` } },
          {},
        );
        const open =
          /^\/(api\/health|health\/(live|ready)|enter)\/?(\?|$)/.test(request.path) ||
          request.path.startsWith('/api/events');
        if (!open) expect(status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: RUNS / 2 },
    );
  });

  it('answers or refuses any input to the calls of a running session', { timeout: 120_000 }, async () => {
    const start = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am.', transcript: null } };
    await relay.fetch('/api/sessions', { method: 'POST', json: start });
    const bodies = fc.oneof(nearMessage, nearSession, anything).map((value) => JSON.stringify(value));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          '/api/messages',
          '/api/sessions',
          '/api/agents/lead/stop',
          '/api/agents/lead/sleep',
          '/api/events/ack',
        ),
        bodies,
        async (target, sent) => {
          await check(
            { path: target, method: 'POST', headers: { 'content-type': 'application/json' }, body: sent },
            signedIn(),
          );
        },
      ),
      { numRuns: RUNS / 2 },
    );
    expect((await relay.fetch('/api/health')).status).toBe(200);
  });
});
