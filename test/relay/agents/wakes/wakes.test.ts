import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TeamMember } from '../../../../src/shared/protocol/team.ts';
import { teamScript, type Reply, type Script, type ScriptedRequest } from '../../../support/scripted-model.ts';
import {
  createGate,
  openSessionBench,
  payload,
  wordsOf,
  type Bench,
  type Household,
} from '../../../support/session.ts';
import { USUAL_STORES } from '../../../support/stores.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 5, 10, 12);
const LYRA = payload(0, { name: 'Lyra' });
const SAGE = payload(1, { name: 'Sage' });
const ROOK = payload(2, { name: 'Rook' });
const memberOf = ({ id, name, position }: typeof LYRA): TeamMember => ({ agentId: id, name, position, retired: false });

/**
 * Agents say what `agents` says once they have greeted; the lead behaves, and so does everybody for
 * whom it says nothing.
 */
function withAgents(agents: (request: ScriptedRequest) => Reply | null): Script {
  const usual = teamScript();
  return (request) =>
    request.seat === null || request.body.messages.length === 1 ? usual(request) : (agents(request) ?? usual(request));
}
const call = (tool: string, input: unknown): Reply => [{ call: tool, input }];

/** Lyra, Sage and Rook have been woken and are quiet. */
async function openTeam(bench: Bench, script: Script = teamScript(), now?: () => number): Promise<Household> {
  const house = await bench.open({ script, ...(now ? { now } : {}) });
  await house.team.directory.set({
    agents: [...[LYRA, SAGE, ROOK].map(memberOf), { agentId: 'gone', name: 'Gone', position: null, retired: true }],
  });
  await house.start();
  await house.wake([LYRA, SAGE, ROOK]);
  await house.until(() => house.of('agent-awake').length === 3);
  await house.untilQuiet();
  return house;
}

/** What the tools of an agent's answers gave back. */
const results = (house: Household, agentId: string) =>
  house
    .of('message')
    .flatMap((message) =>
      message.author === agentId
        ? message.blocks.flatMap((block) => (block.kind === 'tool' ? [block.result ?? ''] : []))
        : [],
    );
/** Requests in which this text stands among what was new. */
const putBefore = (house: Household, seat: number, text: string) =>
  house.requestsOf(seat).filter((request) => request.last.includes(text));
const messagesTo = (house: Household, agentId: string) =>
  house
    .of('message')
    .filter(
      (message) =>
        message.agentId === agentId &&
        message.role === 'user' &&
        message.author !== 'human' &&
        message.author !== 'relay',
    );

describe.each(USUAL_STORES)('agents on %s', (kind) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());

  it('leave each other messages that cost nothing until the next turn, and are then read once', async () => {
    const house = await openTeam(
      bench,
      withAgents(({ last }) =>
        last === 'tell Sage' ? call('message_agent', { to: 'sage', message: 'the tide turns at six' }) : null,
      ),
    );
    await house.post({ text: 'tell Sage', to: LYRA.id });
    await house.until(() => results(house, LYRA.id).length === 1);
    await house.untilQuiet();
    expect(results(house, LYRA.id)).toEqual(['Delivered to Sage’s inbox. It is read at Sage’s next turn.']);
    expect(house.requestsOf(2)).toHaveLength(1);
    expect(await house.inbox.waiting(SAGE.id)).toMatchObject([
      { from: LYRA.id, to: SAGE.id, text: 'the tide turns at six', priority: 'normal', read: null },
    ]);
    await house.post({ text: 'anything new?', to: SAGE.id });
    await house.until(() => house.requestsOf(2).length === 2);
    await house.untilQuiet();
    expect(house.requestsOf(2)[1]?.last).toBe('[Message from Lyra, seat 1]\n> the tide turns at six\nanything new?');
    await house.post({ text: 'and now?', to: SAGE.id });
    await house.until(() => house.requestsOf(2).length === 3);
    expect(house.requestsOf(2)[2]?.last).toBe('and now?');
    expect(messagesTo(house, SAGE.id)).toMatchObject([
      { author: LYRA.id, blocks: [{ kind: 'text', text: 'the tide turns at six' }] },
    ]);
    const run = house
      .of('answer-started')
      .filter(({ agentId }) => agentId === SAGE.id)
      .at(1)?.messageId;
    expect((await house.inbox.list(SAGE.id, { before: null, limit: 10 })).messages).toMatchObject([{ read: { run } }]);
  });

  it('are told why a message cannot be sent: to itself, to nobody, to a retired or an ambiguous agent', async () => {
    const house = await openTeam(
      bench,
      withAgents(({ last }) =>
        last.startsWith('to ') ? call('message_agent', { to: last.slice(3), message: 'x' }) : null,
      ),
    );
    await house.team.directory.set({
      agents: [...(await house.team.directory.all()), { agentId: 'twin', name: 'Sage', position: 8, retired: false }],
    });
    for (const [i, to] of ['Lyra', 'Nobody', 'Gone', 'Sage', 'seat 3'].entries()) {
      await house.post({ text: `to ${to}`, to: LYRA.id });
      await house.until(() => results(house, LYRA.id).length === i + 1);
    }
    expect(results(house, LYRA.id)).toEqual([
      'That is you. Send the message to another agent.',
      'There is no agent called “Nobody” here. There are: Lyra, Sage (seat 2), Rook, Lead, Sage (seat 9).',
      'Gone is retired, and no longer reads messages.',
      'There are several called “Sage”: Sage (seat 2), id agent-1; Sage (seat 9), id twin. Use the id.',
      'Delivered to Rook’s inbox. It is read at Rook’s next turn.',
    ]);
    expect([...(await house.inbox.unread())]).toEqual([[ROOK.id, 1]]);
  });

  it('wake each other within the limits, and learn what became of it', async () => {
    let time = NOON;
    const house = await openTeam(
      bench,
      withAgents(({ last }) =>
        last === 'go' ? call('wake_agent', { to: 'Sage', message: 'it burns', reason: 'critical_finding' }) : null,
      ),
      () => time,
    );
    const go = async (count: number) => {
      await house.post({ text: 'go', to: LYRA.id });
      await house.until(() => results(house, LYRA.id).length === count);
      await house.untilQuiet();
    };
    await go(1);
    await house.until(() => putBefore(house, 2, 'it burns').length === 1);
    await house.untilQuiet();
    time += 299_000;
    await go(2);
    time += 1_000;
    await go(3);
    await house.until(() => putBefore(house, 2, 'it burns').length === 2);
    await house.untilQuiet();
    time += 5 * MINUTE;
    await go(4);
    await house.until(() => putBefore(house, 2, 'it burns').length === 3);
    await house.untilQuiet();
    time += 5 * MINUTE;
    await go(5);
    const told = results(house, LYRA.id);
    expect(told[0]).toBe('Granted: Sage is awake and reads your message now. You have 2 wakes left in this session.');
    expect(told[1]).toMatch(
      /^Suppressed: .*1 s.* Your message is in Sage’s inbox .* You have 2 wakes left in this session\.$/,
    );
    expect(told[3]).toContain('You have 0 wakes left');
    // It is delivered, and says so: who is told to use another tool sends it twice.
    expect(told[4]).toContain('limit of 3 wakes in a session is reached. Your message is in Sage’s inbox');
    expect(told[4]).not.toMatch(/\buse message_agent|send it/i);
    expect(
      (await house.team.gate.feed({ before: null, limit: 50, agentId: SAGE.id })).wakes
        .filter(({ way }) => way !== 'person')
        .map(({ outcome, check }) => [outcome, check]),
    ).toEqual([
      ['error', 'source_budget'],
      ['granted', null],
      ['granted', null],
      ['suppressed', 'cooldown'],
      ['granted', null],
    ]);
    // What was suppressed was read with the next wake, what was refused waits.
    expect(putBefore(house, 2, 'it burns').map(({ last }) => last.split('it burns').length - 1)).toEqual([1, 2, 1]);
    expect(await house.inbox.waiting(SAGE.id)).toHaveLength(1);
  });

  it('are asked again at the end of a turn in which they were wanted', async () => {
    const gate = createGate();
    const house = await openTeam(
      bench,
      withAgents(({ last }) => {
        if (last === 'think long') return [{ say: 'Hm.' }, { until: gate.passed }];
        return last === 'hurry Sage'
          ? call('message_agent', { to: 'Sage', message: 'soon, please', priority: 'urgent' })
          : null;
      }),
    );
    await house.post({ text: 'think long', to: SAGE.id });
    await house.until(() => putBefore(house, 2, 'think long').length === 1);
    await house.post({ text: 'hurry Sage', to: LYRA.id });
    await house.until(() => results(house, LYRA.id).length === 1);
    expect(results(house, LYRA.id)[0]).toMatch(/^Deferred: /);
    expect(putBefore(house, 2, 'soon, please')).toEqual([]);
    gate.open();
    await house.until(() => putBefore(house, 2, 'soon, please').length === 1);
    await house.untilQuiet();
    expect(
      (await house.team.gate.feed({ before: null, limit: 9, agentId: SAGE.id })).wakes
        .filter(({ way }) => way !== 'person')
        .map(({ way, outcome }) => [way, outcome]),
    ).toEqual([
      ['deferred', 'granted'],
      ['urgent_message', 'deferred'],
    ]);
  });

  it('stop waking each other at the limits, read every message once, and appear in the feed', async () => {
    let time = NOON;
    let thrown = 0;
    const other = { 1: 'Sage', 2: 'Lyra' } as const;
    const house = await openTeam(
      bench,
      withAgents(({ seat, last, results: done }) => {
        if (done.length > 0) return [{ say: 'Your turn.' }];
        if (!/ball|serve/.test(last) || (seat !== 1 && seat !== 2)) return null;
        thrown += 1;
        return call('message_agent', { to: other[seat], message: `ball ${thrown}`, priority: 'urgent' });
      }),
      () => time,
    );
    await house.post({ text: 'serve', to: LYRA.id });
    /**
     * The clock moves on only when no session that a wake has opened is still on its way to its
     * end.
     */
    const untilOver = async () => {
      await house.until(() => results(house, LYRA.id).length + results(house, SAGE.id).length >= thrown);
      await house.untilQuiet();
      for (const { id } of [LYRA, SAGE])
        await expect.poll(async () => (await house.team.gate.stats(id)).running).toBe(0);
    };
    // Two hours, six minutes at a time: nobody but the two asks for anything.
    for (let round = 0; round < 20; round++) {
      await untilOver();
      time += 6 * MINUTE;
      await house.post({ text: 'serve', to: round % 2 === 0 ? LYRA.id : SAGE.id });
      await house.untilQuiet();
    }
    await untilOver();
    const { wakes } = await house.team.gate.feed({ before: null, limit: 200, agentId: null });
    const granted = wakes.filter(({ outcome, source }) => outcome === 'granted' && source.kind === 'agent');
    expect(granted.length).toBeGreaterThan(0);
    // Five a day for each ordered pair.
    expect(granted.length).toBeLessThanOrEqual(10);
    expect(
      new Set(wakes.filter(({ source }) => source.kind === 'agent').map(({ outcome, check }) => check ?? outcome)),
    ).toContain('pair');
    const inboxes = async () => [...(await house.inbox.waiting(LYRA.id)), ...(await house.inbox.waiting(SAGE.id))];
    const readings = () =>
      [...messagesTo(house, LYRA.id), ...messagesTo(house, SAGE.id)].map((message) => wordsOf(message));
    // What waits is read when somebody has a turn; none is missing.
    for (const { id } of [LYRA, SAGE]) await house.post({ text: 'what waits?', to: id });
    await untilOver();
    await expect.poll(async () => thrown - readings().length - (await inboxes()).length).toBe(0);
    await untilOver();
    const read = readings();
    expect(new Set(read).size).toBe(read.length);
    for (let ball = 1; ball <= thrown; ball++) {
      const times = [...putBefore(house, 1, `ball ${ball}`), ...putBefore(house, 2, `ball ${ball}`)].filter(
        ({ last }) => new RegExp(`ball ${ball}\\b`).test(last),
      ).length;
      if (read.includes(`ball ${ball}`)) expect(times, `ball ${ball}`).toBe(1);
    }
  });

  it('set to sleep are asked nothing, and continue as themselves when woken', async () => {
    const house = await openTeam(bench);
    const sessionId = house.team.host.sessionId() ?? '';
    await house.team.pauses.set(sessionId, SAGE.id, true, 'human');
    expect(house.team.host.stateOf(SAGE.id)).toBe('paused');
    await house.post({ text: 'are you there?', to: SAGE.id });
    expect(house.of('message').at(-1)).toMatchObject({ waiting: true });
    await house.untilQuiet();
    expect(house.requestsOf(2)).toHaveLength(1);
    await house.team.wakes.ask({
      target: SAGE.id,
      source: { kind: 'person' },
      way: 'person',
      reason: null,
      messageId: null,
      callerSession: null,
    });
    await house.until(() => putBefore(house, 2, 'are you there?').length === 1);
    await house.untilQuiet();
    expect(house.requestsOf(2)[1]?.body.messages).toHaveLength(3);
    expect(house.of('message-read')).toHaveLength(1);
    expect(house.of('pause-flag').map(({ paused }) => paused)).toEqual([true, false]);
  });

  it('set to sleep are woken by the button, without the lead', async () => {
    const house = await openTeam(bench);
    await house.team.pauses.set(house.team.host.sessionId() ?? '', SAGE.id, true, 'human');
    const asked = house.requestsOf(null).length;
    expect(await house.wake([SAGE])).toMatchObject({ ok: true });
    await house.until(() => house.team.host.stateOf(SAGE.id) === 'idle');
    await house.untilQuiet();
    expect(house.requestsOf(null)).toHaveLength(asked);
    expect(await house.wake([SAGE])).toMatchObject({ ok: false, reason: 'already-awake' });
    // The gate's record says by which call: those of one press together, those of another apart.
    const callsMade = async () => {
      const { wakes } = await house.team.gate.feed({ before: null, limit: 50, agentId: null });
      const clicked = wakes.filter(({ way }) => way === 'person');
      const calls = [...new Set(clicked.map(({ callId }) => callId))];
      const targetsOf = (call: unknown) => clicked.flatMap(({ callId, target }) => (callId === call ? target : []));
      return calls.map((call) => ({ call, woken: targetsOf(call).sort() }));
    };
    // It is written beside the wake itself.
    await expect.poll(callsMade).toHaveLength(2);
    const calls = await callsMade();
    expect(calls.map(({ woken }) => woken)).toEqual([[SAGE.id], [LYRA.id, SAGE.id, ROOK.id].sort()]);
    expect(calls.at(-1)?.call).toBe(house.of('call-started')[0]?.callId);
  });
});

describe('a hundred messages', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  const numbered = Array.from({ length: 100 }, (_none, n) => `message ${String(n).padStart(3, '0')}`);
  const send = async (house: Household) => {
    for (const text of numbered)
      await house.team.wakes.message({ agentId: LYRA.id, sessionId: null }, { to: SAGE.id, text, priority: 'normal' });
  };
  /** The messages in every request to Sage, as they were put before it, in order. */
  const put = (house: Household) => house.requestsOf(2).flatMap(({ last }) => last.match(/message \d{3}/g) ?? []);

  it('reach a sleeping agent once and in order when it wakes', async () => {
    const house = await bench.open();
    await house.team.directory.set({ agents: [LYRA, SAGE].map(memberOf) });
    await send(house);
    await house.start();
    await house.wake([SAGE]);
    await house.until(() => put(house).length === 100);
    await house.untilQuiet();
    expect(put(house)).toEqual(numbered);
    expect(messagesTo(house, SAGE.id).map((message) => wordsOf(message))).toEqual(numbered);
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
  });

  it('reach an agent in the middle of a turn once and in order', async () => {
    const gate = createGate();
    const house = await openTeam(
      bench,
      withAgents(({ last }) => (last === 'think' ? [{ say: 'Hm.' }, { until: gate.passed }] : null)),
    );
    for (const text of numbered.slice(0, 50))
      await house.team.wakes.message({ agentId: LYRA.id, sessionId: null }, { to: SAGE.id, text, priority: 'normal' });
    await house.post({ text: 'think', to: SAGE.id });
    await house.until(() => put(house).length === 50);
    for (const text of numbered.slice(50))
      await house.team.wakes.message({ agentId: LYRA.id, sessionId: null }, { to: SAGE.id, text, priority: 'normal' });
    gate.open();
    await house.untilQuiet();
    await house.post({ text: 'and?', to: SAGE.id });
    await house.until(() => put(house).length === 100);
    expect(put(house)).toEqual(numbered);
  });

  it('reach an agent once and in order after the relay was killed in the middle of a turn', async () => {
    const gate = createGate();
    const house = await openTeam(
      bench,
      withAgents(({ last }) => (last.includes('message 049') ? [{ say: 'Hm.' }, { until: gate.passed }] : null)),
    );
    for (const text of numbered.slice(0, 50))
      await house.team.wakes.message({ agentId: LYRA.id, sessionId: null }, { to: SAGE.id, text, priority: 'normal' });
    await house.post({ text: 'read', to: SAGE.id });
    await house.until(() => put(house).length === 50);
    for (const text of numbered.slice(50))
      await house.team.wakes.message({ agentId: LYRA.id, sessionId: null }, { to: SAGE.id, text, priority: 'normal' });
    await house.restart();
    gate.open();
    expect(await house.inbox.waiting(SAGE.id)).toHaveLength(50);
    await house.start();
    await house.wake([SAGE]);
    await house.until(() => put(house).length === 100);
    await house.untilQuiet();
    expect(put(house)).toEqual(numbered);
    expect(messagesTo(house, SAGE.id).map((message) => wordsOf(message))).toEqual(numbered);
  });

  it('wait again when they were taken but not delivered before the relay was killed', async () => {
    const house = await openTeam(bench);
    await send(house);
    const sessionId = house.team.host.sessionId();
    await house.inbox.claim(
      (await house.inbox.waiting(SAGE.id)).map(({ messageId }) => messageId),
      { readIn: sessionId, run: 'never asked', time: Date.now() },
    );
    expect(await house.inbox.waiting(SAGE.id)).toEqual([]);
    await house.restart();
    expect((await house.inbox.waiting(SAGE.id)).map(({ text }) => text)).toEqual(numbered);
  });
});
