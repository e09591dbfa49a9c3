/**
 * OpenAI's and Google's protocols, over HTTP: what is sent, what is read, and what a server may get
 * wrong.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createServedMind,
  type MindAnswer,
  type MindMessage,
  type MindRequest,
} from '../../../../server/agents/minds/index.ts';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import { startRawModel, type RawAnswer, type RawModel } from '../../../support/raw-model.ts';

const KEY = 'sk-of-the-household-1234567890';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const request: MindRequest = {
  priority: 'team',
  model: 'gpt-5-mini',
  system: 'You are a test.',
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hello?' }] }],
  tools: [
    { name: 'write_soul', description: 'Writes', properties: { text: { type: 'string' } }, required: ['text'] },
    { name: 'web_search', description: 'Searches', properties: {}, required: [], provider: 'web_search' },
  ],
  maxTokens: 1000,
};
const usage = { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 40 } };

const sse = (events: readonly unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const named = (events: readonly { readonly type: string; readonly [field: string]: unknown }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const chat = (chunks: readonly unknown[]): RawAnswer => ({ chunks: [`${sse(chunks)}data: [DONE]\n\n`] });
const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): RawAnswer => ({
  status,
  type: 'application/json',
  headers,
  chunks: [JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } })],
});

let model: RawModel;
beforeAll(async () => {
  model = await startRawModel(() => chat([]));
});
afterAll(() => model.close());

interface Heard {
  readonly answer: MindAnswer;
  readonly heard: string;
}
const PATHS: Readonly<Record<Protocol, string>> = { messages: '', chat: '/v1', responses: '/v1', google: '/v1beta' };
function mindOf(protocol: Protocol, key: string | null = KEY) {
  const mind = createServedMind({
    protocol,
    key,
    baseUrl: `${model.url}${PATHS[protocol]}`,
    queue: { breaks: 0, refusals: 0 },
  });
  return async (script: (order: number) => RawAnswer, more: Partial<MindRequest> = {}): Promise<Heard> => {
    const from = model.requests.length;
    model.follow(({ order }) => script(order - from));
    let heard = '';
    const answer = await mind.answer(
      { ...request, ...more },
      { onText: (text) => (heard += text), signal: AbortSignal.timeout(20_000) },
    );
    return { answer, heard };
  };
}
const sent = (back = 1) => JSON.parse(model.requests.at(-back)?.text ?? '') as Record<string, unknown>;

describe('Chat Completions', () => {
  it('sends words, pictures, calls and results, and requests the usage', async () => {
    const ask = mindOf('chat');
    const messages: MindMessage[] = [
      {
        role: 'user',
        blocks: [
          { kind: 'text', text: 'Look.' },
          { kind: 'picture', name: 'a.png', picture: { type: 'image/png', data: PIXEL } },
        ],
      },
      {
        role: 'assistant',
        blocks: [
          { kind: 'thinking', thinking: 'hm', signature: '' },
          { kind: 'text', text: 'I write.' },
          { kind: 'tool-use', toolUseId: 'call_1', name: 'write_soul', input: { text: 'x' } },
        ],
      },
      {
        role: 'user',
        blocks: [
          {
            kind: 'tool-result',
            toolUseId: 'call_1',
            text: 'Kept.',
            isError: false,
            picture: { type: 'image/png', data: PIXEL },
          },
          { kind: 'text', text: 'And now?' },
        ],
      },
    ];
    const { answer, heard } = await ask(
      () => chat([chunk({ content: 'Done' }), chunk({}, 'stop'), { choices: [], usage }]),
      { messages },
    );
    expect(heard).toBe('Done');
    expect(answer).toMatchObject({
      ok: true,
      stop: 'end',
      usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 20 },
    });
    expect(answer).not.toHaveProperty('untold');
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
    expect(sent()).toMatchObject({
      model: 'gpt-5-mini',
      max_tokens: 1000,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'You are a test.' },
        { role: 'user', content: [{ type: 'text', text: 'Look.' }, image] },
        {
          role: 'assistant',
          content: 'I write.',
          tool_calls: [{ id: 'call_1', function: { name: 'write_soul', arguments: '{"text":"x"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Kept.' },
        { role: 'user', content: [{ type: 'text', text: 'What write_soul showed:' }, image, { type: 'text' }] },
      ],
      tools: [{ type: 'function', function: { name: 'write_soul', parameters: { required: ['text'] } } }],
    });
    expect(model.requests.at(-1)?.text).not.toContain('reasoning');
  });

  it('sends no key without one, whatever the environment holds', async () => {
    const before = process.env['OPENAI_API_KEY'];
    process.env['OPENAI_API_KEY'] = 'sk-of-the-environment';
    const seen: (string | null)[] = [];
    const spy: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      seen.push(headers.get('authorization'), headers.get('x-goog-api-key'));
      return fetch(input, init);
    };
    try {
      for (const protocol of ['chat', 'responses', 'google'] as const) {
        const mind = createServedMind({ protocol, key: null, baseUrl: `${model.url}/v1`, fetch: spy });
        model.follow(() => refusal(400, 'no'));
        await mind.answer(request, { onText: () => undefined, signal: AbortSignal.timeout(5_000) });
      }
    } finally {
      if (before === undefined) delete process.env['OPENAI_API_KEY'];
      else process.env['OPENAI_API_KEY'] = before;
    }
    expect(new Set(seen)).toEqual(new Set([null]));
  });

  it.each<[string, RawAnswer, string]>([
    [
      'one whole answer',
      {
        type: 'application/json',
        chunks: [JSON.stringify({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], usage })],
      },
      'Hi',
    ],
    ['text in parts', chat([chunk({ content: [{ type: 'text', text: 'Hi' }] }), chunk({}, 'stop', { usage })]), 'Hi'],
    [
      'an odd role and odd fields',
      chat([chunk({ role: 7, content: 'Hi', refusal: false, tool_calls: null }), chunk({}, 'stop', { usage, id: 9 })]),
      'Hi',
    ],
    [
      'a chunk that is none',
      chat([null, 7, { choices: 'x' }, chunk({ content: 'Hi' }), chunk({}, 'stop', { usage })]),
      'Hi',
    ],
    ['a refusal', chat([chunk({ refusal: 'Hi' }), chunk({}, 'stop', { usage })]), 'Hi'],
    [
      'no blank lines',
      {
        chunks: [
          `data: ${JSON.stringify(chunk({ content: 'Hi' }))}\ndata: ${JSON.stringify(chunk({}, 'stop', { usage }))}\n\n`,
        ],
      },
      'Hi',
    ],
    [
      'a BOM, CRLF and comments',
      {
        chunks: [
          `\uFEFF: hello\r\n\r\ndata: ${JSON.stringify(chunk({ content: 'Hi' }))}\r\n\r\n: on\r\n\r\ndata: ${JSON.stringify(chunk({}, 'stop', { usage }))}\r\n\r\n`,
        ],
      },
      'Hi',
    ],
    [
      'a line that stays open',
      { ...chat([chunk({ content: 'Hi' }), chunk({}, 'stop', { usage })]), then: 'open' },
      'Hi',
    ],
  ])('reads %s', async (_what, answered, words) => {
    const { answer, heard } = await mindOf('chat')(() => answered);
    expect(answer.ok ? '' : answer.error.message).toBe('');
    expect(heard).toBe(words);
  });

  it.each<[string, readonly object[], readonly (readonly [string, unknown])[]]>([
    [
      'without ids',
      [{ index: 0, function: { name: 'write_soul', arguments: '{"text":"a"}' } }],
      [['write_soul', { text: 'a' }]],
    ],
    [
      'without indexes',
      [
        { id: 'a', function: { name: 'write_soul', arguments: '{"text":"a"}' } },
        { id: 'b', function: { name: 'write_soul', arguments: '{"text":"b"}' } },
      ],
      [
        ['write_soul', { text: 'a' }],
        ['write_soul', { text: 'b' }],
      ],
    ],
    [
      'with an input that is no text',
      [{ index: 0, id: 'a', function: { name: 'write_soul', arguments: { text: 'a' } } }],
      [['write_soul', { text: 'a' }]],
    ],
    ['without an input', [{ index: 0, id: 'a', function: { name: 'write_soul' } }], [['write_soul', {}]]],
  ])('reads calls %s, each once', async (_what, calls, expected) => {
    const { answer } = await mindOf('chat')(() =>
      chat([...calls.map((call) => chunk({ tool_calls: [call] })), chunk({}, 'tool_calls', { usage })]),
    );
    const found = answer.blocks.flatMap((block) => (block.kind === 'tool-use' ? [[block.name, block.input]] : []));
    expect(found).toEqual(expected);
    expect(answer).toMatchObject({ ok: true, stop: 'tools' });
  });

  it.each<[string, unknown]>([
    ['a text', { prompt_tokens: '12', completion_tokens: 3 }],
    ['an object', { prompt_tokens: {}, completion_tokens: 3 }],
    ['more than any model reads', { prompt_tokens: 2 ** 60, completion_tokens: 3 }],
    ['left out', undefined],
  ])('counts at the most where a count is %s', async (_what, counts) => {
    const { answer } = await mindOf('chat')(() =>
      chat([chunk({ content: 'Hi' }), chunk({}, 'stop', { usage: counts })]),
    );
    expect(answer).toMatchObject({ ok: true, untold: { input: true, output: true } });
  });

  it('says what a server says in mid-answer, and keeps the words before it', async () => {
    const { answer, heard } = await mindOf('chat')(() =>
      chat([chunk({ content: 'Half' }), { error: { message: `Provider broke, ${KEY}`, code: 502 }, choices: [] }]),
    );
    expect(heard).toBe('Half');
    expect(answer).toMatchObject({
      ok: false,
      error: { kind: 'stream-cut' },
      blocks: [{ kind: 'text', text: 'Half' }],
    });
    expect(JSON.stringify(answer)).toContain('Provider broke');
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  it.each<[string, RawAnswer, object]>([
    ['words', { chunks: [`${sse([chunk({ content: 'Whole' })])}data: [DONE]\n\n`] }, { stop: 'end' }],
    [
      'a call',
      {
        chunks: [
          `${sse([chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'write_soul', arguments: '{}' } }] })])}data: [DONE]`,
        ],
      },
      { stop: 'tools' },
    ],
    [
      'one message',
      { type: 'application/json', chunks: [JSON.stringify({ choices: [{ message: { content: 'Whole' } }] })] },
      { stop: 'end' },
    ],
  ])('takes %s as complete without a finish reason', async (_what, given, expected) => {
    const { answer } = await mindOf('chat')(() => given);
    expect(answer.ok ? '' : answer.error.message).toBe('');
    expect(answer).toMatchObject({ ok: true, ...expected });
  });

  it.each(['function_call_filter: MALFORMED_FUNCTION_CALL', 'insufficient_system_resource'])(
    'names the reason of an answer without content: %s',
    async (reason) => {
      const { answer } = await mindOf('chat')(() => chat([chunk({}, reason, { usage })]));
      expect(answer).toMatchObject({ ok: false, error: { kind: 'upstream-broken' } });
      expect(answer.ok ? '' : answer.error.message).not.toMatch(/Check the address|broke off/);
    },
  );

  it('counts an answer whose line dies as cut', async () => {
    const { answer, heard } = await mindOf('chat')(() => ({
      chunks: [sse([chunk({ content: 'Half' })])],
      then: 'cut',
    }));
    expect(heard).toBe('Half');
    expect(answer).toMatchObject({ ok: false, error: { kind: 'stream-cut' } });
  });

  it('asks for fewer tokens where fewer are taken, and remembers it', async () => {
    const ask = mindOf('chat');
    const most =
      'max_tokens is too large: 1000. This model supports at most 400 completion tokens, whereas you provided 1000.';
    const script = (order: number) =>
      order === 0 ? refusal(400, most) : chat([chunk({ content: 'Hi' }), chunk({}, 'length', { usage })]);
    expect((await ask(script)).answer).toMatchObject({ ok: true, stop: 'length', maxTokens: 400 });
    expect(sent()).toMatchObject({ max_tokens: 400 });
    await ask(() => chat([chunk({ content: 'Hi' }), chunk({}, 'stop', { usage })]));
    expect(sent()).toMatchObject({ max_tokens: 400 });
  });

  it('calls the limit as a model wants it called, and hands thoughts back where they are missed', async () => {
    const ask = mindOf('chat');
    const messages: MindMessage[] = [
      ...request.messages,
      {
        role: 'assistant',
        blocks: [
          { kind: 'thinking', thinking: 'hm', signature: '' },
          { kind: 'tool-use', toolUseId: 'c', name: 'write_soul', input: {} },
        ],
      },
      { role: 'user', blocks: [{ kind: 'tool-result', toolUseId: 'c', text: 'Kept.', isError: false }] },
    ];
    const { answer } = await ask(
      (order) =>
        [
          refusal(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
          ),
          refusal(400, 'Missing `reasoning_content` field in the assistant message at message index 2.'),
        ][order] ?? chat([chunk({ content: 'Hi' }), chunk({}, 'stop', { usage })]),
      { messages },
    );
    expect(answer.ok).toBe(true);
    expect(sent()).toMatchObject({ max_completion_tokens: 1000 });
    expect(sent()).not.toHaveProperty('max_tokens');
    expect(model.requests.at(-1)?.text).toContain('"reasoning_content":"hm"');
  });

  it.each<[string, RawAnswer, string, RegExp]>([
    [
      'no address',
      { status: 404, type: 'application/json', chunks: ['{"detail":"Not Found"}'] },
      'no-such-address',
      /no Chat Completions API under this address/,
    ],
    ['a key that is wrong', refusal(401, 'Incorrect API key provided'), 'bad-key', /did not accept/],
    ['no credit', refusal(402, 'Insufficient credits'), 'out-of-credit', /out of credit/],
    ['no model', refusal(404, 'The model `gpt-5-mini` does not exist'), 'no-such-model', /does not know the model/],
    [
      'a limit of the day',
      refusal(429, 'Rate limit reached on tokens per day (TPD): Limit 100000', { 'retry-after': '20000' }),
      'rate-limited',
      /Try again in 6 h\. It said: Rate limit reached on tokens per day/,
    ],
    [
      'a page',
      { type: 'text/html', chunks: ['<!DOCTYPE html><html></html>'] },
      'upstream-broken',
      /not the Chat Completions/,
    ],
    [
      'too much',
      refusal(400, "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens."),
      'too-large',
      /longer than the model can read/,
    ],
    [
      'an error with status 200',
      { type: 'application/json', chunks: ['{"error":"Unexpected endpoint or method. (POST /v1/chat/completions)"}'] },
      'upstream-broken',
      /Unexpected endpoint/,
    ],
  ])('tells %s from the others', async (_what, answered, kind, message) => {
    const { answer } = await mindOf('chat')(() => answered);
    expect(answer.ok ? null : answer.error.kind).toBe(kind);
    expect(answer.ok ? '' : answer.error.message).toMatch(message);
  });

  it('says that a key is needed where there is none', async () => {
    const { answer } = await mindOf('chat', null)(() => refusal(401, 'No auth credentials found'));
    expect(answer.ok ? '' : answer.error.message).toMatch(/needs a key/);
  });

  it('survives any stream: keeps shown words, and makes each call once', async () => {
    const ask = mindOf('chat');
    const piece = fc.oneof(
      fc.string({ maxLength: 8 }).map((content) => chunk({ content })),
      fc.jsonValue({ maxDepth: 3 }),
      fc.jsonValue({ maxDepth: 2 }).map((content) => chunk({ content })),
      fc
        .record({
          index: fc.jsonValue({ maxDepth: 1 }),
          id: fc.jsonValue({ maxDepth: 1 }),
          function: fc.jsonValue({ maxDepth: 2 }),
        })
        .map((call) => chunk({ tool_calls: [call] })),
      fc.constantFrom('stop', 'tool_calls', 7, {}).map((reason) => chunk({}, reason as string, { usage })),
      fc.jsonValue({ maxDepth: 2 }).map((odd) => chunk({ content: 'x' }, null, { usage: odd })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.boolean(), async (pieces, done) => {
        const { answer, heard } = await ask(() => ({ chunks: [sse(pieces), done ? 'data: [DONE]\n\n' : ''] }));
        const kept = answer.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('');
        expect(kept).toBe(heard);
        const ids = answer.blocks.flatMap((block) => (block.kind === 'tool-use' ? [block.toolUseId] : []));
        expect(new Set(ids).size).toBe(ids.length);
        if (!answer.ok) expect(answer.error.message).not.toBe('');
        for (const count of Object.values(answer.usage ?? {}))
          if (typeof count === 'number') expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

const conversation = (blocks: MindMessage['blocks']): MindMessage[] => [
  ...request.messages,
  { role: 'assistant', blocks },
  {
    role: 'user',
    blocks: blocks.flatMap((block) =>
      block.kind === 'tool-use'
        ? [{ kind: 'tool-result' as const, toolUseId: block.toolUseId, text: 'Kept.', isError: false }]
        : [],
    ),
  },
];

describe('Responses', () => {
  const item = (output_index: number, more: object) => ({ output_index, item: more });
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'write_soul' };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
  const answered = named([
    { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini', service_tier: null } },
    { type: 'response.output_item.added', ...item(0, { ...reasoning, encrypted_content: null }) },
    { type: 'response.output_item.done', ...item(0, { ...reasoning, encrypted_content: 'SEALED' }) },
    { type: 'response.output_item.added', ...item(1, { type: 'message', id: 'msg_1' }) },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'I write.' },
    { type: 'response.output_item.done', ...item(1, { type: 'message', id: 'msg_1' }) },
    { type: 'response.output_item.added', ...item(2, { ...call, arguments: '' }) },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: '{"text":"x"}' },
    { type: 'response.output_item.done', ...item(2, { ...call, arguments: '{"text":"x"}', status: 'completed' }) },
    {
      type: 'response.completed',
      response: {
        id: 'resp_1',
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 40 },
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 5 },
        },
      },
    },
  ]);

  it('reads words, calls and usage, keeps nothing there, and hands its sealed thoughts back', async () => {
    const ask = mindOf('responses');
    const { answer, heard } = await ask(() => ({ chunks: [answered] }));
    expect(answer.ok ? '' : answer.error.message).toBe('');
    expect(heard).toBe('I write.');
    expect(answer).toMatchObject({
      ok: true,
      stop: 'tools',
      usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 20 },
      blocks: [
        { kind: 'thinking' },
        { kind: 'text', text: 'I write.' },
        { kind: 'tool-use', name: 'write_soul', input: { text: 'x' } },
      ],
    });
    expect(sent()).toMatchObject({ store: false, max_output_tokens: 1000, include: ['reasoning.encrypted_content'] });
    await ask(() => ({ chunks: [answered] }), { messages: conversation(answer.blocks) });
    expect(sent()['input']).toMatchObject([
      {},
      { role: 'user' },
      { type: 'reasoning', encrypted_content: 'SEALED' },
      { role: 'assistant' },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Kept.' },
    ]);
    // Another model cannot open them.
    await ask(() => ({ chunks: [answered] }), { messages: conversation(answer.blocks), model: 'gpt-5' });
    expect(model.requests.at(-1)?.text).not.toContain('SEALED');
  });

  it('says what fails in mid-answer', async () => {
    const { answer } = await mindOf('responses')(() => ({
      chunks: [
        named([
          { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm' } },
          { type: 'response.failed', response: { error: { code: 'server_error', message: 'The model broke.' } } },
        ]),
      ],
    }));
    expect(answer.ok ? '' : answer.error.message).toContain('The model broke.');
  });
});

describe('Google’s own', () => {
  const part = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, ...more }],
  });
  const answered = sse([
    part([{ text: 'I write.' }]),
    {
      ...part([{ functionCall: { name: 'write_soul', args: { text: 'x' } }, thoughtSignature: 'c2VhbGVk' }], {
        finishReason: 'STOP',
      }),
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        candidatesTokenCount: 15,
        thoughtsTokenCount: 5,
        totalTokenCount: 120,
      },
    },
  ]);

  it('reads words, calls and usage, and hands the signature of a call back', async () => {
    const ask = mindOf('google');
    const { answer, heard } = await ask(() => ({ chunks: [answered] }), { model: 'gemini-3-flash-preview' });
    expect(answer.ok ? '' : answer.error.message).toBe('');
    expect(heard).toBe('I write.');
    expect(answer).toMatchObject({
      stop: 'tools',
      usage: { inputTokens: 60, cacheReadTokens: 40, outputTokens: 20 },
      blocks: [{ kind: 'text' }, { kind: 'tool-use', name: 'write_soul', input: { text: 'x' } }],
    });
    await ask(() => ({ chunks: [answered] }), {
      model: 'gemini-3-flash-preview',
      messages: conversation(answer.blocks),
    });
    expect(model.requests.at(-1)?.text).toContain('"thoughtSignature":"c2VhbGVk"');
    expect(sent()).toMatchObject({ systemInstruction: {}, generationConfig: { maxOutputTokens: 1000 } });
  });

  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 5, totalTokenCount: 105 };
  const ended = (reason: string, parts: readonly object[] = []): RawAnswer => ({
    chunks: [sse([{ ...part(parts, { finishReason: reason }), usageMetadata, responseId: 'r' }])],
  });

  it.each<[string, RegExp]>([
    ['MALFORMED_FUNCTION_CALL', /tool call/],
    ['UNEXPECTED_TOOL_CALL', /tool call/],
    ['TOO_MANY_TOOL_CALLS', /tool call/],
    ['MISSING_THOUGHT_SIGNATURE', /tool call/],
    ['MALFORMED_RESPONSE', /tool call/],
    ['OTHER', /reason: OTHER/],
    ['FINISH_REASON_UNSPECIFIED', /reason: FINISH_REASON_UNSPECIFIED/],
    ['NO_IMAGE', /reason: NO_IMAGE/],
    ['OF_NEXT_YEAR', /reason: OF_NEXT_YEAR/],
  ])('says why an answer without words ended with %s, and never that the address is wrong', async (reason, words) => {
    const before = model.requests.length;
    const { answer } = await mindOf('google')(() => ended(reason));
    expect(answer.ok ? '' : answer.error.message).toMatch(words);
    expect(answer.ok ? '' : answer.error.message).not.toContain('address');
    // A lost call is asked for once more.
    expect(model.requests.length - before).toBe(words.source === 'tool call' ? 2 : 1);
    const said = await mindOf('google')(() => ended(reason, [{ text: 'Hello.' }]));
    expect([said.heard, said.answer.ok]).toEqual(['Hello.', words.source !== 'tool call']);
  });

  it('continues when a lost call arrives with the second request', async () => {
    const { answer } = await mindOf('google')((order) =>
      order === 0 ? ended('MALFORMED_FUNCTION_CALL') : { chunks: [answered] },
    );
    expect(answer).toMatchObject({ ok: true, stop: 'tools' });
  });

  it.each([
    ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'],
    ...['IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
  ])('counts an answer that ended with %s as refused', async (reason) => {
    const { answer } = await mindOf('google')(() => ended(reason));
    expect(answer).toMatchObject({ ok: true, stop: 'refusal' });
  });

  it.each(['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY'])(
    'counts a prompt that is blocked for %s as refused',
    async (blockReason) => {
      const { answer } = await mindOf('google')(() => ({ chunks: [sse([{ promptFeedback: { blockReason } }])] }));
      expect(answer).toMatchObject({ ok: true, stop: 'refusal' });
    },
  );

  it('takes an answer as complete that ends without a reason, and knows one that was cut by its length', async () => {
    const whole = await mindOf('google')(() => ({ chunks: [sse([part([{ text: 'Whole.' }])])] }));
    expect(whole.answer).toMatchObject({ ok: true, stop: 'end' });
    expect((await mindOf('google')(() => ended('MAX_TOKENS', [{ text: 'Half' }]))).answer).toMatchObject({
      stop: 'length',
    });
  });

  it('reports a key refused with a 400 as not accepted', async () => {
    const { answer } = await mindOf('google')(() => ({
      status: 400,
      type: 'application/json',
      chunks: [
        JSON.stringify([
          {
            error: {
              code: 400,
              message: 'API key not valid. Please pass a valid API key.',
              status: 'INVALID_ARGUMENT',
            },
          },
        ]),
      ],
    }));
    expect(answer).toMatchObject({ ok: false, error: { kind: 'bad-key' } });
  });
});
