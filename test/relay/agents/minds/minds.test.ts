import { afterEach, describe, expect, it } from 'vitest';
import {
  createAnthropicMind,
  DEFAULT_MODELS,
  withWarmMind,
  type AnthropicMindConfig,
  type MindAnswer,
  type MindMessage,
  type MindRequest,
  type MindListener,
  type MindTool,
} from '../../../../server/agents/minds/index.ts';
import { thinksAdaptively } from '../../../../server/agents/minds/settings.ts';
import { AGENT_TOOLS } from '../../../../server/agents/session/tools.ts';
import { freePort } from '../../../support/free-port.ts';
import {
  startScriptedModel,
  type Reply,
  type Script,
  type ScriptedModel,
  type ScriptedRequest,
} from '../../../support/scripted-model.ts';

const KEY = 'a-secret-key-0123456789';
const says = (role: MindMessage['role'], text: string): MindMessage => ({ role, blocks: [{ kind: 'text', text }] });
const request = (more: Partial<MindRequest> = {}): MindRequest => ({
  priority: 'team',
  model: 'claude-opus-5-5',
  system: 'You are Wren.',
  messages: [says('user', 'hello')],
  tools: [],
  maxTokens: 500,
  ...more,
});
const refuse = (status: number, message: string, type = 'invalid_request_error'): Reply => ({
  fail: { status, type, message },
});

it("warms up by its own server's answers over a real connection, which is closed afterwards", async () => {
  const answers: MindAnswer[] = [];
  let late: () => Promise<MindAnswer> = () => Promise.reject(new Error('never asked'));
  await withWarmMind(async (mind) => {
    late = () =>
      mind.answer(request({ priority: 'wake' }), { onText: () => undefined, signal: AbortSignal.timeout(2_000) });
    answers.push(...(await Promise.all([late(), late()])));
  });
  expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
  expect((await late().catch(() => ({ ok: false }))).ok).toBe(false);
});

describe('a mind behind the Messages API', () => {
  const models: ScriptedModel[] = [];
  afterEach(async () => {
    for (const model of models.splice(0)) await model.close();
  });
  async function connect(script: Script, config: Partial<AnthropicMindConfig> = {}) {
    const model = await startScriptedModel(script);
    models.push(model);
    const mind = createAnthropicMind({ key: KEY, baseUrl: model.url, ...config });
    const heard: string[] = [];
    const controller = new AbortController();
    const ask = (given: MindRequest = request(), more: Partial<MindListener> = {}): Promise<MindAnswer> =>
      mind.answer(given, {
        onText: (text) => heard.push(text),
        signal: controller.signal,
        ...more,
      });
    return { model, mind, heard, ask, stop: () => controller.abort() };
  }
  const thinkingOf = (sent: ScriptedRequest | undefined) => sent?.body['thinking'];

  it.each<[AnthropicMindConfig['keyHeader'], string | undefined, string | undefined]>([
    ['bearer', `Bearer ${KEY}`, undefined],
    ['x-api-key', undefined, KEY],
    ['both', `Bearer ${KEY}`, KEY],
    [undefined, `Bearer ${KEY}`, KEY],
  ])('sends its key as %s', async (keyHeader, bearer, header) => {
    const { model, ask } = await connect(() => [{ say: 'Hi.' }], keyHeader ? { keyHeader } : {});
    await ask();
    expect(model.requests[0]?.headers.authorization).toBe(bearer);
    expect(model.requests[0]?.headers['x-api-key']).toBe(header);
  });

  it('sends no key without one, whatever the environment holds', async () => {
    process.env['ANTHROPIC_API_KEY'] = KEY;
    process.env['ANTHROPIC_AUTH_TOKEN'] = KEY;
    try {
      const { model, ask } = await connect(() => [{ say: 'Hi.' }], { key: null });
      expect(await ask()).toMatchObject({ ok: true });
      expect(JSON.stringify(model.requests[0]?.headers)).not.toContain(KEY);
      expect(model.requests[0]?.headers.authorization).toBeUndefined();
    } finally {
      delete process.env['ANTHROPIC_API_KEY'];
      delete process.env['ANTHROPIC_AUTH_TOKEN'];
    }
  });

  it('streams words as they arrive, and answers with whole blocks, tools and usage', async () => {
    const { heard, ask } = await connect(() => [
      { say: 'Good morning', chunk: 5 },
      { call: 'choose_name', input: { name: 'Wren' } },
    ]);
    expect(await ask(request({ tools: AGENT_TOOLS }))).toEqual({
      ok: true,
      stop: 'tools',
      blocks: [
        { kind: 'text', text: 'Good morning' },
        { kind: 'tool-use', toolUseId: 'toolu_0_1', name: 'choose_name', input: { name: 'Wren' } },
      ],
      usage: { model: 'claude-opus-5-5', inputTokens: 10, outputTokens: 20, cacheReadTokens: 3, cacheWriteTokens: 2 },
    });
    expect(heard).toEqual(['Good ', 'morni', 'ng']);
  });

  it('marks for the cache the system prompt, the first message and the newest', async () => {
    const { model, ask } = await connect(() => [{ say: 'Hi.' }]);
    await ask(
      request({
        messages: [
          says('user', 'wake up'),
          says('assistant', 'yes'),
          says('user', 'one'),
          says('assistant', 'two'),
          says('user', 'three'),
        ],
      }),
    );
    const body = model.requests[0]?.body;
    const mark = { cache_control: { type: 'ephemeral' } };
    expect(body?.system).toEqual([{ type: 'text', text: 'You are Wren.', ...mark }]);
    expect(body?.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'wake up', ...mark }],
      [{ type: 'text', text: 'yes' }],
      [{ type: 'text', text: 'one' }],
      [{ type: 'text', text: 'two' }],
      [{ type: 'text', text: 'three', ...mark }],
    ]);
  });

  it.each([
    ['claude-opus-5-5', true],
    ['claude-sonnet-4-6', true],
    ['claude-opus-4-6-20260101', true],
    ['claude-haiku-4-5', false],
    ['claude-3-5-haiku-20241022', false],
    ['claude-opus-4-20250514', false],
    ['llama3.2', false],
  ])('knows whether %s thinks adaptively', async (name, thinks) => {
    expect(thinksAdaptively(name)).toBe(thinks);
    const { model, ask } = await connect(() => [{ say: 'Hi.' }], { thinking: true });
    await ask(request({ model: name }));
    expect(thinkingOf(model.requests[0])).toEqual(thinks ? { type: 'adaptive', display: 'summarized' } : undefined);
  });

  it('asks only Anthropic’s server to think, and asks one that refuses only once', async () => {
    const { model, ask } = await connect(() => [{ say: 'Hi.' }]);
    await ask();
    expect(thinkingOf(model.requests[0])).toBeUndefined();
    const other = await connect(
      ({ body }) => (body['thinking'] === undefined ? [{ say: 'Hi.' }] : refuse(400, 'thinking: unknown field')),
      { thinking: true },
    );
    expect(await other.ask()).toMatchObject({ ok: true });
    expect(await other.ask()).toMatchObject({ ok: true });
    expect(other.model.requests.map((sent) => thinkingOf(sent) !== undefined)).toEqual([true, false, false]);
  });

  it('sends every text unchanged, and repairs it only after a refusal', async () => {
    const lone = 'a\ud800b 🪺';
    const exact = await connect(() => [{ say: 'Hi.' }]);
    await exact.ask(request({ system: lone, messages: [says('user', lone)] }));
    expect(exact.model.requests.map(({ first, system }) => [first, system])).toEqual([[lone, lone]]);
    const strict = await connect(({ first }) =>
      first.includes('\ud800b') ? refuse(400, 'invalid unicode: lone surrogate') : [{ say: 'Hi.' }],
    );
    expect(await strict.ask(request({ messages: [says('user', lone)] }))).toMatchObject({ ok: true });
    expect(strict.model.requests.map(({ first }) => first)).toEqual([lone, 'a\ufffdb 🪺']);
  });

  it('asks a server that knows only plain texts in plain texts, and remembers that it does', async () => {
    const { model, ask } = await connect(({ body }) =>
      typeof body.system === 'string' && !JSON.stringify(body).includes('cache_control')
        ? [{ say: 'Hi.' }]
        : refuse(422, 'system: Input should be a valid string'),
    );
    expect(await ask()).toMatchObject({ ok: true });
    expect(await ask()).toMatchObject({ ok: true });
    expect(model.requests.map(({ body }) => typeof body.system)).toEqual(['object', 'string', 'string']);
  });

  const problems: [string, Reply, string, RegExp][] = [
    [
      'a key that is not accepted',
      refuse(401, 'invalid x-api-key', 'authentication_error'),
      'bad-key',
      /did not accept the key\. Set another ANTHROPIC_API_KEY/,
    ],
    [
      'a key that may not',
      refuse(403, 'not allowed', 'permission_error'),
      'bad-key',
      /does not allow this\. Set another ANTHROPIC_API_KEY.*not allowed/,
    ],
    [
      'an unknown model',
      refuse(404, 'model: nope', 'not_found_error'),
      'no-such-model',
      /does not know the model “claude-opus-5-5”\. Choose another/,
    ],
    [
      'an address that has no such call',
      refuse(404, 'Not Found', 'not_found_error'),
      'no-such-address',
      /has no Messages API under this address \(404\)\. Check ANTHROPIC_BASE_URL/,
    ],
    ['an empty account', refuse(400, 'Your credit balance is too low'), 'out-of-credit', /out of credit/],
    ['a bill', refuse(402, 'pay', 'billing_error'), 'out-of-credit', /out of credit/],
    ['too many requests', refuse(429, 'slow down', 'rate_limit_error'), 'rate-limited', /is busy/],
    ['an overloaded server', refuse(529, 'Overloaded', 'overloaded_error'), 'overloaded', /is busy/],
    [
      'a conversation that is too long',
      refuse(400, 'prompt is too long: 300000 tokens > 200000 maximum'),
      'too-large',
      /longer than the model can read/,
    ],
    [
      'a body that is too large',
      refuse(413, 'too large', 'request_too_large'),
      'too-large',
      /longer than the model can read/,
    ],
    [
      'a refused request',
      refuse(400, `bad field in ${KEY}`),
      'refused-request',
      /refused the request \(400\): bad field in \[key\]/,
    ],
    [
      'a broken server',
      refuse(500, `oh ${KEY} no`, 'api_error'),
      'upstream-broken',
      /had an internal error \(500\): oh \[key\] no/,
    ],
  ];
  it.each(problems)('tells people of %s in a sentence, and never the key', async (_what, reply, kind, sentence) => {
    const { ask } = await connect(() => reply);
    const answer = await ask();
    expect(answer).toMatchObject({ ok: false, blocks: [], error: { kind, message: expect.stringMatching(sentence) } });
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  it('says that no server answers at the address', async () => {
    const mind = createAnthropicMind({
      key: KEY,
      baseUrl: `http://127.0.0.1:${await freePort()}`,
      queue: { breaks: 0 },
    });
    const answer = await mind.answer(request(), { onText: () => undefined, signal: new AbortController().signal });
    expect(answer).toMatchObject({
      ok: false,
      error: { kind: 'unreachable', message: expect.stringContaining('cannot be reached') },
    });
  });

  it('keeps the words of a cut stream without the cut call, and does not ask again', async () => {
    const { model, heard, ask } = await connect(() => [{ say: 'I was about to' }, { cut: true }]);
    expect(await ask()).toMatchObject({
      ok: false,
      error: { kind: 'stream-cut' },
      blocks: [{ kind: 'text', text: 'I was about to' }],
    });
    expect(heard.join('')).toBe('I was about to');
    expect(model.requests).toHaveLength(1);
  });

  it('stops at once on demand, with the words so far', async () => {
    const never = new Promise<never>(() => undefined);
    const { model, heard, ask, stop } = await connect(() => [{ say: 'Once upon' }, { until: never }]);
    const answer = ask();
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop();
    expect(await answer).toEqual({
      ok: false,
      error: { kind: 'aborted', message: 'Stopped.' },
      blocks: [{ kind: 'text', text: 'Once upon' }],
      usage: expect.anything(),
      whole: false,
      // It may write on, and charge for it.
      outputMost: null,
    });
    expect(model.requests).toHaveLength(1);
  });

  it('tells how much a server can have written that stops when it is left', async () => {
    const never = new Promise<never>(() => undefined);
    const words = 'Once upon a time. '.repeat(20);
    const { heard, ask, stop } = await connect(() => [{ say: words }, { until: never }], { stopsWhenLeft: true });
    const answer = ask(request({ maxTokens: 8_192 }));
    while (heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop();
    const told = await answer;
    expect(told).toMatchObject({ ok: false, whole: false });
    const most = told.ok ? null : told.outputMost;
    expect(most).toBeGreaterThan(words.length / 2);
    expect(most).toBeLessThan(2_000);
  });

  it('gives tool results back as the API wants them', async () => {
    const { model, ask } = await connect(() => [{ say: 'Hi.' }]);
    await ask(
      request({
        tools: AGENT_TOOLS,
        messages: [
          says('user', 'hello'),
          {
            role: 'assistant',
            blocks: [
              { kind: 'thinking', thinking: '', signature: 's' },
              { kind: 'redacted-thinking', data: 'd' },
              { kind: 'tool-use', toolUseId: 't1', name: 'choose_name', input: undefined },
            ],
          },
          { role: 'user', blocks: [{ kind: 'tool-result', toolUseId: 't1', text: 'no', isError: true }] },
        ],
      }),
    );
    const body = model.requests[0]?.body;
    expect(body?.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: '', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'tool_use', id: 't1', name: 'choose_name', input: {} },
    ]);
    expect(body?.messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 't1', content: 'no', is_error: true, cache_control: { type: 'ephemeral' } },
    ]);
    expect(body?.tools?.map(({ name }) => name)).toEqual(['choose_name', 'write_soul']);
  });

  it('returns found tools to a model with tool search, and describes only found ones to any other', async () => {
    const tool = (name: string, more: object = {}) => ({
      name,
      description: name,
      properties: {},
      required: [],
      ...more,
    });
    const tools = [
      tool('find_tool', { finds: true }),
      tool('read_file'),
      tool('mcp__a__seen', { waits: 'found' }),
      tool('mcp__a__far', { waits: 'unseen' }),
    ];
    const used = { type: 'server_tool_use', id: 's1', name: 'tool_search_tool_bm25', input: { query: 'far' } };
    const found = (...names: string[]) => ({
      type: 'tool_search_tool_result',
      tool_use_id: 's1',
      content: {
        type: 'tool_search_tool_search_result',
        tool_references: names.map((tool_name) => ({ type: 'tool_reference', tool_name })),
      },
    });
    const script: Script = ({ body }) =>
      body.tools?.[0]?.['type'] === undefined || body.model !== 'claude-opus-5-5'
        ? [{ say: 'Hi.' }]
        : [{ block: used }, { block: found('mcp__a__far', 'mcp__a__gone') }, { call: 'mcp__a__far', input: {} }];
    const sent = ({ body }: ScriptedRequest) =>
      body.tools?.map(({ name, defer_loading: waits }) => `${name}${waits === true ? ' waits' : ''}`);
    const { model, ask } = await connect(script, { searching: true });
    const answer = await ask(request({ tools }));
    expect(answer).toMatchObject({
      ok: true,
      stop: 'tools',
      blocks: [{}, {}, { kind: 'tool-use', name: 'mcp__a__far' }],
    });
    const messages: MindMessage[] = [
      says('user', 'hello'),
      { role: 'assistant', blocks: answer.blocks },
      { role: 'user', blocks: [{ kind: 'tool-result', toolUseId: 'toolu_0_2', text: 'ok', isError: false }] },
    ];
    await ask(request({ tools, messages }));
    // One of an hour ago that does not search, and a conversation in which nothing waits any more.
    await ask(request({ tools, messages, model: 'claude-opus-4-1' }));
    await ask(request({ tools: tools.slice(1, 2), messages }));
    const searches = ['tool_search_tool_bm25', 'read_file', 'mcp__a__seen waits', 'mcp__a__far waits'];
    expect(model.requests.map(sent)).toEqual([
      searches,
      searches,
      ['find_tool', 'read_file', 'mcp__a__seen'],
      ['read_file'],
    ]);
    const handedBack = model.requests.slice(1).map(({ body }) => body.messages[1]?.content);
    expect(handedBack[0]).toMatchObject([used, found('mcp__a__far'), { type: 'tool_use' }]);
    expect(handedBack.slice(1)).toMatchObject([[{ type: 'tool_use' }], [{ type: 'tool_use' }]]);
    // One that refuses is given our own search, and is asked so from then on.
    const other = await connect(
      ({ body }) =>
        body.tools?.[0]?.['type'] === undefined
          ? [{ say: 'Hi.' }]
          : refuse(400, 'tools.0: tool_search_tool_bm25_20251119 is not known'),
      { searching: true },
    );
    expect(await other.ask(request({ tools }))).toMatchObject({ ok: true });
    expect(await other.ask(request({ tools }))).toMatchObject({ ok: true });
    expect(other.model.requests.map((each) => sent(each)?.[0])).toEqual([
      'tool_search_tool_bm25',
      'find_tool',
      'find_tool',
    ]);
  });

  it("offers the provider's web search, returns its results, and learns when it is refused", async () => {
    const tool = (name: 'web_search' | 'web_fetch'): MindTool => ({
      ...{ name, description: name, properties: {}, required: [], provider: name },
    });
    const tools = [tool('web_search'), tool('web_fetch')];
    const used = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'trams' } };
    const result = { type: 'web_search_result', title: 'Trams', url: 'https://a.example/', page_age: null };
    const found = {
      type: 'web_search_tool_result',
      tool_use_id: 's1',
      content: [{ ...result, encrypted_content: 'c2VhbGVk' }],
    };
    const script: Script = ({ body }) =>
      body.messages.length === 1
        ? [
            { block: used },
            { block: found },
            { say: 'They are yellow.' },
            { usage: { server_tool_use: { web_search_requests: 1 } } },
          ]
        : [{ say: 'Hi.' }];
    const { mind, model, ask } = await connect(script, { web: true });
    expect(
      ['claude-sonnet-5-5', 'claude-sonnet-4-20250514', 'claude-3-haiku', 'qwen3'].map((name) => mind.web?.(name)),
    ).toEqual([true, true, false, false]);
    const told: unknown[] = [];
    const answer = await ask(request({ tools }), {
      onTool: (called) => {
        told.push(called);
        return (...outcome) => void told.push(outcome);
      },
    });
    expect(answer).toMatchObject({ ok: true, stop: 'end', searches: 1 });
    expect(told).toEqual([
      { toolUseId: 's1', name: 'web_search', input: { query: 'trams' } },
      ['Trams\nhttps://a.example/', false],
    ]);
    const messages: MindMessage[] = [
      says('user', 'hello'),
      { role: 'assistant', blocks: answer.blocks },
      says('user', 'And?'),
    ];
    await ask(request({ tools, messages }));
    await ask(request({ messages }));
    await ask(request({ tools, messages, model: 'claude-3-haiku' }));
    expect(model.requests.map(({ body }) => body.tools?.map(({ name, type }) => `${name} ${String(type)}`))).toEqual([
      ...Array.from({ length: 2 }, () => ['web_search web_search_20250305', 'web_fetch web_fetch_20250910']),
      undefined,
      undefined,
    ]);
    const handedBack = model.requests.slice(1).map(({ body }) => body.messages[1]?.content);
    expect(handedBack).toMatchObject([[used, found, { type: 'text' }], [{ type: 'text' }], [{ type: 'text' }]]);
    const other = await connect(
      ({ body }) => (body.tools ? refuse(400, 'Web search is not enabled for this organization') : [{ say: 'Hi.' }]),
      { web: true },
    );
    expect(await other.ask(request({ tools }))).toMatchObject({ ok: true });
    expect([other.mind.web?.('claude-opus-5-5'), other.model.requests.length]).toEqual([false, 2]);
  });

  it('shows pictures to a model that sees, and says to one that refuses them that they are not there', async () => {
    const picture = { type: 'image/png', data: 'AAAA' } as const;
    const messages: MindMessage[] = [
      says('user', 'hello'),
      { role: 'assistant', blocks: [{ kind: 'tool-use', toolUseId: 't1', name: 'view_image', input: {} }] },
      {
        role: 'user',
        blocks: [{ kind: 'tool-result', toolUseId: 't1', text: 'a.png', isError: false, picture }],
      },
    ];
    const shown = ({ results }: ScriptedRequest) => results[0];
    const seen = JSON.stringify([
      { type: 'text', text: 'a.png' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ]);
    const blind = 'a.png\n[The picture is not included.]';
    const { model, ask } = await connect(({ results, body }) =>
      results[0] === seen && body.model === 'blind' ? refuse(400, 'image input is not supported') : [{ say: 'Hi.' }],
    );
    for (const name of ['sees', 'blind', 'blind', 'sees'])
      expect(await ask(request({ messages, model: name }))).toMatchObject({ ok: true });
    expect(model.requests.map(shown)).toEqual([seen, seen, blind, blind, seen]);
  });

  it('uses the models that a person chose, and its own by default', async () => {
    const { mind } = await connect(() => [{ say: 'Hi.' }]);
    expect(mind.models({ lead: 'big', agent: '' })).toEqual({
      kind: 'anthropic',
      leadModel: 'big',
      agentModel: DEFAULT_MODELS.agent,
    });
    expect(mind.models({ lead: '', agent: 'small' })).toEqual({
      kind: 'anthropic',
      leadModel: DEFAULT_MODELS.lead,
      agentModel: 'small',
    });
  });
});
