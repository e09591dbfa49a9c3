/** Projects, tasks, comments and records without end: what one household can store in them. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { createdWebhookSchema } from '../../src/shared/protocol/webhooks.ts';
import { problemSchema } from '../../src/shared/protocol/http.ts';
import { projectSchema, tasksSchema, taskValueSchema } from '../../src/shared/protocol/projects.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { LYRA } from '../support/mcp.ts';

const LONG = 'x'.repeat(20_000);
const FULL = /^Not stored: .* may take 1\.0 MB\. Delete projects or long tasks/;
let relay: TestRelay;
let client: Client;
let projectId: string;
let webhook: string;
beforeAll(async () => {
  relay = await startRelay({ args: ['--projects-mb', '1', '--rate', '1000', '--burst', '1000'] });
  await relay.fetch('/api/sessions', {
    method: 'POST',
    json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } },
  });
  await relay.fetch('/api/team', { method: 'PUT', json: { agents: [LYRA] } });
  const made = await send('POST', '/v1/projects', { name: 'Shop', agents: [LYRA.agentId] });
  ({ projectId } = projectSchema.parse(await made.json()));
  const target = { kind: 'project', projectId, column: 'ready', githubLabel: null };
  webhook = createdWebhookSchema.parse(
    await (await send('POST', '/api/webhooks', { name: 'Website', target })).json(),
  ).secret;
  const { secret } = madeCredentialSchema.parse(
    await (await send('POST', '/api/credentials', { agentId: LYRA.agentId })).json(),
  );
  client = new Client({ name: 'a-visitor', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', relay.url), {
      requestInit: { headers: { authorization: `Bearer ${secret}` } },
    }),
  );
});
afterAll(async () => {
  await client.close();
  await relay.stop();
});

const send = async (method: string, path: string, json: unknown) => await relay.fetch(path, { method, json });
const tasksPath = () => `/v1/projects/${projectId}/tasks`;
const tasks = async () => tasksSchema.parse(await (await relay.fetch(`${tasksPath()}?limit=1000`)).json()).tasks;
async function isFull(answer: Response): Promise<void> {
  const { type, detail } = problemSchema.parse(await answer.json());
  expect([answer.url, answer.status, type, detail]).toEqual([
    ...[answer.url, 409, 'about:roost/projects-full'],
    expect.stringMatching(FULL),
  ]);
}
async function tool(name: string, input: Record<string, unknown>) {
  const { isError, content } = await client.callTool({ name, arguments: input });
  return [isError === true, content.map((part) => (part.type === 'text' ? part.text : '')).join('')];
}

it("refuses whatever exceeds a household's room for projects, and says so to everybody", async () => {
  const first = await send('POST', tasksPath(), { title: 'First', columnId: 'ready' });
  expect(first.status).toBe(201);
  // Sixty at once, of which fewer than fifty fit.
  const statuses = await Promise.all(
    Array.from(
      { length: 60 },
      async () => (await send('POST', tasksPath(), { title: 'Long', description: LONG })).status,
    ),
  );
  expect([...new Set(statuses)].toSorted()).toEqual([201, 409]);
  const stored = await tasks();
  expect(JSON.stringify(stored).length).toBeLessThan(1_050_000);
  const [own] = stored;
  if (!own) throw new Error('there is one');
  const at = `${tasksPath()}/${own.taskId}`;
  const text = LONG;
  await isFull(await send('POST', tasksPath(), { title: 'Long', description: text }));
  await isFull(await send('PUT', at, { description: text }));
  await isFull(await send('POST', `${at}/comments`, { text, clientId: 'c1' }));
  await isFull(await send('POST', '/v1/projects', { name: 'Other', instructions: text }));
  await isFull(await send('PUT', `/v1/projects/${projectId}`, { instructions: text }));
  const refused = [true, expect.stringMatching(FULL)];
  expect(await tool('create_task', { projectId, title: 'Long', description: text })).toEqual(refused);
  expect(await tool('comment_on_task', { projectId, taskId: own.taskId, text })).toEqual(refused);
  const called = await fetch(new URL(`/hooks/${webhook}`, relay.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Long', text }),
  });
  expect([called.status, problemSchema.parse(await called.json()).detail]).toEqual([429, expect.stringMatching(FULL)]);
  const shared = Object.entries(own).filter(([field]) => field in taskValueSchema.shape);
  const at0 = formatStamp({ time: Date.now(), counter: 0, node: 'mallory' });
  const records = [
    {
      type: 'task',
      id: 'prepared',
      at: at0,
      value: taskValueSchema.parse({ ...Object.fromEntries(shared), description: text, removed: false }),
    },
    {
      ...{ type: 'thread', id: `comments-${stored[1]?.taskId}`, at: at0 },
      value: { title: 'Comments', createdBy: 'human', createdAt: 1, members: [], closed: null },
    },
    {
      ...{ type: 'thread-message', id: 'm1', at: at0 },
      value: {
        ...{ threadId: `comments-${stored[1]?.taskId}`, sequence: 1, from: 'human', text },
        mentions: [],
        time: 1,
        clientId: null,
      },
    },
  ];
  const offered = await (await send('POST', '/api/records', { records })).json();
  const why = { answer: 'refused', why: expect.stringMatching(FULL) as string };
  expect(offered).toEqual({ answers: [why, { answer: 'taken' }, why] });
});

it('writes again what fits when something was deleted, and always what becomes shorter', async () => {
  const [, second, third] = await tasks();
  expect((await send('PUT', `${tasksPath()}/${second?.taskId}`, { description: 'short' })).status).toBe(200);
  expect((await relay.fetch(`${tasksPath()}/${third?.taskId}`, { method: 'DELETE' })).status).toBe(204);
  expect((await send('POST', tasksPath(), { title: 'Long', description: LONG })).status).toBe(201);
  await relay.fetch(`/v1/projects/${projectId}?lose=true`, { method: 'DELETE' });
  expect((await send('POST', '/v1/projects', { name: 'Other', instructions: LONG })).status).toBe(201);
});
