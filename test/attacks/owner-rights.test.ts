/**
 * The rights of whoever runs the relay, tried by a second household at every route that there is.
 * The first household makes the same calls and has the rights, so the calls are such as would use
 * them.
 */
import { createServer, type Server } from 'node:http';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { OwnerRight } from '../../server/access/owner-rights.ts';
import { isRecord } from '../../src/shared/domain/platform/json.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { DEFAULT_COLUMNS } from '../../src/shared/domain/projects.ts';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { projectSchema } from '../../src/shared/protocol/projects.ts';
import { historySchema } from '../../src/shared/protocol/endpoints/history.ts';
import { healthSchema } from '../../src/shared/protocol/http.ts';
import { scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { stampOf } from '../support/documents.ts';
import { browserOf, type Browser } from '../support/open-relay.ts';
import { allowAll, askedOf } from '../support/records.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, type ScriptedModel } from '../support/scripted-model.ts';
import { headersOf } from '../support/sign-in.ts';

const SECRET = 'what only the owner of the machine may read';
const LEAD = 'lead';
/** ms in which a program that was started has left its mark. */
const SETTLE_MS = 500;
/** Bodies that are sent to one route. */
const BODIES = 16;

const serversSchema = z.object({ servers: z.array(z.object({ serverId: z.string() })) });
const programsSchema = z.object({ programs: z.array(z.object({ programId: z.string() })) });

/**
 * What each right leaves behind when it is used; null: it is nobody's alone, or is tried in a test
 * of its own.
 */
const LEAVES: Readonly<Record<OwnerRight, readonly string[] | null>> = {
  'free-programs': ['addMcpServer', 'addProgram', 'offerRecords'],
  'machine-folders': ['folder by addMcpServer'],
  'bare-commands': ['command', 'script'],
  'boxed-programs': null,
  'boxed-scripts': null,
  'own-hosts': ['GET /own'],
  'environment-model': null,
  'inner-servers': ['GET /mcp', 'GET /model'],
  'inner-pages': ['GET /page'],
  'inner-pushes': null,
  'direct-demo': null,
};

let folder: string;
let secretFolder: string;
let inner: Server;
let innerUrl: string;
let asked: string[];
let model: ScriptedModel;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-rights-'));
  secretFolder = join(folder, 'secrets');
  await mkdir(secretFolder);
  await writeFile(join(secretFolder, 'secret.txt'), `${SECRET}\n`);
  asked = [];
  inner = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.resume();
    response.writeHead(404).end();
  });
  await new Promise<void>((listens) => inner.listen(0, '127.0.0.1', listens));
  const address = inner.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  innerUrl = `http://127.0.0.1:${address.port}`;
  model = await startScriptedModel(({ body }) =>
    body.messages.some(({ role }) => role === 'assistant')
      ? [{ say: 'Done.' }]
      : [
          { call: 'run_command', input: { command: markBy('command') } },
          { call: 'fetch_page', input: { url: `${innerUrl}/page` } },
        ],
  );
});
afterAll(async () => {
  await model.close();
  await new Promise((closed) => inner.close(closed));
  await rm(folder, { recursive: true, force: true });
});

/** For bash, with nothing but itself: writes down the owner's secret under this name. */
const markBy = (name: string) =>
  `IFS= read -r line < '${secretFolder}/secret.txt'; [ -n "$line" ] && echo "$line" > '${folder}/marks/${name}'`;
/** The same where only the folder of the secret is shown. */
const markInFolder = (name: string) => `echo > '${secretFolder}/folder by ${name}'`;

/** What was reached on the machine and in its network since `clear`. */
async function reached(): Promise<readonly string[]> {
  await sleep(SETTLE_MS);
  const marks = await readdir(join(folder, 'marks'));
  for (const mark of marks) expect(await readFile(join(folder, 'marks', mark), 'utf8')).toBe(`${SECRET}\n`);
  const shown = (await readdir(secretFolder)).filter((name) => name !== 'secret.txt');
  const addresses = asked.map((path) => `GET /${path.split(/[/?]/)[1] ?? ''}`);
  return [...new Set([...marks, ...shown, ...addresses])].sort();
}
async function clear(): Promise<void> {
  await rm(join(folder, 'marks'), { recursive: true, force: true });
  await mkdir(join(folder, 'marks'));
  for (const name of await readdir(secretFolder)) if (name !== 'secret.txt') await rm(join(secretFolder, name));
  asked.length = 0;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
const shape = z.looseObject({
  type: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.unknown()).default({}),
  items: z.unknown().optional(),
  minimum: z.number().default(1),
  maxItems: z.number().default(1),
  pattern: z.string().optional(),
});
let nth = 0;
/** What a field of this name holds for whoever is after the machine. */
const TEXTS: Readonly<Record<string, (route: string) => string>> = {
  command: () => '/bin/bash',
  url: () => `${innerUrl}/mcp`,
  address: () => `${innerUrl}/model`,
  endpoint: () => `${innerUrl}/push`,
  folder: () => secretFolder,
  reads: () => secretFolder,
  name: () => `n${++nth}`,
  agentId: () => 'a1',
  script: () => 'mark.sh',
  time: () => '07:30',
  cron: () => '0 5 * * *',
  timeZone: () => 'UTC',
  time_zone: () => 'UTC',
  network: () => '127.0.0.1',
  at: () => stampOf(1),
  p256dh: () => 'x'.repeat(87),
  auth: () => 'y'.repeat(22),
};

/** Bodies that this schema takes, with every choice in one of them at least. */
function valuesOf(schema: unknown, route: string, name = ''): readonly Json[] {
  const { success, data } = shape.safeParse(schema);
  if (!success) return ['x'];
  if (data.const !== undefined) return [data.const as Json];
  if (data.enum) return data.enum as Json[];
  const choices = data.anyOf ?? data.oneOf;
  if (choices) return choices.flatMap((each) => valuesOf(each, route, name));
  switch (data.type) {
    case 'object': {
      const fields = Object.entries(data.properties).map(
        ([field, each]) => [field, valuesOf(each, route, field)] as const,
      );
      const first = Object.fromEntries(fields.map(([field, [value = null]]) => [field, value]));
      // Without its arguments a shell would wait for its input.
      const without = fields.filter(([field]) => !data.required.includes(field) && field !== 'args');
      return [
        first,
        ...without.map(([left]) => Object.fromEntries(Object.entries(first).filter(([field]) => field !== left))),
        ...fields.flatMap(([field, [, ...others]]) => others.map((value) => ({ ...first, [field]: value }))),
      ];
    }
    case 'array':
      if (name === 'args')
        return [
          ['-c', markBy(route)],
          ['-c', markInFolder(route)],
        ];
      return data.maxItems === 0 ? [[]] : valuesOf(data.items, route, name).map((value) => [value]);
    case 'integer':
    case 'number':
      return [Math.max(1, data.minimum)];
    case 'boolean':
      return [true, false];
    case 'null':
      return [null];
    default:
      return [TEXTS[name]?.(route) ?? 'x'];
  }
}

const ALL = Object.entries(ENDPOINTS) as readonly (readonly [string, Endpoint])[];
/**
 * Not those that take nothing in, as streams and sockets, and those that would end either
 * household.
 */
const CALLS = ALL.filter(
  ([name, { access = 'page', raw }]) =>
    access !== 'anyone' && raw !== true && name !== 'beginHome' && name !== 'putTeam',
);
/** What no schema says: a server and a script that come as records. */
const records = (route: string): Json => ({
  records: [
    {
      ...{ type: 'attached-server', id: 's1', at: stampOf(1) },
      value: {
        ...{ name: 'given', removed: false, secrets: [], agents: null, tools: {} },
        where: { kind: 'program', command: '/bin/bash', args: ['-c', markBy(route)], box: null },
      },
    },
  ],
});
const bodies = new Map(
  CALLS.map(([name, { body }]) => [
    name,
    body ? z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) : undefined,
  ]),
);

/** Ids that answers have told, by the names under which paths ask for them. */
function gather(value: unknown, ids: Map<string, Set<string>>): void {
  if (Array.isArray(value)) for (const each of value) gather(each, ids);
  else if (isRecord(value))
    for (const [name, each] of Object.entries(value)) {
      if (typeof each === 'string' && name.endsWith('Id')) ids.set(name, (ids.get(name) ?? new Set()).add(each));
      else gather(each, ids);
    }
}

/** What this household is told by its calls. */
interface Caller {
  readonly told: string[];
  call(method: string, path: string, json?: unknown): Promise<unknown>;
}
function callerOf(browser: Browser): Caller {
  const told: string[] = [];
  return {
    told,
    async call(method, path, json) {
      const answer = await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
      const text = await answer.text();
      told.push(`${method} ${path} ${answer.status} ${text}`);
      expect(answer.status, told.at(-1)).not.toBe(500);
      return /^[[{]/.test(text) ? JSON.parse(text) : null;
    },
  };
}

/** Calls every route, with all that could use a right. */
async function sweep({ call }: Caller): Promise<void> {
  const ids = new Map([['agentId', new Set(['a1', LEAD])]]);
  const idFor = (path: string) => {
    const [asked] = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    return asked === undefined ? '' : ([...(ids.get(asked) ?? [])].at(-1) ?? 'a1');
  };
  /**
   * There is room for so many servers and programs: each is started when it comes, and two of them
   * are left.
   */
  async function makeRoom(): Promise<void> {
    const { servers } = serversSchema.parse(await call('GET', '/api/mcp-servers'));
    const { programs } = programsSchema.parse(await call('GET', '/api/agent-programs'));
    for (const { serverId } of servers.slice(0, -2)) await call('DELETE', `/api/mcp-servers/${serverId}`);
    for (const { programId } of programs.slice(0, -2)) await call('DELETE', `/api/agent-programs/${programId}`);
  }
  async function callAll(name: string, { method, path }: Endpoint): Promise<void> {
    const schema = bodies.get(name);
    const all = name === 'offerRecords' ? [records(name)] : schema === undefined ? [] : valuesOf(schema, name);
    // Elsewhere than on this machine nobody answers a test.
    const near = all.filter((json) => !isRecord(json) || json['kind'] !== 'claude').slice(0, BODIES);
    const address = path.replace(/\{\w+\}/g, encodeURIComponent(idFor(path)));
    await Promise.all(
      (near.length === 0 ? [undefined] : near).map(async (json) => {
        const named = isRecord(json) && 'name' in json ? { ...json, name: `n${++nth}` } : json;
        gather(await call(method, address, named), ids);
      }),
    );
    if (name === 'addMcpServer' || name === 'addProgram') await makeRoom();
  }
  const all = CALLS.filter(([, { method }]) => method !== 'DELETE');
  const isAbout = ({ path }: Endpoint) => path.includes('{');
  // Those that are about something come last: what it is has been told by then.
  for (const about of [false, true])
    for (const [name, endpoint] of all) if (isAbout(endpoint) === about) await callAll(name, endpoint);
}

/**
 * Has its lead run a command and read a page of the inner network, and a script run as at night.
 */
async function work(browser: Browser, { told, call }: Caller): Promise<void> {
  // What came as a record waits for a yes.
  await allowAll(browser);
  const coordination = {
    toolsets: { shell: 'allow', web: 'allow', files: 'allow', attached: 'allow', mind: 'allow' },
    shell_without_sandbox: true,
    network: 'all',
  };
  for (const agentId of [LEAD, 'a1']) await call('PUT', `/v1/agents/${agentId}/config`, { coordination });
  await call('DELETE', '/api/sessions/current');
  await call('POST', '/api/sessions', { human: { name: 'Noa' }, lead: { name: 'Sol', soul: null, transcript: null } });
  const before = model.requests.length;
  await call('POST', '/api/messages', { text: 'Go on.', clientId: `c${before}` });
  await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBeGreaterThan(before + 1);
  await call('DELETE', '/api/sessions/current');
  const { host } = new URL(innerUrl);
  const byProxy = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ${innerUrl}/own HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n' >&3; cat <&3`;
  for (const [name, text, reaches] of [
    ['Marks', markBy('script'), {}],
    ['Own hosts', byProxy, { own_hosts: [host] }],
    ['Own hosts by another field', byProxy, { hosts: [host] }],
  ] as const) {
    const put = await fetch(new URL('/api/workspaces/a1/file?path=mark.sh', browser.url), {
      method: 'PUT',
      body: text,
      headers: { ...headersOf(await browser.signIn()), 'content-type': 'application/octet-stream' },
    });
    expect(put.status).toBe(204);
    const added = await call('POST', '/v1/pulse-routines', {
      ...{ kind: 'script', agentId: 'a1', name, script: 'mark.sh', on_failure: 'ignore', ...reaches },
      timing: { kind: 'every', minutes: 60 },
    });
    const { success, data } = scheduledSchema.safeParse(added);
    if (!success) continue;
    await call('POST', `/v1/pulse-routines/${data.scheduleId}/trigger`);
    const history = async () => JSON.stringify(await call('GET', `/v1/pulse-routines/${data.scheduleId}/history`));
    await expect.poll(history, { timeout: 20_000 }).toMatch(/"state":"(done|failed)"/);
    told.push(await history());
  }
}

const TEAM = {
  agents: [
    { agentId: LEAD, name: 'Sol', position: 4, retired: false },
    { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
  ],
};
interface Two {
  readonly relay: TestRelay;
  readonly first: Browser;
  readonly second: Browser;
}
/** A relay with two households, of which the first is its owner's. */
async function openTwo(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  home?: string,
): Promise<Two> {
  const relay = await startRelay({ env, args, ...(home === undefined ? {} : { home }) });
  const first = browserOf(relay.url, await relay.signIn());
  expect((await first.fetch('/api/team', { method: 'PUT', json: TEAM })).status).toBe(204);
  const given = await first.fetch('/api/home', { method: 'POST', json: { beside: true, anew: true } });
  const [cookie = ''] = given.headers.getSetCookie();
  const second = browserOf(relay.url, { cookie: cookie.split(';')[0] ?? '', key: (await first.signIn()).key });
  expect((await second.fetch('/api/home', { method: 'POST', json: { beside: true } })).status).toBe(200);
  expect((await second.fetch('/api/team', { method: 'PUT', json: TEAM })).status).toBe(204);
  return { relay, first, second };
}

const ARGS = [
  ...['--rate', '100000', '--burst', '1000000', '--scripts'],
  ...['--model-addresses', 'own', '--web-addresses', 'own', '--push-addresses', 'own'],
];
describe.each<{ where: string; path: Record<string, string>; without: readonly OwnerRight[] }>([
  { where: 'where there is no sandbox', path: { PATH: '/nowhere' }, without: ['machine-folders', 'own-hosts'] },
  { where: 'where there is one', path: {}, without: ['bare-commands'] },
])('At every route, $where,', ({ path, without }) => {
  let two: Two;
  beforeAll(async () => {
    two = await openTwo(ARGS, { ...path, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' });
  }, 60_000);
  afterAll(() => two.relay.stop());

  async function use(browser: Browser) {
    await clear();
    const caller = callerOf(browser);
    await sweep(caller);
    await work(browser, caller);
    return { left: await reached(), told: caller.told.join('\n') };
  }

  it('a second household has none of the rights of the relay’s owner', { timeout: 120_000 }, async () => {
    const { left, told } = await use(two.second);
    expect(left).toEqual([]);
    expect(told).not.toContain(SECRET);
    expect(told).toContain('PUT /api/notifications/device 400');
  });

  // A relay without git has no projects.
  it.skipIf('PATH' in path)('a second household learns nothing of the first’s projects, by their ids', async () => {
    const [owner, other] = [callerOf(two.first), callerOf(two.second)];
    const { projectId } = projectSchema.parse(
      await owner.call('POST', '/v1/projects', { name: 'Secret plan', agents: [LEAD] }),
    );
    const task = { title: 'Secret step', description: 'Secret place.', columnId: 'ready' };
    await owner.call('POST', `/v1/projects/${projectId}/tasks`, task);
    await other.call('POST', '/v1/projects', { name: 'Own', agents: [LEAD] });
    for (const path of [`/v1/projects/${projectId}/search?q=secret`, `/v1/projects/${projectId}/obstacles`]) {
      const before = other.told.length;
      await other.call('GET', path);
      expect(other.told.slice(before).join()).toMatch(new RegExp(`^GET ${path.replace('?', '.')} 404 `));
      await owner.call('GET', path);
      expect(owner.told.at(-1)).toMatch(/ 200 /);
    }
    await other.call('GET', '/v1/attempts?hours=168');
    expect(other.told.join()).not.toMatch(/Secret (?:plan|step|place)/);
  });

  it('a second household gets no repository by a record that the owner’s rights are needed for', async () => {
    const other = callerOf(two.second);
    for (const [i, repository] of ['/', `${innerUrl}/trip.git`].entries()) {
      const value = {
        ...{ name: 'Trip', instructions: '', agents: [LEAD], kind: 'git', repository, createdAt: 1, removed: false },
        columns: DEFAULT_COLUMNS,
      };
      const at = formatStamp({ time: Date.now(), counter: i, node: 'mallory' });
      await other.call('POST', '/api/records', { records: [{ type: 'project', id: `trip${String(i)}`, at, value }] });
      const all = (await askedOf(two.second)).filter(({ id }) => id === `trip${String(i)}`);
      const answers = all.map(({ type, id, part, hash }) => ({ type, id, part, hash, yes: true }));
      expect(answers).toHaveLength(1);
      await other.call('POST', '/api/records/approvals', { answers });
      expect(other.told.at(-1)).toMatch(/"outcome":"refused"/);
      await other.call('GET', `/v1/projects/trip${String(i)}`);
      expect(other.told.at(-1)).toMatch(/"repository":""/);
    }
  });

  it('the owner’s household has them, by the same calls', { timeout: 120_000 }, async () => {
    const { left, told } = await use(two.first);
    const uses = Object.entries(LEAVES).flatMap(([right, leaves]) =>
      without.some((each) => each === right) ? [] : (leaves ?? []),
    );
    expect(left).toEqual(expect.arrayContaining(uses));
    expect(told).toContain('PUT /api/notifications/device 204');
  });
});

it(
  'The model that the owner pays for answers their own household alone, where they say so',
  { timeout: 60_000 },
  async () => {
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' };
    const { relay, first, second } = await openTwo(['--environment-model', 'own'], env);
    try {
      const mindOf = async (browser: Browser) => healthSchema.parse(await (await browser.fetch('/health')).json()).mind;
      expect([await mindOf(first), await mindOf(second)]).toEqual(['anthropic', 'rehearsal']);
    } finally {
      await relay.stop();
    }
  },
);

it(
  'The history of an agent’s files belongs to one household, also where the other has an agent of the same id',
  { timeout: 60_000 },
  async () => {
    const { relay, first, second } = await openTwo(['--rehearsal', '{"delayMs":0,"wordMs":0}']);
    try {
      const api = '/api/workspaces/a1/history';
      const put = async (browser: Browser, body: string) => {
        const headers = { ...headersOf(await browser.signIn()), 'content-type': 'application/octet-stream' };
        const address = new URL('/api/workspaces/a1/file?path=diary.md', browser.url);
        expect((await fetch(address, { method: 'PUT', body, headers })).status).toBe(204);
      };
      const pointsOf = async (browser: Browser) =>
        historySchema.parse(await (await browser.fetch(api)).json()).points.map(({ pointId }) => pointId);
      await put(first, SECRET);
      // A replaced file is a point in the history.
      await put(first, 'nothing');
      await expect.poll(() => pointsOf(first)).toHaveLength(1);
      const [pointId = ''] = await pointsOf(first);
      const attempts = async (browser: Browser) => {
        const told: string[] = [];
        for (const [method, path, json] of [
          ['GET', api, undefined],
          ['GET', `${api}/${pointId}`, undefined],
          ['GET', `${api}/${pointId}?from=after`, undefined],
          ['GET', `${api}/${pointId}/file?folder=files&file=diary.md`, undefined],
          ['POST', `${api}/${pointId}/restore`, { to: 'before', files: null }],
        ] as const) {
          const answer = await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
          told.push(`${answer.status} ${await answer.text()}`);
        }
        return told;
      };
      const told = await attempts(second);
      expect(told.map((text) => text.slice(0, 3))).toEqual(['200', '404', '404', '404', '404']);
      expect(told.join('\n')).not.toContain(SECRET);
      expect((await second.fetch(api, { method: 'DELETE' })).status).toBeLessThan(300);
      expect(await pointsOf(first)).toEqual([pointId]);
      const read = () => first.fetch('/api/workspaces/a1/file?path=diary.md');
      expect(await (await read()).text()).toBe('nothing');
      // The owner's calls are such as would have done it.
      const own = await attempts(first);
      expect(own.map((text) => text.slice(0, 3))).toEqual(['200', '200', '200', '200', '200']);
      expect(own[3]).toContain(SECRET);
      expect(await (await read()).text()).toBe(SECRET);
    } finally {
      await relay.stop();
    }
  },
);

describe('A household that the owner names', () => {
  const DEMO = ['--scripts', '--rehearsal', '{"delayMs":0,"wordMs":0}'];
  const json = {
    name: 'free',
    attachment: { kind: 'program', command: '/bin/bash', args: ['-c', 'exit 3'], box: null },
  };
  const attach = (browser: Browser) => browser.fetch('/api/mcp-servers', { method: 'POST', json });
  const direct = (browser: Browser) => browser.fetch('/api/rehearsal', { method: 'PUT', json: { delayMs: 1 } });

  it("shows a refused household its id, and grants it the owner's rights by that id", { timeout: 60_000 }, async () => {
    const home = await createHome();
    try {
      const { relay, first, second } = await openTwo(DEMO, {}, home);
      const refusals = [await attach(second), await direct(second)];
      const told = await Promise.all(refusals.map((answer) => answer.text()));
      expect(refusals.map(({ status }) => status)).toEqual([403, 403]);
      const ids = told.map((text) => /--trusted-households ([\da-f-]{36})\./.exec(text)?.[1]);
      expect(new Set(ids).size).toBe(1);
      expect((await direct(first)).status).toBe(200);
      const signIn = await second.signIn();
      expect((await relay.stop()).stderr).not.toContain('trusted');

      const nobody = '3f0c2a4e-8d1b-4c55-9e0a-5b7d1c2e9f10';
      const again = await startRelay({
        ...{ home, signIn },
        args: [...DEMO, '--trusted-households', `${ids[0] ?? ''},${nobody}`],
      });
      try {
        expect((await attach(again)).status).toBe(201);
        expect((await direct(again)).status).toBe(200);
      } finally {
        expect((await again.stop()).stderr).toContain(`--trusted-households names ${nobody}`);
      }
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
