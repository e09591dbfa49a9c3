import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAnthropicMind, type AnthropicMindConfig, type MindAnswer, type MindRequest } from '../../server/minds/index.ts';
import { DEFAULT_MODELS, thinksAdaptively } from '../../server/minds/settings.ts';
import { startScriptedModel, type Reply, type ScriptedModel } from '../support/scripted-model.ts';
import { createGate } from '../support/session.ts';

const KEY = 'sk-very-secret-key-0123456789';
const THINKER = 'claude-sonnet-5-5';
const hello: MindRequest = {
  model: THINKER,
  system: 'You are a test.',
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hello?' }] }],
  tools: [{ name: 'choose_name', description: 'Takes a name', properties: { name: { type: 'string' } }, required: ['name'] }],
  maxTokens: 1000,
};
const never = new AbortController().signal;

describe('a mind behind the Messages API', () => {
  let model: ScriptedModel;
  beforeEach(async () => {
    model = await startScriptedModel(() => [{ say: 'Hello.' }]);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await model.close();
  });

  const mindWith = (config: Partial<AnthropicMindConfig> = {}) => createAnthropicMind({ key: KEY, baseUrl: model.url, ...config });
  async function ask(request: MindRequest = hello, config: Partial<AnthropicMindConfig> = {}): Promise<{ answer: MindAnswer; heard: string[] }> {
    const heard: string[] = [];
    const answer = await mindWith(config).answer(request, { onText: (text) => heard.push(text), signal: never });
    return { answer, heard };
  }
  async function failure(reply: Reply, config: Partial<AnthropicMindConfig> = {}) {
    model.follow(() => reply);
    const { answer } = await ask(hello, config);
    if (answer.ok) throw new Error('it answered');
    expect(JSON.stringify(answer)).not.toContain(KEY);
    return answer;
  }
  const bodies = () => model.requests.map(({ body }) => body);

  it('hands on the words as they come, and at the end everything that was said, with what it cost', async () => {
    model.follow(() => [{ say: 'Good morning, ', chunk: 5 }, { say: 'Ada 🪺.', chunk: 1 }]);
    const { answer, heard } = await ask();
    expect(heard.length).toBeGreaterThan(5);
    expect(heard.join('')).toBe('Good morning, Ada 🪺.');
    expect(answer).toEqual({
      ok: true,
      stop: 'end',
      blocks: [
        { kind: 'text', text: 'Good morning, ' },
        { kind: 'text', text: 'Ada 🪺.' },
      ],
      usage: { model: THINKER, inputTokens: 10, outputTokens: 20, cacheReadTokens: 3, cacheWriteTokens: 2 },
    });
  });

  it('asks for what the request says, streaming', async () => {
    await ask();
    expect(bodies()[0]).toMatchObject({
      model: THINKER,
      max_tokens: 1000,
      stream: true,
      tools: [{ name: 'choose_name', description: 'Takes a name', input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }],
    });
  });

  it('marks for caching the system prompt, the first message and the newest turn, and nothing else', async () => {
    const user = (text: string) => ({ role: 'user' as const, blocks: [{ kind: 'text' as const, text }] });
    const said = (text: string) => ({ role: 'assistant' as const, blocks: [{ kind: 'text' as const, text }] });
    await ask({ ...hello, messages: [user('soul'), said('a'), user('b'), said('c'), user('d')] });
    const body = bodies()[0];
    const cached = (content: unknown) => JSON.stringify(content).includes('"cache_control":{"type":"ephemeral"}');
    expect(cached(body?.system)).toBe(true);
    expect(body?.messages.map(({ content }) => cached(content))).toEqual([true, false, false, false, true]);
  });

  it('gives back what a tool was called with, and hands on its result', async () => {
    model.follow(({ results }) => (results.length > 0 ? [{ say: 'Done.' }] : [{ say: 'I am' }, { call: 'choose_name', input: { name: 'Wren' } }]));
    const { answer } = await ask();
    expect(answer).toMatchObject({ ok: true, stop: 'tools', blocks: [{ kind: 'text', text: 'I am' }, { kind: 'tool-use', name: 'choose_name', input: { name: 'Wren' } }] });
    const call = answer.blocks[1];
    if (call?.kind !== 'tool-use') throw new Error('no call');
    await ask({
      ...hello,
      messages: [...hello.messages, { role: 'assistant', blocks: answer.blocks }, { role: 'user', blocks: [{ kind: 'tool-result', toolUseId: call.toolUseId, text: 'Your name is Wren.', isError: false }] }],
    });
    expect(bodies()[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ type: 'text', text: 'I am' }, { type: 'tool_use', id: call.toolUseId, name: 'choose_name', input: { name: 'Wren' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.toolUseId, content: 'Your name is Wren.', is_error: false }] },
    ]);
  });

  it('says when an answer was cut at its limit, and when the model declined', async () => {
    model.follow(() => [{ say: 'And so' }, { stop: 'max_tokens' }]);
    expect((await ask()).answer).toMatchObject({ ok: true, stop: 'length', blocks: [{ kind: 'text', text: 'And so' }] });
    model.follow(() => [{ say: 'No' }, { stop: 'refusal' }]);
    expect((await ask()).answer).toMatchObject({ ok: true, stop: 'refusal' });
  });

  describe('thinking', () => {
    it('is adaptive where it is asked for and the model has it, and its thoughts go back unchanged', async () => {
      model.follow(() => [{ think: 'Hm. "Wren"?', signature: 'c2lnbmF0dXJl' }, { call: 'choose_name', input: { name: 'Wren' } }]);
      const { answer } = await ask(hello, { thinking: true });
      expect(bodies()[0]?.['thinking']).toMatchObject({ type: 'adaptive' });
      expect(answer.blocks[0]).toEqual({ kind: 'thinking', thinking: 'Hm. "Wren"?', signature: 'c2lnbmF0dXJl' });
      await ask({ ...hello, messages: [...hello.messages, { role: 'assistant', blocks: answer.blocks }, ...hello.messages] }, { thinking: true });
      expect(bodies()[1]?.messages[1]).toMatchObject({ content: [{ type: 'thinking', thinking: 'Hm. "Wren"?', signature: 'c2lnbmF0dXJl' }, { type: 'tool_use' }] });
    });

    it('is off at other servers unless it is asked for, and for models that do not have it', async () => {
      await ask();
      await ask({ ...hello, model: 'qwen3-coder' }, { thinking: true });
      expect(bodies().map((body) => body['thinking'])).toEqual([undefined, undefined]);
    });

    it('is left out, also from then on, where the server says that the model cannot', async () => {
      model.follow(({ body }) => (body['thinking'] === undefined ? [{ say: 'Hello.' }] : { fail: { status: 400, type: 'invalid_request_error', message: 'adaptive thinking is not supported on this model' } }));
      const mind = mindWith({ thinking: true });
      for (let i = 0; i < 2; i++) expect(await mind.answer(hello, { onText: () => undefined, signal: never })).toMatchObject({ ok: true });
      expect(bodies().map((body) => body['thinking'] !== undefined)).toEqual([true, false, false]);
    });

    it.each([
      ['claude-opus-4-6', true],
      ['claude-sonnet-4-6-20260101', true],
      ['claude-opus-5', true],
      [DEFAULT_MODELS.lead, true],
      [DEFAULT_MODELS.agent, true],
      ['claude-mythos-preview', true],
      ['claude-sonnet-4-5-20250929', false],
      ['claude-opus-4-20250514', false],
      ['claude-3-7-sonnet-20250219', false],
      ['llama3.3', false],
      ['rehearsal', false],
    ])('of %s: %s', (name, thinks) => {
      expect(thinksAdaptively(name)).toBe(thinks);
    });
  });

  describe('the key', () => {
    it.each([
      ['both', `Bearer ${KEY}`, KEY],
      ['bearer', `Bearer ${KEY}`, undefined],
      ['x-api-key', undefined, KEY],
    ] as const)('travels as %s where that is set', async (keyHeader, authorization, apiKey) => {
      await ask(hello, { keyHeader });
      expect(model.requests[0]?.headers['authorization']).toBe(authorization);
      expect(model.requests[0]?.headers['x-api-key']).toBe(apiKey);
    });

    it('travels both ways to a server that is not Anthropic’s, where nothing is set', async () => {
      await ask();
      expect(model.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-api-key': KEY });
    });

    it('is none where there is none: other credentials of this machine stay where they are', async () => {
      vi.stubEnv('ANTHROPIC_API_KEY', 'from-the-environment');
      vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'from-the-environment');
      const { answer } = await ask(hello, { key: null });
      expect(answer.ok).toBe(true);
      const headers = model.requests[0]?.headers;
      expect(Object.keys(headers ?? {})).toContain('anthropic-version');
      expect([headers?.['authorization'], headers?.['x-api-key']]).toEqual([undefined, undefined]);
    });
  });

  describe('an error', () => {
    const said = (status: number, type: string, message: string): Reply => ({ fail: { status, type, message: `${message} (${KEY})` } });
    it.each([
      [401, 'authentication_error', 'invalid x-api-key', 'bad-key', /did not accept the API key/],
      [403, 'permission_error', 'not for your organisation', 'bad-key', /may not do this/],
      [404, 'not_found_error', 'model: claude-x', 'no-such-model', /does not know the model “claude-sonnet-5-5”/],
      [402, 'billing_error', 'pay first', 'out-of-credit', /out of credit/],
      [400, 'invalid_request_error', 'Your credit balance is too low', 'out-of-credit', /out of credit/],
      [413, 'request_too_large', 'too big', 'too-large', /longer than the model can read/],
      [400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum', 'too-large', /longer than the model can read/],
      [429, 'rate_limit_error', 'slow down', 'rate-limited', /asks for a pause/],
      [529, 'overloaded_error', 'Overloaded', 'overloaded', /overloaded at the moment/],
      [503, 'api_error', 'away', 'overloaded', /overloaded at the moment/],
      [400, 'invalid_request_error', 'tools.0: no', 'refused-request', /refused the request \(400\): .*tools\.0: no/],
      [500, 'api_error', 'boom', 'upstream-broken', /had an error of its own \(500\): .*boom/],
    ])('%i %s (%s) is %s, with a sentence for people and without the key', async (status, type, message, kind, sentence) => {
      const { error, blocks } = await failure(said(status, type, message));
      expect(error).toMatchObject({ kind, message: expect.stringMatching(sentence) });
      expect(blocks).toEqual([]);
    });

    it('inside a stream keeps what was said before it', async () => {
      const { error, blocks } = await failure([{ say: 'I was about to' }, { error: { type: 'overloaded_error', message: 'Overloaded' } }]);
      expect(error.kind).toBe('overloaded');
      expect(blocks).toEqual([{ kind: 'text', text: 'I was about to' }]);
    });

    it('of a model that calls a tool with something that is no JSON says so, and keeps its words', async () => {
      const { error, blocks } = await failure([{ say: 'I am' }, { call: 'choose_name', input: {}, json: '{"name": oh dear' }]);
      expect(error).toMatchObject({ kind: 'upstream-broken', message: expect.stringMatching(/a tool call that is not JSON/) });
      expect(blocks).toEqual([{ kind: 'text', text: 'I am' }]);
    });

    it('of a line that goes dead keeps the words, leaves out the rest, and is not tried again', async () => {
      const answer = await failure([{ think: 'Well', signature: 's' }, { say: 'Once upon' }, { cut: true }]);
      expect(answer.error).toMatchObject({ kind: 'stream-cut', message: expect.stringMatching(/broke/) });
      expect(answer.blocks.filter(({ kind }) => kind === 'text')).toEqual([{ kind: 'text', text: 'Once upon' }]);
      expect(model.requests).toHaveLength(1);
    });

    it('that passes is tried again, a few times', async () => {
      let tries = 0;
      model.follow(() => (++tries <= 2 ? { fail: { status: 429, type: 'rate_limit_error', message: 'slow down', retryAfterMs: 1 } } : [{ say: 'There.' }]));
      expect((await ask()).answer).toMatchObject({ ok: true });
      model.follow(() => ({ fail: { status: 529, type: 'overloaded_error', message: 'Overloaded', retryAfterMs: 1 } }));
      expect((await ask()).answer).toMatchObject({ ok: false, error: { kind: 'overloaded' } });
      expect(model.requests).toHaveLength(3 + 3);
    });

    it('is that nobody is there', async () => {
      await model.close();
      const { answer } = await ask(hello, { retries: 0 });
      expect(answer).toMatchObject({ ok: false, error: { kind: 'unreachable', message: expect.stringMatching(/cannot be reached/) } });
      model = await startScriptedModel(() => 'silent');
    });
  });

  it('lets go of the line when the answer is not wanted any more', async () => {
    const gate = createGate();
    model.follow(() => [{ say: 'One' }, { until: gate.passed }]);
    const abort = new AbortController();
    const heard = createGate();
    const answering = mindWith().answer(hello, { onText: heard.open, signal: abort.signal });
    await heard.passed;
    abort.abort();
    expect(await answering).toMatchObject({ ok: false, error: { kind: 'aborted' }, blocks: [{ kind: 'text', text: 'One' }] });
    gate.open();
  });

  it('does not ask at all where it was not wanted from the start', async () => {
    const answer = await mindWith().answer(hello, { onText: () => undefined, signal: AbortSignal.abort() });
    expect(answer).toMatchObject({ ok: false, error: { kind: 'aborted' }, blocks: [] });
    expect(model.requests).toEqual([]);
  });

  describe('half a pair of surrogates', () => {
    const torn: MindRequest = {
      ...hello,
      system: 'soul \ud800',
      messages: [
        { role: 'user', blocks: [{ kind: 'text', text: 'a\udfffb' }] },
        { role: 'assistant', blocks: [{ kind: 'tool-use', toolUseId: 't', name: 'choose_name', input: { name: ['\ud83d'] } }] },
        { role: 'user', blocks: [{ kind: 'tool-result', toolUseId: 't', text: '🪺 \udc00', isError: false }] },
      ],
    };

    it('arrives as it is where the server takes it', async () => {
      expect((await ask(torn)).answer.ok).toBe(true);
      expect(model.requests).toHaveLength(1);
      expect(model.requests[0]).toMatchObject({ system: 'soul \ud800', first: 'a\udfffb', results: ['🪺 \udc00'] });
    });

    it('is replaced where the server refuses it, after the exact text was tried', async () => {
      model.follow(({ system }) => (system.includes('\ud800') ? { fail: { status: 400, type: 'invalid_request_error', message: 'no low surrogate' } } : [{ say: 'Hello.' }]));
      expect((await ask(torn)).answer.ok).toBe(true);
      expect(model.requests.map(({ system }) => system)).toEqual(['soul \ud800', 'soul \ufffd']);
      expect(model.requests[1]).toMatchObject({ first: 'a\ufffdb', results: ['🪺 \ufffd'] });
      expect(JSON.stringify(bodies()[1]?.messages[1])).toContain('"name":["\ufffd"]');
    });
  });

  it('writes the oldest form of a request to a server that knows no other, and remembers that', async () => {
    model.follow(({ body }) => (typeof body.system === 'string' ? [{ say: 'Hello.' }] : { fail: { status: 422, type: 'invalid_request_error', message: 'system: not a string' } }));
    const mind = mindWith();
    for (let i = 0; i < 2; i++) expect(await mind.answer(hello, { onText: () => undefined, signal: never })).toMatchObject({ ok: true });
    expect(bodies().map(({ system }) => typeof system)).toEqual(['object', 'string', 'string']);
    expect(JSON.stringify(bodies()[1])).not.toContain('cache_control');
  });

  it('gives up where no form of the request is taken, with the server’s reason', async () => {
    const { error } = await failure({ fail: { status: 400, type: 'invalid_request_error', message: 'never' } });
    expect(error.message).toContain('never');
    expect(model.requests).toHaveLength(2);
  });

  it('answers with the models that were chosen, and with its own where none was', () => {
    expect(mindWith().models({ lead: '', agent: 'mine' })).toEqual({ kind: 'anthropic', leadModel: DEFAULT_MODELS.lead, agentModel: 'mine' });
    expect(mindWith({ models: { lead: 'a', agent: 'b' } }).models({ lead: '', agent: '' })).toEqual({ kind: 'anthropic', leadModel: 'a', agentModel: 'b' });
  });
});

describe('something that is not the Messages API', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address && typeof address === 'object') url = `http://127.0.0.1:${address.port}`;
  });
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

  it('is told apart from a model', async () => {
    const answer = await createAnthropicMind({ key: null, baseUrl: url }).answer(hello, { onText: () => undefined, signal: never });
    expect(answer).toMatchObject({ ok: false, error: { kind: 'upstream-broken', message: expect.stringMatching(/not the Messages API/) } });
  });
});
