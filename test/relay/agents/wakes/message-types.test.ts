/** What agents say a message is for, whom they write to, and calls of the team without ids. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionBench, payload, wordsOf, type Bench, type Household } from '../../../support/session.ts';
import { teamScript, type Reply, type ScriptedRequest } from '../../../support/scripted-model.ts';

const LYRA = payload(0, { name: 'Lyra' });
const SAGE = payload(1, { name: 'Sage' });

let bench: Bench;
beforeAll(async () => {
  bench = await openSessionBench();
});
afterAll(() => bench.close());

async function open(lyraDoes: (request: ScriptedRequest) => Reply | null): Promise<Household> {
  const usual = teamScript();
  const house = await bench.open({
    script: (request) =>
      request.seat === 1 && request.last === 'go' ? (lyraDoes(request) ?? usual(request)) : usual(request),
  });
  await house.team.directory.set({
    agents: [LYRA, SAGE].map(({ id, name, position }) => ({ agentId: id, name, position, retired: false })),
  });
  await house.start();
  return house;
}

describe('A message of an agent', () => {
  it.each(['help_request', 'review_request', 'unblock', 'info'] as const)(
    'keeps its type %s in the inbox, and tells its reader',
    async (type) => {
      const house = await open(() => [
        { call: 'message_agent', input: { to: 'Sage', message: 'See plan.md.', ...(type === 'info' ? {} : { type }) } },
      ]);
      await house.wake([LYRA]);
      await house.until(() => house.of('agent-awake').length === 1);
      await house.post({ text: 'go', to: LYRA.id });
      await expect.poll(async () => (await house.inbox.waiting(SAGE.id)).length).toBe(1);
      expect(await house.inbox.list(SAGE.id, { before: null, limit: 10 })).toMatchObject({ messages: [{ type }] });
      await house.wake([SAGE]);
      const head = `[Message from Lyra, seat 1${type === 'info' ? '' : `, ${type.replace('_', ' ')}`}]`;
      await house.until(() => house.requestsOf(2).some(({ body }) => JSON.stringify(body).includes(head)));
    },
  );

  it('refuses an unknown type, and lists the known ones', async () => {
    const house = await open(() => [{ call: 'message_agent', input: { to: 'Sage', message: 'x', type: 'gossip' } }]);
    await house.wake([LYRA]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.post({ text: 'go', to: LYRA.id });
    await house.until(() => house.requestsOf(1).some(({ results }) => results.join().includes('review_request')));
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
  });

  it.each(['human', 'the human', 'Ada'])(
    "puts a message to “%s” into the agent's conversation with the person",
    async (whom) => {
      const house = await open(() => [
        { call: 'message_agent', input: { to: whom, message: 'May I go on?', type: 'help_request' } },
      ]);
      await house.wake([LYRA]);
      await house.until(() => house.of('agent-awake').length === 1);
      await house.post({ text: 'go', to: LYRA.id });
      await house.until(() => house.of('message').some((message) => wordsOf(message) === 'Help request: May I go on?'));
      const left = house.of('message').find((message) => wordsOf(message).startsWith('Help request'));
      expect(left).toMatchObject({ agentId: LYRA.id, author: LYRA.id, role: 'assistant' });
    },
  );
});

describe('A call of the team whose agents have no ids', () => {
  const call = (agents: readonly { name: string; position: number }[]) =>
    `[WAKE AGENTS]\n<agent-payloads>\n${agents
      .map(
        ({ name, position }) =>
          `<agent name="${name}" color="#fff" colorName="White" position="${position}"><soul>I am ${name}.</soul></agent>`,
      )
      .join('\n')}\n</agent-payloads>`;

  it('wakes those who have these names and positions', async () => {
    const house = await open(() => null);
    expect(await house.post({ text: call([LYRA, SAGE]) })).toMatchObject({ ok: true });
    await house.until(() => house.of('agent-awake').length === 2);
    expect(
      house
        .of('agent-awake')
        .map(({ agentId }) => agentId)
        .sort(),
    ).toEqual([LYRA.id, SAGE.id]);
  });

  it.each([
    ['another seat', [{ name: 'Lyra', position: 5 }]],
    ['another name', [{ name: 'Vega', position: 0 }]],
    [
      'one of two',
      [
        { name: 'Lyra', position: 0 },
        { name: 'Sage', position: 2 },
      ],
    ],
  ])('refuses a call that names %s, and wakes nobody', async (_what, agents) => {
    const house = await open(() => null);
    expect(await house.post({ text: call(agents) })).toMatchObject({
      ok: false,
      reason: 'malformed',
      detail: expect.stringContaining('nobody called') as unknown,
    });
    expect(house.of('call-started')).toEqual([]);
  });
});
