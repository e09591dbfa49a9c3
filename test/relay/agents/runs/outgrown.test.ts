/**
 * Conversations that are longer than their model reads: before a strict model that refuses them as
 * the real ones do.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Reply, Script, ScriptedRequest } from '../../../support/scripted-model.ts';
import { teamScript } from '../../../support/scripted-model.ts';
import { openSessionBench, payload, wordsOf, type Bench, type Household } from '../../../support/session.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openSessionBench();
});
afterAll(() => bench.close());

/**
 * Characters of the whole request, as the strict model counts them: what stands before the
 * conversation takes about half of 40,000.
 */
const charactersOf = ({ body }: ScriptedRequest) => JSON.stringify(body).length;
const REFUSALS: Readonly<Record<string, (characters: number, most: number) => Reply>> = {
  'as Anthropic says it': (characters, most) => ({
    fail: {
      status: 400,
      type: 'invalid_request_error',
      message: `prompt is too long: ${Math.ceil(characters / 4)} tokens > ${Math.floor(most / 4)} maximum`,
    },
  }),
  'as vLLM says it': (characters, most) => ({
    fail: {
      status: 400,
      type: 'BadRequestError',
      message: `This model's maximum context length is ${Math.floor(most / 4)} tokens. However, your messages resulted in ${Math.ceil(characters / 4)} tokens.`,
    },
  }),
  'as llama.cpp says it': () => ({
    fail: {
      status: 400,
      type: 'exceed_context_size_error',
      message: 'the request exceeds the available context size, try increasing it',
    },
  }),
  'as a proxy says it': () => ({
    fail: { status: 413, type: 'request_too_large', message: 'Request Entity Too Large' },
  }),
};
/** Refuses everybody's requests over `most` characters. */
function strict(most: number, usual: Script, refuse = REFUSALS['as Anthropic says it']): Script {
  return (request) => {
    const characters = charactersOf(request);
    return characters > most && refuse ? refuse(characters, most) : usual(request);
  };
}
const answersOf = (house: Household, agentId: string) => house.of('message').filter(({ author }) => author === agentId);
const failedOf = (house: Household) => house.of('message').filter(({ status }) => status !== 'complete');
const saying = (text: string): Script => {
  const usual = teamScript();
  return (request) => (request.seat === 1 && request.body.messages.length > 1 ? [{ say: text }] : usual(request));
};
async function sayTo(house: Household, agentId: string, text: string): Promise<void> {
  const before = answersOf(house, agentId).length;
  expect(await house.post({ text, ...(agentId === 'lead' ? {} : { to: agentId }) })).toMatchObject({ ok: true });
  await house.until(() => answersOf(house, agentId).length > before);
}
async function wakeOne(house: Household): Promise<void> {
  await house.wake([payload(0)]);
  await house.until(() => answersOf(house, 'agent-0').length === 1);
  await house.untilQuiet();
}

it.each(Object.keys(REFUSALS))(
  'continues with a summary of its oldest part when its model refuses it %s',
  async (how) => {
    const house = await bench.open({ script: strict(45_000, saying('y'.repeat(1_000)), REFUSALS[how]) });
    await house.start();
    await wakeOne(house);
    for (let turn = 0; turn < 20; turn++) await sayTo(house, 'agent-0', `turn ${turn} ${'x'.repeat(1_500)}`);
    expect(failedOf(house)).toEqual([]);
    const said = house.requestsOf(1).at(-1);
    expect(said?.last).toContain('turn 19 ');
    expect(said?.system).toContain('I am the one in place 0.');
    expect(said?.first).toContain('Its older part is replaced by your own summary.');
    // Once it has been refused, it is asked with less: not every turn is refused first.
    expect(house.requestsOf(1).length).toBeLessThan(21 + 10);
    const lines = house.of('message').filter(({ author, agentId }) => author === 'relay' && agentId === 'agent-0');
    expect(lines.filter(({ compaction }) => compaction !== undefined)).not.toEqual([]);
    expect(lines.filter(({ compaction }) => compaction === undefined).map(wordsOf)).toEqual([]);
    await house.close();
  },
);

it('leaves out nothing of a conversation that fits', async () => {
  const house = await bench.open({ script: strict(200_000, saying('y'.repeat(1_000))) });
  await house.start();
  await wakeOne(house);
  for (let turn = 0; turn < 10; turn++) await sayTo(house, 'agent-0', `turn ${turn} ${'x'.repeat(1_000)}`);
  expect(house.requestsOf(1).at(-1)?.body.messages).toHaveLength(21);
  await house.close();
});

it('reads all of 36 waiting messages of 100,000 characters, and continues', async () => {
  const house = await bench.open({ script: strict(85_000, teamScript()) });
  await house.start();
  for (let n = 0; n < 36; n++)
    expect(
      await house.inbox.put({
        messageId: `message-${n}`,
        to: 'agent-0',
        from: `agent-${1 + (n % 4)}`,
        text: `Letter ${n}. ${'z'.repeat(99_980)}`,
        time: n + 1,
        priority: 'normal',
        threadId: null,
      }),
    ).toBeNull();
  await wakeOne(house);
  for (let turn = 0; turn < 36; turn++) await sayTo(house, 'agent-0', `turn ${turn}`);
  expect(failedOf(house)).toEqual([]);
  const requests = house.requestsOf(1);
  for (let n = 0; n < 36; n++)
    expect(
      requests.some(({ last }) => last.includes(`Letter ${n}. `)),
      `message ${n}`,
    ).toBe(true);
  expect(requests.some(({ last }) => last.includes('30 more messages wait for you'))).toBe(true);
  expect(
    requests.every(
      ({ last, body }) => body.messages.length === 1 || /turn \d+$/m.test(last) || last.includes('Letter '),
    ),
  ).toBe(true);
  expect(await house.inbox.waiting('agent-0')).toEqual([]);
  await house.close();
});

it('a single giant message, and a giant result, lose their middle, and the next words are there', async () => {
  const house = await bench.open({ script: strict(55_000, teamScript()) });
  await house.start();
  await wakeOne(house);
  await sayTo(house, 'agent-0', `BEGIN ${'x'.repeat(500_000)} END`);
  const giant = house.requestsOf(1).at(-1)?.last ?? '';
  expect(giant).toMatch(/^BEGIN x/m);
  expect(giant).toMatch(/ END$/);
  expect(giant).toMatch(/\[[\d,]+ characters were left out here\]/);
  await sayTo(house, 'agent-0', 'And now?');
  expect(house.requestsOf(1).at(-1)?.last).toBe('And now?');
  expect(failedOf(house)).toEqual([]);
  await house.close();
});

it('a loop of tools that outgrows its model keeps every call with its result', async () => {
  let step = 0;
  const usual = teamScript();
  const script: Script = (request) => {
    if (request.seat !== 1 || request.body.messages.length === 1) return usual(request);
    return ++step <= 8
      ? [{ say: `Step ${step}.` }, { call: 'message_agent', input: { to: 'Julian', message: 'q'.repeat(9_000) } }]
      : [{ say: 'Done.' }];
  };
  const house = await bench.open({ script: strict(50_000, script) });
  await house.start();
  await wakeOne(house);
  await sayTo(house, 'agent-0', 'Go on.');
  expect(wordsOf(answersOf(house, 'agent-0').at(-1))).toContain('Done.');
  expect(
    house
      .requestsOf(1)
      .at(-1)
      ?.body.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      .some((block) => block['text'] === 'Go on.'),
  ).toBe(true);
  expect(failedOf(house)).toEqual([]);
  await house.close();
});

it('hundreds of turns against a small window that was set go on, and none of them is refused', async () => {
  const house = await bench.open({ script: strict(64_000, saying('Yes, and so on and so forth.')) });
  await house.start({}, { contextTokens: 16_000 });
  await wakeOne(house);
  for (let turn = 0; turn < 80; turn++)
    await sayTo(house, 'agent-0', `This is turn ${turn} of very many. ${'m'.repeat(1_500)}`);
  expect(failedOf(house)).toEqual([]);
  const requests = house.requestsOf(1);
  expect(requests.at(-1)?.last).toContain('This is turn 79 of very many.');
  expect(requests.at(-1)?.system).toContain('I am the one in place 0.');
  expect(requests.filter((request) => charactersOf(request) > 64_000)).toEqual([]);
  await house.close();
});

it('continues for the lead as well', async () => {
  const house = await bench.open({ script: strict(45_000, teamScript()) });
  await house.start();
  for (let turn = 0; turn < 20; turn++) await sayTo(house, 'lead', `turn ${turn} ${'x'.repeat(2_000)}`);
  expect(failedOf(house)).toEqual([]);
  expect(house.requestsOf(null).at(-1)?.first).toMatch(/^\[\d+ earlier messages were left out here/);
  await house.close();
});
