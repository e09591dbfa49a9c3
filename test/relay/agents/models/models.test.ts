import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reachOf } from '../../../../server/platform/guarded-fetch.ts';
import { connectionSchema, modelsSchema } from '../../../../src/shared/protocol/models.ts';
import { healthSchema, problemSchema } from '../../../../src/shared/protocol/http.ts';
import { seatColor } from '../../../../src/shared/domain/seat.ts';
import { writeSummon } from '../../../../src/shared/domain/wake-payload.ts';
import { TALK_DISCLAIMERS } from '../../../../src/shared/domain/demo-words.ts';
import { eventsOf, follow, startSession, talk, teamOfLead, textsOf } from '../../../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';
import { createHome } from '../../../support/relay.ts';
import { startScriptedModel, teamScript, type Script, type ScriptedModel } from '../../../support/scripted-model.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/agents/models/models.test.ts');

const QUICK = ['--rehearsal', '{"delayMs":0,"wordMs":0}'];
const KEY = 'sk-planted-5b1fd0e9c2';

const modelsOf = async (browser: Browser) => modelsSchema.parse(await (await browser.fetch('/api/models')).json());
const connect = (browser: Browser, json: object) => browser.fetch('/api/models', { method: 'POST', json });
const connected = async (browser: Browser, json: object) => {
  const response = await connect(browser, json);
  expect(response.status, await response.clone().text()).toBe(201);
  return connectionSchema.parse(await response.json());
};
const refusal = async (response: Response) => {
  const { type, detail } = problemSchema.parse(await response.json());
  return { status: response.status, type: type.replace('about:roost/', ''), detail };
};
const mindOf = async (browser: Browser) => healthSchema.parse(await (await browser.fetch('/api/health')).json()).mind;
const end = (browser: Browser) => browser.fetch('/api/sessions/current', { method: 'DELETE' });

describe('A model that a page connects', () => {
  let home: string;
  let relay: OpenRelay;
  let model: ScriptedModel;
  let one: Browser;
  let seen = 0;
  const asked = () => model.requests.slice(seen);
  const refusing: Script = ({ headers }) =>
    headers['x-api-key'] === 'sk-refused'
      ? { fail: { status: 401, type: 'authentication_error', message: 'invalid x-api-key sk-refused' } }
      : [{ say: 'Scripted words.' }];
  beforeAll(async () => {
    model = await startScriptedModel(refusing);
    home = await createHome();
    relay = await openTestRelay({ args: QUICK, home });
    one = await relay.signIn();
    await one.fetch('/api/team', { method: 'PUT', json: teamOfLead('Sol') });
  });
  beforeEach(async () => {
    await end(one);
    for (const { connectionId } of (await modelsOf(one)).connections)
      await one.fetch(`/api/models/${connectionId}`, { method: 'DELETE' });
    model.follow(refusing);
    seen = model.requests.length;
  });
  afterAll(async () => {
    await relay.close();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });

  it('is tried at once, lists its models, and answers without a restart', async () => {
    expect(await mindOf(one)).toBe('rehearsal');
    const connection = await connected(one, { kind: 'server', address: `${model.url}/v1/`, key: KEY });
    expect(connection).toMatchObject({
      address: model.url,
      hasKey: true,
      models: [{ id: 'scripted', name: 'Scripted' }],
      agentModel: 'scripted',
      state: { kind: 'answers' },
    });
    expect(asked().map(({ headers, body }) => [headers['x-api-key'], body.model])).toEqual([[KEY, 'scripted']]);
    expect(await mindOf(one)).toBe('anthropic');
    await startSession(one, 'Sol');
    await talk(one, 'Good morning.');
    expect(textsOf(await eventsOf(one)).join()).toContain('Scripted words.');
  });

  it('is there after a restart, and gone after its removal', async () => {
    const { connectionId } = await connected(one, { kind: 'server', address: model.url, key: KEY });
    await relay.restart();
    expect((await modelsOf(one)).connections).toMatchObject([
      { connectionId, hasKey: true, state: { kind: 'untried' } },
    ]);
    expect(await mindOf(one)).toBe('anthropic');
    expect((await one.fetch(`/api/models/${connectionId}`, { method: 'DELETE' })).status).toBe(204);
    await relay.restart();
    expect((await modelsOf(one)).connections).toEqual([]);
    expect(await mindOf(one)).toBe('rehearsal');
  });

  it('answers the next message of a demo session, and every page shows the change', async () => {
    const sessionId = await startSession(one, 'Sol');
    await talk(one, 'Who are you?');
    const pageStream = await follow(one);
    await connected(one, { kind: 'server', address: model.url, key: KEY });
    const heard = await pageStream.until((all) => all.some(({ event }) => event === 'mind-changed'));
    pageStream.close();
    expect(heard.find(({ event }) => event === 'mind-changed')?.data).toMatchObject({
      sessionId,
      mind: { kind: 'anthropic', leadModel: 'scripted', agentModel: 'scripted' },
    });
    const before = model.requests.length;
    await talk(one, 'And now?');
    const asked = model.requests.slice(before);
    expect(asked.map(({ body }) => body.model)).toEqual(['scripted']);
    expect(textsOf(await eventsOf(one)).at(-1)).toContain('Scripted words.');
    const snapshot = (await eventsOf(one)).find(({ event }) => event === 'snapshot')?.data;
    expect(snapshot).toMatchObject({ session: { sessionId, mind: { kind: 'anthropic' } } });
  });

  it('lets the lead join the first call after the demo, which a note comes before', async () => {
    await startSession(one, 'Sol');
    await talk(one, 'Who are you?');
    await connected(one, { kind: 'server', address: model.url, key: KEY });
    model.follow(teamScript());
    const text = writeSummon([{ position: 0, ...seatColor(0) }]);
    const stream = await follow(one);
    await one.fetch('/api/messages', { method: 'POST', json: { text, clientId: 'the-first-call' } });
    const isGreeting = ({ data }: { data: unknown }) => JSON.stringify(data).includes('Welcome, all of you.');
    await stream.until((all) => all.some((each) => each.event === 'message' && isGreeting(each)));
    stream.close();
    const greeting = asked().find(({ seat, results }) => seat === null && results.length > 0);
    expect(greeting?.results.join()).toContain('[TEAM REPORT]');
  });

  itLong('is sent no more than it once said that it reads, after a restart too', async () => {
    const most = 60_000;
    let refused = 0;
    model.follow(({ body }) => {
      const { length } = JSON.stringify(body);
      if (length <= most) return [{ say: 'Scripted words.' }];
      refused += 1;
      const message = `prompt is too long: ${Math.ceil(length / 4)} tokens > ${most / 4} maximum`;
      return { fail: { status: 400, type: 'invalid_request_error', message } };
    });
    await connected(one, { kind: 'server', address: model.url, key: KEY });
    const talkLong = async () => {
      await startSession(one, 'Sol');
      for (let turn = 0; turn < 14; turn++) await talk(one, `Turn ${turn}. ${'m'.repeat(4_000)}`);
    };
    await talkLong();
    expect(refused).toBeGreaterThan(0);
    await end(one);
    await relay.restart();
    refused = 0;
    await talkLong();
    expect(refused).toBe(0);
  });

  it('answers the next message with the chosen model, and every page shows which', async () => {
    await connected(one, { kind: 'server', address: model.url, key: KEY });
    const choose = (json: object) => one.fetch('/api/sessions/current/settings', { method: 'PUT', json });
    expect((await choose({ leadModel: 'other', agentModel: '' })).status).toBe(409);
    await startSession(one, 'Sol');
    await talk(one, 'Who are you?');
    const pageStream = await follow(one);
    expect((await choose({ leadModel: 'other', agentModel: 'third' })).status).toBe(204);
    const heard = await pageStream.until((all) => all.some(({ data }) => JSON.stringify(data).includes('third')));
    pageStream.close();
    expect(heard.findLast(({ event }) => event === 'mind-changed')?.data).toMatchObject({
      mind: { leadModel: 'other', agentModel: 'third' },
    });
    const before = model.requests.length;
    await talk(one, 'And now?');
    expect(model.requests.slice(before).map(({ body }) => body.model)).toEqual(['other']);
  });

  it('learns once that a demo spoke for it, and reads none of the demo’s disclaimers', async () => {
    await startSession(one, 'Sol');
    await talk(one, 'Who are you?');
    const demo = textsOf(await eventsOf(one)).at(-1) ?? '';
    expect(
      TALK_DISCLAIMERS.english.some((sentence) => demo.includes(sentence)),
      demo,
    ).toBe(true);
    await connected(one, { kind: 'server', address: model.url, key: KEY });
    const before = model.requests.length;
    await talk(one, 'And now?');
    await talk(one, 'And then?');
    const asked = model.requests.slice(before).map(({ body }) => JSON.stringify(body.messages));
    expect(asked).toHaveLength(2);
    for (const messages of asked) {
      expect(messages).not.toContain('no model is thinking');
      expect(messages.match(/Until now a demo played your part/g)).toHaveLength(1);
    }
  });

  it('is not stored when its key is refused, and the reason names no key', async () => {
    const said = await refusal(await connect(one, { kind: 'server', address: model.url, key: 'sk-refused' }));
    expect(said).toMatchObject({ status: 422, type: 'no-answer' });
    expect(said.detail).toContain('did not accept the key. Make a new one there');
    expect(said.detail).not.toContain('sk-refused');
    expect(said.detail).not.toContain('ANTHROPIC');
    expect((await modelsOf(one)).connections).toEqual([]);
  });

  it('says what to do about a key without rights, and about an unknown model', async () => {
    const given = { kind: 'server', address: model.url, key: KEY, model: 'other' } as const;
    model.follow(() => ({ fail: { status: 403, type: 'permission_error', message: `${KEY} is for texts` } }));
    const may = await refusal(await connect(one, given));
    expect(may.detail).toMatch(/does not allow this\. .*paste it here\. It said: \[key\] is for texts/);
    model.follow(() => ({ fail: { status: 404, type: 'not_found_error', message: 'model: other' } }));
    const knows = await refusal(await connect(one, given));
    expect(knows.detail).toMatch(/does not know the model “other”\. Choose another\./);
    expect(JSON.stringify([may, knows])).not.toContain('settings');
  });

  it('is the first of its list that answers, when none is named', async () => {
    let listed = ['measures-texts', 'talks', 'talks-too'];
    const asked: string[] = [];
    const { createServer } = await import('node:http');
    const { text } = await import('node:stream/consumers');
    const pulled = createServer((request, response) => {
      if (request.method === 'GET') return void response.end(JSON.stringify({ data: listed.map((id) => ({ id })) }));
      void text(request).then(async (said) => {
        const { model: wanted } = JSON.parse(said) as { model: string };
        asked.push(wanted);
        if (wanted.startsWith('measures'))
          return response
            .writeHead(400, { 'content-type': 'application/json' })
            .end('{"type":"error","error":{"type":"invalid_request_error","message":"does not support chat"}}');
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${model.url}/v1/messages`, { method: 'POST', headers, body: said });
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        return response.end(await answer.text());
      });
    });
    await new Promise<void>((resolve) => pulled.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${String(Object(pulled.address()).port)}`;
    try {
      expect(await connected(one, { kind: 'server', address })).toMatchObject({
        agentModel: 'talks',
        leadModel: 'talks',
      });
      expect([...new Set(asked.splice(0))]).toEqual(['measures-texts', 'talks']);
      listed = ['a', 'b', 'c', 'd'].map((name) => `measures-${name}`);
      const said = await refusal(await connect(one, { kind: 'server', address }));
      expect([said.detail, [...new Set(asked)]]).toEqual([
        expect.stringContaining('does not support chat'),
        ['measures-a', 'measures-b', 'measures-c'],
      ]);
    } finally {
      pulled.close();
    }
  });

  it('takes another key while a session runs, and says when one is refused in mid-session', async () => {
    const { connectionId } = await connected(one, { kind: 'server', address: model.url, key: KEY });
    await startSession(one, 'Sol');
    model.follow(({ headers }) =>
      headers['x-api-key'] === KEY
        ? { fail: { status: 401, type: 'authentication_error', message: 'expired' } }
        : [{ say: 'With the new key.' }],
    );
    await talk(one, 'Are you there?');
    expect((await modelsOf(one)).connections).toMatchObject([{ state: { kind: 'fails', why: 'key' } }]);
    const changed = await one.fetch(`/api/models/${connectionId}/key`, {
      method: 'PUT',
      json: { key: 'sk-another-key' },
    });
    expect(changed.status).toBe(200);
    await talk(one, 'And now?');
    expect(textsOf(await eventsOf(one)).join()).toContain('With the new key.');
  });

  it('answers nothing more in a session that runs, once it is removed', async () => {
    const { connectionId } = await connected(one, { kind: 'server', address: model.url, key: KEY });
    await startSession(one, 'Sol');
    await one.fetch(`/api/models/${connectionId}`, { method: 'DELETE' });
    const before = model.requests.length;
    await talk(one, 'Are you there?');
    expect(model.requests.length).toBe(before);
    expect(JSON.stringify(await eventsOf(one))).toContain('was removed');
  });

  it('is requested by the names that it lists, beside another server', async () => {
    const other = await startScriptedModel(() => [{ say: 'The other.' }]);
    try {
      await connected(one, { kind: 'server', address: model.url });
      const second = await connected(one, { kind: 'server', address: other.url, model: 'scripted' });
      expect(second.agentModel).toBe('scripted');
      expect((await modelsOf(one)).connections).toHaveLength(2);
      // Both list it: the first answers.
      await startSession(one, 'Sol');
      const before = other.requests.length;
      await talk(one, 'Good morning.');
      expect(other.requests.length).toBe(before);
    } finally {
      await other.close();
    }
  });

  it('may lie in the relay’s own network for the first household alone', async () => {
    await connected(one, { kind: 'server', address: model.url });
    const guest = await relay.signIn();
    await guest.fetch('/api/home', { method: 'POST', json: { beside: true } });
    const before = asked().length;
    for (const address of [
      model.url,
      model.url.replace('127.0.0.1', 'localhost'),
      'http://[::ffff:127.0.0.1]:9',
      'http://2130706433:9',
      'http://192.168.1.1',
      'http://169.254.169.254',
    ])
      expect(await refusal(await connect(guest, { kind: 'server', address })), address).toMatchObject({
        status: 403,
        type: 'model-address',
      });
    expect((await guest.fetch('/api/models/find', { method: 'POST' })).status).toBe(403);
    expect(asked().length).toBe(before);
    // Nor is what the first has connected anybody else's.
    expect(await modelsOf(guest)).toEqual({ connections: [], may: 'public' });
    expect(await mindOf(guest)).toBe('rehearsal');
  });

  it('is never the relay itself', async () => {
    const said = await refusal(await connect(one, { kind: 'server', address: `${relay.url}/llm/abc` }));
    expect(said).toMatchObject({ status: 403, type: 'model-address' });
  });

  it('follows no redirect, with or without the key', async () => {
    const { createServer } = await import('node:http');
    const sly = createServer((_, response) => response.writeHead(307, { location: model.url }).end());
    await new Promise<void>((resolve) => sly.listen(0, '127.0.0.1', resolve));
    const address = sly.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      const response = await connect(one, {
        kind: 'server',
        address: `http://127.0.0.1:${address.port}`,
        key: KEY,
        model: 'scripted',
      });
      expect(response.status).toBe(422);
      expect(asked()).toEqual([]);
    } finally {
      sly.close();
    }
  });

  it("appears in the relay's answers only with its state", async () => {
    await connected(one, { kind: 'server', address: model.url, key: KEY });
    const all = await Promise.all(
      ['/api/models', '/api/health', '/api/records', '/v1/config'].map(async (path) => (await one.fetch(path)).text()),
    );
    expect(all.join()).not.toContain(KEY);
    expect(JSON.stringify(await eventsOf(one))).not.toContain(KEY);
  });
});

it("prefers the environment's model, shows it as such, and refuses changes by a page", async () => {
  const model = await startScriptedModel(() => [{ say: 'From the environment.' }]);
  const { startRelay } = await import('../../../support/relay.ts');
  const relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ROOST_LEAD_MODEL: 'scripted' } });
  try {
    const all = modelsSchema.parse(await (await relay.fetch('/api/models/list', { method: 'POST' })).json());
    expect(all.connections).toMatchObject([
      { connectionId: 'environment', address: model.url, leadModel: 'scripted', models: [{ id: 'scripted' }] },
    ]);
    expect((await relay.fetch('/api/models/environment', { method: 'DELETE' })).status).toBe(404);
    expect((await relay.fetch('/api/models/environment/key', { method: 'PUT', json: { key: 'sk-x' } })).status).toBe(
      404,
    );
    expect(model.requests).toEqual([]);
    expect((await relay.fetch('/api/models/environment/try', { method: 'POST' })).status).toBe(200);
    expect(model.requests).toHaveLength(1);
  } finally {
    await relay.stop();
    await model.close();
  }
});

describe('The reach of an address', () => {
  it.each([
    ['127.0.0.1', 'inner'],
    ['127.8.9.1', 'inner'],
    ['10.1.2.3', 'inner'],
    ['172.31.255.1', 'inner'],
    ['172.32.0.1', 'public'],
    ['192.168.0.9', 'inner'],
    ['100.100.1.1', 'inner'],
    ['::1', 'inner'],
    ['fd00::1', 'inner'],
    ['::ffff:10.0.0.1', 'inner'],
    ['::ffff:a00:1', 'inner'],
    ['::ffff:169.254.169.254', 'never'],
    ['169.254.169.254', 'never'],
    ['0.0.0.0', 'never'],
    ['::', 'never'],
    ['fe80::1', 'never'],
    ['64:ff9b::a00:1', 'never'],
    ['::127.0.0.1', 'never'],
    ['::a00:1', 'never'],
    ['2002:7f00:1::', 'never'],
    ['::ffff:0:127.0.0.1', 'never'],
    ['64:ff9b:1::a00:1', 'never'],
    ['2001:0:7f00:1::', 'never'],
    ['100::1', 'never'],
    ['fe80::1%eth0', 'never'],
    ['168.63.129.16', 'never'],
    ['100.100.100.200', 'never'],
    ['fd00:ec2::254', 'never'],
    ['::ffff:168.63.129.16', 'never'],
    ['224.0.0.1', 'never'],
    ['255.255.255.255', 'never'],
    ['not an address', 'never'],
    ['1.1.1.1', 'public'],
    ['2606:4700::1111', 'public'],
  ])('%s is %s', (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });
});
