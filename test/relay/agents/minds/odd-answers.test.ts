/**
 * What an odd answer of a model costs: its own turn, with a sentence that says why. The session,
 * the seat and the words stay.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createAnthropicMind,
  type Mind,
  type MindAnswer,
  type MindTool,
} from '../../../../server/agents/minds/index.ts';
import type { OwnTools } from '../../../../server/agents/runs/toolbox.ts';
import { isLeakedCall } from '../../../../server/agents/runs/answer.ts';
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
import { agentRun } from '../../../support/runs.ts';
import { openSessionBench, payload, wordsOf, type Bench, type Household } from '../../../support/session.ts';

let bench: Bench;
let model: RawModel;
let mind: Mind;
beforeAll(async () => {
  bench = await openSessionBench();
  model = await startRawModel(() => answers(says(0, 'Hello.')));
  mind = createAnthropicMind({ key: null, baseUrl: model.url, queue: { breaks: 0, refusals: 0 } });
});
afterEach(() => {
  model.follow(() => answers(says(0, 'Hello.')));
});
afterAll(async () => {
  await bench.close();
  await mind.close();
  await model.close();
});

const stream = (...events: readonly StreamEvent[]): RawAnswer => ({ chunks: [written(events)] });
const thinks: readonly StreamEvent[] = [
  opens(0, { type: 'thinking', thinking: '' }),
  adds(0, { type: 'thinking_delta', thinking: 'Hm.' }),
  stops(0),
];

/** What the lead answers to `text`, in a session of its own. */
async function ask(house: Household, text = 'Are you there?') {
  const before = house.of('message').filter(({ author }) => author === 'lead').length;
  await house.post({ text });
  await house.until(() => house.of('message').filter(({ author }) => author === 'lead').length > before);
  const message = house.of('message').findLast(({ author }) => author === 'lead');
  if (!message) throw new Error('The lead said nothing.');
  return message;
}
/** The next requests are answered by these, in turn; all later ones by the last. */
function follow(...replies: readonly RawAnswer[]) {
  const begun = model.requests.length;
  model.follow(({ order }) => replies[Math.min(order - begun, replies.length - 1)] ?? answers([]));
  return () => model.requests.length - begun;
}

/** A run with one tool, `write_file`, which notes what it was called with. */
async function work(house: Household, run: OwnTools['run'] = () => ({ text: 'Written.', isError: false })) {
  const ran: unknown[] = [];
  const definitions: readonly MindTool[] = [
    { name: 'write_file', description: 'Writes a file', properties: { name: { type: 'string' } }, required: [] },
  ];
  const own: OwnTools = {
    definitions,
    run(name, input, signal, answer) {
      ran.push(input);
      return run(name, input, signal, answer);
    },
  };
  const started = await house.team.runs.start(agentRun(mind, { tools: { own, team: [] } }));
  if (!started.ok) throw new Error(started.refusal.why);
  const end = await started.run.whenEnded;
  return { ran, end };
}

describe('An answer', () => {
  it.each<[string, RawAnswer]>([
    ['that is empty', answers([])],
    ['of blanks', answers(says(0, ' \n\t'))],
    ['with an empty block', answers(says(0, ''))],
    ['that is no stream of events at all, but ends well', stream(begins(), ends(), OVER)],
  ])('%s is asked for once more, and is no answer where that is the same', async (_what, nothing) => {
    const house = await bench.open({ mind });
    await house.start();
    const asked = follow(nothing, answers(says(0, 'Here.')));
    expect(await ask(house)).toMatchObject({ status: 'complete', error: null });
    expect(asked()).toBe(2);
    const again = follow(nothing);
    expect(await ask(house)).toMatchObject({ status: 'failed', error: 'It answered, but said nothing.' });
    expect(again()).toBe(2);
    follow(answers(says(0, 'There.')));
    expect(wordsOf(await ask(house))).toBe('There.');
  });

  it('treats an answer of thoughts alone as empty, and pays for it once', async () => {
    const house = await bench.open({ mind });
    await house.start();
    const asked = follow(answers(thinks));
    expect(await ask(house)).toMatchObject({ status: 'failed', error: 'It answered, but said nothing.' });
    expect(asked()).toBe(1);
  });

  it('accepts an unsigned thought, and does not send it back', async () => {
    const house = await bench.open({ mind });
    await house.start();
    follow(answers([...thinks, ...says(1, 'Yes.')]));
    expect(await ask(house)).toMatchObject({ status: 'complete' });
    follow(answers(says(0, 'Still here.')));
    expect(wordsOf(await ask(house))).toBe('Still here.');
    expect(model.requests.at(-1)?.text).not.toContain('thinking');
    expect(house.of('session-ended')).toEqual([]);
  });

  it('counts an agent as awake after a wake with an unsigned thought', async () => {
    const house = await bench.open({ mind });
    await house.start();
    follow(answers([...thinks, ...says(1, 'Good morning.')]));
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-awake')).toHaveLength(2);
    await house.untilQuiet();
  });

  it('stores usage in odd forms so that it can be read again', async () => {
    const house = await bench.open({ mind });
    await house.start();
    const odd = [{ input_tokens: '12', output_tokens: {} }, { input_tokens: 2 ** 64 - 1 }, 'many', [3]];
    follow(
      ...odd.map((usage) =>
        stream(begins({ model: { a: 1 }, usage }), ...says(0, 'Hi.'), ends('end_turn', usage), OVER),
      ),
    );
    for (let n = 0; n < odd.length; n++) expect(await ask(house)).toMatchObject({ status: 'complete' });
    const stored = await house.log.read(0, 10_000);
    expect(stored.filter(({ event }) => event.kind === 'message' && event.author === 'lead')).toHaveLength(odd.length);
    const { today } = await house.team.costs.report(1);
    expect(Number.isSafeInteger(today.costMicroUsd)).toBe(true);
    expect(today.estimated).toBe(true);
  });
});

describe('A run', () => {
  it('runs each of two calls that are written at once, once', async () => {
    const house = await bench.open({ mind });
    const part = (json: string) => ({ type: 'input_json_delta', partial_json: json });
    const call = (id: string) => ({ type: 'tool_use', id, name: 'write_file', input: {} });
    follow(
      stream(
        begins(),
        opens(0, call('a')),
        opens(1, call('b')),
        adds(1, part('{"name":"one"}')),
        adds(0, part('{"name":"zero"}')),
        stops(0),
        stops(0),
        stops(1),
        stops(1),
        ends('tool_use'),
        OVER,
      ),
      answers(says(0, 'Done.')),
    );
    expect(await work(house)).toMatchObject({
      ran: [{ name: 'zero' }, { name: 'one' }],
      end: { outcome: 'done', reason: null },
    });
  });

  it('reports an unreadable call to its model, runs the next, and fails after a few', async () => {
    const house = await bench.open({ mind });
    const bad = answers(calls(0, 'a', 'write_file', '{"name": oh'), 'tool_use');
    const asked = follow(
      bad,
      answers(calls(0, 'b', 'write_file', '{"name":"x"}'), 'tool_use'),
      answers(says(0, 'Done.')),
    );
    expect(await work(house)).toMatchObject({ ran: [{ name: 'x' }], end: { outcome: 'done' } });
    expect(asked()).toBe(3);
    expect(model.requests.at(-2)?.text).toContain('its input is not JSON');
    const again = follow(bad);
    expect(await work(house)).toMatchObject({
      ran: [],
      end: { outcome: 'failed', reason: expect.stringContaining('in a row that cannot be read') },
    });
    expect(again()).toBe(2);
  });

  it('fails a run that ends without text after a tool error', async () => {
    const house = await bench.open({ mind });
    const call = answers(calls(0, 'a', 'write_file', '{"name":"x"}'), 'tool_use');
    follow(call, answers([]));
    expect(await work(house, () => ({ text: 'The disk is full.', isError: true }))).toMatchObject({
      end: { outcome: 'failed', reason: 'It said nothing after write_file had failed.' },
    });
    follow(call, answers([]));
    expect(await work(house)).toMatchObject({ ran: [{ name: 'x' }], end: { outcome: 'done', reason: null } });
  });

  it('prices a run by the requested model, whatever the answer names', async () => {
    const house = await bench.open({ mind });
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    await house.team.costs.setPrices([
      { model: 'qwen3:8b', ...free },
      { model: '*', input: 25, output: 125, cacheRead: 2.5, cacheWrite: 31.25 },
    ]);
    follow(stream(begins({ model: 'claude-opus-5-5' }), ...says(0, 'Hi.'), ends(), OVER));
    const asked = agentRun(mind, { mind: { answers: mind, model: 'qwen3:8b' } });
    const started = await house.team.runs.start(asked);
    if (!started.ok) throw new Error(started.refusal.why);
    expect(await started.run.whenEnded).toMatchObject({ outcome: 'done', costMicroUsd: 0, estimated: false });
  });

  it('whose model writes its call as text is not done, and runs nothing', async () => {
    const house = await bench.open({ mind });
    follow(
      answers(
        says(0, 'I will write it.\n<tool_call>\n{"name": "write_file", "arguments": {"name": "x"}}\n</tool_call>'),
      ),
    );
    const { ran, end } = await work(house);
    expect(ran).toEqual([]);
    expect(end).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('wrote a tool call as text') });
    const words = house.of('message').findLast(({ author }) => author === 'agent-a');
    expect(wordsOf(words)).toContain('<tool_call>');
  });
});

describe('A call of a tool as text', () => {
  const tools = new Set(['write_file', 'choose_name']);
  it.each([
    '<tool_call>{"name": "write_file", "arguments": {}}</tool_call>',
    '<tool_call>\n{"name": "write_file", "arguments": {"a": {"b": 1}}}',
    'I will do it.\n\n<tool_call>write_file\n<arg_key>name</arg_key>\n<arg_value>x</arg_value>\n</tool_call>',
    '<tool_call>\n<function=write_file>\n<parameter=name>\nx\n</parameter>\n</function>\n</tool_call>',
    '<function=write_file>{"name": "x"}</function>',
    '<|python_tag|>{"name": "write_file", "parameters": {}}',
    '<|python_tag|>write_file.call(name="x")',
    '[TOOL_CALLS] [{"name": "write_file", "arguments": {}}]',
    '[TOOL_CALLS]write_file{"name": "x"}',
    '[TOOL_CALLS]write_file[ARGS]{"name": "x"}',
    '<|tool_call|>[{"name": "write_file", "arguments": {}}]<|/tool_call|>',
    '<function_calls>\n<invoke name="write_file">\n<parameter name="name">x</parameter>\n</invoke>\n</function_calls>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{"name": "x"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
    '<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>{"name": "x"}',
    '```json\n{"name": "write_file", "arguments": {}}\n```',
    'Sure:\n```json {"name":"write_file","arguments":{"name":"x"}}```',
    '```tool_code\nwrite_file(name="x")\n```',
    '{"name": "choose_name", "parameters": {"name": "Wren"}}',
    '[{"name": "write_file", "arguments": "{}"}]',
    'My name is Wren.\n\n{"name": "choose_name", "arguments": {"name": "Wren"}}',
    '{"type": "function", "function": {"name": "write_file", "arguments": {}}}',
  ])('recognises a tool call written as text: %s', (text) => {
    expect(isLeakedCall(text, tools)).toBe(true);
    expect(isLeakedCall(text, new Set())).toBe(false);
  });

  it.each([
    'Models write `<tool_call>{"name": "write_file"}</tool_call>`.',
    'Qwen writes this:\n```\n<tool_call>{"name": "other", "arguments": {}}</tool_call>\n```',
    'It begins with <tool_call> and ends with </tool_call>, and Mistral has [TOOL_CALLS] instead.',
    'Here is the file:\n```json\n{"name": "roost", "version": "1.0.0"}\n```',
    'Here is an example:\n```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
    '{"name": "roost", "private": true}',
    'I have written the file (twice).',
    'See [the list]',
    '',
  ])('sees no tool call in: %s', (text) => {
    expect(isLeakedCall(text, tools)).toBe(false);
  });
});

describe('A mistake of ours in an answer', () => {
  const info = { kind: 'anthropic', leadModel: 'm', agentModel: 'm' } as const;
  const ok = (blocks: MindAnswer['blocks'], stop: 'end' | 'tools' = 'end'): MindAnswer => ({
    ...{ ok: true, blocks, stop },
    usage: { model: 'm', inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
  });
  /** What a mind would never say that does what its type says. */
  const wrong = (answer: unknown) => answer as MindAnswer;
  const odd = (replies: readonly (() => MindAnswer)[]): Mind => {
    let asked = 0;
    return {
      models: () => info,
      answer(_request, { onText }) {
        const reply = replies[Math.min(asked++, replies.length - 1)];
        onText('So: ');
        return Promise.resolve().then(() => reply?.() ?? ok([]));
      },
      close: () => Promise.resolve(),
    };
  };
  const fine = () => ok([{ kind: 'text', text: 'So: ' }]);

  it.each<[string, () => MindAnswer]>([
    [
      'that is thrown',
      () => {
        throw new TypeError('undefined is not an object');
      },
    ],
    [
      'that leaves a block without what it is read by',
      () => wrong(ok([wrong({ kind: 'web', block: undefined }) as never])),
    ],
    [
      'that leaves a thought without its parts',
      () => wrong(ok([wrong({ kind: 'thinking' }) as never, { kind: 'text', text: 'x' }])),
    ],
    ['that no event can hold', () => wrong(ok([wrong({ kind: 'tool-use', name: 7, input: {} }) as never], 'tools'))],
    [
      'in what it took',
      () => wrong({ ...ok([{ kind: 'text', text: 'So: ' }]), usage: { model: 'm', inputTokens: 'x' } }),
    ],
  ])('%s costs that answer, and keeps its words', async (_what, reply) => {
    const house = await bench.open({ mind: odd([reply, fine]), onError: 'expected' });
    await house.start();
    expect(await ask(house)).toMatchObject({ blocks: [{ kind: 'text', text: 'So: ' }] });
    expect(await ask(house)).toMatchObject({ status: 'complete', blocks: [{ kind: 'text', text: 'So: ' }] });
    expect(house.of('session-ended')).toEqual([]);
    // Everything that was written can be read.
    expect(await house.log.read(0, 10_000)).toHaveLength(house.stored.length);
  });
});
