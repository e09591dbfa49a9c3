/** What is put before minds, and what they can do: as a mind reads it. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toolWords } from '../../../../src/shared/domain/toolsets.ts';
import { identityText, renderTemplate } from '../../../../src/shared/domain/prompts.ts';
import { SESSION_LIMITS } from '../../../../server/agents/session/settings.ts';
import {
  offeredIn,
  teamScript,
  type Reply,
  type Script,
  type ScriptedRequest,
} from '../../../support/scripted-model.ts';
import { openSessionBench, payload, PROTOCOL, wordsOf, type Bench, type Household } from '../../../support/session.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openSessionBench();
});
afterAll(() => bench.close());

const LYRA = { agentId: 'agent-0', name: 'Lyra', position: 0, retired: false };
const SAGE = { agentId: 'agent-1', name: 'Sage', position: 1, retired: false };
const MORNING = Date.UTC(2026, 10, 23, 7, 5);
/**
 * Agents that are awake say what `agents` says; where that is null, and in all else, what is usual.
 */
const withAgents = (agents: (request: ScriptedRequest) => Reply | null): Script => {
  const usual = teamScript();
  return (request) =>
    (request.seat !== null && request.body.messages.length > 1 && request.results.length === 0
      ? agents(request)
      : null) ?? usual(request);
};
const toolsOf = (house: Household, seat: number | null) => house.requestsOf(seat).slice(-1).flatMap(offeredIn);
const settle = async (house: Household) => {
  await house.until(() => house.of('call-ended').length > 0);
  await house.untilQuiet();
};
const results = (house: Household, agentId: string) =>
  house
    .of('message')
    .filter(({ author }) => author === agentId)
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.kind === 'tool' ? [block.result] : [])));

it('tells a waking mind the day, its sleep and the members, and again when they change', async () => {
  let now = MORNING;
  const house = await bench.open({ now: () => now });
  await house.team.configs.setHousehold({ time_zone: 'Europe/Berlin' });
  await house.team.directory.set({ agents: [LYRA, SAGE] });
  await house.start({ asleepSince: MORNING - 9 * 3_600_000 });
  await house.wake([payload(0, { name: 'Lyra', asleepSince: MORNING - 9 * 3_600_000 })]);
  await settle(house);
  const first = house.requestsOf(1)[0];
  expect(first?.first).toContain('It is Monday 23 November 2026, 08:05 for Ada. You slept for 9 hours.');
  expect(first?.first).toContain('With you live Sage (seat 2).');
  expect(house.requestsOf(null)[0]?.system).toContain('This session began on Monday 23 November 2026, 08:05');
  await house.post({ text: 'soon', to: 'agent-0' });
  await house.until(() => house.requestsOf(1).length === 2);
  await house.untilQuiet();
  expect(house.requestsOf(1)[1]?.notes).toEqual([]);
  now += 16 * 60_000;
  await house.team.directory.set({ agents: [LYRA, { ...SAGE, name: 'Wren' }] });
  await house.post({ text: 'later', to: 'agent-0' });
  await house.until(() => house.requestsOf(1).length === 3);
  await house.untilQuiet();
  expect(house.requestsOf(1)[2]?.notes).toEqual([
    '[It is Monday 23 November 2026, 08:21]',
    '[With you live now: Wren (seat 2)]',
  ]);
  // What does not change is the same in every request, so that it is read from the cache.
  expect(new Set(house.requestsOf(1).map(({ system }) => system)).size).toBe(1);
  expect(new Set(house.requestsOf(1).map(({ body }) => JSON.stringify(body.tools))).size).toBe(1);
  await house.close();
});

it('gives the lead no templates of others, and no limit that does not exist', async () => {
  const house = await bench.open();
  await house.start();
  await house.post({ text: 'hello' });
  await house.until(() => house.requestsOf(null).length === 1);
  const system = house.requestsOf(null)[0]?.system ?? '';
  expect(system).toContain('## Messages among you');
  expect(system).not.toMatch(/You are waking\.|You are new\.|\{\{|per hour|quiet moment/);
  await house.close();
});

it("ends every system prompt with the page's language, the same in every request", async () => {
  let offered: ReadonlySet<string> = new Set();
  const systems = async (language?: string) => {
    const house = await bench.open({ now: () => MORNING });
    await house.host.start({
      human: { name: 'Ada', ...(language === undefined ? {} : { language }) },
      lead: { name: 'Julian', soul: 'I keep the door.', transcript: null },
    });
    await house.wake([payload(0, { name: 'Lyra' })]);
    await house.until(() => house.of('call-ended').length === 1);
    await house.summon([1]);
    await house.until(() => house.of('call-ended').length === 2);
    await house.untilQuiet();
    const all = [null, 1, 2].map((seat) => house.requestsOf(seat).map(({ system }) => system));
    offered = new Set(toolsOf(house, 1));
    await house.close();
    for (const said of all) expect(new Set(said).size).toBe(1);
    return all.map(([first = '']) => first);
  };
  const before = await systems();
  expect(before[0]?.endsWith(PROTOCOL.document)).toBe(true);
  const agent = renderTemplate(PROTOCOL.templates.agent, 'agent', {
    name: 'Lyra',
    human: 'Ada',
    lead: 'Julian',
    colorName: 'Violet Heaven',
    seat: '1',
    ...toolWords(offered),
  });
  const soul = payload(0).soul ?? '';
  expect(before[1]).toBe(`${agent}\n\n${identityText(PROTOCOL, { name: 'Lyra', soul })}`);
  expect(await systems('en-GB')).toEqual(before);
  expect(await systems('de')).toEqual(
    before.map(
      (system) =>
        `${system}\n\nThe page of Ada is in German: speak German with Ada from your first word and write it, your soul too, unless Ada writes to you in another language.`,
    ),
  );
});

it('offers only tools that can work, by role and by setting', async () => {
  const house = await bench.open({
    script: withAgents(({ last }) =>
      last === 'sleep' ? [{ call: 'put_to_sleep', input: { agent: 'Sage' } }] : [{ say: 'Yes.' }],
    ),
  });
  await house.start();
  await house.wake([payload(0)]);
  await settle(house);
  expect(toolsOf(house, 1)).toContain('go_to_sleep');
  expect(toolsOf(house, 1)).toContain('wake_agent');
  expect(toolsOf(house, 1)).not.toContain('put_to_sleep');
  expect(toolsOf(house, null)).not.toContain('go_to_sleep');
  await house.post({ text: 'sleep', to: 'agent-0' });
  await house.until(() => results(house, 'agent-0').length === 1);
  expect(results(house, 'agent-0')[0]).toMatch(/^There is no tool “put_to_sleep” here\./);
  expect(results(house, 'agent-0')[0]?.split('You have:')[1]).not.toContain('put_to_sleep');
  await house.untilQuiet();
  await house.team.configs.setAgent('agent-0', {
    coordination: { may_put_others_to_sleep: true, wake_guardrails: { max_wakes_per_session: 0 } },
  });
  await house.post({ text: 'again', to: 'agent-0' });
  await house.until(() => house.requestsOf(1).at(-1)?.last === 'again');
  expect(toolsOf(house, 1)).toContain('put_to_sleep');
  expect(toolsOf(house, 1)).not.toContain('wake_agent');
  await house.close();
});

it('tells a woken agent by whom and why', async () => {
  const house = await bench.open({
    script: withAgents(({ last }) =>
      last === 'go'
        ? [{ call: 'wake_agent', input: { to: 'Sage', message: 'it burns', reason: 'critical_finding' } }]
        : [{ say: 'Yes.' }],
    ),
  });
  await house.team.directory.set({ agents: [LYRA, SAGE] });
  await house.start();
  await house.wake([payload(0, { name: 'Lyra' }), payload(1, { name: 'Sage' })]);
  await settle(house);
  await house.post({ text: 'go', to: 'agent-0' });
  await house.until(() => house.requestsOf(2).length === 2);
  await house.untilQuiet();
  expect(house.requestsOf(2)[1]?.notes).toEqual([
    '[You are awake: Lyra (seat 1) woke you, because of this: a critical finding]',
  ]);
  expect(house.requestsOf(2)[1]?.last).toBe('[Message from Lyra, seat 1, urgent]\n> it burns');
  await house.close();
});

it('a client in the seat of an agent that is awake sees its inbox, and does not take it from under its mind', async () => {
  const house = await bench.open();
  await house.start();
  await house.wake([payload(0)]);
  await settle(house);
  await house.inbox.put({
    messageId: 'letter',
    to: 'agent-0',
    from: 'agent-1',
    text: 'the tide turns at six',
    time: 1,
    priority: 'normal',
    threadId: null,
  });
  const readInbox = house.team.tools.find(({ name }) => name === 'read_inbox');
  const call = {
    agentId: 'agent-0',
    sessionId: null,
    run: 'r',
    kind: 'client',
    signal: new AbortController().signal,
  } as const;
  expect((await readInbox?.run({}, call))?.text).toMatch(/stay unread\.[\s\S]*the tide turns at six/);
  // Where no mind sits, the client is the one who reads it.
  await house.inbox.put({
    messageId: 'other',
    to: 'agent-5',
    from: 'agent-1',
    text: 'yours',
    time: 2,
    priority: 'normal',
    threadId: null,
  });
  expect((await readInbox?.run({}, { ...call, agentId: 'agent-5' }))?.text).not.toContain('stay unread');
  expect(await house.inbox.count('agent-5')).toBe(0);
  await house.post({ text: 'anything?', to: 'agent-0' });
  await house.until(() => house.requestsOf(1).length === 2);
  await house.untilQuiet();
  expect(house.requestsOf(1)[1]?.last).toContain('the tide turns at six');
  await house.close();
});

it('ends a wait at once when the person writes, and delivers that next', async () => {
  const house = await bench.open({
    script: withAgents(({ last }) =>
      last === 'wait' ? [{ say: 'I wait.' }, { call: 'wait_for_message', input: { timeoutSeconds: 600 } }] : null,
    ),
  });
  await house.start();
  await house.wake([payload(0)]);
  await settle(house);
  await house.post({ text: 'wait', to: 'agent-0' });
  await house.until(() =>
    house.of('tool').some(({ block }) => block.kind === 'tool' && block.name === 'wait_for_message'),
  );
  await house.post({ text: 'never mind', to: 'agent-0' });
  await house.until(() => house.requestsOf(1).length === 3);
  await house.untilQuiet();
  const request = house.requestsOf(1)[2];
  expect(request?.results[0]).toMatch(/^The human wrote to you meanwhile/);
  expect(request?.last).toBe('never mind');
  const said = () =>
    house
      .of('message')
      .filter(({ author }) => author === 'agent-0')
      .map(({ status }) => status);
  await house.until(() => said().length === 3);
  expect(said()).toEqual(['complete', 'complete', 'complete']);
  await house.close();
});

it("shows an agent's message to the person in their conversation, up to a limit", async () => {
  const house = await bench.open({
    script: withAgents(({ last }) =>
      last.startsWith('tell')
        ? [{ call: 'message_human', input: { message: `Look at this, ${last}` } }]
        : [{ say: 'Yes.' }],
    ),
  });
  await house.start();
  await house.wake([payload(0)]);
  await settle(house);
  for (let n = 0; n < 21; n++) {
    await house.post({ text: `tell ${n}`, to: 'agent-0' });
    await house.until(() => results(house, 'agent-0').length === n + 1);
    await house.untilQuiet();
  }
  const left = house
    .of('message')
    .filter(
      (message) =>
        message.author === 'agent-0' && message.agentId === 'agent-0' && wordsOf(message).startsWith('Look at this'),
    );
  expect(left).toHaveLength(20);
  expect(left[0]).toMatchObject({
    role: 'assistant',
    status: 'complete',
    blocks: [{ kind: 'text', text: 'Look at this, tell 0' }],
  });
  expect(results(house, 'agent-0').at(-1)).toMatch(/which is the limit/);
  await house.close();
});

it('an agent that starts asleep pays no greeting, and reads its prompt first when it is woken', async () => {
  const house = await bench.open();
  await house.team.directory.set({ agents: [LYRA, SAGE] });
  await house.team.configs.setAgent('agent-0', { coordination: { sleep_events: ['agent_started'] } });
  const sessionId = await house.start();
  await house.wake([payload(0), payload(1)]);
  await settle(house);
  await house.until(() => house.of('pause-flag').length === 1);
  expect(
    house
      .of('agent-awake')
      .map(({ agentId }) => agentId)
      .toSorted(),
  ).toEqual(['agent-0', 'agent-1']);
  expect(house.requestsOf(1)).toEqual([]);
  await house.post({ text: 'for later', to: 'agent-0' });
  expect(house.requestsOf(1)).toEqual([]);
  await house.team.pauses.set(sessionId, 'agent-0', false, 'human');
  await house.until(() => house.requestsOf(1).length > 0);
  await house.untilQuiet();
  expect(house.requestsOf(1)[0]?.first).toContain('You are waking.');
  expect(house.requestsOf(1)[0]?.last).toContain('for later');
  await house.close();
});

it('a lead without a soul is asked for one once, after the first talk, and not after that', async () => {
  const usual = teamScript();
  const house = await bench.open({
    limits: { ...SESSION_LIMITS, soulQuietMs: 20 },
    script: (request) =>
      request.last.includes('you have no soul yet')
        ? [{ call: 'write_soul', input: { text: 'I keep the lamp.' } }]
        : usual(request),
  });
  await house.start({ soul: null });
  await house.post({ text: 'hello' });
  await house.until(() => house.of('agent-changed').length === 1);
  await house.untilQuiet();
  expect(house.of('agent-changed')[0]).toMatchObject({
    agentId: 'lead',
    change: { kind: 'soul', individuationArtifact: 'I keep the lamp.' },
  });
  await house.post({ text: 'and again' });
  await house.until(() => house.requestsOf(null).at(-1)?.last === 'and again');
  await house.untilQuiet();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(house.requestsOf(null).filter(({ last }) => last.includes('you have no soul yet'))).toHaveLength(1);
  await house.close();
});

it('limits tool results per turn: calls over the limit are refused with the reason and lose nothing', async () => {
  const CALLS = 5;
  const LETTER = 30_000;
  const house = await bench.open({
    limits: { resultCharacters: 50_000 },
    script: withAgents(() => null),
  });
  await house.start();
  await house.wake([payload(0)]);
  await settle(house);
  const marks = Array.from({ length: 8 }, (_none, i) => `letter ${i} begins`);
  for (const [i, mark] of marks.entries())
    await house.inbox.put({
      messageId: `l${i}`,
      to: 'agent-0',
      from: 'agent-1',
      text: `${mark} ${'x'.repeat(LETTER)}`,
      time: i,
      priority: 'normal',
      threadId: null,
    });
  const calls = Array.from({ length: CALLS }, () => ({ call: 'read_inbox', input: {} }));
  const usual = teamScript();
  house.model.follow((request) => {
    if (request.seat !== 1) return usual(request);
    if (request.results.length === 0 || request.results.some((text) => text.startsWith('Not run:'))) return calls;
    return [{ say: 'All read.' }];
  });
  const before = house.requestsOf(1).length;
  await house.post({ text: 'Read all.', to: 'agent-0' });
  await house.until(() => house.of('message').some((message) => wordsOf(message).includes('All read.')));
  const asked = house.requestsOf(1).slice(before);
  for (const { results } of asked) {
    expect(results.join('').length).toBeLessThan(50_000 + LETTER + CALLS * 1_000);
    const ran = results.filter((text) => !text.startsWith('Not run:'));
    // One more only while there was room.
    expect(ran.slice(0, -1).join('').length).toBeLessThan(50_000);
  }
  const told = asked.flatMap(({ results }) => results).filter((text) => text.startsWith('Not run:'));
  expect(told[0]).toMatch(
    /^Not run: the calls before this one have returned 60,\d+ characters, .* Make this call again in your next turn\.$/,
  );
  // Each letter once: with the turn itself, or as it was read.
  const seen = asked.flatMap(({ last, results }) => [last, ...results]).join('\n');
  expect(marks.map((mark) => seen.split(mark).length - 1)).toEqual(marks.map(() => 1));
  await house.close();
});
