/**
 * Every route that the relay has, those that come later too: what the cookie alone can do at it,
 * and thousands of calls that are nearly right. `FUZZ_CALLS=5000` for more of them, `FUZZ_SEED` for
 * others.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { ALL_ROUTES, createNearlyRight, filled } from '../support/nearly-right.ts';
import { createRandom } from '../support/random.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';

const CALLS = Number(process.env['FUZZ_CALLS'] ?? 600);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const AT_ONCE = 8;
/** MB that so many calls may leave the relay larger by. */
const GROWN_MB = 400;

/**
 * Of a browser: whoever asks with a credential, or for what anybody may have, is another matter.
 */
const OF_PAGES = ALL_ROUTES.filter(([, { access = 'page' }]) => ['page', 'agent', 'client'].includes(access));

let relay: TestRelay;
let own: Record<string, string>;
/** Of what is there. */
const ids = ['a1'];
beforeAll(async () => {
  relay = await startRelay({
    args: [
      '--rate',
      '100000',
      '--burst',
      '1000000',
      '--streams',
      '1000',
      '--scripts',
      '--rehearsal',
      '{"delayMs":0,"wordMs":0}',
    ],
  });
  own = await relay.headers();
  const agents = [
    { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
    { agentId: 'a2', name: 'Wren', position: 1, retired: false },
  ];
  await relay.fetch('/api/team', { method: 'PUT', json: { agents } });
  for (const name of ['One', 'Two']) {
    const timing = { kind: 'every', minutes: 60 };
    const json = { kind: 'routine', agentId: 'a1', name, instructions: 'Work.', timing };
    const added = await relay.fetch('/v1/pulse-routines', { method: 'POST', json });
    ids.push(scheduledSchema.parse(await added.json()).scheduleId);
  }
});
afterAll(async () => {
  const { code, stderr } = await relay.stop();
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/\n\s+at /);
});

describe('A program that was sent the cookie, or has none', () => {
  it.each(OF_PAGES.map(([name, { method, path }]) => [name, method, path] as const))(
    'gets nothing by %s: %s %s',
    async (_name, method, path) => {
      const { cookie } = await relay.signIn();
      const foreign = cookie.replace(/=.*/, `=${'x'.repeat(43)}`);
      for (const given of [{ cookie }, {}, { cookie: foreign }])
        for (const disguise of [{}, { origin: relay.url, 'sec-fetch-site': 'same-origin', referer: `${relay.url}/` }]) {
          const { status } = await rawRequest({
            port: relay.port,
            path: filled(path, () => 'a1'),
            method,
            headers: { host: `127.0.0.1:${relay.port}`, ...given, ...disguise, 'content-type': 'application/json' },
            ...(method === 'GET' ? {} : { body: '{}' }),
          });
          expect([401, 403, 426]).toContain(status);
        }
    },
  );
});

const memoryMb = async (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ?? 0) / 1_024;

it('answers thousands of nearly valid calls without an internal error', { timeout: 600_000 }, async () => {
  const random = createRandom(SEED);
  const nextCall = createNearlyRight(random, ids);
  const before = await memoryMb(relay.pid);
  const seen = new Map<number, number>();
  const wrong: string[] = [];
  async function one(): Promise<void> {
    const { method, path, type, body } = nextCall();
    try {
      const { status } = await rawRequest({
        port: relay.port,
        path,
        method,
        headers: { ...own, host: `127.0.0.1:${relay.port}`, 'content-type': type },
        ...(body === undefined ? {} : { body }),
        timeoutMs: 60_000,
      });
      seen.set(status, (seen.get(status) ?? 0) + 1);
      if (status >= 500 && !(status === 503))
        wrong.push(`${status} ${method} ${path.slice(0, 200)} ${body?.slice(0, 300) ?? ''}`);
    } catch (error) {
      wrong.push(`${String(error)} ${method} ${path.slice(0, 200)} ${body?.slice(0, 300) ?? ''}`);
    }
  }
  let left = CALLS;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await one();
    }),
  );
  if (process.env['FUZZ_CALLS'] !== undefined)
    console.log(
      [...seen].sort(([a], [b]) => a - b),
      before,
      await memoryMb(relay.pid),
    );
  expect(wrong).toEqual([]);
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 400, 404]));
  expect((await relay.fetch('/api/health')).status).toBe(200);
  expect((await memoryMb(relay.pid)) - before).toBeLessThan(GROWN_MB);
});
