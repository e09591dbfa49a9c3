/**
 * Every call that a program may make, by the tables of endpoints and by the guide: each is made as
 * that program. A new endpoint is in here by itself.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/shared/protocol/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../../src/shared/protocol/endpoints/index.ts';
import { projectSchema, type Task, taskSchema } from '../../../src/shared/protocol/projects.ts';
import { type Scope, SCOPES } from '../../../src/shared/protocol/scopes.ts';
import { madeCredentialSchema } from '../../../src/shared/protocol/team.ts';
import { ALL_ROUTES } from '../../support/nearly-right.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';

const GUIDE = join(import.meta.dirname, '../../../docs/guide/api.md');
const PATIENCE_MS = 10_000;
/** Problems of a caller that the relay did not let in. */
const NOT_LET_IN = /not-signed-in|no-page-key|This application may not do that/;

let relay: TestRelay;
/** Secrets: of the agent `a1`, of an application with every scope, and of one with none. */
let agent: string;
let application: string;
let powerless: string;
let projectId: string;
let task: Task;

async function credential(body: object): Promise<string> {
  const made = await relay.fetch('/api/credentials', { method: 'POST', json: { label: 'Watch', ...body } });
  expect(made.status).toBe(201);
  return madeCredentialSchema.parse(await made.json()).secret;
}

beforeAll(async () => {
  relay = await startRelay({ args: ['--rate', '100000', '--burst', '100000'] });
  const member = (agentId: string, name: string, position: number) => ({ agentId, name, position, retired: false });
  const agents = [member('lead', 'Julian', 4), member('a1', 'Lyra', 0)];
  await relay.fetch('/api/team', { method: 'PUT', json: { agents } });
  agent = await credential({ agentId: 'a1' });
  application = await credential({ agentId: null, scopes: SCOPES });
  powerless = await credential({ agentId: null, scopes: [] });
  const json = { name: 'Shop', agents: ['a1'] };
  ({ projectId } = projectSchema.parse(await (await relay.fetch('/v1/projects', { method: 'POST', json })).json()));
  const tasks = `/v1/projects/${projectId}/tasks`;
  const made = await relay.fetch(tasks, { method: 'POST', json: { title: 'Broken link', columnId: 'ready' } });
  task = taskSchema.parse(await made.json());
});
afterAll(() => relay.stop());

const filled = (path: string, bearer: string) => {
  const values: Readonly<Record<string, string>> = {
    agentId: 'a1',
    projectId,
    taskId: task.taskId,
    credential: bearer,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? 'none');
};

/** The status and the kind of problem. The body of a call stays unread: it may be a stream. */
async function call(bearer: string, { method }: Pick<Endpoint, 'method'>, path: string, body: unknown = {}) {
  const left = new AbortController();
  const answer = await fetch(new URL(filled(path, bearer), relay.url), {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.any([left.signal, AbortSignal.timeout(PATIENCE_MS)]),
  });
  const { status } = answer;
  const text = status >= 400 ? await answer.text() : '';
  left.abort();
  return { status, text };
}

interface Route {
  readonly endpoint: Endpoint;
  readonly path: string;
}
const routesOf = (wanted: (endpoint: Endpoint) => boolean) =>
  ALL_ROUTES.filter(([, endpoint]) => wanted(endpoint)).flatMap(([, endpoint]) =>
    [endpoint.path, ...(endpoint.aliases ?? [])].map((path): readonly [string, Route] => [
      `${endpoint.method} ${path}`,
      { endpoint, path },
    ]),
  );
const hasScopes = ({ scopes = [] }: Endpoint) => scopes.length > 0;
const forAgents = ({ access }: Endpoint) => access === 'agent' || access === 'client';
const forPages = (endpoint: Endpoint) =>
  (endpoint.access ?? 'page') === 'page' && !hasScopes(endpoint) && /^\/(?:api|v1|sessions)\//.test(endpoint.path);

/** What the reference says that a call may answer. Values that do not fit are 400 everywhere. */
const documented = ({ answers }: Endpoint) => [400, ...answers.map(({ status }) => status)];

describe('A program', () => {
  it.each(routesOf(forAgents))('reaches %s with an agent’s credential', async (_name, { endpoint, path }) => {
    const { status, text } = await call(agent, endpoint, path);
    expect(text).not.toMatch(NOT_LET_IN);
    expect(documented(endpoint), text).toContain(status);
  });

  it.each(routesOf(hasScopes))(
    'reaches %s with every scope, and not without any',
    async (_name, { endpoint, path }) => {
      const { status, text } = await call(application, endpoint, path);
      expect(text).not.toMatch(NOT_LET_IN);
      expect(documented(endpoint), text).toContain(status);
      const refused = await call(powerless, endpoint, path);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('no-scope')]);
    },
  );

  it.each(routesOf(({ access }) => access === 'credential'))('reaches %s with its credential', async (_name, route) => {
    const { status } = await call(agent, route.endpoint, route.path);
    expect(status).not.toBe(401);
  });

  it.each(routesOf((endpoint) => endpoint.access === 'client' && !hasScopes(endpoint)))(
    'is told as an application that %s needs an agent',
    async (_name, { endpoint, path }) => {
      const body = endpoint.path.includes('internal') ? { projectId, taskId: task.taskId, executionPrompt: 'x' } : {};
      const { status, text } = await call(application, endpoint, path, body);
      expect([status, text]).toEqual([403, expect.stringContaining('other-agent')]);
    },
  );

  it.each(routesOf((endpoint) => forAgents(endpoint) || hasScopes(endpoint) || endpoint.access === 'credential'))(
    'is refused at %s with an unknown credential',
    async (_name, { endpoint, path }) => {
      const { status } = await call(`roost_${'x'.repeat(43)}`, endpoint, path);
      // A webhook is found by its secret alone, and `*` is no call of the proxy.
      expect(status).toBe(path.startsWith('/hooks/') || path.endsWith('*') ? 404 : 401);
    },
  );

  it('is told at every call of the page that its credential does not allow it', async () => {
    for (const [name, { endpoint, path }] of routesOf(forPages))
      for (const bearer of [agent, application]) {
        const { status, text } = await call(bearer, endpoint, path);
        expect([name, status, text]).toEqual([
          name,
          401,
          expect.stringContaining('This credential may not make this call'),
        ]);
      }
  });

  it('claims a task with its agent’s credential and releases it', async () => {
    const at = '/v1/projects/{projectId}/tasks/{taskId}';
    expect(await call(agent, ENDPOINTS.claimTask, `${at}/claim`)).toEqual({ status: 200, text: '' });
    const claimed = await relay.fetch(filled(at, agent));
    expect(taskSchema.parse(await claimed.json()).claim).toMatchObject({ agentId: 'a1' });
    expect(await call(agent, ENDPOINTS.releaseTask, `${at}/release`, { note: 'Not now.' })).toEqual({
      status: 200,
      text: '',
    });
  });

  it('makes each call that the guide names beside a scope', async () => {
    const rows = (await readFile(GUIDE, 'utf8')).matchAll(/^\| `(\w+)` \|[^|]*\|([^|]*)\|$/gm);
    const plain = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');
    const said = [...rows].flatMap(([, scope = '', calls = '']) =>
      [...calls.matchAll(/`(?:(GET|POST|PUT|DELETE) )?(\/[^`]*)`/g)].map(([, method, path = '']) => ({
        scope,
        method,
        path,
      })),
    );
    expect(said.length).toBeGreaterThan(SCOPES.length);
    for (const { scope, method, path } of said) {
      const found = ALL_ROUTES.filter(
        ([, endpoint]) =>
          [endpoint.path, ...(endpoint.aliases ?? [])].some((each) => plain(each) === plain(path)) &&
          (method === undefined || endpoint.method === method) &&
          endpoint.scopes?.includes(scope as Scope),
      );
      expect([scope, method, path, found.length > 0]).toEqual([scope, method, path, true]);
    }
  });
});
