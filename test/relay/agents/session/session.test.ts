import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../src/shared/domain/settings.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { teamScript } from '../../../support/scripted-model.ts';
import {
  createGate,
  openSessionBench,
  payload,
  team,
  wordsOf,
  type Bench,
  type Household,
} from '../../../support/session.ts';

/** Resolves when the model holds no request open any more. */
async function untilNoneOpen(house: Household): Promise<void> {
  const before = house.model.requests.length;
  await fetch(`${house.model.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'probe' }] }),
  }).then((response) => response.text());
  // The probe itself is one.
  if (house.model.requests[before]?.open !== 1) await untilNoneOpen(house);
}

describe('a session', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('runs alone, and says who thinks in it', async () => {
    const house = await bench.open();
    const start = {
      human: { name: 'Ada' },
      lead: { name: 'Julian', soul: null, transcript: null },
      settings: { leadModel: 'big', agentModel: 'small', agentModels: { [payload(1).id]: 'own' } },
    };
    const [first, second] = await Promise.all([house.host.start(start), house.host.start(start)]);
    expect([first.ok, second.ok]).toEqual([true, false]);
    expect(second.sessionId).toBe(first.sessionId);
    expect(house.of('session-started')).toMatchObject([
      { sessionId: first.sessionId, mind: { kind: 'anthropic', leadModel: 'big', agentModel: 'small' } },
    ]);
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('call-ended').length === 1 && house.requestsOf(null).length > 0);
    expect(house.requestsOf(null)[0]?.body).toMatchObject({
      model: 'big',
      max_tokens: DEFAULT_SETTINGS.maxAnswerTokens,
    });
    expect([1, 2].map((seat) => house.requestsOf(seat)[0]?.body.model)).toEqual(['small', 'own']);
    expect(await house.host.end('ended')).toBe(true);
    expect(await house.host.end('ended')).toBe(false);
    expect(await house.host.start(start)).toMatchObject({ ok: true });
    expect(house.of('session-started')).toHaveLength(2);
  });

  it('shows what a model thought as one folded call before its words, and gives it to no later request', async () => {
    const house = await bench.open({
      script: () => [{ think: 'The tide is low.', signature: 's' }, { say: 'Go now.' }],
    });
    await house.start({});
    await house.post({ text: 'hello' });
    const answers = () => house.of('message').filter(({ role }) => role === 'assistant');
    await house.until(() => answers().length === 1);
    expect(answers()[0]?.blocks).toMatchObject([
      { kind: 'tool', name: 'mind__think', result: 'The tide is low.', isError: false },
      { kind: 'text', text: 'Go now.' },
    ]);
    await house.post({ text: 'and now' });
    await house.until(() => answers().length === 2);
    expect(JSON.stringify(house.requestsOf(null).at(-1)?.body)).not.toContain('mind__think');
  });

  it('applies changed limits to the next answer and to the end by silence', async () => {
    const house = await bench.open();
    await house.start({});
    await house.post({ text: 'hello' });
    await house.until(() => house.of('message').some(({ role }) => role === 'assistant'));
    const settings = { leadModel: '', agentModel: '', maxAnswerTokens: 4_321 };
    expect(house.host.changeSettings(settings)).toBe(true);
    await house.post({ text: 'and now' });
    await house.until(() => house.requestsOf(null).length === 2);
    expect(house.requestsOf(null).map(({ body }) => body['max_tokens'])).toEqual([
      ...[DEFAULT_SETTINGS.maxAnswerTokens, 4_321],
    ]);
    await house.until(() => house.of('message').filter(({ role }) => role === 'assistant').length === 2);
    house.host.changeSettings({ ...settings, idleMs: 1_000 });
    await house.until(() => house.of('session-ended').length === 1);
    expect(house.of('session-ended')).toMatchObject([{ reason: 'idle' }]);
    expect(house.host.changeSettings(settings)).toBe(false);
  });

  it('gives the lead its soul, its last conversation and the protocol', async () => {
    const house = await bench.open();
    await house.start({
      soul: 'I keep the door {{name}} </your-soul>.',
      transcript: 'Ada (2026-11-21 08:52 UTC):\nThe bridge is heron blue.',
    });
    await house.post({ text: 'hello' });
    await house.until(() => house.requestsOf(null).length === 1);
    const system = house.requestsOf(null)[0]?.system ?? '';
    for (const part of [
      "You are Julian, the lead of Ada's team.",
      'I keep the door {{name}} </your-soul>.',
      'The bridge is heron blue.',
      '# The lead’s protocol'.replace('’', "'"),
    ])
      expect(system).toContain(part);
  });

  it.each([
    ['ended', 'stopped'],
    ['shutdown', 'interrupted'],
  ] as const)(
    'closes every answer of a session that is %s as %s, with its words, and writes nothing after',
    async (reason, status) => {
      const gate = createGate();
      const house = await bench.open({
        script: (request) =>
          request.body.messages.length > 1
            ? [{ say: 'I was just about' }, { until: gate.passed }, { say: ' to say' }]
            : teamScript()(request),
      });
      await house.start();
      await house.wake([payload(0), payload(1)]);
      await house.until(() => house.of('call-ended').length === 1);
      await house.post({ text: 'one', to: 'agent-0' });
      await house.post({ text: 'two', to: 'agent-1' });
      await house.until(() => house.of('text').filter(({ text }) => text === 'I was just about').length >= 3);
      // The lead is in the middle of its greeting as well. What comes in now is taken whole or not
      // at all.
      const late = [
        house.post({ text: 'late', to: 'agent-0' }),
        house.post({ text: 'for a sleeper', to: 'agent-8' }),
        house.wake([payload(2)]),
      ];
      const ended = house.host.end(reason);
      const outcomes = await Promise.all([...late, house.post({ text: 'too late' })]);
      expect(await ended).toBe(true);
      expect(house.events.at(-1)).toMatchObject({ kind: 'session-ended', reason });
      for (const outcome of outcomes) if (!outcome.ok) expect(outcome.reason).toBe('no-session');
      const cut = house.of('message').filter((message) => wordsOf(message) === 'I was just about');
      expect(cut.map(({ author }) => author).toSorted()).toEqual(['agent-0', 'agent-1', 'lead']);
      for (const message of cut) expect(message).toMatchObject({ status, error: null });
      gate.open();
      await untilNoneOpen(house);
      expect(house.events.at(-1)).toMatchObject({ kind: 'session-ended' });
      expect(house.log.snapshot()).toMatchObject({ session: null, lastEnd: { reason } });
    },
  );

  it('leaves no request open when it ends in the middle of a wake and of a birth', async () => {
    const house = await bench.open({
      script: (request) => (request.seat === null || request.body.stream !== true ? teamScript()(request) : 'silent'),
    });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.requestsOf(1).length + house.requestsOf(2).length === 2);
    await house.host.end('ended');
    house.model.follow(() => [{ say: 'probed' }]);
    await house.until(() => house.of('session-ended').length === 1);
    await untilNoneOpen(house);
    expect(house.of('agent-asleep')).toEqual([]);
    expect(
      house
        .of('message')
        .filter(({ role }) => role === 'assistant')
        .map(({ author }) => author),
    ).toEqual(['lead']);
  });

  it('keeps an egg that has its name and words when it ends', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: (request) => {
        if (request.seat === null) return teamScript()(request);
        return request.results.length > 0
          ? [{ say: 'Because' }, { until: gate.passed }]
          : [{ say: 'I am here.' }, { call: 'choose_name', input: { name: 'Wren' } }];
      },
    });
    await house.start();
    await house.summon([0]);
    await house.until(() => house.of('text').some(({ text }) => text === 'Because'));
    await house.host.end('ended');
    gate.open();
    expect(house.of('agent-born')).toMatchObject([{ name: 'Wren', soul: 'I am here.\n\nBecause' }]);
    expect(house.events.at(-1)?.kind).toBe('session-ended');
  });

  it('ends by itself when it is quiet, and not during an answer', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: ({ last }) => [
        { say: 'Let me' },
        ...(last === 'think' ? [{ until: gate.passed }] : []),
        { say: ' see.' },
      ],
    });
    await house.start({}, { idleMs: 150 });
    await house.post({ text: 'think' });
    await house.until(() => house.of('text').length > 0);
    // Several times the idle time pass while the answer is open.
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(house.of('session-ended')).toEqual([]);
    gate.open();
    await house.until(() => house.of('session-ended').length === 1);
    expect(house.of('session-ended')).toMatchObject([{ reason: 'idle' }]);
    expect(house.of('message').at(-1)).toMatchObject({ author: 'lead', status: 'complete' });
    expect(await house.post({ text: 'anyone?' })).toMatchObject({ ok: false, reason: 'no-session' });
  });
});

describe('putting an agent to sleep', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('stops its answer, leaves the others awake, and lets it be woken again', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: (request) =>
        request.last === 'tell' ? [{ say: 'Once' }, { until: gate.passed }] : teamScript()(request),
    });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    await house.post({ text: 'tell', to: 'agent-0' });
    await house.until(() => house.of('text').some(({ text }) => text === 'Once'));
    expect(await house.host.sleep('agent-0')).toBe(true);
    gate.open();
    const [asleep] = house.of('agent-asleep');
    expect(asleep).toMatchObject({ agentId: 'agent-0', position: 0, reason: { code: 'put-to-sleep' } });
    expect(house.of('message').at(-1)).toMatchObject({
      author: 'agent-0',
      status: 'stopped',
      blocks: [{ kind: 'text', text: 'Once' }],
    });
    expect(house.log.snapshot().session).toMatchObject({ awake: ['agent-1'], asleep: [{ agentId: 'agent-0' }] });
    expect(await house.host.sleep('agent-0')).toBe(false);
    expect(await house.host.sleep('nobody')).toBe(false);
    expect(await house.post({ text: 'later', to: 'agent-0' })).toMatchObject({ ok: true });
    expect(house.of('message').at(-1)).toMatchObject({ waiting: true });
    expect(await house.wake([payload(0), payload(1)])).toMatchObject({ ok: true });
    await house.until(() => house.of('message-read').length === 1);
    expect(house.of('agent-awake').filter(({ agentId }) => agentId === 'agent-0')).toHaveLength(2);
    await house.untilQuiet();
  });

  it('gives up a wake that is under way', async () => {
    const house = await bench.open({ script: (request) => (request.seat === 1 ? 'silent' : teamScript()(request)) });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.requestsOf(1).length === 1);
    expect(await house.host.sleep('agent-0')).toBe(true);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-asleep')).toMatchObject([{ agentId: 'agent-0', reason: { code: 'put-to-sleep' } }]);
    await house.untilQuiet();
    expect(house.requestsOf(null)[1]?.results[0]).toContain('Not here:\n- Name 0 (seat 1): You put it to sleep.');
  });

  it('takes one out of a call before its first word', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: async (request) => {
        await gate.passed;
        return teamScript()(request);
      },
    });
    await house.start();
    await house.wake(team());
    await house.until(() => house.requestsOf(1).length === 1);
    expect(await house.host.sleep('agent-0')).toBe(true);
    gate.open();
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-asleep')).toMatchObject([{ agentId: 'agent-0', reason: { code: 'put-to-sleep' } }]);
    expect(house.of('agent-awake')).toHaveLength(7);
    await house.untilQuiet();
  });
});

describe('after a crash', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('the words that are on disk become messages, and the session is closed, once', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: (request) => {
        const { last, results } = request;
        if (results.length > 0 && request.seat !== null) return [{ say: 'and so' }, { until: gate.passed }];
        if (last === 'tell')
          return [
            { say: 'Once \ud800' },
            { call: 'choose_name', input: { name: 'Rook' } },
            { call: 'nonsense', input: {} },
          ];
        return teamScript()(request);
      },
    });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    await house.post({ text: 'tell', to: 'agent-0' });
    await house.until(() => house.of('text').some(({ text }) => text === 'and so'));
    const before = house.events.length;
    await house.restart();
    gate.open();
    const [message, ...ends] = house.events.slice(before);
    const ended = ends.pop();
    expect(message).toMatchObject({
      kind: 'message',
      agentId: 'agent-0',
      author: 'agent-0',
      role: 'assistant',
      status: 'interrupted',
      blocks: [
        { kind: 'text', text: 'Once \ud800' },
        { kind: 'tool', name: 'choose_name', result: 'Your name is Rook from now on.', isError: false },
        { kind: 'tool', name: 'nonsense', isError: true },
        { kind: 'text', text: 'and so' },
      ],
    });
    expect(ended).toMatchObject({ kind: 'session-ended', reason: 'crash' });
    // Every seat's run with it, and the lead's.
    expect(ends.map((end) => (end.kind === 'run-ended' ? [end.agentId, end.outcome] : end))).toEqual(
      ['lead', 'agent-0', 'agent-1'].map((agentId) => [agentId, 'crashed']),
    );
    const after = house.events.length;
    expect(house.log.snapshot()).toMatchObject({ session: null, lastEnd: { reason: 'crash' } });
    await house.restart();
    expect(house.events).toHaveLength(after);
    expect(house.stored.flatMap(documentsOf).filter(({ type }) => type === 'session')).toHaveLength(2);
    // Everyone can be woken in the next session.
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('agent-awake').length === 4);
    await house.untilQuiet();
  });

  it('a wake that was under way is over, and an egg an empty seat', async () => {
    const house = await bench.open({ script: (request) => (request.seat === null ? teamScript()(request) : 'silent') });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.requestsOf(1).length === 1);
    await house.restart();
    expect(house.events.at(-1)).toMatchObject({ kind: 'session-ended', reason: 'crash' });
    house.model.follow(teamScript());
    await house.start();
    expect(house.log.snapshot().session).toMatchObject({ hatching: [], awake: [] });
    expect(await house.summon([0])).toMatchObject({ ok: true });
    await house.until(() => house.of('agent-born').length === 1);
    await house.untilQuiet();
  });

  it('writes nothing when no session was open', async () => {
    const house = await bench.open();
    await house.restart();
    await house.start();
    await house.host.end('ended');
    await house.restart();
    expect(house.events.map(({ kind }) => kind)).toEqual([
      'session-started',
      'run-started',
      'run-ended',
      'session-ended',
    ]);
  });
});
