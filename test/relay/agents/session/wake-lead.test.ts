/**
 * Nothing stands between the person and those they call: whatever the lead does costs its greeting,
 * and nobody's wake.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seatsCalled, teamScript, type Part, type Reply, type Script } from '../../../support/scripted-model.ts';
import { openSessionBench, payload, team, type Bench, type Household } from '../../../support/session.ts';

const usual = teamScript();
const isCall = (text: string) => /^\[(WAKE|SUMMON) AGENTS\]/.test(text);
/** The lead does this with a call; everybody else, and the lead otherwise, behaves. */
const leadThat =
  (reply: (text: string) => Reply): Script =>
  (request) =>
    request.seat === null && isCall(request.last) ? reply(request.last) : usual(request);
const calls = (input: unknown): Part => ({ call: 'spawn_team', input });
const fails = (status: number, type: string, message = 'no'): Reply => ({ fail: { status, type, message } });

const SILENT = leadThat(() => 'silent');
/** ms; long enough for eight agents on a busy machine. */
const SILENT_MS = 5_000;
const timeOutFor = (script: Script) => (script === SILENT ? { wakeTimeoutMs: SILENT_MS } : {});
/** As `house.until`. Once all eight are there, nobody waits for the time-out of a silent lead. */
async function untilOver(house: Household, script: Script, enough: () => boolean): Promise<void> {
  if (script !== SILENT) return await house.until(enough);
  await house.until(() => house.of('agent-awake').length + house.of('agent-born').length === 8);
  await house.untilTimedOut(SILENT_MS, enough);
}

const BAD_LEADS: readonly [string, Script, { readonly fails?: RegExp }?][] = [
  ['answers in words', leadThat(() => [{ say: 'Good morning to everybody!' }])],
  [
    'writes its call as text',
    leadThat(() => [{ say: '<function_calls><invoke name="spawn_team">{"seats": [1, 2]}</invoke></function_calls>' }]),
    { fails: /wrote a tool call as text/ },
  ],
  ['names seats as strings', leadThat((text) => [calls({ seats: seatsCalled(text).map(String) })])],
  ['names seats in one string', leadThat((text) => [calls({ seats: seatsCalled(text).join(', ') })])],
  ['counts seats from zero', leadThat((text) => [calls({ seats: seatsCalled(text).map((seat) => seat - 1) })])],
  ['names some of them only', leadThat(() => [calls({ seats: [1] })])],
  ['names others', leadThat(() => [calls({ seats: [5, 17, -1] })])],
  ['names nobody', leadThat(() => [calls({})])],
  ['sends a list instead of an object', leadThat((text) => [calls(seatsCalled(text))])],
  ['calls twice at once', leadThat((text) => [calls({ seats: seatsCalled(text) }), calls({ seats: [1] })])],
  ['uses a tool of its own instead', leadThat(() => [{ call: 'write_soul', input: { text: 'I am.' } }])],
  ['uses a tool that is not there', leadThat(() => [{ call: 'fly', input: {} }])],
  ['is refused by its model', leadThat(() => [{ say: 'I' }, { stop: 'refusal' }]), { fails: /declined/ }],
  ['is not let in', leadThat(() => fails(401, 'authentication_error')), { fails: /did not accept the key/ }],
  [
    'has a model that nobody knows',
    leadThat(() => fails(404, 'not_found_error', 'model: lead')),
    { fails: /does not know the model/ },
  ],
  ['is overloaded', leadThat(() => fails(529, 'overloaded_error')), { fails: /is busy/ }],
  ['is cut', leadThat(() => [{ say: 'I shall' }, { cut: true }]), { fails: /broke/ }],
  [
    'is cut in the middle of its call',
    leadThat(() => [{ call: 'spawn_team', input: {}, json: '{"seats": [1' }, { cut: true }]),
    { fails: /broke/ },
  ],
  ['says nothing', SILENT, { fails: /^The lead said nothing for 5 s\.$/ }],
];

const leadAnswers = (house: Household) => house.of('message').filter(({ author }) => author === 'lead');

describe('a wake whose lead', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it.each(BAD_LEADS)('%s wakes eight of eight', async (_what, script, { fails: reason } = {}) => {
    const house = await bench.open({ script });
    await house.start({}, timeOutFor(script));
    expect(await house.wake(team())).toMatchObject({ ok: true });
    await untilOver(house, script, () => house.of('call-ended').length === 1 && leadAnswers(house).length > 0);
    await house.untilQuiet();
    expect(house.of('agent-awake')).toHaveLength(8);
    expect(house.of('agent-asleep')).toEqual([]);
    expect(house.of('call-ended')).toMatchObject([{ error: null }]);
    // Nobody was asked twice.
    for (const agent of team()) expect(house.requestsOf(agent.position + 1)).toHaveLength(1);
    const reports = () =>
      house
        .requestsOf(null)
        .flatMap(({ last, results }) => [last, ...results])
        .filter((text) => text.includes('[TEAM REPORT]\nHere: Name 0 (seat 1), Name 1 (seat 2)'));
    if (reason) {
      expect(leadAnswers(house)[0]?.error).toMatch(reason);
      expect(reports()).toEqual([]);
      // It hears of them with what is said to it next, and is not asked for that alone.
      house.model.follow(usual);
      await house.post({ text: 'Are you there?' });
      await house.until(() => leadAnswers(house).some(({ status }) => status === 'complete'));
    } else {
      await house.until(() => reports().length > 0);
    }
    await house.untilQuiet();
    expect(reports().length).toBeGreaterThan(0);
  });

  it.each(
    BAD_LEADS.filter(([what]) =>
      ['answers in words', 'says nothing', 'is not let in', 'counts seats from zero'].includes(what),
    ),
  )('%s brings eight of eight to life', async (_what, script) => {
    const house = await bench.open({ script });
    await house.start({}, timeOutFor(script));
    await house.summon();
    await untilOver(house, script, () => house.of('call-ended').length === 1 && leadAnswers(house).length > 0);
    expect(house.of('agent-born')).toHaveLength(8);
    expect(house.of('birth-ended')).toEqual([]);
    await house.untilQuiet();
  });

  it('wakes eight of eight when the lead is over its budget', async () => {
    const house = await bench.open();
    await house.team.configs.setAgent('lead', { coordination: { daily_budget_usd: 0 } });
    await house.start();
    await house.wake(team());
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    expect(house.of('agent-awake')).toHaveLength(8);
    expect(leadAnswers(house)).toMatchObject([{ status: 'failed', error: expect.stringContaining('budget') }]);
    expect(house.requestsOf(null)).toEqual([]);
  });

  it('wakes eight of eight when the person stops the lead', async () => {
    const house = await bench.open({
      script: (request) => (request.seat === null ? 'silent' : [{ wait: 300 }, { say: 'Here.' }]),
    });
    await house.start();
    await house.wake(team());
    await house.until(() => house.requestsOf(null).length === 1);
    expect(await house.host.stop('lead')).toBe(true);
    await house.until(() => house.of('call-ended').length === 1 && leadAnswers(house).length === 1);
    expect(house.of('agent-awake')).toHaveLength(8);
    expect(leadAnswers(house)).toMatchObject([{ status: 'stopped' }]);
  });

  it('never answers is not waited for', async () => {
    const house = await bench.open({ script: leadThat(() => 'silent') });
    await house.start();
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length === 8);
    expect(house.host.stateOf('lead')).toBe('busy');
    expect(house.of('call-ended')).toHaveLength(1);
  });

  it('goes on calling for ever is ended, and everybody is awake', async () => {
    const house = await bench.open({
      limits: { maxTurns: 3 },
      script: (request) => (request.seat === null ? [calls({ seats: [1] })] : usual(request)),
    });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => leadAnswers(house).length === 1);
    expect(leadAnswers(house)[0]?.error).toMatch(/Stopped after 3 steps/);
    // The same answer each time.
    expect(
      house
        .requestsOf(null)
        .slice(1)
        .map(({ results }) => results[0]),
    ).toEqual(['[TEAM REPORT]\nHere: Name 0 (seat 1).', '[TEAM REPORT]\nHere: Name 0 (seat 1).']);
    expect(house.of('agent-awake')).toHaveLength(1);
  });
});

describe('what the lead is told of a wake', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('names the called agents and the beginnings of their souls, and no more', async () => {
    const long = `I am the heron of this house. ${'My soul goes on. '.repeat(200)}The last word is marsh.`;
    const house = await bench.open();
    await house.start();
    await house.wake([
      payload(0, { soul: long, transcript: 'Ada (2026-11-21 08:52 UTC):\nThe secret is 4711.' }),
      payload(1, { soul: null }),
      payload(2, { soul: `${'x'.repeat(298)}🪺 tail <&>` }),
    ]);
    await house.until(() => leadAnswers(house).some(({ status }) => status === 'complete'));
    await house.post({ text: 'And now?' });
    await house.until(() => leadAnswers(house).length === 2);
    const told = house.requestsOf(null)[0]?.last ?? '';
    expect(told).toMatch(
      /^\[WAKE AGENTS\]\n<agents>\n {2}<agent name="Name 0" color="#[0-9a-f]{6}" colorName="[^"]+" position="0">I am the heron/i,
    );
    expect(told).toContain(`position="2">${'x'.repeat(298)}…</agent>`);
    expect(told).toMatch(/<agent name="Name 1"[^>]*\/>/);
    const [words = ''] = /position="0">([^<]*)</.exec(told)?.slice(1) ?? [];
    expect(words).toHaveLength(300);
    for (const { body } of house.requestsOf(null)) {
      const all = JSON.stringify(body);
      expect(all).not.toContain('4711');
      expect(all).not.toContain('marsh');
    }
    expect(JSON.stringify(house.events)).not.toMatch(/4711|marsh/);
    // And each agent has its own, word for word.
    expect(house.requestsOf(1)[0]?.system).toContain(long);
    expect(house.requestsOf(1)[0]?.first).toContain('The secret is 4711.');
  });
});
