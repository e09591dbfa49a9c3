/**
 * What an MCP server asks the person while one of its tools is called (MCP's elicitation), through
 * a whole relay.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { realTimers } from '../../../../src/shared/domain/platform/timers.ts';
import { mcpServerSchema } from '../../../../src/shared/protocol/mcp.ts';
import { createCallTime, createQuestions, type Asks } from '../../../../server/mcp/client/elicitation.ts';
import { createLink } from '../../../../server/mcp/client/link.ts';
import { MCP_LIMITS } from '../../../../server/mcp/client/settings.ts';
import type { PersonAnswer } from '../../../../server/approvals/requests/contract.ts';
import { createKeyFilter } from '../../../../server/platform/key-filter.ts';
import { createProcesses } from '../../../../server/platform/processes/index.ts';
import { filesBelow } from '../../../support/files-below.ts';
import { startHands, type Hands } from '../../../support/hands.ts';
import { createHome } from '../../../support/relay.ts';
import type { Part } from '../../../support/scripted-model.ts';

const PROGRAM = fileURLToPath(new URL('../../../support/mcp-server.mjs', import.meta.url));
const BOOK = { name: 'book', description: 'Books a table.', inputSchema: { type: 'object', properties: {} } };
const SECRET = 'a-secret-of-the-server-91c2';
const TYPED = 'Typed-by-the-person-77ab';
const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', description: 'As it stands on the list.', minLength: 2 },
    guests: { type: 'integer', minimum: 1, maximum: 8, default: 2 },
    mail: { type: 'string', format: 'email' },
    seat: {
      type: 'string',
      oneOf: [
        { const: 'in', title: 'Inside' },
        { const: 'out', title: 'Outside' },
      ],
      default: 'out',
    },
    wishes: { type: 'array', items: { type: 'string', enum: ['quiet', 'window'] }, maxItems: 1 },
    news: { type: 'boolean', default: false },
  },
  required: ['name'],
};
const ASKS = { message: 'For whom is the table?', requestedSchema: FORM };
const BOOKS: readonly Part[] = [{ call: 'mcp__tables__book', input: {} }];

let hands: Hands;
let home: string;
let ways: string;
let log: string;
let nth = 0;

const does = (how: object) => writeFile(ways, JSON.stringify({ tools: [BOOK], ...how }));
const lines = async () => (await readFile(log, 'utf8').catch(() => '')).split('\n');
const answers = async () =>
  (await lines()).flatMap((line) => {
    const [, text] = /^answered \S+ (.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [JSON.parse(text) as unknown];
  });
const question = async () => {
  await expect.poll(async () => (await hands.waiting()).length, { timeout: 10_000 }).toBe(1);
  const [call] = await hands.waiting();
  if (!call) throw new Error('nothing waits');
  return call;
};
const answer = (callId: string, body: object) => hands.call('POST', `/api/approvals/${callId}/answer`, body);
const send = (callId: string, content: object = {}) => answer(callId, { answer: 'send', content });
const stateOf = async (callId: string) => {
  const found = (await hands.account()).find((each) => each.callId === callId);
  return found && { state: found.state, words: found.words, outcome: found.outcome };
};
const untilWithdrawn = async (callId: string) => {
  await expect.poll(async () => (await stateOf(callId))?.state, { timeout: 10_000 }).toBe('withdrawn');
  expect(await hands.waiting()).toEqual([]);
  return (await stateOf(callId))?.words;
};
const allMcpServers = async () =>
  mcpServerSchema
    .array()
    .parse(((await (await hands.call('GET', '/api/mcp-servers')).json()) as { servers: unknown }).servers);
/** Every file below a folder that holds this text. */
async function filesWith(folder: string, text: string): Promise<readonly string[]> {
  return (await filesBelow(folder)).filter(({ bytes }) => bytes.includes(text)).map(({ path }) => path);
}

beforeAll(async () => {
  home = await createHome();
  hands = await startHands(['--scripts', '--log-level', 'debug'], { store: 'sqlite' });
  await hands.grant({ toolsets: { attached: 'allow' } });
});
beforeEach(async () => {
  ways = join(home, `ways-${++nth}.json`);
  log = join(home, `log-${nth}`);
  await does({ elicits: [ASKS] });
  const attachment = {
    ...{ kind: 'program', command: process.execPath, args: [PROGRAM, ways, log], env: { SECRET }, box: null },
  };
  const made = await hands.call('POST', '/api/mcp-servers', { name: 'tables', attachment });
  expect(made.status, await made.clone().text()).toBe(201);
  const { serverId, tools } = mcpServerSchema.parse(await made.json());
  const use = tools.map(({ name, hash }) => ({ name, hash, use: true }));
  expect((await hands.call('PUT', `/api/mcp-servers/${serverId}`, { tools: use })).status).toBe(200);
});
afterEach(async () => {
  for (const { serverId } of await allMcpServers()) await hands.call('DELETE', `/api/mcp-servers/${serverId}`);
});
afterAll(async () => {
  await hands.close();
  await rm(home, { recursive: true, force: true });
});

describe('a question of an MCP server', () => {
  it('shows a question as a form, and sends the answer to the server alone', async () => {
    const requests = hands.model.requests.length;
    await does({ elicits: [{ ...ASKS, message: `For whom?\nThe key is ${SECRET}.` }] });
    const works = hands.works(BOOKS);
    const call = await question();
    expect(call).toMatchObject({ agentId: 'a1', tool: 'mcp__tables__book', input: '{}', where: 'run', state: 'asked' });
    expect(call.question).toMatchObject({
      server: 'tables',
      message: 'For whom?\nThe key is [key].',
      others: [],
      fields: [
        {
          name: 'name',
          title: 'Your name',
          description: 'As it stands on the list.',
          isRequired: true,
          kind: 'text',
          least: 2,
        },
        {
          name: 'guests',
          title: 'guests',
          isRequired: false,
          kind: 'number',
          isWhole: true,
          least: 1,
          most: 8,
          preset: 2,
        },
        { name: 'mail', kind: 'text', format: 'email', preset: null },
        { name: 'seat', kind: 'one', options: [{ value: 'in', title: 'Inside' }, { value: 'out' }], preset: 'out' },
        { name: 'wishes', kind: 'many', options: [{ value: 'quiet' }, { value: 'window' }], most: 1, preset: null },
        { name: 'news', kind: 'yes-no', preset: false },
      ],
    });
    const key = `approval:${call.callId}`;
    const told = { key, kind: 'approval', title: 'Lyra waits for your answer', path: '/inbox' };
    await expect
      .poll(async () => JSON.stringify(await (await hands.call('GET', '/api/notifications')).json()))
      .toContain(key);
    const notifications = (await (await hands.call('GET', '/api/notifications')).json()) as { open: unknown };
    expect(JSON.stringify(notifications)).not.toContain('For whom');
    expect(JSON.stringify(notifications)).toContain(told.title);
    // An emptied field is left out, one that was left alone has its preset.
    expect((await send(call.callId, { name: TYPED, seat: null, wishes: ['quiet'] })).status).toBe(200);
    expect(await works).toMatchObject([/> All is answered\./]);
    expect(await answers()).toEqual([
      { action: 'accept', content: { name: TYPED, guests: 2, wishes: ['quiet'], news: false } },
    ]);
    expect(await stateOf(call.callId)).toEqual({
      ...{ state: 'done', words: null },
      outcome: 'You sent the server these fields: “name”, “guests”, “wishes”, “news”',
    });
    expect((await hands.account()).find((each) => each.callId === call.callId)?.question?.fields).toEqual([]);
    expect(JSON.stringify(hands.model.requests.slice(requests))).not.toMatch(new RegExp(`${TYPED}|For whom`));
    const { stdout, stderr } = await hands.restart();
    expect(stdout + stderr).not.toContain(TYPED);
    expect(await filesWith(hands.relay().home, TYPED)).toEqual([]);
    await hands.grant({ toolsets: { attached: 'allow' } });
  });

  it('takes what fits its form alone, says which field does not, and goes on waiting', async () => {
    const works = hands.works(BOOKS);
    const { callId } = await question();
    const refusals: readonly (readonly [object, string])[] = [
      [{}, '“name” has to be filled in.'],
      [{ name: 'x' }, '“name” is too short.'],
      [{ name: 'Noa', guests: 9 }, '“guests” is too large.'],
      [{ name: 'Noa', guests: 1.5 }, '“guests” has to be a whole number.'],
      [{ name: 'Noa', mail: TYPED }, '“mail” has to be an e-mail address.'],
      [{ name: 'Noa', seat: 'roof' }, '“seat” has to be one of its options.'],
      [{ name: 'Noa', wishes: ['quiet', 'window'] }, '“wishes” has too many options chosen.'],
      [{ name: 'Noa', news: 'yes' }, '“news” is of another kind.'],
      [{ name: 'Noa', more: 1 }, '“more” is no field of this form.'],
    ];
    for (const [content, detail] of refusals) {
      const refused = await send(callId, content);
      expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ detail })]);
    }
    for (const yes of ['once', 'always-tool']) {
      const refused = await answer(callId, { answer: yes });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('A yes is not enough.')]);
    }
    expect((await answer(callId, { answer: 'later' })).status).toBe(200);
    expect(await hands.waiting()).toMatchObject([{ callId, later: true }]);
    // Of two devices that send at once, one is heard.
    const both = await Promise.all([send(callId, { name: 'Noa' }), send(callId, { name: 'Ben' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await works;
    expect(await answers()).toHaveLength(1);
    const late = await send(callId, { name: 'Noa' });
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('You already sent this form.')]);
  });

  it('tells the server of a refusal, and the agent only through the server', async () => {
    const requests = hands.model.requests.length;
    const works = hands.works(BOOKS);
    const { callId } = await question();
    expect((await answer(callId, { answer: 'no' })).status).toBe(200);
    expect(await works).toMatchObject([/> All is answered\./]);
    expect(await answers()).toEqual([{ action: 'decline' }]);
    expect(await stateOf(callId)).toMatchObject({ state: 'declined' });
    expect(JSON.stringify(hands.model.requests.slice(requests))).not.toContain('The human said no');
    expect((await send(callId, { name: 'Noa' })).status).toBe(409);
  });

  it('withdraws a question when its server withdraws it, ends, or is removed', async () => {
    await does({ elicits: [ASKS], takesBackMs: 300 });
    expect(await hands.works(BOOKS)).toMatchObject([/> All is answered\./]);
    const first = (await hands.account()).find((each) => each.question);
    if (!first) throw new Error('it has asked nothing');
    expect(await untilWithdrawn(first.callId)).toBe('This question no longer needs an answer.');
    expect((await send(first.callId, { name: 'Noa' })).status).toBe(409);

    await does({ elicits: [ASKS] });
    const dead = hands.works(BOOKS);
    const second = await question();
    const [pid] = (await lines()).flatMap((line) => (line.startsWith('pid ') ? [Number(line.slice(4))] : []));
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await dead).toMatchObject([/gave no answer/]);
    expect(await untilWithdrawn(second.callId)).toBe('This question no longer needs an answer.');

    // A connection that has lasted for less than this is opened again only after it.
    await new Promise((resolve) => setTimeout(resolve, MCP_LIMITS.backoffFirst));
    const gone = hands.works(BOOKS);
    const third = await question();
    for (const { serverId } of await allMcpServers()) await hands.call('DELETE', `/api/mcp-servers/${serverId}`);
    expect(await gone).toMatchObject([/gave no answer/]);
    expect(await untilWithdrawn(third.callId)).toMatch(
      /^(?:This question no longer needs an answer|The server was removed)\.$/,
    );
  });

  it('withdraws a question when its agent is stopped', async () => {
    await hands.call('PUT', '/v1/config', { coordination: { toolsets: { attached: 'allow' } } });
    const talk = hands.talks(BOOKS);
    const { callId } = await question();
    expect((await hands.call('POST', '/api/agents/lead/stop')).status).toBeLessThan(300);
    expect(await untilWithdrawn(callId)).toBe('The turn ended before the human answered.');
    expect((await hands.call('POST', '/api/messages', { text: 'Well.', clientId: 'well' })).status).toBe(202);
    await talk;
    await hands.call('PUT', '/v1/config', { whole: true });
  });

  it('withdraws a question with the session in which it was asked', async () => {
    await hands.call('PUT', '/v1/config', { coordination: { toolsets: { attached: 'allow' } } });
    // The lead calls it in a session, which the person ends meanwhile.
    void hands.talks(BOOKS).catch(() => []);
    const { callId, where } = await question();
    expect(where).toBe('session');
    expect((await hands.call('DELETE', '/api/sessions/current')).status).toBe(204);
    expect(await untilWithdrawn(callId)).toMatch(/^The (?:session|turn) ended before/);
    await hands.call('PUT', '/v1/config', { whole: true });
  });

  it('withdraws a question when the relay is killed, and marks its call as possibly run', async () => {
    const works = hands.works(BOOKS).catch(() => []);
    const { callId } = await question();
    await hands.restart();
    expect(await untilWithdrawn(callId)).toBe('The relay restarted before you answered.');
    const late = await send(callId, { name: 'Noa' });
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('The relay restarted')]);
    const call = (await hands.account()).find((each) => each.tool === 'mcp__tables__book' && !each.question);
    expect(call).toMatchObject({ state: 'unknown' });
    await works;
    await hands.grant({ toolsets: { attached: 'allow' } });
  });

  it('refuses a question that is no form or too large, each with the reason', async () => {
    const of = (properties: object, more: object = {}) => ({
      message: 'Well?',
      requestedSchema: { type: 'object', properties, ...more },
    });
    const many = (count: number, field = { type: 'string' }) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, field]));
    const wants = [
      { mode: 'url', message: 'Go there.', elicitationId: 'e1', url: 'https://example.org/' },
      of({ deep: { type: 'object', properties: {} } }),
      of({ '\u202eevil': { type: 'string' } }),
      { ...of({}), message: 'x'.repeat(2_001) },
      of(many(21)),
    ];
    await does({ elicits: wants });
    expect(await hands.works(BOOKS)).toMatchObject([/> All is answered\./]);
    expect(await answers()).toMatchObject([
      { code: -32602, message: expect.stringContaining('Only questions in form mode') },
      { code: -32602, message: expect.stringContaining('is none that this protocol knows') },
      { code: -32602, message: expect.stringContaining('has a name that cannot be shown') },
      { code: -32602, message: expect.stringContaining('2000 characters') },
      { code: -32602, message: expect.stringContaining('20 fields') },
    ]);
    // A refused one counts too.
    const more = [
      of({ a: { type: 'string', enum: Array.from({ length: 101 }, (_, i) => `${i}`) } }),
      of(many(9_000, { type: 'object' })),
      of({}, { required: ['b'] }),
      of({ a: { type: 'string', enum: ['x', 'x'] } }),
      of({
        a: { type: 'number', minimum: 5, default: 1 },
        b: { type: 'string', default: 'x\u202ey' },
        c: { type: 'string', enum: ['', 'x'], default: '' },
      }),
      of({}),
    ];
    await rm(log);
    await does({ elicits: more });
    const works = hands.works(BOOKS);
    const call = await question();
    // A default that its own field refuses is none, nor is one that cannot be seen whole.
    expect(call.question?.fields).toMatchObject([
      { name: 'a', preset: null },
      { name: 'b', preset: null },
      { name: 'c', preset: '' },
    ]);
    await send(call.callId);
    expect(await works).toMatchObject([/> All is answered\./]);
    expect(await answers()).toMatchObject([
      { message: expect.stringContaining('100 options') },
      { message: expect.stringContaining('16000 characters') },
      { message: expect.stringContaining('required') },
      { message: expect.stringContaining('one option twice') },
      { action: 'accept', content: { c: '' } },
      { code: -32600, message: expect.stringContaining('may ask the person 5 times') },
    ]);
  });
});

describe('the questions of one connection', () => {
  const filter = createKeyFilter();
  const open = (limits: object = {}) =>
    createQuestions({ filter, now: () => 0, timers: realTimers, limits: { ...MCP_LIMITS, ...limits } });
  const time = () => createCallTime(realTimers, () => performance.now(), MCP_LIMITS);
  const asked: { agentId: string; others: readonly string[]; signal: AbortSignal }[] = [];
  const by = (agentId: string): Asks => ({
    agentId,
    person: ({ others }, signal) =>
      new Promise<PersonAnswer>((resolve) => {
        asked.push({ agentId, others, signal });
        signal.addEventListener('abort', () => resolve({ action: 'cancel' }));
      }),
  });
  const never = new AbortController().signal;

  it('reads fields that may be null as optional, whatever its library writes, and leaves odd ones out', async () => {
    const nothing = { type: 'null' };
    const $defs = { Colour: { type: 'string', enum: ['red', 'blue'], title: 'Colour' } };
    const properties = {
      name: { type: 'string', title: 'Name', format: 'password', minLength: 'two', examples: ['Noa'] },
      note: { anyOf: [{ type: 'string', maxLength: 5 }, nothing], default: null, title: 'Note' },
      size: { oneOf: [nothing, { type: 'integer', minimum: 1 }] },
      mail: { type: ['string', 'null'], format: 'email' },
      seat: { enum: ['in', null, 'out'], default: null },
      day: { oneOf: [{ const: 'mon', title: 'Monday' }, { const: 'tue' }, { const: null }] },
      colour: { anyOf: [{ $ref: '#/$defs/Colour' }, nothing] },
      colours: { type: 'array', items: { $ref: '#/$defs/Colour' } },
      either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      deep: { type: 'object', properties: {} },
      loop: { $ref: '#/$defs/Loop' },
    };
    const requestedSchema = {
      ...{ type: 'object', properties, required: ['name', 'note'] },
      $defs: { ...$defs, Loop: { anyOf: [{ $ref: '#/$defs/Loop' }] } },
    };
    const needed = { type: 'object', properties: { deep: properties.deep, name: properties.name }, required: ['deep'] };
    await does({
      elicits: [
        { message: 'Well?', requestedSchema },
        { message: 'Well?', requestedSchema: needed },
      ],
    });
    const works = hands.works(BOOKS);
    const call = await question();
    expect(call.question?.leftOut).toEqual(['deep', 'loop']);
    expect(call.question?.fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ...[
        ['name', 'text', true],
        ['note', 'text', false],
        ['size', 'number', false],
        ['mail', 'text', false],
      ],
      ...[
        ['seat', 'one', false],
        ['day', 'one', false],
        ['colour', 'one', false],
        ['colours', 'many', false],
      ],
      ['either', 'text', false],
    ]);
    expect(call.question?.fields).toMatchObject([
      { least: null, format: null },
      { title: 'Note', most: 5, preset: null },
      { isWhole: true, least: 1 },
      { format: 'email' },
      { options: [{ value: 'in' }, { value: 'out' }] },
      {
        options: [
          { value: 'mon', title: 'Monday' },
          { value: 'tue', title: 'tue' },
        ],
      },
      { title: 'Colour', options: [{ value: 'red' }, { value: 'blue' }] },
      { options: [{ value: 'red' }, { value: 'blue' }] },
      {},
    ]);
    expect((await send(call.callId, { name: 'Noa', day: 'tue' })).status).toBe(200);
    await works;
    expect(await answers()).toMatchObject([
      { action: 'accept', content: { name: 'Noa', day: 'tue' } },
      { code: -32602, message: expect.stringContaining('is none that this protocol knows') },
    ]);
  });

  it('refuses questions while no tool is called', async () => {
    await expect(open().ask({ ...ASKS, mode: 'form' }, never)).rejects.toThrow(
      /only while a tool of this server is called/,
    );
  });

  it('stand under the newest call, name the others that they may be for, and end with the last of them', async () => {
    asked.length = 0;
    const questions = open();
    const endFirst = questions.begin(by('a1'), time());
    const endSecond = questions.begin(by('a2'), time());
    const answered = questions.ask(ASKS, never);
    expect(asked).toMatchObject([{ agentId: 'a2', others: ['a1'] }]);
    endSecond();
    expect(asked[0]?.signal.aborted).toBe(false);
    endFirst();
    expect(asked[0]?.signal.reason).toBe('This question no longer needs an answer.');
    expect(await answered).toEqual({ action: 'cancel' });
  });

  it('end after their time, and the server is told that nobody chose', async () => {
    asked.length = 0;
    const questions = open({ questionMs: 100 });
    const end = questions.begin(by('a1'), time());
    expect(await questions.ask(ASKS, never)).toEqual({ action: 'cancel' });
    expect(asked[0]?.signal.reason).toMatch(/^Nobody answered within/);
    end();
  });
});

describe('a server of the reference implementation', () => {
  it('asks for a field of every kind, and is sent what the person has filled in, and each default', async () => {
    const made = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
    const attachment = { kind: 'program', command: process.execPath, args: [made, 'stdio'], env: {}, box: null };
    const mcpServers = await hands.call('POST', '/api/mcp-servers', { name: 'all', attachment });
    const { serverId } = mcpServerSchema.parse(await mcpServers.json());
    const tool = async () => {
      const server = mcpServerSchema.parse(
        await (await hands.call('POST', `/api/mcp-servers/${serverId}/retry`)).json(),
      );
      return server.tools.find(({ name }) => name === 'trigger-elicitation-request');
    };
    await expect.poll(async () => (await tool())?.problem, { timeout: 10_000 }).toBe(null);
    const found = await tool();
    const use = [{ name: found?.name, hash: found?.hash, use: true }];
    expect((await hands.call('PUT', `/api/mcp-servers/${serverId}`, { tools: use })).status).toBe(200);
    const works = hands.works([{ call: found?.called ?? '', input: {} }]);
    const call = await question();
    expect(call.question?.fields.map(({ kind }) => kind)).toEqual([
      ...['text', 'yes-no', 'text', 'text', 'text', 'text', 'number', 'number'],
      ...['one', 'many', 'one', 'many', 'one'],
    ]);
    expect((await send(call.callId, { name: 'Noa', email: 'noa@example.org' })).status).toBe(200);
    const [answered] = await works;
    expect(answered).toMatch(/Name: Noa[^]*Email: noa@example\.org[^]*Favorite Integer: 42/);
    expect(answered).toContain('hero-1');
  });
});

describe('the time of a call', () => {
  it("excludes the person's time from a call's time-out, and sends progress to a server that asks for it", async () => {
    await does({ elicits: [{ ...ASKS, _meta: { progressToken: 'token-7' } }] });
    const link = createLink({
      attachment: { kind: 'program', command: process.execPath, args: [PROGRAM, ways, log], env: {}, box: null },
      ...{ auth: null, fetch, version: '1', processes: createProcesses(null) },
      sandbox: { start: () => Promise.reject(new Error('none')) },
      ...{ timers: realTimers, now: () => Date.now(), elapsed: () => performance.now(), filter: createKeyFilter() },
      onChange: () => undefined,
      limits: { ...MCP_LIMITS, questionSignMs: 100 },
    });
    await link.open();
    const signs = async () => (await lines()).filter((line) => line.startsWith('notifications/progress')).length;
    const patient: Asks = {
      agentId: 'a1',
      async person() {
        await expect.poll(signs).toBeGreaterThan(1);
        return { action: 'decline' };
      },
    };
    await link.call('book', {}, patient, new AbortController().signal);
    expect((await lines()).find((line) => line.startsWith('notifications/progress'))).toContain('"token-7"');
    await link.close();
  });

  it('stands still while the person is asked, and goes on afterwards', async () => {
    const link = createLink({
      attachment: { kind: 'program', command: process.execPath, args: [PROGRAM, ways, log], env: {}, box: null },
      ...{ auth: null, fetch, version: '1', processes: createProcesses(null) },
      sandbox: { start: () => Promise.reject(new Error('none')) },
      ...{ timers: realTimers, now: () => Date.now(), elapsed: () => performance.now(), filter: createKeyFilter() },
      onChange: () => undefined,
      limits: { ...MCP_LIMITS, callMs: 400, callMostMs: 600 },
    });
    await link.open();
    const slow: Asks = {
      agentId: 'a1',
      person: () =>
        new Promise((resolve) => {
          setTimeout(() => resolve({ action: 'decline' }), 1_000);
        }),
    };
    await expect(link.call('book', {}, slow, new AbortController().signal)).resolves.toMatchObject({
      text: 'All is answered.',
    });
    await does({ 'tools/call': ['hang'] });
    await expect(link.call('book', {}, slow, new AbortController().signal)).rejects.toThrow(/timed out/);
    await link.close();
  });
});
