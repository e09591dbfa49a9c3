/**
 * Programs that are no agent, and agents that are allowed to, set others to sleep and wake them by
 * plain calls.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { madeCredentialSchema } from '../../../../src/shared/protocol/team.ts';
import { wakeFeedSchema } from '../../../../src/shared/protocol/wakes.ts';
import { clientOf } from '../../../support/proxied.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';
import { startScriptedModel, type ScriptedModel } from '../../../support/scripted-model.ts';

let model: ScriptedModel;
let relay: TestRelay;
beforeAll(async () => {
  model = await startScriptedModel(() => [{ say: 'Good morning.' }]);
  relay = await startRelay({
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
  });
  const member = (agentId: string, name: string, position: number) => ({ agentId, name, position, retired: false });
  await relay.fetch('/api/team', {
    method: 'PUT',
    json: { agents: [member('lead', 'Julian', 4), member('a1', 'Lyra', 0), member('a2', 'Orion', 1)] },
  });
  await relay.fetch('/api/sessions', {
    method: 'POST',
    json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } },
  });
  // Both come in as clients.
  for (const agentId of ['a1', 'a2'])
    await clientOf(`${relay.url}/llm/${await credential(agentId)}`).messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi.' }],
    });
});
afterAll(async () => {
  await relay.stop();
  await model.close();
});

async function credential(agentId: string | null, label = ''): Promise<string> {
  const made = await relay.fetch('/api/credentials', { method: 'POST', json: { agentId, label } });
  return madeCredentialSchema.parse(await made.json()).secret;
}

/** As a plain program calls: no cookie, no `Origin`. */
async function call(
  secret: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const response = await fetch(new URL(path, relay.url), {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}
const sleepingOf = (who: string) => `/api/v1/sessions/current/${who}/sleeping`;

describe('an application', () => {
  it('sets whom it names to sleep and wakes them, through the gate and in its own name', async () => {
    const secret = await credential(null, 'Night switch');
    expect(await call(secret, 'PUT', sleepingOf('Lyra'), { sleeping: true })).toEqual({
      status: 200,
      body: { sleeping: true },
    });
    expect(await call(secret, 'GET', sleepingOf('a1'))).toEqual({ status: 200, body: { sleeping: true } });
    expect(await call(secret, 'GET', sleepingOf('Orion'))).toEqual({ status: 200, body: { sleeping: false } });
    expect(await call(secret, 'POST', sleepingOf('lyra'), { sleeping: false })).toEqual({
      status: 200,
      body: { sleeping: false },
    });
    const feed = wakeFeedSchema.parse(await (await relay.fetch('/api/wakes?agent=a1')).json());
    expect(feed.wakes[0]).toMatchObject({
      target: 'a1',
      outcome: 'granted',
      way: 'api',
      source: { kind: 'api', name: 'Night switch' },
    });
    // It is no wake that a limit counts: it is done as often as the application likes.
    expect(await call(secret, 'PUT', sleepingOf('Lyra'), { sleeping: true })).toMatchObject({ status: 200 });
    expect(await call(secret, 'PUT', sleepingOf('Lyra'), { sleeping: false })).toMatchObject({ status: 200 });
    const coordination = { coordination: { wakes_enabled: false } };
    await relay.fetch('/v1/agents/a1/config', { method: 'PUT', json: coordination });
    await call(secret, 'PUT', sleepingOf('Lyra'), { sleeping: true });
    expect(await call(secret, 'PUT', sleepingOf('Lyra'), { sleeping: false })).toMatchObject({
      status: 409,
      body: { type: expect.stringContaining('not-woken') as unknown },
    });
    await relay.fetch('/v1/agents/a1/config', { method: 'PUT', json: { coordination: { wakes_enabled: true } } });
  });

  it('finds the lead, which never sleeps', async () => {
    const secret = await credential(null);
    expect(await call(secret, 'GET', sleepingOf('Julian'))).toEqual({ status: 200, body: { sleeping: false } });
    expect(await call(secret, 'PUT', sleepingOf('lead'), { sleeping: true })).toMatchObject({ status: 409 });
  });

  it('refuses an application everything outside its scopes', async () => {
    const secret = await credential(null);
    expect(await call(secret, 'GET', '/v1/agents/a1/wake-stats')).toMatchObject({ status: 200 });
    const refused: readonly (readonly [string, string, number])[] = [
      ['PUT', '/v1/agents/a1/config', 403],
      ['GET', '/api/costs', 401],
      ['GET', '/api/credentials', 401],
      ['POST', '/api/messages', 401],
      ['GET', '/api/team', 403],
      ['GET', '/api/threads', 403],
    ];
    for (const [method, path, status] of refused)
      expect(await call(secret, method, path, method === 'GET' ? undefined : {}), path).toMatchObject({ status });
    expect(await call(secret, 'POST', '/mcp', {})).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('application') as unknown },
    });
    const before = model.requests.length;
    await expect(
      clientOf(`${relay.url}/llm/${secret}`).messages.create({
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi.' }],
      }),
    ).rejects.toMatchObject({ status: 401 });
    expect(model.requests).toHaveLength(before);
  });
});

describe('an agent’s client', () => {
  it('sets others to sleep where the person allows it to its agent, and is refused where not', async () => {
    const secret = await credential('a1');
    expect(await call(secret, 'PUT', sleepingOf('Orion'), { sleeping: true })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('only if the person allows it') as unknown },
    });
    await relay.fetch('/v1/agents/a1/config', {
      method: 'PUT',
      json: { coordination: { may_put_others_to_sleep: true } },
    });
    expect(await call(secret, 'PUT', sleepingOf('Orion'), { sleeping: true })).toEqual({
      status: 200,
      body: { sleeping: true },
    });
    expect(await call(secret, 'PUT', sleepingOf('Orion'), { sleeping: false })).toEqual({
      status: 200,
      body: { sleeping: false },
    });
  });
});
