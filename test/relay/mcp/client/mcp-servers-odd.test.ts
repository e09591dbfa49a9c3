/**
 * MCP servers that do not speak as they should: what is odd in one thing takes nothing else along,
 * through a whole relay.
 */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mcpServerSchema, type McpServer } from '../../../../src/shared/protocol/mcp.ts';
import { createLink } from '../../../../server/mcp/client/link.ts';
import { NOBODY } from '../../../support/nobody.ts';
import { MCP_LIMITS } from '../../../../server/mcp/client/settings.ts';
import { createKeyFilter } from '../../../../server/platform/key-filter.ts';
import { createProcesses } from '../../../../server/platform/processes/index.ts';
import { realTimers } from '../../../../src/shared/domain/platform/timers.ts';
import { startHands, type Hands } from '../../../support/hands.ts';
import { createHome } from '../../../support/relay.ts';

const PROGRAM = fileURLToPath(new URL('../../../support/mcp-server.mjs', import.meta.url));
const ECHO = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object', properties: {} } };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let hands: Hands;
let home: string;
let ways: string;
let nth = 0;
const does = (how: object) => writeFile(ways, JSON.stringify({ tools: [ECHO], ...how }));
const serverOf = async (answer: Response) => mcpServerSchema.parse(await answer.json());
const program = () => ({
  kind: 'program' as const,
  command: process.execPath,
  args: [PROGRAM, ways],
  env: {},
  box: null,
});
async function attach(): Promise<McpServer> {
  return serverOf(await hands.call('POST', '/api/mcp-servers', { name: 'notes', attachment: program() }));
}
const allow = async ({ serverId, tools }: McpServer) =>
  serverOf(
    await hands.call('PUT', `/api/mcp-servers/${serverId}`, {
      tools: tools.filter(({ problem }) => problem === null).map(({ name, hash }) => ({ name, hash, use: true })),
    }),
  );
const all = async () =>
  mcpServerSchema
    .array()
    .parse(((await (await hands.call('GET', '/api/mcp-servers')).json()) as { servers: unknown }).servers);
const toldSchema = z.looseObject({ name: z.string(), input_schema: z.looseObject({}).optional() }).array();
/** What a mind was told last of the tools of the server. */
const told = () =>
  toldSchema
    .parse(hands.model.requests.at(-1)?.body.tools)
    .filter(({ name }) => name.startsWith('mcp__notes__'))
    .map(({ name, input_schema: schema }) => ({ name: name.replace('mcp__notes__', ''), schema }));

beforeAll(async () => {
  home = await createHome();
  hands = await startHands(['--scripts']);
  await hands.grant({ toolsets: { attached: 'allow' } });
});
beforeEach(async () => {
  ways = join(home, `ways-${++nth}.json`);
  await does({});
});
afterEach(async () => {
  for (const { serverId } of await all()) await hands.call('DELETE', `/api/mcp-servers/${serverId}`);
});
afterAll(async () => {
  await hands.close();
  await rm(home, { recursive: true, force: true });
});

const DEFS = { $defs: { 'A<b>': { type: 'object', properties: { 'x y': { type: 'string' } } } } };
/**
 * What a tool takes, as servers write it and as no model's server takes it, and what minds are
 * told.
 */
const ODD: Readonly<Record<string, readonly [given: unknown, told: object]>> = {
  'without a type': [
    { properties: { a: { type: 'string' } } },
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
  'not at all': [undefined, { type: 'object', properties: {} }],
  'as null': [null, { type: 'object', properties: {} }],
  'with nulls': [
    {
      type: 'object',
      description: null,
      properties: { a: { type: 'string', description: null, enum: ['x', null] } },
      required: null,
    },
    { type: 'object', properties: { a: { type: 'string', enum: ['x', null] } } },
  ],
  'with a pattern that is not anchored': [
    { type: 'object', properties: { a: { type: 'string', pattern: 'a|b' } } },
    {
      type: 'object',
      properties: { a: { type: 'string', description: 'It has to match the pattern "a|b".' } },
    },
  ],
  'with a pattern that is none': [
    { type: 'object', properties: { a: { type: 'string', description: 'A.', pattern: '^([a$' } } },
    { type: 'object', properties: { a: { type: 'string', description: 'A. It has to match the pattern "^([a$".' } } },
  ],
  'with a reference that leads nowhere': [
    { type: 'object', properties: { a: { $ref: '#/$defs/none' }, b: { $ref: 'https://example.org/x.json' } } },
    { type: 'object', properties: { a: {}, b: {} } },
  ],
  'with a reference to a property': [
    { type: 'object', properties: { a: { type: 'number' }, b: { $ref: '#/properties/a' } } },
    { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  ],
  'with a reference to itself': [
    { type: 'object', properties: { a: { type: 'object', properties: { a: { $ref: '#/properties/a' } } } } },
    {
      type: 'object',
      properties: { a: { type: 'object', properties: { a: { type: 'object', properties: { a: {} } } } } },
    },
  ],
  'as a reference': [
    { $ref: '#/definitions/Args', definitions: { Args: { type: 'object', properties: { a: {} }, required: ['a'] } } },
    { type: 'object', properties: { a: {} }, required: ['a'] },
  ],
  'with definitions of odd names': [
    { type: 'object', properties: { a: { $ref: '#/$defs/A%3Cb%3E' } }, ...DEFS },
    { type: 'object', properties: { a: { $ref: expect.stringMatching(/^#\/\$defs\/A_b__\w{8}$/) as string } } },
  ],
  'as a choice': [
    {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' }, c: {} }, required: ['a', 'c'] },
        { type: 'object', properties: { b: { type: 'string' }, c: {} }, required: ['b', 'c'] },
      ],
    },
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: {} },
      required: ['c'],
    },
  ],
  'as a sum': [
    {
      type: 'object',
      allOf: [
        { properties: { a: {} }, required: ['a'] },
        { properties: { b: {} }, required: ['b'] },
      ],
    },
    { type: 'object', properties: { a: {}, b: {} }, required: ['a', 'b'] },
  ],
  'with a list as it was until 2019': [
    { type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }] }, b: { type: 'array' } } },
    {
      type: 'object',
      properties: { a: { type: 'array', prefixItems: [{ type: 'string' }] }, b: { type: 'array', items: {} } },
    },
  ],
};

describe('a tool that is described', () => {
  it.each(Object.entries(ODD))(
    '%s is told to minds in a way that every model’s server takes',
    async (_how, [given, schema]) => {
      await does({ tools: [{ name: 'odd', description: null, inputSchema: given }, ECHO] });
      const server = await allow(await attach());
      expect(server.tools.map(({ name, problem, use }) => [name, problem, use])).toEqual([
        ['odd', null, true],
        ['echo', null, true],
      ]);
      await hands.works();
      expect(told()).toMatchObject([
        { name: 'odd', schema },
        { name: 'echo', schema: ECHO.inputSchema },
      ]);
      const text = JSON.stringify(told());
      expect(text).not.toMatch(/"\$ref":"(?!#\/\$defs\/)/);
      for (const { schema: each } of told())
        expect(Object.keys(each ?? {}).filter((word) => ['anyOf', 'oneOf', 'allOf', '$ref'].includes(word))).toEqual(
          [],
        );
    },
  );

  it("describes a choice of required fields in the tool's description", async () => {
    const [inputSchema] = ODD['as a choice'] ?? [];
    await does({ tools: [{ ...ECHO, inputSchema }] });
    await allow(await attach());
    await hands.works();
    expect(JSON.stringify(hands.model.requests.at(-1)?.body.tools)).toContain(
      JSON.stringify('Says it again. What has to be there, in one of these ways: "a", "c"; or "b", "c".').slice(1),
    );
  });

  it('calls a tool by its own name when no model server accepts that name', async () => {
    const odd = ['größe', 'a b', '$filter', '', 'x'.repeat(80), 'constructor', 'fine_name.1-2'];
    const each = Object.fromEntries(odd.map((name) => [name, { type: 'string' }]));
    const inner = { type: 'array', items: { type: 'object', properties: each, required: ['größe'] } };
    await does({
      tools: [{ ...ECHO, inputSchema: { type: 'object', properties: { ...each, list: inner }, required: ['a b'] } }],
    });
    await allow(await attach());
    await hands.works();
    const [tool] = told();
    const properties = z.record(z.string(), z.unknown()).parse(tool?.schema?.['properties']);
    const names = Object.keys(properties);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(new Set(names).size).toBe(odd.length + 1);
    expect(JSON.stringify(properties)).toContain('The server calls it \\"größe\\".');
    expect(names).toContain('constructor');
    const values = Object.fromEntries(names.filter((name) => name !== 'list').map((name) => [name, 'x']));
    const [answer = ''] = await hands.works([{ call: 'mcp__notes__echo', input: { ...values, list: [values] } }]);
    const sent = z.looseObject({ list: z.unknown() }).parse(JSON.parse(/> echo (\{.*)$/m.exec(answer)?.[1] ?? ''));
    const own = Object.fromEntries(odd.map((name) => [name, 'x']));
    expect(sent).toEqual({ ...own, list: [own] });
  });

  it.each<[string, unknown]>([
    ['that is no object', { type: 'string' }],
    ['that is a list', []],
    ['that is a choice of no object', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['with properties that are none', { type: 'object', properties: { a: 7 } }],
    ['with properties in a list', { type: 'object', properties: [] }],
    [
      'that grows without end where it refers to itself',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_none, i) => [
            `p${i}`,
            {
              type: 'object',
              properties: Object.fromEntries(['a', 'b', 'c'].map((a) => [a, { $ref: `#/properties/p${i + 1}` }])),
            },
          ]),
        ),
      },
    ],
  ])('turns off a tool whose schema %s, with the reason, and uses the others', async (_what, inputSchema) => {
    await does({ tools: [{ ...ECHO, name: 'odd', inputSchema }, ECHO] });
    const server = await allow(await attach());
    expect(server.tools).toMatchObject([
      { name: 'odd', use: false, problem: expect.stringMatching(/^Its input schema/) as string },
      { name: 'echo', use: true, problem: null },
    ]);
    await hands.works();
    expect(told().map(({ name }) => name)).toEqual(['echo']);
  });
});

describe('a program', () => {
  it.each([
    ['an object', { level: 'info', msg: 'begun' }],
    ['a text', 'begun'],
    ['a number', 7],
    ['a list', [1, 2]],
    ['nothing', null],
    ['an answer to nobody', { jsonrpc: '2.0', id: 'none' }],
    ['an answer to another', { jsonrpc: '2.0', id: 9_999, result: {} }],
    ['a call that is none', { jsonrpc: '2.0', method: 7 }],
  ])('works with a program that writes %s among its messages', async (_what, line) => {
    await does({ logs: [line] });
    const server = await allow(await attach());
    expect(server).toMatchObject({ state: 'connected', problem: null });
    expect(await hands.works([{ call: 'mcp__notes__echo', input: {} }])).toMatchObject([/> echo/]);
    expect((await all())[0]?.state).toBe('connected');
  });

  it.each<[string, object, RegExp]>([
    [
      'has a part that nobody knows',
      {
        content: [
          { type: 'hologram', data: 1 },
          { type: 'text', text: 'Hi' },
        ],
      },
      /cannot be read here\.\]\n> \n> Hi/,
    ],
    ['has a part that is none', { content: [null, 7, { type: 'text', text: 'Hi' }] }, /> Hi/],
    ['has no parts', { content: null, structuredContent: { a: 1 } }, /"a": 1/],
    ['does not say whether it failed', { content: [{ type: 'text', text: 'Hi' }], isError: null }, /> Hi/],
    ['is one text', { content: 'Hi' }, /> Hi/],
    ['is one part', { content: { type: 'text', text: 'Hi' } }, /> Hi/],
    ['has texts among its parts', { content: ['Hi'] }, /> Hi/],
    [
      'has a text and more in its structure',
      { content: [{ type: 'text', text: 'One.' }], structuredContent: { rows: [1] } },
      /> One\.\n> \n> \{\n> {2}"rows"/,
    ],
    ['says the same twice', { content: [{ type: 'text', text: 'Hi' }], structuredContent: { result: 'Hi' } }, /> Hi$/],
    [
      'says the same as JSON',
      { content: [{ type: 'text', text: '{"b":1,"a":2}' }], structuredContent: { a: 2, b: 1 } },
      /> \{"b":1,"a":2\}$/,
    ],
    ...[
      { type: 'image', data: `data:image/png;base64,${PIXEL}` },
      { type: 'image', data: PIXEL },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
      { type: 'text', text: `data:image/png;base64,${PIXEL}` },
    ].map((part): [string, object, RegExp] => [
      `has a picture as ${JSON.stringify(part).slice(0, 40)}`,
      { content: [part] },
      /A picture: you see it/,
    ]),
    ['has nothing beside its parts', { content: [{ type: 'text', text: 'Hi' }], structuredContent: null }, /> Hi/],
  ])('whose answer %s is read as far as it can be', async (_what, result, said) => {
    await does({ 'tools/call': ['result', result] });
    await allow(await attach());
    expect(await hands.works([{ call: 'mcp__notes__echo', input: {} }])).toMatchObject([said]);
  });

  it.each<[string, object, number, RegExp]>([
    [
      'has more tools than are read',
      { tools: Array.from({ length: 201 }, (_n, i) => ({ ...ECHO, name: `t${i}` })) },
      200,
      /list of tools is too long/,
    ],
    [
      'fails at the second page of its list',
      { tools: [ECHO], secondPage: { error: { code: -32603, message: 'No.' } } },
      1,
      /Page 2 .* failed: .*No\./,
    ],
    ['sends what is no second page', { tools: [ECHO], secondPage: { result: { tools: 7 } } }, 1, /Page 2 .* failed/],
  ])('keeps the tools of a program that %s, and says what was left out', async (_what, how, count, problem) => {
    await does(how);
    const server = await attach();
    expect(server).toMatchObject({ state: 'connected', problem: expect.stringMatching(problem) as string });
    expect(server.tools).toHaveLength(count);
  });

  it.each([
    'RangeError: WebAssembly.Memory(): could not allocate memory',
    'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
    'MemoryError: Cannot allocate memory',
  ])('reports a lack of memory, and of no folder or host, when a program ends with “%s”', async (says) => {
    await does({ initialize: ['exit'], says });
    const box = { folder: home, reads: [dirname(PROGRAM)], network: 'none' };
    const attachment = { ...program(), box };
    const server = await serverOf(await hands.call('POST', '/api/mcp-servers', { name: 'notes', attachment }));
    expect(server).toMatchObject({ state: 'failed', problem: expect.stringContaining(says) as string });
    expect(server.problem).toContain('ran out of memory');
    expect(server.problem).not.toMatch(/folders|hosts|outside the sandbox/);
  });

  it('whose answer is none fails that call at once, and no other', async () => {
    await allow(await attach());
    await does({ 'tools/call': ['result', 7] });
    expect(await hands.works([{ call: 'mcp__notes__echo', input: {} }])).toMatchObject([/cannot be read/]);
    await does({});
    expect(await hands.works([{ call: 'mcp__notes__echo', input: {} }])).toMatchObject([/> echo/]);
  });
});

describe('a call that takes long', () => {
  const link = (limits: object) =>
    createLink({
      attachment: program(),
      auth: null,
      fetch,
      version: '1',
      processes: createProcesses(null),
      sandbox: { start: () => Promise.reject(new Error('none')) },
      timers: realTimers,
      now: () => Date.now(),
      elapsed: () => performance.now(),
      filter: createKeyFilter(),
      onChange: () => undefined,
      limits: { ...MCP_LIMITS, ...limits },
    });

  it('goes on as long as its server says how far it is', async () => {
    await does({ progress: { times: 20, everyMs: 100 } });
    const open = link({ callMs: 800 });
    await open.open();
    const answer = await open.call('echo', {}, NOBODY, new AbortController().signal);
    expect(answer.text).toContain('echo');
    await open.close();
  });

  it('ends at its limit, however far the server says it is; one that is silent ends before', async () => {
    await does({ progress: { times: 1_000, everyMs: 50 } });
    const open = link({ callMs: 2_000, callMostMs: 600 });
    await open.open();
    await expect(open.call('echo', {}, NOBODY, new AbortController().signal)).rejects.toThrow(/it timed out after/);
    expect(open.status().state).toBe('connected');
    await does({ 'tools/call': ['hang'] });
    const hurried = link({ callMs: 300 });
    await hurried.open();
    await expect(hurried.call('echo', {}, NOBODY, new AbortController().signal)).rejects.toThrow(/timed out/i);
    await Promise.all([open.close(), hurried.close()]);
  });
});
