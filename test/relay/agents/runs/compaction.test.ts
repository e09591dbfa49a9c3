/** Conversations without end: the older part becomes a summary, whatever the model does. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SUMMARY_REQUEST } from '../../../../src/shared/domain/compaction.ts';
import { type Reply, type Script, type ScriptedRequest, teamScript } from '../../../support/scripted-model.ts';
import { createRehearsalMind } from '../../../../server/agents/minds/index.ts';
import { longTests, type Register } from '../../../support/long-tests.ts';
import { openSessionBench, payload, wordsOf, type Bench, type Household } from '../../../support/session.ts';

const itLong = longTests('relay/agents/runs/compaction.test.ts');

let bench: Bench;
beforeAll(async () => {
  bench = await openSessionBench();
});
afterAll(() => bench.close());

const isSummary = ({ body }: ScriptedRequest) => JSON.stringify(body.messages.at(-1)).includes(SUMMARY_REQUEST);
const textIn = ({ body }: ScriptedRequest) => JSON.stringify(body.messages);
const charactersOf = ({ body }: ScriptedRequest) => JSON.stringify(body).length;
const SUMMARY = 'I promised Ada the blue door by Friday. Open: the price of 4,200.';
/** Answers requests for a summary by `reply`, and all others as usual. */
const summarising = (reply: Reply | ((request: ScriptedRequest) => Reply), usual: Script = teamScript()): Script => {
  return (request) => (!isSummary(request) ? usual(request) : typeof reply === 'function' ? reply(request) : reply);
};
const tooLong = (message: string): Reply => ({ fail: { status: 400, type: 'invalid_request_error', message } });

const answersOf = (house: Household) => house.of('message').filter(({ author }) => author === 'agent-0');
const linesOf = (house: Household) =>
  house.of('message').filter(({ author, agentId }) => author === 'relay' && agentId === 'agent-0');
const summariesOf = (house: Household) => linesOf(house).filter(({ compaction }) => compaction !== undefined);
async function sayTo(house: Household, text: string): Promise<void> {
  const before = answersOf(house).length;
  expect(await house.post({ text, to: 'agent-0' })).toMatchObject({ ok: true });
  await house.until(() => answersOf(house).length > before);
}
async function wakeOne(house: Household, contextTokens = 16_000): Promise<void> {
  await house.start({}, { contextTokens });
  await house.wake([payload(0)]);
  await house.until(() => answersOf(house).length === 1);
  await house.untilQuiet();
}
async function talk(house: Household, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await sayTo(house, `This is turn ${turn}. ${'m'.repeat(1_500)}`);
}
const failedOf = (house: Household) => house.of('message').filter(({ status }) => status !== 'complete');

it('replaces the older part by a summary of the agent, and keeps soul and newest words', async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await wakeOne(house);
  await talk(house, 40);
  expect(failedOf(house)).toEqual([]);
  const [first] = summariesOf(house);
  expect(wordsOf(first)).toBe(SUMMARY);
  expect(first?.usage).not.toBeNull();
  expect(first?.compaction?.messages).toBeGreaterThan(10);
  expect(first?.compaction?.tokensAfter).toBeLessThan((first?.compaction?.tokensBefore ?? 0) / 2);
  const last = house.requestsOf(1).at(-1);
  expect(last?.system).toContain('I am the one in place 0.');
  expect(last?.first).toContain(`> ${SUMMARY}`);
  expect(last?.last).toContain('This is turn 39.');
  // No request is longer than three quarters of the window, at four characters a token.
  expect(house.requestsOf(1).filter((request) => charactersOf(request) > 64_000)).toEqual([]);
  // The summary quotes the older part, and the messages that stay are not in it.
  const asked = house.requestsOf(1).find(isSummary);
  expect(asked && textIn(asked)).toContain('This is turn 0.');
  expect(asked?.body.tools ?? []).toEqual([]);
  // Its cost is counted, as that of its message.
  const costs = await house.team.costs.replies(summariesOf(house).map(({ messageId }) => messageId));
  expect(costs.size).toBe(summariesOf(house).length);
  // All messages are in the log.
  expect(house.of('message').filter(({ author }) => author === 'human').length).toBeGreaterThanOrEqual(40);
  await house.close();
});

const countOf = (text: string, part: string) => text.split(part).length - 1;
const whole = ({ body }: ScriptedRequest) => JSON.stringify(body);

const givesSoul = (settings: Parameters<Household['start']>[1]) => async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await house.start({}, { contextTokens: 16_000, ...settings });
  const soul = `I am the heron. ${'I stand in the reeds, and wait. '.repeat(300)}I love rain.`;
  await house.wake([payload(0, { soul })]);
  await house.until(() => answersOf(house).length === 1);
  await house.untilQuiet();
  await talk(house, 25);
  expect(summariesOf(house).length).toBeGreaterThan(1);
  expect(
    house
      .requestsOf(1)
      .filter((request) => !isSummary(request))
      .map((request) => countOf(whole(request), soul)),
  ).toEqual(
    house
      .requestsOf(1)
      .filter((request) => !isSummary(request))
      .map(() => 1),
  );
  await house.close();
};
const SOUL_ONCE = 'gives the soul whole and once in every request but those for a summary, with';
it(`${SOUL_ONCE} the wake prompt of Roost`, givesSoul({}));
itLong(
  `${SOUL_ONCE} a wake prompt of the person that inserts the soul`,
  givesSoul({ wakeTemplate: 'Wake, {{name}}. {{soul}} {{transcript}}' }),
);
it(`${SOUL_ONCE} a wake prompt of the person that leaves it out`, givesSoul({ wakeTemplate: 'Wake, {{name}}.' }));

it('keeps a soul that the agent wrote in the conversation', async () => {
  const NEW_SOUL = 'I am the owl now, and I keep the night.';
  const script = summarising([{ say: SUMMARY }], (request) =>
    request.seat === 1 && request.last.includes('Who are you?')
      ? [{ call: 'write_soul', input: { text: NEW_SOUL } }]
      : teamScript()(request),
  );
  const house = await bench.open({ script });
  await wakeOne(house);
  await sayTo(house, 'Who are you?');
  await talk(house, 20);
  expect(summariesOf(house).length).toBeGreaterThan(0);
  const { system = '' } = house.requestsOf(1).at(-1) ?? {};
  expect(system).toContain(NEW_SOUL);
  expect(system).not.toContain('I am the one in place 0.');
  await house.close();
});

it('keeps the soul of an agent that was born in the conversation', async () => {
  const SOUL = 'I am new, and I like the sea.';
  const house = await bench.open({ script: summarising([{ say: SUMMARY }], teamScript({ souls: { 1: SOUL } })) });
  await house.start({}, { contextTokens: 16_000 });
  await house.summon([0]);
  await house.until(() => house.of('agent-born').length === 1);
  await house.untilQuiet();
  const { agentId } = house.of('agent-born')[0] ?? { agentId: '' };
  for (let turn = 0; turn < 20; turn++) {
    await house.post({ text: `This is turn ${turn}. ${'m'.repeat(1_500)}`, to: agentId });
    await house.until(() => house.requestsOf(1).at(-1)?.last.includes(`turn ${turn}.`) === true);
    await house.untilQuiet();
  }
  expect(house.of('message').filter(({ compaction }) => compaction).length).toBeGreaterThan(0);
  const answered = house.requestsOf(1).filter((request) => !isSummary(request));
  expect(answered.at(-1)?.system).toContain(SOUL);
  expect(answered.slice(1).map((request) => countOf(whole(request), SOUL))).toEqual(answered.slice(1).map(() => 1));
  await house.close();
});

it('keeps in the prompt what the agent keeps in its memory', async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await house.team.memories.add(
    'agent-0',
    { path: 'index.md', text: 'Ada’s door is blue.' },
    { by: 'human', sessionId: null, runId: null, read: [] },
  );
  await wakeOne(house);
  await talk(house, 20);
  expect(summariesOf(house).length).toBeGreaterThan(0);
  expect(house.requestsOf(1).at(-1)?.first).toContain('> Ada’s door is blue.');
  await house.close();
});

const WAITING = '[Still under way: your call of accept_script waits for the human’s answer.]';

it('names beside the summary what waits for the person, also after the person corrects it', async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await wakeOne(house);
  const input = { schedule: 's1', name: 'nightly', script_path: 'nightly.sh' };
  await house.team.approvals.askAlone('agent-0', 'accept_script', input, null);
  for (let turn = 0; summariesOf(house).length === 0; turn++) await sayTo(house, `Turn ${turn}. ${'m'.repeat(1_500)}`);
  expect(house.requestsOf(1).at(-1)?.first).toContain(WAITING);
  house.host.correctSummary(summariesOf(house)[0]?.messageId ?? '', 'I promised Ada the green door.');
  await sayTo(house, 'And now?');
  const corrected = house.requestsOf(1).at(-1)?.first;
  expect(corrected).toContain('> I promised Ada the green door.');
  expect(corrected).toContain(WAITING);
  await house.close();
});

it("continues with the person's correction of the summary", async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await wakeOne(house);
  for (let turn = 0; summariesOf(house).length === 0; turn++) await sayTo(house, `Turn ${turn}. ${'m'.repeat(1_500)}`);
  house.host.correctSummary(summariesOf(house)[0]?.messageId ?? '', 'I promised Ada the green door.');
  await sayTo(house, 'And now?');
  const last = house.requestsOf(1).at(-1);
  expect(last?.first).toContain('> I promised Ada the green door.');
  expect(last?.first).not.toContain(SUMMARY);
  await house.close();
});

it('asks for one summary between two answers at most', async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await wakeOne(house);
  await talk(house, 60);
  const kinds = house
    .requestsOf(1)
    .map((request) => (isSummary(request) ? 's' : 'a'))
    .join('');
  expect(kinds).toContain('s');
  expect(kinds).not.toContain('ss');
  await house.close();
});

const EMPTY = 'The summary was empty, cut off or too long.';
const goesOn = (what: string, reply: Reply, why: string, register: Register = it) =>
  register(`goes on without the oldest messages, and says why, when the model ${what}`, async () => {
    const house = await bench.open({ script: summarising(reply), onError: 'expected' });
    await wakeOne(house);
    await talk(house, 40);
    expect(failedOf(house)).toEqual([]);
    expect(summariesOf(house)).toEqual([]);
    expect(linesOf(house).map(wordsOf)).toContainEqual(expect.stringContaining(why));
    const last = house.requestsOf(1).at(-1);
    expect(last?.system).toContain('I am the one in place 0.');
    expect(last?.first).toMatch(/\[\d+ earlier messages were left out here/);
    expect(last?.last).toContain('This is turn 39.');
    await house.close();
  });
goesOn('declines', [{ say: 'No.' }, { stop: 'refusal' }], 'The model declined to answer this.');
goesOn('is cut off', [{ say: 'I prom' }, { stop: 'max_tokens' }], EMPTY, itLong);
goesOn('writes nothing', [{ say: ' ' }], EMPTY);
goesOn('calls a tool instead of writing', [{ call: 'recall', input: { query: 'door' } }], EMPTY, itLong);
goesOn('writes too much', [{ say: 'w'.repeat(30_000) }], EMPTY, itLong);
goesOn('refuses the summary as too long too', tooLong('prompt is too long'), 'This is longer than the model can read');
goesOn('loses the connection', [{ say: 'I prom' }, { cut: true }], 'broke off', itLong);

it('keeps the summary when one giant message is cut in its middle', async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await wakeOne(house);
  await talk(house, 15);
  await sayTo(house, `BEGIN ${'x'.repeat(200_000)} END`);
  const last = house.requestsOf(1).at(-1);
  expect(last?.first).toContain(`> ${SUMMARY}`);
  expect(last?.last).toMatch(/ END$/);
  expect(failedOf(house)).toEqual([]);
  await house.close();
});

it('tells the agent before the compaction, once, that it may note what must not be lost', async () => {
  const house = await bench.open({ script: summarising([{ say: SUMMARY }]) });
  await wakeOne(house);
  for (let turn = 0; summariesOf(house).length === 0; turn++) await sayTo(house, `Turn ${turn}. ${'m'.repeat(1_500)}`);
  const told = house
    .requestsOf(1)
    .filter(({ body }) => JSON.stringify(body.messages.at(-1)).includes('Note now with `remember`'));
  expect(told).toHaveLength(1);
  await house.close();
});

it('keeps the call and its result together when the window fills within one long loop of tools', async () => {
  let step = 0;
  const script = summarising([{ say: SUMMARY }], (request) => {
    if (request.seat !== 1 || request.body.messages.length === 1) return teamScript()(request);
    return ++step <= 12
      ? [{ say: `Step ${step}.` }, { call: 'message_agent', input: { to: 'Julian', message: 'q'.repeat(6_000) } }]
      : [{ say: 'Done.' }];
  });
  const house = await bench.open({ script });
  await wakeOne(house);
  await sayTo(house, 'Go on with the blue door.');
  expect(wordsOf(answersOf(house).at(-1))).toContain('Done.');
  expect(summariesOf(house).length).toBeGreaterThan(0);
  expect(house.requestsOf(1).map(textIn).at(-1)).toContain('Go on with the blue door.');
  expect(failedOf(house)).toEqual([]);
  // Closing checks that every call of every request has its result.
  await house.close();
});

it('continues after a kill while it waited for a summary', async () => {
  let asks = 0;
  let hangs = true;
  const house = await bench.open({
    script: summarising(() => {
      asks += 1;
      return hangs ? 'silent' : [{ say: SUMMARY }];
    }),
    onError: 'expected',
  });
  await wakeOne(house);
  for (let turn = 0; asks === 0; turn++) {
    const before = answersOf(house).length;
    await house.post({ text: `This is turn ${turn}. ${'m'.repeat(1_500)}`, to: 'agent-0' });
    await house.until(() => asks > 0 || answersOf(house).length > before);
  }
  const before = house.of('message').length;
  await house.restart();
  hangs = false;
  expect(summariesOf(house)).toEqual([]);
  expect(house.of('message').length).toBeGreaterThanOrEqual(before);
  expect(house.of('session-ended').at(-1)?.reason).toBe('crash');
  const woken = answersOf(house).length;
  await house.start({}, { contextTokens: 16_000 });
  await house.wake([payload(0)]);
  await house.until(() => answersOf(house).length > woken);
  await house.untilQuiet();
  await talk(house, 40);
  expect(summariesOf(house).length).toBeGreaterThan(0);
  await house.close();
});

it('continues with the demo, which lists the messages', async () => {
  const mind = await createRehearsalMind({ delayMs: 0, wordMs: 0 });
  const house = await bench.open({ mind });
  await wakeOne(house);
  for (let turn = 0; summariesOf(house).length === 0 && turn < 60; turn++)
    await sayTo(house, `My door number ${turn} is blue. ${'m'.repeat(1_500)}`);
  expect(wordsOf(summariesOf(house)[0])).toMatch(/^- .*\n(?:- .*\n)*- My door number \d+ is blue\. m+…/m);
  expect(failedOf(house)).toEqual([]);
  await house.close();
});

it('asks a bounded number of times when the soul alone is longer than the model reads, and says why', async () => {
  let asked = 0;
  const house = await bench.open({
    script: (request) => {
      if (request.seat !== 1) return teamScript()(request);
      asked += 1;
      return tooLong('prompt is too long: 30000 tokens > 16000 maximum');
    },
    onError: 'expected',
  });
  await house.start({}, { contextTokens: 16_000 });
  await house.wake([payload(0, { soul: 'I am the heron. '.repeat(6_000) })]);
  await house.untilQuiet();
  expect(asked).toBeLessThanOrEqual(3);
  const [asleep] = house.of('agent-asleep');
  expect(asleep?.reason).toMatchObject({
    message: expect.stringContaining('longer than the model can read') as string,
  });
  await house.close();
});
