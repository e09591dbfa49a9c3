/**
 * Messages that agents set for themselves again and again, and what their runs are given: through a
 * relay over HTTP, with a clock that the test moves.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agreementOf, isAgreed } from '../../../server/schedules/scripts.ts';
import { toolCallSchema, type ToolCall } from '../../../src/shared/protocol/approvals.ts';
import { scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../support/schedule-relay.ts';
import { routine } from '../../support/schedules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** ms. A slow machine takes more than a second for a call, and what is over is refused. */
const SOON = 30_000;
const LYRA = 'a1';
const approvalsSchema = z.object({ waiting: z.array(toolCallSchema), answered: z.array(toolCallSchema) });

let scheduleRelay: ScheduleRelay;
beforeEach(async () => {
  scheduleRelay = await openScheduleRelay([LYRA]);
});
afterEach(() => scheduleRelay.close());
const asked = () => scheduleRelay.model.requests.map(({ last }) => last);
const approvals = async () => approvalsSchema.parse(await (await scheduleRelay.call('GET', '/api/approvals')).json());
const waiting = async (): Promise<readonly ToolCall[]> => (await approvals()).waiting;
const register = (input: object) =>
  scheduleRelay.tool(LYRA, 'wake_schedule', { name: 'river', message: 'Look.', ...input });
async function answer(answer: 'once' | 'no'): Promise<void> {
  const [question] = await waiting();
  const path = `/api/approvals/${question?.callId ?? ''}/answer`;
  expect((await scheduleRelay.call('POST', path, { answer, words: '' })).status).toBe(200);
}
/** Registers it, with the person's yes, and lets the run that is told of that pass. */
async function set(input: object): Promise<void> {
  await register(input);
  await answer('once');
  await expect.poll(async () => (await approvals()).answered[0]?.state).toBe('done');
  await expect.poll(() => asked().at(-1)).toContain('The human said yes');
  await expect.poll(async () => (await scheduleRelay.stats(LYRA)).running).toBe(0);
}
const told = () => asked().filter((last) => last.includes('A reminder that you left for yourself, “river”'));
const own = async () => (await scheduleRelay.scheduled(LYRA)).filter(({ schedule }) => schedule.name === 'river');
const setBlackout = async (from: number, to: number) => {
  const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const blackouts = [{ type: 'one_off', label: 'night', start_time: at(from), end_time: at(to) }];
  expect((await scheduleRelay.call('PUT', `/v1/agents/${LYRA}/config`, { coordination: { blackouts } })).status).toBe(
    200,
  );
};
async function add(schedule: object): Promise<string> {
  const added = await scheduleRelay.call('POST', '/v1/pulse-routines', { agentId: LYRA, ...schedule });
  expect(added.status, await added.clone().text()).toBe(201);
  return scheduledSchema.parse(await added.json()).scheduleId;
}

const MISFITS: readonly (readonly [object, string])[] = [
  [{ cron: '61 * * * *' }, '`cron`'],
  [{ cron: '* * *' }, '`cron`'],
  [{ cron: '0 9 31 2 *' }, '`cron`'],
  [{ every: '30 seconds' }, '`every` is too short: the least is 1 minute.'],
  [{ every: '0 minutes' }, '`every` is too short'],
  [{ every: '1.5 minutes' }, '`every` must be a whole number of minutes.'],
  [{ every: '8 days' }, '`every` is too long'],
  [{ every: 'often' }, '`every` must be a span'],
  [{ at: '2020-01-01T09:00' }, '`at`: That time is in the past.'],
  [{ at: 'soon' }, '`at` must be a date and time'],
  [{ at: '2099-01-01T09:00' }, '`at`: That is more than a year ahead.'],
  [{}, 'Give exactly one of `cron`, `every` and `at`'],
  [{ every: '1 hour', cron: '0 9 * * *' }, 'Give exactly one of `cron`, `every` and `at`'],
  [{ every: '1 hour', name: 'Round' }, '`name`: This agent has something called “Round” already.'],
  [{ every: '1 hour', context: 'all' }, 'context'],
  [{ every: '1 hour', message: ' ' }, 'message'],
];

describe('wake_schedule', () => {
  it('asks the person once, and brings the message back again and again from their yes on', async () => {
    expect(await register({ every: '30 minutes' })).toContain('waits for the human');
    expect(await own()).toEqual([]);
    const [question] = await waiting();
    expect(question).toMatchObject({ agentId: LYRA, tool: 'wake_schedule' });
    expect(JSON.parse(question?.input ?? '')).toEqual({ name: 'river', message: 'Look.', every: '30 minutes' });
    await answer('once');
    await expect.poll(async () => (await own()).length).toBe(1);
    expect((await own())[0]?.schedule).toMatchObject({
      ...{ kind: 'reminder', message: 'Look.', context: 'none' },
      timing: { kind: 'every', minutes: 30 },
    });
    await expect.poll(() => asked().at(-1)).toContain('It comes back to you, as “river”. It is due every 30 minutes');
    for (let n = 1; n <= 3; n++) {
      await scheduleRelay.pass(31 * MINUTE);
      await expect.poll(() => told().length).toBe(n);
    }
    expect(told()[2]).toContain('> Look.');
    expect(await waiting()).toEqual([]);
    expect(await scheduleRelay.tool(LYRA, 'wake_list', {})).toMatch(/reminder “river”, every 30 minutes; next on/);
    expect(await scheduleRelay.tool(LYRA, 'wake_cancel', { name: 'river' })).toContain('removed');
    await scheduleRelay.pass(HOUR);
    expect(told()).toHaveLength(3);
  });

  it('sets nothing where the person says no', async () => {
    await register({ cron: '0 9 * * *' });
    await answer('no');
    await expect.poll(async () => (await approvals()).answered[0]?.state).toBe('declined');
    expect(await own()).toEqual([]);
  });

  it('set anew under its name replaces the one of before, after another yes; the same once more asks nobody', async () => {
    await set({ every: '2h' });
    expect(await register({ every: '120 minutes' })).toContain('It is set so already.');
    expect(await waiting()).toEqual([]);
    await register({ message: 'Look twice.', cron: '0 9 * * 1-5' });
    expect((await own())[0]?.schedule).toMatchObject({ message: 'Look.' });
    await answer('once');
    await expect
      .poll(async () => (await own()).map(({ schedule }) => schedule))
      .toMatchObject([{ message: 'Look twice.', timing: { kind: 'cron', cron: '0 9 * * 1-5', zone: null } }]);
  });

  it('proposes the same moment whenever the answer comes', async () => {
    await register({ at: 'tomorrow 09:00' });
    const at = Date.parse((JSON.parse((await waiting())[0]?.input ?? '') as { at: string }).at);
    expect(at).toBeGreaterThan(scheduleRelay.now());
    await scheduleRelay.pass(3 * HOUR);
    await answer('once');
    if (at > scheduleRelay.now()) await expect.poll(async () => (await own())[0]?.nextAt).toBe(at);
    else await expect.poll(() => asked().at(-1)).toContain('`at`: That time is in the past.');
  });

  it('says what is wrong with an argument, by its name, and asks nobody', async () => {
    await add({ kind: 'routine', name: 'Round', instructions: 'Look.', timing: { kind: 'every', minutes: 60 } });
    for (const [input, words] of MISFITS) expect(await register(input), JSON.stringify(input)).toContain(words);
    expect(await waiting()).toEqual([]);
    expect(await own()).toEqual([]);
  });

  it('waits for the end of a blackout, one at most, with one message in the inbox; over a restart too', async () => {
    await set({ every: '10 minutes' });
    await setBlackout(scheduleRelay.now(), scheduleRelay.now() + 2 * HOUR);
    for (let n = 0; n < 4; n++) {
      await scheduleRelay.pass(11 * MINUTE);
      await expect.poll(async () => (await own())[0]?.waits?.reason).toBe('blackout');
    }
    expect(await scheduleRelay.tool(LYRA, 'wake_list', {})).toMatch(
      /“river”, every 10 minutes; next on .*; was due on .*blackout/,
    );
    const ends = async () => (await scheduleRelay.history(LYRA)).filter(({ name }) => name === 'river');
    await expect
      .poll(async () => (await ends()).filter(({ reason }) => reason === 'overlap').length)
      .toBeGreaterThan(1);
    expect((await ends()).filter(({ endedAt }) => endedAt === null)).toHaveLength(1);
    await scheduleRelay.restart();
    expect((await own())[0]?.waits?.reason).toBe('blackout');
    expect(told()).toEqual([]);
    await scheduleRelay.pass(3 * HOUR);
    await expect.poll(() => told().length).toBeGreaterThan(0);
    expect(told()[0]?.match(/A reminder that you left/g)).toHaveLength(1);
  });

  it('comes once, late, where the machine slept through many of its moments', async () => {
    await set({ every: '10 minutes' });
    const before = told().length;
    await scheduleRelay.pass(8 * HOUR);
    await expect.poll(() => told().length).toBe(before + 1);
    await scheduleRelay.pass(1_000);
    expect(told()).toHaveLength(before + 1);
  });
});

describe('what a run is given of before', () => {
  const LAST = 'My daughter is called Ida.';
  const due = (name: string, context?: string) =>
    add({
      ...{
        kind: 'reminder',
        name,
        message: `About ${name}.`,
        timing: { kind: 'once', at: scheduleRelay.now() + SOON },
      },
      ...(context === undefined ? {} : { context }),
    });

  it('is nothing by default, for a reminder as for a routine, and the last conversation when set', async () => {
    await due('tea');
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(() => asked().at(-1)).toContain('About tea.');
    expect(asked().at(-1)).not.toContain(LAST);
    await due('bread', 'last_session');
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(() => asked().at(-1)).toContain('About bread.');
    expect(asked().at(-1)).toContain(LAST);
  });

  it('is the last words of its last three runs when set, oldest first', async () => {
    let n = 0;
    scheduleRelay.model.follow(() => [{ say: `Word ${++n}.` }]);
    await add({
      ...{ kind: 'reminder', name: 'river', message: 'Look.', context: 'own_runs' },
      timing: { kind: 'every', minutes: 10 },
    });
    for (let run = 1; run <= 5; run++) {
      await scheduleRelay.pass(11 * MINUTE);
      await expect.poll(() => told().length).toBe(run);
      await expect.poll(async () => (await scheduleRelay.stats(LYRA)).running).toBe(0);
    }
    const last = told().at(-1) ?? '';
    expect([1, 2, 3, 4].map((run) => last.includes(`Word ${run}.`))).toEqual([false, true, true, true]);
    expect(last.indexOf('Word 2.')).toBeLessThan(last.indexOf('Word 4.'));
    expect(last).not.toContain(LAST);
  });

  it('is set by an agent with wake_later, too', async () => {
    await scheduleRelay.tool(LYRA, 'wake_later', { message: 'Later.', delay: '5 minutes', context: 'last_session' });
    await scheduleRelay.pass(6 * MINUTE);
    await expect.poll(() => asked().at(-1)).toContain('Later.');
    expect(asked().at(-1)).toContain(LAST);
    expect(await scheduleRelay.tool(LYRA, 'wake_later', { message: 'Soon.', delay: '20 seconds' })).toContain(
      '`delay`',
    );
  });
});

describe('how many requests a run may make', () => {
  const round = { kind: 'routine', name: 'Round', instructions: 'Go on.', timing: { kind: 'every', minutes: 10_080 } };
  const setTurns = async (pulse_max_turns: number, path = `/v1/agents/${LYRA}/config`) =>
    expect((await scheduleRelay.call('PUT', path, { pulse_max_turns })).status).toBe(200);
  async function requestsOf(more: object): Promise<number> {
    scheduleRelay.model.follow(() => [{ say: 'On. ' }, { call: 'wake_list', input: {} }]);
    const before = asked().length;
    const id = await add({ ...round, ...more });
    await scheduleRelay.call('POST', `/v1/pulse-routines/${id}/trigger`);
    const ended = async () => (await scheduleRelay.history(LYRA)).find(({ scheduleId }) => scheduleId === id);
    await expect.poll(async () => (await ended())?.state).toBe('timed-out');
    const requests = asked().length - before;
    expect((await ended())?.detail).toBe(`Stopped after ${requests} steps (limit).`);
    return requests;
  }

  it('prefers the routine’s number, then the agent’s, then the household’s, and ends with a sentence', async () => {
    await setTurns(4, '/v1/config');
    expect(await requestsOf({ name: 'One' })).toBe(4);
    await setTurns(3);
    expect(await requestsOf({ name: 'Two' })).toBe(3);
    expect(await requestsOf({ name: 'Three', maxTurns: 2 })).toBe(2);
    expect(await requestsOf({ name: 'Four', maxTurns: 1 })).toBe(1);
  });

  it('sets, reads and refuses the number by its name', async () => {
    for (const pulse_max_turns of [0, 1_001, 1.5])
      for (const path of ['/v1/config', `/v1/agents/${LYRA}/config`]) {
        const refused = await scheduleRelay.call('PUT', path, { pulse_max_turns });
        expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('pulse_max_turns')]);
      }
    const refused = await scheduleRelay.call('POST', '/v1/pulse-routines', { ...round, agentId: LYRA, maxTurns: 0 });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('maxTurns')]);
    expect(await (await scheduleRelay.call('GET', `/v1/agents/${LYRA}/config`)).json()).toMatchObject({
      pulse_max_turns: 25,
    });
  });
});

describe('what is scheduled', () => {
  it('stays approved when it predates context and request limits, until one is set', () => {
    const before = Object.fromEntries(Object.entries(routine()).filter(([field]) => field !== 'maxTurns'));
    expect(isAgreed(agreementOf(before as ReturnType<typeof routine>), routine())).toBe(true);
    expect(isAgreed(agreementOf(routine()), routine({ maxTurns: 3 }))).toBe(false);
    const timing = { kind: 'every', minutes: 10, offset: null } as const;
    const tea = { kind: 'reminder', agentId: LYRA, name: 'tea', message: 'Tea.', timing } as const;
    const agreed = agreementOf({ ...tea } as unknown as Parameters<typeof agreementOf>[0]);
    expect(isAgreed(agreed, { ...tea, context: 'none' })).toBe(true);
    expect(isAgreed(agreed, { ...tea, context: 'last_session' })).toBe(false);
  });

  it('says when it was set, and when it was changed last', async () => {
    const first = scheduleRelay.now();
    const id = await add({ kind: 'reminder', name: 'tea', message: 'Tea.', timing: { kind: 'every', minutes: 60 } });
    const one = async () =>
      scheduledSchema.parse(await (await scheduleRelay.call('GET', `/v1/pulse-routines/${id}`)).json());
    const { created_at: set, updated_at: changed } = await one();
    expect(set).toBeGreaterThanOrEqual(first);
    expect(changed).toBe(set);
    await scheduleRelay.pass(HOUR);
    const { schedule } = await one();
    const put = await scheduleRelay.call('PUT', `/v1/pulse-routines/${id}`, { ...schedule, message: 'Green tea.' });
    expect(scheduledSchema.parse(await put.json()).created_at).toBe(set);
    expect((await one()).updated_at).toBeGreaterThanOrEqual((set ?? 0) + HOUR);
    await scheduleRelay.restart();
    expect((await one()).created_at).toBe(set);
    const listed = z.object({ schedules: z.array(scheduledSchema) });
    const { schedules } = listed.parse(
      await (await scheduleRelay.call('GET', `/v1/pulse-routines?agent=${LYRA}`)).json(),
    );
    expect(schedules).toMatchObject([{ created_at: set }]);
  });
});
