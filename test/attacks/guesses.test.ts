/**
 * A stranger who guesses secrets, from the same address as those who have right ones: the stranger
 * is slowed down, and nobody else is refused for it.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createdWebhookSchema } from '../../src/shared/protocol/webhooks.ts';
import { projectSchema } from '../../src/shared/protocol/projects.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { rawRequest } from '../support/raw-http.ts';

const BURST = 20;
const GUESSES = 3 * BURST;

let relay: OpenRelay;
let owner: Browser;
let application: string;
let agents: string;
let webhook: string;
let from = '127.0.0.1';
let next = 20;
beforeAll(async () => {
  relay = await openTestRelay({ args: ['--rate', '1', '--burst', String(BURST)] });
  owner = await relay.signIn();
  const make = async (method: string, path: string, json: object) => {
    const answer = await owner.fetch(path, { method, json });
    expect([path, answer.ok]).toEqual([path, true]);
    return answer.status === 204 ? null : ((await answer.json()) as unknown);
  };
  await make('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
  const made = async (json: object) => madeCredentialSchema.parse(await make('POST', '/api/credentials', json)).secret;
  application = await made({ agentId: null, label: 'Watch', scopes: ['read'] });
  agents = await made({ agentId: 'a1', label: 'Code' });
  const { projectId } = projectSchema.parse(await make('POST', '/v1/projects', { name: 'Shop' }));
  const target = { kind: 'project', projectId, column: 'ready', githubLabel: null };
  webhook = createdWebhookSchema.parse(await make('POST', '/api/webhooks', { name: 'Website', target })).secret;
});
afterAll(() => relay.close());

const call = async (method: string, path: string, bearer: string | null, body?: object) =>
  (
    await rawRequest({
      ...{ port: Number(new URL(relay.url).port), path, method, from },
      headers: {
        host: new URL(relay.url).host,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  ).status;
const HELLO = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};

/** Each door: how a secret is tried there, and what a right one is answered. */
const doors: readonly {
  readonly name: string;
  readonly wrong: number;
  readonly right: number;
  readonly secret: () => string | Promise<string>;
  readonly enter: (secret: string) => Promise<number>;
}[] = [
  {
    ...{ name: 'an application’s credential', wrong: 401, right: 200, secret: () => application },
    enter: (secret) => call('GET', '/v1/config', secret),
  },
  {
    ...{ name: 'an agent’s credential, by MCP', wrong: 401, right: 200, secret: () => agents },
    enter: (secret) => call('POST', '/mcp', secret, HELLO),
  },
  {
    // No model is connected: that is said to whoever has a right one.
    ...{ name: 'an agent’s credential, by the proxy', wrong: 401, right: 400, secret: () => agents },
    enter: (secret) => call('GET', `/llm/${secret}/v1/models`, null),
  },
  {
    ...{ name: 'the secret of a webhook', wrong: 404, right: 201, secret: () => webhook },
    enter: (secret) => call('POST', `/hooks/${secret}`, null, { title: 'In' }),
  },
  {
    ...{ name: 'a link for signing in', wrong: 401, right: 200 },
    secret: async () => new URL(await relay.link()).searchParams.get('code') ?? '',
    enter: (secret) => call('GET', `/enter?code=${secret}`, null),
  },
];

it.each(doors)('admits $name while others guess, who are slowed down', async ({ wrong, right, secret, enter }) => {
  // Each door from an address of its own, where the system has several.
  from = process.platform === 'linux' ? `127.0.0.${next++}` : '127.0.0.1';
  const statuses: number[] = [];
  const rightly: number[] = [];
  for (let at = 0; at < GUESSES; at++) {
    const guess = `roost_${String(at).padStart(43, 'x')}`;
    statuses.push(await enter(guess));
    if (at % 6 === 5) rightly.push(await enter(await secret()));
  }
  expect(rightly).toEqual(rightly.map(() => right));
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(GUESSES - BURST - 15);
  expect(new Set(statuses)).toEqual(new Set([wrong, 429]));
});

it('slows down a valid credential only for its own calls', async () => {
  const statuses = new Set<number>();
  for (let at = 0; at < 2 * BURST; at++) statuses.add(await call('GET', '/v1/config', application));
  expect(statuses).toEqual(new Set([200, 429]));
  expect((await owner.fetch('/api/webhooks')).status).toBe(200);
});
