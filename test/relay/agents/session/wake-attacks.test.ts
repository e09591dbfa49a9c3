/**
 * What comes between a click on WAKE and the first words: slow lines, second clicks, Stop, the end,
 * and a kill.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWake } from '../../../../src/shared/domain/wake-payload.ts';
import { openDrippingLine } from '../../../support/dripping-line.ts';
import { openEventSource } from '../../../support/event-source.ts';
import { narrowModel } from '../../../support/narrow-model.ts';
import { startRelay } from '../../../support/relay.ts';
import { startScriptedModel, teamScript, type Script } from '../../../support/scripted-model.ts';
import { createGate, openSessionBench, payload, team, wordsOf, type Bench } from '../../../support/session.ts';

const usual = teamScript();
const QUICK = { backoffFirst: 20, backoffMost: 200, serialAfterMs: 100, volleyMs: 500, tryMoreAfter: 100 };
const GREETING = 'Guten Morgen, Ada 🪺 — zwölf Reiher stehen im Schilf.';
const ended = (house: { of(kind: 'call-ended'): readonly unknown[] }, calls = 1) =>
  house.of('call-ended').length === calls;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a wake', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('wakes all agents by a server that answers byte by byte, and tears no letter', async () => {
    const model = await startScriptedModel(teamScript({ greeting: () => GREETING }));
    const line = await openDrippingLine(model.url, 0);
    const house = await bench.open({ mindConfig: { baseUrl: line.url } });
    await house.start();
    await house.wake(team());
    await house.until(() => ended(house));
    await house.untilQuiet();
    expect(house.of('agent-awake')).toHaveLength(8);
    expect(
      house
        .of('message')
        .filter(({ role, agentId }) => role === 'assistant' && agentId !== 'lead')
        .map(wordsOf),
    ).toEqual(Array.from({ length: 8 }, () => GREETING));
    await house.close();
    await line.close();
    await model.close();
  });

  it('ends in time, after a second try, by a server that drips without a word', async () => {
    const model = await startScriptedModel(usual);
    const line = await openDrippingLine(model.url, 20);
    const house = await bench.open({ mindConfig: { baseUrl: line.url, queue: QUICK } });
    await house.start({}, { wakeTimeoutMs: 300 });
    await house.wake([payload(0), payload(1)]);
    await house.until(() => ended(house));
    expect(house.of('agent-asleep').map(({ reason }) => reason.code)).toEqual(['silent', 'silent']);
    expect(model.requests.filter(({ seat }) => seat === 1)).toHaveLength(2);
    await house.close();
    await line.close();
    await model.close();
  });

  it('wakes nobody twice from a second tab while the first waits in the queue', async () => {
    const narrow = narrowModel({ atOnce: 1, by: 'queue', answerMs: 60 }, usual);
    const house = await bench.open({ script: narrow.script, mindConfig: { queue: QUICK, maxRequests: 1 } });
    await house.start();
    await house.wake(team().slice(0, 6));
    await house.until(() => house.host.waiting().waiting.length >= 4);
    // The other tab knows of two more.
    const [same, more] = await Promise.all([house.wake(team().slice(0, 6)), house.wake(team())]);
    expect(same).toMatchObject({ ok: false, reason: 'already-awake' });
    expect(more.ok).toBe(true);
    await house.until(() => ended(house, 2));
    await house.untilQuiet();
    expect(
      house
        .of('agent-awake')
        .map(({ agentId }) => agentId)
        .sort(),
    ).toEqual(
      team()
        .map(({ id }) => id)
        .sort(),
    );
    for (let seat = 1; seat <= 9; seat++) expect(house.requestsOf(seat)).toHaveLength(seat === 5 ? 0 : 1);
  });

  const cut: Script = (request) => (request.seat === 1 ? [{ cut: true }] : usual(request));
  it('does not try again after a stop before the second try, and says why the agent sleeps', async () => {
    const house = await bench.open({
      script: cut,
      mindConfig: { queue: { ...QUICK, breaks: 0 } },
      limits: { secondTryMs: 300 },
    });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('agent-awake').length === 1 && house.requestsOf(1).length === 1);
    // Its answer has come to nothing, and the next is not asked for yet.
    await pause(100);
    expect(await house.host.stop('agent-0')).toBe(true);
    await house.until(() => ended(house));
    await pause(400);
    expect(house.requestsOf(1)).toHaveLength(1);
    expect(house.of('agent-asleep')).toMatchObject([
      { agentId: 'agent-0', reason: { message: 'You stopped it before its first words.' } },
    ]);
    expect(house.host.stateOf('agent-0')).toBe('absent');
  });

  it('passes the place in the queue on when an agent is stopped', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: (request) => (request.seat === 1 ? [{ until: gate.passed }, { say: 'Here.' }] : usual(request)),
      mindConfig: { queue: QUICK, maxRequests: 1 },
    });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.requestsOf(1).length === 1);
    await house.wake([payload(1), payload(2)]);
    const inLine = () => house.host.waiting().waiting.map(({ agentId }) => agentId);
    await house.until(() => ['agent-1', 'agent-2'].every((agentId) => inLine().includes(agentId)));
    expect(await house.host.stop('agent-1')).toBe(true);
    await house.until(() => house.of('agent-asleep').length === 1);
    await house.until(() => house.host.waiting().waiting.find(({ agentId }) => agentId === 'agent-2')?.position === 1);
    gate.open();
    await house.until(() => ended(house, 2));
    expect(house.requestsOf(2)).toHaveLength(0);
    expect(house.of('agent-asleep')).toMatchObject([
      { agentId: 'agent-1', reason: { message: 'You stopped it before its first words.' } },
    ]);
  });

  it('whose session ends at any moment of it asks nothing afterwards, and gives every place back', async () => {
    const narrow = narrowModel({ atOnce: 2, by: 'queue', answerMs: 80 }, usual);
    const house = await bench.open({ script: narrow.script, mindConfig: { queue: QUICK, maxRequests: 2 } });
    for (const afterMs of [null, 0, 1, 2, 4, 8, 60]) {
      await house.start();
      const waking = house.wake(team());
      if (afterMs !== null) await pause(afterMs);
      await Promise.all([house.host.end('ended'), waking]);
      const asked = house.model.requests.length;
      expect(house.host.waiting()).toEqual({ waiting: [] });
      await pause(120);
      expect(house.model.requests, `ended after ${String(afterMs)} ms`).toHaveLength(asked);
    }
    await house.start();
    const calls = house.of('call-ended').length;
    await house.wake(team());
    await house.until(() => ended(house, calls + 1));
    await house.untilQuiet();
    const last = house.host.sessionId();
    expect(house.of('agent-awake').filter(({ sessionId }) => sessionId === last)).toHaveLength(8);
  });
});

it(
  'a relay that is killed in the middle of a wake comes back with nobody half awake, and wakes all at the next click',
  { timeout: 120_000 },
  async () => {
    const gate = createGate();
    const model = await startScriptedModel((request) =>
      request.seat !== null && request.seat > 3 ? [{ until: gate.passed }, { say: 'Late.' }] : usual(request),
    );
    const first = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url } });
    const signIn = await first.signIn();
    const listen = async (relay: typeof first) => {
      const headers = await relay.headers();
      return openEventSource((signal) => fetch(`${relay.url}/api/events`, { headers, signal }));
    };
    const post = async (relay: typeof first, path: string, json: unknown) =>
      expect((await relay.fetch(path, { method: 'POST', json })).ok).toBe(true);
    const start = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } };
    const clientId = randomUUID();
    const call = { text: writeWake(team()), clientId };
    const before = await listen(first);
    await post(first, '/api/sessions', start);
    await post(first, '/api/messages', call);
    await before.until(() => before.messages.filter(({ event }) => event === 'agent-awake').length === 3);
    await first.kill('SIGKILL');
    before.close();
    const asked = model.requests.length;

    const again = await startRelay({ home: first.home, signIn, env: { ANTHROPIC_BASE_URL: model.url } });
    const after = await listen(again);
    await after.until(() => after.messages.some(({ event }) => event === 'session-ended'));
    // Nobody is asked by itself, and nobody is shown as on the way.
    await pause(300);
    expect(model.requests).toHaveLength(asked);
    expect(await (await again.fetch('/api/health')).json()).toMatchObject({ sessionActive: false });
    // The page sends what it had no answer for once more: it is the same call, and stays one.
    await post(again, '/api/sessions', start);
    await post(again, '/api/messages', call);
    await pause(200);
    expect(model.requests).toHaveLength(asked);
    // WAKE is back.
    gate.open();
    await post(again, '/api/messages', { ...call, clientId: randomUUID() });
    const ends = () => after.messages.filter(({ event }) => event === 'call-ended').length;
    await after.until(() => ends() === 1);
    expect(after.messages.filter(({ event }) => event === 'agent-awake')).toHaveLength(3 + 8);
    expect(model.requests.slice(asked).filter(({ seat }) => seat !== null)).toHaveLength(8);
    after.close();
    await again.stop();
    await first.stop();
    await model.close();
  },
);
