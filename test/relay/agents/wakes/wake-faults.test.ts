import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../../server/tools/index.ts';
import { teamScript, type Reply, type Script, type ScriptedRequest } from '../../../support/scripted-model.ts';
import { createGate, openSessionBench, payload, type Bench, type Household } from '../../../support/session.ts';

const LYRA = payload(0, { name: 'Lyra' });
const SAGE = payload(1, { name: 'Sage' });
const GUEST = { agentId: 'guest', name: 'Gale', position: 5, retired: false };
const SAGES_SEAT = 2;
const BROKEN = () => Promise.reject(new Error('the store is gone'));

function withAgents(agents: (request: ScriptedRequest) => Reply | null): Script {
  const usual = teamScript();
  return (request) =>
    request.seat === null || request.body.messages.length === 1 ? usual(request) : (agents(request) ?? usual(request));
}

describe('agents, where something fails or falls together', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  /** Lyra and Sage are awake and quiet. */
  async function openTeam(script: Script = teamScript(), onError?: 'expected'): Promise<Household> {
    const house = await bench.open({ script, ...(onError ? { onError } : {}) });
    await house.team.directory.set({
      agents: [
        ...[LYRA, SAGE].map(({ id, name, position }) => ({ agentId: id, name, position, retired: false })),
        GUEST,
      ],
    });
    await house.start();
    await house.wake([LYRA, SAGE]);
    await house.until(() => house.of('agent-awake').length === 2);
    await house.untilQuiet();
    return house;
  }
  const sessionOf = (house: Household) => house.host.sessionId() ?? '';
  const heard = (house: Household, words: string) =>
    house.requestsOf(SAGES_SEAT).filter(({ last }) => last.includes(words)).length;
  const message = (house: Household, text: string) =>
    house.team.wakes.message({ agentId: LYRA.id, sessionId: null }, { to: SAGE.id, text, priority: 'normal' });
  const readInbox = async (house: Household, more: Partial<Caller> = {}) => {
    const tool = house.team.tools.find(({ name }) => name === 'read_inbox');
    return await tool?.run(
      {},
      {
        agentId: SAGE.id,
        sessionId: house.host.sessionId(),
        run: 'call-1',
        kind: 'client',
        signal: new AbortController().signal,
        ...more,
      },
    );
  };

  it('leave what is sent to them in the inbox while they are set to sleep in mid-turn, also where the session ends before they are woken', async () => {
    const gate = createGate();
    const house = await openTeam(
      withAgents(({ last }) => (last === 'think' ? [{ say: 'Hm.' }, { until: gate.passed }] : null)),
    );
    await house.post({ text: 'think', to: SAGE.id });
    await house.until(() => heard(house, 'think') === 1);
    await house.post({ text: 'and then?', to: SAGE.id });
    await message(house, 'the tide turns');
    await house.team.pauses.set(sessionOf(house), SAGE.id, true, 'human');
    gate.open();
    await house.until(() => house.team.pauses.waiting() === 1);
    await house.host.end('ended');
    expect(await house.inbox.waiting(SAGE.id)).toMatchObject([{ text: 'the tide turns' }]);
    expect(heard(house, 'the tide turns')).toBe(0);
  });

  it('are told of an internal tool error, and the session goes on', async () => {
    const house = await openTeam(
      withAgents(({ last }) => (last === 'who is there?' ? [{ call: 'list_team', input: {} }] : null)),
      'expected',
    );
    const { all } = house.team.directory;
    Object.assign(house.team.directory, { all: BROKEN });
    await house.post({ text: 'who is there?', to: SAGE.id });
    await house.until(() =>
      house
        .of('message')
        .some(
          ({ agentId, blocks }) =>
            agentId === SAGE.id && blocks.some((block) => block.kind === 'tool' && block.isError),
        ),
    );
    await house.untilQuiet();
    Object.assign(house.team.directory, { all });
    expect(house.logged.join()).toContain('the store is gone');
    expect(house.host.sessionId()).not.toBeNull();
    await house.post({ text: 'are you well?', to: SAGE.id });
    await house.until(() => heard(house, 'are you well?') === 1);
  });

  it('block neither the end of a session nor the next start when a turn fails internally', async () => {
    const house = await openTeam(teamScript(), 'expected');
    const { waiting } = house.inbox;
    Object.assign(house.inbox, { waiting: BROKEN });
    await house.post({ text: 'hello', to: SAGE.id });
    await house.until(() => house.of('session-ended').length === 1);
    Object.assign(house.inbox, { waiting });
    expect(house.of('session-ended')).toMatchObject([{ reason: 'crash' }]);
    await house.start();
    expect(house.host.sessionId()).not.toBeNull();
  });

  it('complete a wake whose turn fails internally', async () => {
    const house = await openTeam(teamScript(), 'expected');
    await message(house, 'the tide turns');
    const { waiting } = house.inbox;
    Object.assign(house.inbox, { waiting: BROKEN });
    expect(await house.host.rouse(SAGE.id)).toBe(true);
    Object.assign(house.inbox, { waiting });
    await house.until(() => house.of('session-ended').length === 1);
    expect(await house.inbox.waiting(SAGE.id)).toHaveLength(1);
  });

  it('release a permit when its work is over, also after a failure', async () => {
    const house = await openTeam(teamScript(), 'expected');
    const running = async () => (await house.team.gate.stats(SAGE.id)).running;
    const asked = {
      target: SAGE.id,
      source: { kind: 'person' },
      way: 'answer',
      reason: null,
      messageId: null,
      callerSession: null,
    } as const;
    const before = await running();
    const [one, other] = [await house.team.wakes.permitFor(asked), await house.team.wakes.permitFor(asked)];
    expect(await running()).toBe(before + 2);
    one.permit?.releaseAfter(Promise.reject(new Error('the work failed')));
    await expect.poll(running).toBe(before + 1);
    expect(house.logged.join()).toContain('the work failed');
    // A second release of the same permit is not the release of another.
    await one.permit?.release();
    expect(await running()).toBe(before + 1);
    await other.permit?.release();
    expect(await running()).toBe(before);
  });

  it('are woken when their turn ends while the gate still decides', async () => {
    const gate = createGate();
    const house = await openTeam(
      withAgents(({ last }) => (last === 'think' ? [{ say: 'Hm.' }, { until: gate.passed }] : null)),
    );
    const { ask } = house.team.gate;
    const late: typeof ask = async (request) => {
      const answer = await ask(request);
      if (request.way === 'urgent_message') {
        gate.open();
        await house.until(() => house.host.stateOf(SAGE.id) === 'idle');
      }
      return answer;
    };
    Object.assign(house.team.gate, { ask: late });
    await house.post({ text: 'think', to: SAGE.id });
    await house.until(() => heard(house, 'think') === 1);
    const { text } = await house.team.wakes.message(
      { agentId: LYRA.id, sessionId: null },
      { to: SAGE.id, text: 'soon, please', priority: 'urgent' },
    );
    expect(text).toMatch(/^Deferred: /);
    await house.until(() => heard(house, 'soon, please') === 1);
    await house.untilQuiet();
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
  });

  it('start asleep before their first call, also as joined clients', async () => {
    const house = await openTeam();
    await house.team.configs.setAgent(GUEST.agentId, { coordination: { sleep_events: ['agent_started'] } });
    const asleep = async () => {
      await house.host.joined(GUEST, { credentialId: 'c1', name: 'Claude Code', readsInbox: true });
      return house.team.pauses.isPaused(GUEST.agentId);
    };
    expect(await Promise.all([asleep(), asleep()])).toEqual([true, true]);
    expect(house.of('client-joined').filter(({ agentId }) => agentId === GUEST.agentId)).toHaveLength(1);
  });

  it("mark the person's message as read when they fetch it by a call", async () => {
    const house = await openTeam();
    await house.team.pauses.set(sessionOf(house), SAGE.id, true, 'human');
    await house.post({ text: 'are you there?', to: SAGE.id, clientId: 'c1' });
    await message(house, 'I am not');
    expect((await readInbox(house, { kind: 'session' }))?.text).toMatch(
      /From the human at .*\n> are you there\?\n\nFrom Lyra.* at /,
    );
    await house.until(() => house.of('message-read').length === 1);
    expect(house.of('message-read')).toMatchObject([
      { messageId: 'h-c1', agentId: SAGE.id, sessionId: sessionOf(house) },
    ]);
  });

  it('get their messages on the next call when they disconnected before delivery', async () => {
    const house = await openTeam();
    await message(house, 'the tide turns');
    expect(await readInbox(house, { kind: 'session', signal: AbortSignal.abort() })).toMatchObject({ isError: true });
    expect((await house.inbox.waiting(SAGE.id)).map(({ text }) => text)).toEqual(['the tide turns']);
    expect((await readInbox(house, { kind: 'session' }))?.text).toContain('the tide turns');
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
  });

  it('are charged for words that were cut off, also for unread ones', async () => {
    const house = await openTeam(
      withAgents(({ last }) =>
        last === 'scribble'
          ? [{ say: 'Hm.' }, { call: 'write_soul', input: { text: 'x'.repeat(4_000) } }, { cut: true }]
          : null,
      ),
    );
    const spent = async () =>
      (await house.team.costs.report(1)).agents.find(({ agentId }) => agentId === SAGE.id)?.today;
    const before = await spent();
    await house.post({ text: 'scribble', to: SAGE.id });
    await house.until(() => heard(house, 'scribble') === 1);
    await house.untilQuiet();
    const after = await spent();
    expect((after?.outputTokens ?? 0) - (before?.outputTokens ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(after?.estimated).toBe(true);
  });

  it('mark messages as read when the answer arrives, and not when the relay is killed before', async () => {
    const house = await openTeam(
      withAgents(({ last, results }) =>
        results.length === 0 && last.endsWith('fetch') ? [{ wait: 100 }, { call: 'read_inbox', input: {} }] : null,
      ),
    );
    await house.post({ text: 'fetch', to: SAGE.id });
    await house.until(() => heard(house, 'fetch') === 1);
    await message(house, 'the tide turns');
    await house.untilQuiet();
    expect(
      house.requestsOf(SAGES_SEAT).filter(({ results }) => results.join().includes('the tide turns')),
    ).toHaveLength(1);
    await message(house, 'the wind drops');
    await readInbox(house, { kind: 'session' });
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
    await house.restart();
    expect((await house.inbox.waiting(SAGE.id)).map(({ text }) => text)).toEqual(['the wind drops']);
  });
});
