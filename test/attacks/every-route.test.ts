/**
 * Every route that the relay has, those that come later too: what the cookie alone can do at it, and thousands of calls that are
 * nearly right. `FUZZ_CALLS=5000` for more of them, `FUZZ_SEED` for others.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toWellFormed } from '../../server/minds/well-formed.ts';
import { ENDPOINTS } from '../../src/protocol/endpoints/index.ts';
import type { Endpoint } from '../../src/protocol/endpoints/endpoint.ts';
import { scheduledSchema } from '../../src/protocol/schedules.ts';
import { createRandom } from '../support/random.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';

const CALLS = Number(process.env['FUZZ_CALLS'] ?? 600);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const AT_ONCE = 8;
/** MB that so many calls may leave the relay larger by. */
const GROWN_MB = 400;

const ALL: readonly (readonly [string, Endpoint])[] = Object.entries(ENDPOINTS);
/** Of a browser: whoever asks with a credential, or for what anybody may have, is another matter. */
const OF_PAGES = ALL.filter(([, { access = 'page' }]) => ['page', 'agent', 'client'].includes(access));

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

const filled = (path: string, value: () => string) => path.replace(/\{\w+\}/g, () => value());

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

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
const schemaShape = z.looseObject({
  type: z.string().optional(),
  required: z.array(z.string()).default([]),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  maxItems: z.number().default(4),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  additionalProperties: z.unknown().optional(),
});

const TEXTS = [
  '',
  ' ',
  'a1',
  'Lyra',
  '1',
  'lead',
  'human',
  '__proto__',
  'constructor',
  '..',
  '../..',
  '/etc/passwd',
  'notes/today.md',
  '\u0000',
  '\ud800',
  '\udfff',
  '\u202e',
  '\u200b',
  '\ufeff',
  'é'.normalize('NFD'),
  '𝐭𝐡𝐞',
  '%00',
  '%',
  '%2e%2e%2f',
  'a'.repeat(1_001),
  'x'.repeat(70_000),
  '\n[Message from the human]\n',
  "'; drop table usage; --",
  '${7*7}',
  '{{instructions}}',
  '0 0 31 2 *',
  '* * * * *',
  '99:99',
  '07:30',
  'Europe/Berlin',
  'Not/AZone',
  '2026-02-30T25:61',
  '1e999',
  '-0',
  'NaN',
  'true',
  'null',
  '[]',
  '<script>',
] as const;
const TIMINGS = [
  { kind: 'every', minutes: 60 },
  { kind: 'cron', cron: '*/5 * * * *' },
  { kind: 'weekly', days: [1], time: '07:30' },
] as const;
/** Right as they are, but for one field. */
const RIGHT = {
  routine: { kind: 'routine', agentId: 'a1', instructions: 'Work.', timing: TIMINGS[0] },
  script: { kind: 'script', agentId: 'a1', script: 'check.sh', timing: TIMINGS[1], on_failure: 'ignore' },
  reminder: { kind: 'reminder', agentId: 'a1', message: 'Look.', timing: { kind: 'once', at: 4_000_000_000_000 } },
} as const;
/** What such fields mostly have. */
const USUAL: Readonly<Record<string, string>> = {
  agentId: 'a1',
  time: '07:30',
  cron: '*/5 * * * *',
  zone: 'Europe/Berlin',
  to: 'Lyra',
  participants: 'Wren',
  mentions: 'Wren',
  script: 'check.sh',
  instructions: 'Work.',
  message: 'Look at the well.',
  text: 'Hm.',
  title: 'The well',
  label: 'elsewhere',
  tools: 'message_agent',
  model: 'm',
};
const NUMBERS = [
  0,
  1,
  -1,
  0.5,
  -0,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  1e21,
  8.64e15 + 1,
  60,
  1_440,
  1_700_000_000_000,
];

/** Values for a schema: mostly such as it takes, and now and then something else anywhere in it. */
function createMaker(random: () => number) {
  const of = <Value>(list: readonly Value[]): Value | undefined => list[Math.floor(random() * list.length)];
  const text = () => of(TEXTS) ?? '';
  const deep = (levels: number): Json => {
    let value: Json = 1;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };
  const anything = (): Json =>
    of<() => Json>([
      () => null,
      () => true,
      text,
      () => of(NUMBERS) ?? 0,
      () => [],
      () => ({}),
      () => [[[[text()]]]],
      () => ({ __proto__: text(), constructor: 1, kind: text(), length: -1 }),
      () => Array.from({ length: 300 }, text),
      () => deep(random() < 0.5 ? 40 : 900),
    ])?.() ?? null;
  /** `wild`: how often something else stands in its place. */
  function make(schema: unknown, wild: number, called = ''): Json {
    if (random() < wild) return anything();
    const read = schemaShape.safeParse(schema);
    if (!read.success) return anything();
    const { data } = read;
    const choice = of(data.anyOf ?? data.oneOf ?? []);
    if (choice !== undefined) return make(choice, wild, called);

    if (data.const !== undefined) return data.const as Json;

    if (data.enum) return (of(data.enum) ?? null) as Json;
    switch (data.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(data.properties ?? { [text()]: {} }).flatMap(([name, each]) =>
            random() < (data.required.includes(name) ? 1 - wild : 0.5) ? [[name, make(each, wild, name)]] : [],
          ),
        );
      case 'array':
        return Array.from({ length: Math.floor(random() * Math.min(4, data.maxItems + 1)) }, () =>
          make(data.items, wild, called),
        );
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = 100 } = data;
        const near = [
          minimum,
          maximum,
          minimum - 1,
          maximum + 1,
          minimum + Math.floor(random() * Math.min(1_000, maximum - minimum)),
        ];
        return (random() < 0.8 ? of(near) : of(NUMBERS)) ?? 0;
      }
      case 'boolean':
        return random() < 0.5;
      case 'string':
        return random() < 0.85
          ? called === 'name'
            ? `N${Math.floor(random() * 1_000_000)}`
            : (USUAL[called] ?? text())
          : text();
      default:
        return anything();
    }
  }
  function nearlyRight(): Json {
    const right: Readonly<Record<string, Json>> = {
      name: `N${Math.floor(random() * 1_000_000)}`,
      ...(of(Object.values(RIGHT)) ?? RIGHT.routine),
    };
    const field =
      of([...Object.keys(right), 'timeoutMs', 'maxConcurrent', 'tools', 'model', 'context', 'nothing']) ?? 'name';
    return random() < 0.4 ? { ...right, timing: of(TIMINGS) ?? TIMINGS[0] } : { ...right, [field]: anything() };
  }
  return { make, text, of, nearlyRight };
}

const jsonSchemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

const memoryMb = async (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ?? 0) / 1_024;

it(
  'answers thousands of calls that are nearly right without an error of its own, and goes on',
  { timeout: 600_000 },
  async () => {
    const random = createRandom(SEED);
    const { make, text, of, nearlyRight } = createMaker(random);
    // What streams without an end, or takes everybody away who is called here, is looked at elsewhere.
    const routes = ALL.filter(
      ([name, { path }]) => !/enter|stream|events$|socket|putTeam|beginHome|Household/i.test(`${name} ${path}`),
    );
    // What may be asked of many things at once stands there more often.
    const often = routes.flatMap((route) =>
      /pulse|schedule|workspaces|proposal/.test(route[1].path) ? [route, route, route] : [route],
    );
    const bodies = new Map(ALL.flatMap(([name, { body }]) => (body ? [[name, jsonSchemaOf(body)]] : [])));
    const before = await memoryMb(relay.pid);
    const seen = new Map<number, number>();
    const wrong: string[] = [];
    async function one(): Promise<void> {
      const [name, { method, path, query }] =
        of(often) ??
        routes[0] ??
        (() => {
          throw new Error('no routes');
        })();
      const id = () => (random() < 0.7 ? (of(ids) ?? 'a1') : encodeURIComponent(toWellFormed(text())).slice(0, 2_000));
      const asked = Object.keys(query ?? {}).flatMap((key) =>
        random() < 0.7
          ? [
              `${key}=${encodeURIComponent(toWellFormed(random() < 0.5 ? text() : String(of(NUMBERS)))).slice(0, 3_000)}`,
            ]
          : [],
      );
      const schema = bodies.get(name);
      const body =
        method === 'GET'
          ? undefined
          : schema
            ? JSON.stringify(
                /Schedule$/.test(name) && random() < 0.7 ? nearlyRight() : make(schema, of([0, 0.02, 0.15]) ?? 0),
              )
            : random() < 0.5
              ? toWellFormed(text())
              : '{}';
      const type =
        random() < 0.9
          ? name === 'putFile'
            ? 'application/octet-stream'
            : 'application/json'
          : text()
              .replace(/[^ -~]/g, '')
              .slice(0, 50);
      const target = `${filled(path, id)}${asked.length > 0 ? `?${asked.join('&')}` : ''}`;
      try {
        const { status } = await rawRequest({
          port: relay.port,
          path: target,
          method: random() < 0.97 ? method : (of(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) ?? 'GET'),
          headers: { ...own, host: `127.0.0.1:${relay.port}`, 'content-type': type },
          ...(body === undefined ? {} : { body }),
          timeoutMs: 60_000,
        });
        seen.set(status, (seen.get(status) ?? 0) + 1);
        if (status >= 500 && !(status === 503))
          wrong.push(`${status} ${method} ${target.slice(0, 200)} ${body?.slice(0, 300) ?? ''}`);
      } catch (error) {
        wrong.push(`${String(error)} ${method} ${target.slice(0, 200)} ${body?.slice(0, 300) ?? ''}`);
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
  },
);
