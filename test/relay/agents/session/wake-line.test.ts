/**
 * Eight are called, and the model's server takes one, two or three at once: all eight awake,
 * whoever waits is told where.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { narrowModel, type NarrowOptions } from '../../../support/narrow-model.ts';
import { teamScript, type Script } from '../../../support/scripted-model.ts';
import { createGate, openSessionBench, payload, team, type Bench } from '../../../support/session.ts';

const usual = teamScript();
const QUICK = { backoffFirst: 20, backoffMost: 200, serialAfterMs: 100, volleyMs: 500, tryMoreAfter: 100 };
const ANSWER_MS = 400;
/** Where nothing is to be timed: long enough for others to come meanwhile. */
const SHORT_ANSWER_MS = 100;

const WAYS: readonly (readonly [string, Pick<NarrowOptions, 'by' | 'retryAfter'>])[] = [
  ['by a line of its own', { by: 'queue' }],
  ['by 429', { by: 'refuse' }],
  ['by 429 with retry-after', { by: 'refuse', retryAfter: '1' }],
];

describe('a wake before a server that takes', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  // In every way at once: most of it is waiting for the server.
  it.each([1, 2, 3])('%i at once wakes eight of eight, in times that each has for itself', async (atOnce) => {
    await Promise.all(
      WAYS.map(async ([way, how]) => {
        const options = { ...how, atOnce };
        const narrow = narrowModel({ ...options, answerMs: ANSWER_MS }, usual);
        const house = await bench.open({ script: narrow.script, mindConfig: { queue: QUICK } });
        const places: string[] = [];
        house.host.onWaiting(({ waiting }) =>
          places.push(waiting.map(({ agentId, position }) => `${agentId}:${position}`).join(' ')),
        );
        // Half of what eight take one after another.
        await house.start({}, { wakeTimeoutMs: ANSWER_MS * 4 });
        await house.wake(team());
        await house.until(() => house.of('call-ended').length === 1);
        expect(house.of('agent-asleep'), way).toEqual([]);
        expect(house.of('agent-awake'), way).toHaveLength(8);
        expect(narrow.most(), way).toBeLessThanOrEqual(atOnce);
        await house.untilQuiet();
        expect(house.host.waiting(), way).toEqual({ waiting: [] });

        // What was learned is kept: the next wake sends no more than the server takes.
        await house.host.end('ended');
        const refused = narrow.refused();
        const next = narrowModel({ ...options, answerMs: SHORT_ANSWER_MS }, usual);
        house.model.follow(next.script);
        await house.start({}, { wakeTimeoutMs: ANSWER_MS * 4 });
        await house.wake(team());
        await house.until(() => house.of('call-ended').length === 2);
        expect(house.of('agent-awake'), way).toHaveLength(16);
        expect(next.mostHeld(), way).toBeLessThanOrEqual(atOnce);
        expect(next.refused(), way).toBe(0);
        // Whoever waited was told where.
        expect(
          places.some((line) => /agent-\d:1 agent-\d:2 agent-\d:3/.test(line)),
          way,
        ).toBe(true);
        expect(refused, way).toBeLessThanOrEqual(20);
        await house.untilQuiet();
      }),
    );
  });

  it('serves many agents at once, and is not slowed by a silent one', async () => {
    const house = await bench.open({
      script: (request) => (request.seat === 3 ? 'silent' : usual(request)),
      mindConfig: { queue: QUICK },
    });
    await house.start({}, { wakeTimeoutMs: 2_000 });
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length === 7);
    expect(house.of('agent-asleep')).toEqual([]);
    await house.untilTimedOut(2_000, () => house.of('call-ended').length === 1);
    expect(house.of('agent-asleep')).toMatchObject([{ agentId: 'agent-2', reason: { code: 'silent' } }]);
    // Once more, because that may pass.
    expect(house.requestsOf(3)).toHaveLength(2);
  });
});

describe('an agent that fails in a wake', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  const failing =
    (status: number, type: string, message = 'no'): Script =>
    (request) =>
      request.seat === 1 ? { fail: { status, type, message } } : usual(request);
  it.each<[string, Script, number]>([
    ['overloaded', failing(529, 'overloaded_error'), 2],
    ['unavailable', failing(503, 'api_error'), 2],
    ['refused for now', failing(429, 'rate_limit_error'), 2],
    ['cut', (request) => (request.seat === 1 ? [{ cut: true }] : usual(request)), 2],
    ['not let in', failing(401, 'authentication_error'), 1],
    ['forbidden', failing(403, 'permission_error'), 1],
    ['out of credit', failing(400, 'invalid_request_error', 'Your credit balance is too low'), 1],
    ['of no known model', failing(404, 'not_found_error', 'model: x'), 1],
    // In two forms of one request.
    ['not understood', failing(400, 'invalid_request_error', 'messages: no'), 2],
  ])('because it was %s is asked as often as that can help', async (_what, script, times) => {
    const house = await bench.open({ script });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.requestsOf(1)).toHaveLength(times);
    expect(house.of('agent-asleep')).toMatchObject([{ agentId: 'agent-0', reason: { code: 'failed' } }]);
    expect(house.of('agent-awake')).toMatchObject([{ agentId: 'agent-1' }]);
  });

  it('is awake after its second try when the reason passes', async () => {
    let tries = 0;
    const house = await bench.open({
      script: (request) => (request.seat === 1 && (tries += 1) === 1 ? [{ cut: true }] : usual(request)),
    });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-awake')).toHaveLength(1);
    expect(house.of('agent-asleep')).toEqual([]);
  });

  it('is told at once when the server demands a pause of an hour', async () => {
    const house = await bench.open({
      script: (request) =>
        request.seat === null
          ? usual(request)
          : { fail: { status: 429, type: 'rate_limit_error', message: 'later', headers: { 'retry-after': '3600' } } },
      mindConfig: { queue: QUICK },
    });
    await house.start();
    await house.wake(team());
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-asleep')).toHaveLength(8);
    // The same for all: said once.
    expect(house.of('call-ended')[0]?.error).toMatch(/is busy.*Try again in 60 min\./);
    expect(house.model.requests.filter(({ seat }) => seat !== null)).toHaveLength(8);
  });
});

describe('the line before a server', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());
  const open = (answerMs: number, script = usual) => {
    const narrow = narrowModel({ atOnce: 1, by: 'refuse', answerMs }, script);
    return bench.open({ script: narrow.script, mindConfig: { queue: QUICK, maxRequests: 1 } });
  };

  it('lets the person’s words go before those who are being woken, and the lead’s greeting after them', async () => {
    // The second who is woken is not answered before the person’s words stand in the line.
    const gate = createGate();
    let woken = 0;
    const house = await open(100, async (request) => {
      if (request.seat !== null && (woken += 1) > 1) await gate.passed;
      return usual(request);
    });
    await house.start();
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length === 1);
    const [first] = house.of('agent-awake');
    await house.post({ text: 'You first.', to: first?.agentId ?? '' });
    gate.open();
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    const seats = house.model.requests.map(({ seat, last }) =>
      last === 'You first.' ? 'person' : seat === null ? 'lead' : 'agent',
    );
    expect(seats.indexOf('person')).toBeLessThan(5);
    expect(seats.indexOf('lead')).toBeGreaterThan(seats.lastIndexOf('agent'));
  });

  it('is left by an agent that is put to sleep, and by all when the session ends', async () => {
    const house = await open(300);
    await house.start();
    await house.wake(team());
    await house.until(() => house.host.waiting().waiting.length >= 7);
    const [, second] = house.host.waiting().waiting.filter(({ agentId }) => agentId !== 'lead');
    expect(await house.host.sleep(second?.agentId ?? '')).toBe(true);
    expect(house.host.waiting().waiting.some(({ agentId }) => agentId === second?.agentId)).toBe(false);
    expect(await house.host.end('ended')).toBe(true);
    expect(house.host.waiting()).toEqual({ waiting: [] });
    const asked = house.model.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(house.model.requests).toHaveLength(asked);
    // And the next session finds the line open.
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('call-ended').length > 0);
    await house.untilQuiet();
  });
});
