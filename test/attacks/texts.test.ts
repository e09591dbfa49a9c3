/**
 * Text of records and forms that reaches a program, a header, a path or an address. Each is refused
 * where it comes in, with an answer that names it. The table is in `docs/security.md`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { offeredRecordsSchema } from '../../src/shared/protocol/records.ts';
import { COLUMN_KINDS } from '../../src/shared/domain/projects.ts';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { type Browser, openTestRelay, type OpenRelay } from '../support/open-relay.ts';

let relay: OpenRelay;
let page: Browser;
beforeAll(async () => {
  relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}', '--scripts'] });
  page = await relay.signIn();
  const agents = [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }];
  expect((await send('PUT', '/api/team', { agents })).status).toBe(204);
});
afterAll(() => relay.close());

const send = async (method: string, path: string, json?: unknown) => {
  const answer = await page.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  return { status: answer.status, text: await answer.text() };
};
let counter = 0;
/** The answer to a record, or its status. */
async function offer(type: string, id: string, value: unknown): Promise<string> {
  const at = formatStamp({ time: Date.now(), counter: counter++, node: 'attacker' });
  const { status, text } = await send('POST', '/api/records', { records: [{ type, id, at, value }] });
  if (status !== 200) return String(status);
  return offeredRecordsSchema.parse(JSON.parse(text)).answers[0]?.answer ?? 'none';
}
const columns = COLUMN_KINDS.map((kind) => ({ columnId: kind, name: kind, kind }));
const PROJECT = { name: 'Whole', instructions: '', columns, agents: [], createdAt: 1, removed: false };

it.each([
  ['a header whose value begins another', { headers: { 'X-A': 'a\r\nHost: b' } }, 'headers.X-A'],
  ['a header whose value holds NUL', { headers: { 'X-A': 'a\0b' } }, 'headers.X-A'],
  ['a header whose name is none', { headers: { 'X A': 'a' } }, 'headers.X A'],
  ['an address with a scheme that runs script', { url: 'javascript:alert(1)' }, 'url'],
])('refuses an MCP server with %s, and names it', async (_what, wrong, field) => {
  const where = { kind: 'address', url: 'https://mcp.example.org/mcp', headers: {}, ...wrong };
  const { status, text } = await send('POST', '/api/mcp-servers', { name: 'far', attachment: where });
  expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining(field) });
});

it.each([
  ['a command', { command: 'tr\0ue' }, 'command'],
  ['an argument', { args: ['a\0b'] }, 'args.0'],
  ['a variable', { env: { A: 'a\0b' } }, 'env.A'],
])('refuses NUL in %s of a program, and names it', async (_what, wrong, field) => {
  const program = { command: 'true', args: [], env: {}, ...wrong };
  for (const [path, body] of [
    ['/api/mcp-servers', { name: 'near', attachment: { kind: 'program', ...program, box: null } }],
    ['/api/agent-programs', { name: 'Near', ...program }],
  ] as const)
    expect(await send('POST', path, body), path).toMatchObject({
      status: 400,
      text: expect.stringContaining(field),
    });
});

it.each(['a=b', 'a\0b', '1a', ''])('refuses a variable named %j', async (name) => {
  const attachment = { kind: 'program', command: 'true', args: [], env: { [name]: 'x' }, box: null };
  expect((await send('POST', '/api/mcp-servers', { name: 'near', attachment })).status).toBe(400);
});

it('takes a project whose id is the name of a folder on every disk', async () => {
  expect(await offer('project', '3f-a_1', PROJECT)).toBe('asked');
});

it.each(['../up', 'A1', 'a.1', 'a/1', 'é', '', 'x'.repeat(65)])(
  'refuses a project with the id %j, after which its repository would be named',
  async (id) => {
    expect(['refused', '400']).toContain(await offer('project', id, PROJECT));
  },
);

it.each([{ setup: 'a\0b' }, { checks: ['a\0b'] }, { kind: 'git', repository: '/a\0b' }])(
  'refuses a project with %j, as a record and in a form',
  async (wrong) => {
    expect(await offer('project', 'p1', { ...PROJECT, ...wrong })).toBe('refused');
    expect((await send('POST', '/v1/projects', { name: 'Form', ...wrong })).status).toBe(400);
  },
);

it.each(['thread', 'project', 'task', 'attempt', 'schedule', 'thread-message', 'attached-server', 'routine-mapping'])(
  'answers a record of %s with NUL in its id without an internal error',
  async (type) => {
    const author = 'human';
    const thread = { title: 'T', createdBy: author, createdAt: 1, members: [], closed: null };
    const message = { threadId: 'a\0b', sequence: 1, from: author, text: '', mentions: [], time: 1, clientId: null };
    const server = { name: 'x', removed: false, where: null, secrets: [], agents: null, tools: {} };
    const values: Readonly<Record<string, unknown>> = {
      ...{ thread, 'thread-message': message, 'attached-server': server, project: PROJECT },
    };
    expect(['refused', '400']).toContain(await offer(type, 'a\0b', values[type] ?? {}));
  },
);
