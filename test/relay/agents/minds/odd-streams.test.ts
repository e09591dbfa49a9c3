/**
 * Streams that no API documents, and that servers send all the same: what is wrong in one costs
 * that answer, and no word of it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAnthropicMind,
  type Mind,
  type MindAnswer,
  type MindRequest,
} from '../../../../server/agents/minds/index.ts';
import {
  adds,
  answers,
  begins,
  calls,
  ends,
  opens,
  OVER,
  says,
  startRawModel,
  stops,
  written,
  type RawAnswer,
  type RawModel,
  type StreamEvent,
} from '../../../support/raw-model.ts';

const hello: MindRequest = {
  priority: 'team',
  model: 'qwen3:8b',
  system: 'You are a test.',
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hello?' }] }],
  tools: [{ name: 'write_file', description: 'Writes', properties: {}, required: [] }],
  maxTokens: 1000,
};

let model: RawModel;
let mind: Mind;
beforeAll(async () => {
  model = await startRawModel(() => answers([]));
  mind = createAnthropicMind({ key: null, baseUrl: model.url, queue: { breaks: 0, refusals: 0 } });
});
afterAll(async () => {
  await mind.close();
  await model.close();
});

async function ask(answer: RawAnswer): Promise<{ readonly answer: MindAnswer; readonly heard: string }> {
  model.follow(() => answer);
  let heard = '';
  const told = await mind.answer(hello, { onText: (text) => (heard += text), signal: new AbortController().signal });
  return { answer: told, heard };
}
const stream = (...events: readonly StreamEvent[]): RawAnswer => ({ chunks: [written(events)] });
const textIn = ({ blocks }: MindAnswer) => blocks.flatMap((each) => (each.kind === 'text' ? [each.text] : [])).join('');
const callsIn = ({ blocks }: MindAnswer) => blocks.filter(({ kind }) => kind === 'tool-use');

describe('Words', () => {
  const HELLO = written([begins(), ...says(0, 'Grüße 🪺 aus dem Nest'), ends(), OVER]);
  const bytes = new TextEncoder().encode(HELLO);
  const json = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'raw',
    content: [{ type: 'text', text: 'Grüße 🪺 aus dem Nest' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
  };
  it.each<[string, RawAnswer]>([
    ['lines that end in CRLF', { chunks: [HELLO.replaceAll('\n', '\r\n')] }],
    ['lines that end in CR', { chunks: [HELLO.replaceAll('\n', '\r')] }],
    ['a byte order mark', { chunks: [`\ufeff${HELLO}`] }],
    ['comments between events', { chunks: [HELLO.replaceAll('\n\n', '\n: still here\n\n: and here\n\n')] }],
    ['no event lines', { chunks: [HELLO.replaceAll(/^event: .*\n/gm, '')] }],
    ['event lines of another name', { chunks: [HELLO.replaceAll(/^event: .*$/gm, 'event: message')] }],
    ['types in the event lines alone', { chunks: [HELLO.replaceAll(/"type":"(?:message|content_block)_\w+",?/g, '')] }],
    ['no blank between the field and its value', { chunks: [HELLO.replaceAll(': ', ':')] }],
    ['every byte in a chunk of its own', { chunks: Array.from(bytes, (byte) => Uint8Array.of(byte)) }],
    ['no blank line at the end', { chunks: [HELLO.trimEnd()] }],
    ['[DONE] at the end', { chunks: [`${HELLO}data: [DONE]\n\n`] }],
    ['a line that stays open', { chunks: [HELLO], then: 'open' }],
    [
      'a line that stays open, and no last event',
      { chunks: [HELLO.slice(0, HELLO.lastIndexOf('event:'))], then: 'open' },
    ],
    ['a plain JSON answer', { chunks: [JSON.stringify(json)], type: 'application/json' }],
    ['a plain JSON answer that is called a stream', { chunks: ['\ufeff \n', JSON.stringify(json, null, 2)] }],
  ])('reads all words with %s', async (_what, answer) => {
    const told = await ask(answer);
    expect(told).toMatchObject({ heard: 'Grüße 🪺 aus dem Nest', answer: { ok: true, stop: 'end' } });
    expect(textIn(told.answer)).toBe(told.heard);
  });

  it('reads words at the start of a block, and of a block that never began or has ended', async () => {
    const told = await ask(
      stream(
        begins(),
        opens(0, { type: 'text', text: 'One ' }),
        adds(0, { type: 'text_delta', text: 'two ' }),
        stops(0),
        adds(0, { type: 'text_delta', text: 'three ' }),
        adds(7, { type: 'text_delta', text: 'four' }),
        ends(),
        OVER,
      ),
    );
    expect(told).toMatchObject({ heard: 'One two three four', answer: { ok: true } });
    expect(textIn(told.answer)).toBe(told.heard);
  });

  it('sends two interleaved blocks back as they were shown', async () => {
    const told = await ask(
      stream(
        begins(),
        opens(0, { type: 'text', text: '' }),
        opens(1, { type: 'text', text: '' }),
        adds(0, { type: 'text_delta', text: 'a' }),
        adds(1, { type: 'text_delta', text: 'b' }),
        adds(0, { type: 'text_delta', text: 'c' }),
        stops(1),
        stops(0),
        ends(),
        OVER,
      ),
    );
    expect(told.heard).toBe('abc');
    expect(textIn(told.answer)).toBe('abc');
  });

  it('keeps the words of a stream that ends early, and says so', async () => {
    const told = await ask(
      stream(begins(), opens(0, { type: 'text', text: '' }), adds(0, { type: 'text_delta', text: 'I was' })),
    );
    expect(told).toMatchObject({ heard: 'I was', answer: { ok: false, error: { kind: 'stream-cut' } } });
    expect(textIn(told.answer)).toBe('I was');
  });
});

describe('A call of a tool', () => {
  const call = (id: unknown, name: string) => ({
    type: 'tool_use',
    ...(id === undefined ? {} : { id }),
    name,
    input: {},
  });
  const part = (json: string) => ({ type: 'input_json_delta', partial_json: json });

  it('makes one call of a block that ends twice', async () => {
    const { answer } = await ask(
      stream(begins(), ...calls(0, 'a', 'write_file', '{"n":1}'), stops(0), ends('tool_use'), OVER),
    );
    expect(callsIn(answer)).toEqual([{ kind: 'tool-use', toolUseId: 'a', name: 'write_file', input: { n: 1 } }]);
  });

  it('keeps a call apart from one that begins before it ends', async () => {
    const { answer } = await ask(
      stream(
        begins(),
        opens(0, call('a', 'write_file')),
        opens(1, call('b', 'write_file')),
        adds(0, part('{"n":')),
        adds(1, part('{"n":2}')),
        adds(0, part('0}')),
        stops(0),
        stops(1),
        ends('tool_use'),
        OVER,
      ),
    );
    expect(callsIn(answer)).toMatchObject([
      { toolUseId: 'a', input: { n: 0 } },
      { toolUseId: 'b', input: { n: 2 } },
    ]);
  });

  it('completes a call without its end, at any index, in any order', async () => {
    const { answer } = await ask(
      stream(
        begins(),
        opens(9, call('a', 'write_file')),
        adds(9, part('{"n":9}')),
        opens(-3, call('b', 'write_file')),
        adds(-3, part('{}')),
        ends('tool_use'),
        OVER,
      ),
    );
    expect(answer).toMatchObject({ ok: true, stop: 'tools' });
    expect(callsIn(answer)).toMatchObject([{ toolUseId: 'a', input: { n: 9 } }, { toolUseId: 'b' }]);
  });

  it('gives a call a missing id, and a new one instead of a repeated one', async () => {
    const { answer } = await ask(
      stream(
        begins(),
        ...calls(0, undefined, 'write_file', '{"n":0}'),
        ...calls(1, 7, 'write_file', '{"n":1}'),
        ...calls(2, 'same', 'write_file', '{"n":2}'),
        ...calls(3, 'same', 'write_file', '{"n":3}'),
        ends('tool_use'),
        OVER,
      ),
    );
    const found = callsIn(answer).map((each) => (each.kind === 'tool-use' ? each.toolUseId : ''));
    expect(new Set(found).size).toBe(4);
    for (const id of found) expect(id).toMatch(/^[\w-]+$/);
  });

  it('makes one call of two that are equal word for word', async () => {
    const { answer } = await ask(
      stream(
        begins(),
        ...calls(0, 'a', 'write_file', '{"n":1}'),
        ...calls(0, 'a', 'write_file', '{"n":1}'),
        ends('tool_use'),
        OVER,
      ),
    );
    expect(callsIn(answer)).toHaveLength(1);
  });

  it("reads a call's input from its start, or as text within text", async () => {
    const { answer } = await ask(
      stream(
        begins(),
        opens(0, { type: 'tool_use', id: 'a', name: 'write_file', input: { n: 1 } }),
        stops(0),
        ...calls(1, 'b', 'write_file', JSON.stringify('{"n":2}')),
        ends('tool_use'),
        OVER,
      ),
    );
    expect(callsIn(answer)).toMatchObject([{ input: { n: 1 } }, { input: { n: 2 } }]);
  });

  it('reports input that is no JSON to the model as such', async () => {
    const { answer } = await ask(
      stream(begins(), ...says(0, 'I am'), ...calls(1, 'a', 'write_file', '{"n": oh dear'), ends('tool_use'), OVER),
    );
    expect(answer).toMatchObject({
      ok: true,
      stop: 'tools',
      blocks: [
        { kind: 'text', text: 'I am' },
        { kind: 'tool-use', input: {}, unreadable: expect.stringMatching(/is not JSON/) },
      ],
    });
  });
});

describe('A server', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  it('stops reading a server that sends too much of anything', async () => {
    const told = await ask(
      stream(begins(), ...says(0, 'Hi.'), ...calls(1, 'a', 'write_file', deep(50_000)), ends('tool_use'), OVER),
    );
    expect(callsIn(told.answer)).toMatchObject([{ input: {}, unreadable: expect.stringMatching(/levels deep/) }]);
    const body = `event: error\ndata: {"type":"error","error":{"type":"api_error","message":${deep(50_000)}}}\n\n`;
    for (const answer of [{ chunks: [written([begins(), ...says(0, 'Hi.')]), body] }, { chunks: [body] }])
      expect((await ask(answer)).answer).toMatchObject({ ok: false });
    const refusal = { status: 400, type: 'application/json', chunks: ['x'.repeat(3_000_000)] };
    expect((await ask(refusal)).answer).toMatchObject({ ok: false, error: { kind: 'refused-request' } });
    const ids = Array.from({ length: 3_000 }, (_none, i) => calls(i, `id-${i}`, 'write_file', '{}')).flat();
    const { answer } = await ask(stream(begins(), ...ids, ends('tool_use'), OVER));
    expect(callsIn(answer)).toHaveLength(2_000);
  });

  it.each<[string, RawAnswer, string, RegExp]>([
    ['a page', { chunks: ['<h1>It works!</h1>'], type: 'text/html' }, 'upstream-broken', /not the Messages API/],
    ['nothing', { chunks: [] }, 'upstream-broken', /not the Messages API/],
    [
      'JSON of something else',
      { chunks: ['{"object":"chat.completion","choices":[]}'] },
      'upstream-broken',
      /not the Messages API/,
    ],
    [
      'half a JSON answer',
      { chunks: ['{"type":"message","content":[{"ty'] },
      'upstream-broken',
      /not the Messages API/,
    ],
    [
      'an error with a good status',
      { chunks: ['{"type":"error","error":{"type":"overloaded_error","message":"later"}}'], type: 'application/json' },
      'overloaded',
      /is busy/,
    ],
    [
      'an error of another protocol',
      { chunks: ['data: {"error":{"message":"model not loaded"}}\n\n'] },
      'upstream-broken',
      /model not loaded/,
    ],
    [
      'an error that is a text',
      { chunks: ['event: error\ndata: out of memory\n\n'] },
      'upstream-broken',
      /out of memory/,
    ],
    [
      'an event that is torn',
      {
        chunks: [
          written([begins(), ...says(0, 'I was')]),
          'data: {"type":"content_block_delta","ind\n\n',
          written([ends(), OVER]),
        ],
      },
      'stream-cut',
      /broke off/,
    ],
    [
      'an end without its beginning, and a line that dies',
      { chunks: [written([opens(0, { type: 'text', text: 'I was' })])], then: 'cut' },
      'stream-cut',
      /broke off/,
    ],
    [
      'a call of which only the input came',
      stream(begins(), adds(0, { type: 'input_json_delta', partial_json: '{}' }), ends('tool_use'), OVER),
      'upstream-broken',
      /often a tool call/,
    ],
  ])('reports a server that sends %s as such', async (_what, answer, kind, message) => {
    const told = await ask(answer);
    expect(told.answer).toMatchObject({ ok: false, error: { kind, message: expect.stringMatching(message) } });
    expect(textIn(told.answer)).toBe(told.heard);
  });

  it('whose line dies behind the end of its answer has answered', async () => {
    const told = await ask({ chunks: [written([begins(), ...says(0, 'Done.'), ends()])], then: 'cut' });
    expect(told).toMatchObject({ heard: 'Done.', answer: { ok: true, stop: 'end', usage: { outputTokens: 5 } } });
  });
});

describe('A thought', () => {
  it('accepts a thought without a signature', async () => {
    const { answer } = await ask(
      stream(
        begins(),
        opens(0, { type: 'thinking', thinking: '' }),
        adds(0, { type: 'thinking_delta', thinking: 'Hm.' }),
        stops(0),
        ...says(1, 'Hi.'),
        ends(),
        OVER,
      ),
    );
    expect(answer).toMatchObject({
      ok: true,
      stop: 'end',
      blocks: [
        { kind: 'thinking', signature: '' },
        { kind: 'text', text: 'Hi.' },
      ],
    });
  });
});

describe('What an answer says that it took', () => {
  it.each([
    ['"12"', '12'],
    ['{}', {}],
    ['2⁶⁴−1', 2 ** 64 - 1],
    ['-5', -5],
    ['2.5', 2.5],
    ['true', true],
    ['[]', []],
  ])('counts the usage as unknown when the answer says %s', async (_what, count) => {
    const { answer } = await ask(
      stream(
        begins({ model: { name: 'x' }, usage: { input_tokens: count, output_tokens: count } }),
        ...says(0, 'Hi.'),
        ends('end_turn', { output_tokens: count }),
        OVER,
      ),
    );
    expect(answer).toMatchObject({
      ok: true,
      usage: { model: 'qwen3:8b', inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      untold: { input: true, output: true },
    });
  });
});
