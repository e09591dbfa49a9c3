/**
 * What is due without anybody there: through the store, the gate, a run and the event log, with a
 * clock that the test moves.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endGroup, GROUP_MARK, groupOf } from '../../../server/platform/processes/proc.ts';
import { createScripts, type Scripts } from '../../../server/schedules/index.ts';
import { createWorkspaces } from '../../../server/files/workspaces/index.ts';
import { scheduleSchema } from '../../../src/shared/protocol/schedules.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { allowIn } from '../../support/records.ts';
import { openSessionBench, payload, wordsOf, type Bench, type Household } from '../../support/session.ts';
import { SNAPSHOT, createHandClock, routine } from '../../support/schedules.ts';
import { USUAL_STORES } from '../../support/stores.ts';
import { offeredIn, type Script } from '../../support/scripted-model.ts';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/schedules/schedules.test.ts');

const MINUTE = 60_000;
/** A Monday, on the hour in every zone that counts in hours. */
const START = Date.UTC(2026, 10, 23, 6, 0);
const LYRA = payload(0, { name: 'Lyra' });
const fail = (): never => expect.fail('It is not there.');

describe.each(USUAL_STORES)('what is due, on %s', (kind) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());

  async function open(
    script: Script = () => [{ say: 'I looked around.' }],
    copy = true,
    onError?: 'expected',
    scripts?: Scripts,
  ) {
    const clock = createHandClock(START);
    const house = await bench.open({
      ...{ script, now: clock.now },
      ...(onError ? { onError } : {}),
      ...(scripts ? { scripts } : {}),
    });
    await house.team.directory.set({
      agents: [{ agentId: LYRA.id, name: LYRA.name, position: LYRA.position, retired: false }],
    });
    await house.team.configs.setHousehold({ coordination: {}, time_zone: 'Europe/Berlin' });
    if (copy) await house.team.snapshots.leave(LYRA.id, SNAPSHOT, 'v1');
    await house.team.schedules.clock.start();
    return { house, clock };
  }
  /** Lets time pass, and everything that is due then come to its end. */
  async function pass(house: Household, clock: ReturnType<typeof createHandClock>, ms: number) {
    clock.pass(ms);
    house.team.schedules.clock.wake();
    await house.team.schedules.clock.whenQuiet();
  }
  const history = (house: Household, clock: { now(): number }) =>
    house.team.schedules.history(0, clock.now(), { most: 100 });
  async function add(house: Household, more: Parameters<typeof routine>[0] = {}) {
    const written = await house.team.schedules.add(routine(more));
    if (!written.ok) throw new Error(written.reason);
    return written.scheduled;
  }

  it('runs at its own moments, as the agent who it is, and says what became of each', async () => {
    const { house, clock } = await open();
    const { scheduleId, nextAt } = await add(house);
    expect(nextAt).toBe(START + 30 * MINUTE);
    await pass(house, clock, 29 * MINUTE);
    expect(house.model.requests).toEqual([]);
    await pass(house, clock, MINUTE);
    const [request] = house.model.requests;
    expect(request?.system).toContain('> I chose Lyra because it sounds like rain.');
    expect(request?.system).toContain('## Daemon Mode');
    expect(request?.system).toContain('Look around and say what you see, Lyra.');
    expect(request?.last).toContain('[It is Monday 23 November 2026, 07:30.]');
    expect(request?.last).toContain('[Your routine “Morning round” is due: Monday 23 November 2026, 07:30]');
    expect(request?.last).not.toContain('Ida');
    expect(await history(house, clock)).toMatchObject([
      {
        scheduleId,
        agentId: LYRA.id,
        name: 'Morning round',
        dueAt: START + 30 * MINUTE,
        state: 'done',
        reason: null,
        late: false,
        said: 'I looked around.',
        tokens: 35,
        estimated: false,
      },
    ]);
    expect(house.of('run-started')).toMatchObject([
      { agentId: LYRA.id, cause: { kind: 'pulse', routine: 'Morning round' } },
    ]);
    expect(house.of('message').map(wordsOf)).toEqual(['I looked around.']);
    // The gate has it among its decisions.
    expect((await house.team.gate.feed({ before: null, limit: 5, agentId: LYRA.id })).wakes).toMatchObject([
      { way: 'schedule', outcome: 'granted', source: { kind: 'schedule', name: 'Morning round' } },
    ]);
    await pass(house, clock, 30 * MINUTE);
    expect(house.model.requests).toHaveLength(2);
  });

  it('asks no model where nothing waits, and does where something does', async () => {
    const { house, clock } = await open();
    await add(house, { when: 'something_waits' });
    await pass(house, clock, 30 * MINUTE);
    expect(await history(house, clock)).toMatchObject([{ state: 'skipped', reason: 'nothing-waits' }]);
    expect(house.model.requests).toEqual([]);
    await house.inbox.put({
      messageId: 'm1',
      to: LYRA.id,
      from: 'agent-b',
      text: 'The well is dry.',
      time: clock.now(),
      priority: 'normal',
      threadId: null,
    });
    await pass(house, clock, 30 * MINUTE);
    expect(house.model.requests[0]?.last).toContain('The well is dry.');
    expect(await house.inbox.count(LYRA.id)).toBe(0);
  });

  it.each([
    ['no copy was left', 'no-copy', async () => undefined, false],
    [
      'all waking is switched off',
      'switched-off',
      (house: Household) => house.team.configs.setHousehold({ coordination: {}, wakes_enabled: false }),
      true,
    ],
    [
      'its minutes are used up',
      'minutes',
      (house: Household) =>
        house.team.configs.setHousehold({ coordination: { wake_guardrails: { max_daily_session_minutes: 0 } } }),
      true,
    ],
    [
      'no more may be at work at once',
      'concurrency',
      (house: Household) => house.team.configs.setHousehold({ coordination: { max_concurrent_pulse_sessions: 0 } }),
      true,
    ],
    [
      'it is dark for this agent',
      'blackout',
      (house: Household) =>
        house.team.configs.setAgent(LYRA.id, {
          coordination: { blackouts: [{ label: 'rest', start_time: '07:00', end_time: '08:00', days: [] }] },
        }),
      true,
    ],
    [
      'it is dark',
      'blackout',
      (house: Household) =>
        house.team.configs.setHousehold({
          coordination: { blackouts: [{ label: 'night', start_time: '00:00', end_time: '00:00', days: [] }] },
        }),
      true,
    ],
  ] as const)('skips the moment and says why where %s', async (_what, reason, prepare, copy) => {
    const { house, clock } = await open(undefined, copy);
    await prepare(house);
    await add(house);
    await pass(house, clock, 30 * MINUTE);
    expect(await history(house, clock)).toMatchObject([{ state: 'skipped', reason }]);
    expect(house.model.requests).toEqual([]);
    expect(house.of('run-started')).toEqual([]);
  });

  it('makes up for one moment after an absence, and says of every other that it was missed', async () => {
    const { house, clock } = await open();
    await add(house, { timing: { kind: 'every', minutes: 5, offset: 0 } });
    await house.restart();
    clock.pass(8 * 60 * MINUTE + 2 * MINUTE);
    await house.team.schedules.clock.start();
    await house.team.schedules.clock.whenQuiet();
    const all = await history(house, clock);
    expect(all).toHaveLength(96);
    expect(all.filter(({ state }) => state === 'done')).toMatchObject([{ late: true, dueAt: START + 8 * 60 * MINUTE }]);
    expect(all.filter(({ state }) => state === 'missed')).toHaveLength(95);
    expect(house.model.requests).toHaveLength(1);
    expect(house.model.requests[0]?.last).toContain('made up for');
  });

  it('brings back what an agent left for itself, once, as a run where no session goes on', async () => {
    const { house, clock } = await open();
    const tool = house.team.tools.find(({ name }) => name === 'wake_later');
    const said = await tool?.run(
      { message: 'Ask Ada how the exam went.', at: 'tomorrow 09:00', name: 'exam' },
      { agentId: LYRA.id, sessionId: null, run: 'r', kind: 'session', signal: new AbortController().signal },
    );
    expect(said).toMatchObject({
      isError: false,
      text: 'It comes back to you on Tuesday 24 November 2026, 09:00, as “exam”.',
    });
    await pass(house, clock, 25 * 60 * MINUTE + 59 * MINUTE);
    expect(house.model.requests).toEqual([]);
    await pass(house, clock, 61 * MINUTE);
    await house.until(() => house.of('run-ended').length === 1);
    expect(house.model.requests).toHaveLength(1);
    expect(house.model.requests[0]?.last).toContain('Ask Ada how the exam went.');
    expect(house.model.requests[0]?.last).toContain('A reminder that you left for yourself');
    await pass(house, clock, 24 * 60 * MINUTE);
    expect(house.model.requests).toHaveLength(1);
    // The run is of the reminder: in the log, in the account, and in what it cost.
    expect(house.of('run-started')).toMatchObject([{ cause: { kind: 'reminder', name: 'exam' } }]);
    expect(await history(house, clock)).toMatchObject([
      { kind: 'reminder', state: 'done', name: 'exam', said: 'I looked around.' },
      { kind: 'reminder', state: 'done', name: 'exam', runId: null },
    ]);
    expect(await house.team.schedules.spentSince(0)).toMatchObject([{ name: 'exam', runs: 1, tokens: 35 }]);
    // It takes no place any more.
    expect(await house.team.schedules.list()).toEqual([]);
  });

  it('is set by its agent for later, replaced under its name, listed and removed; says once that it is late', async () => {
    const { house, clock } = await open();
    const use = async (name: string, input: object) => {
      const tool = house.team.tools.find((each) => each.name === name);
      const caller = { agentId: LYRA.id, sessionId: null, run: 'r', signal: new AbortController().signal };
      return (await tool?.run(input, { ...caller, kind: 'session' }))?.text ?? '';
    };
    await use('wake_later', { message: 'Look at the oven.', delay: '2 hours', name: 'oven' });
    expect(await use('wake_later', { message: 'Look at the bread.', delay: '3 hours', name: 'oven' })).toContain(
      'Monday 23 November 2026, 10:00, as “oven”.',
    );
    await use('wake_later', { message: 'Never mind.', delay: '3 hours', name: 'other' });
    expect((await house.team.schedules.list()).map(({ schedule }) => schedule.name)).toEqual(['oven', 'other']);
    expect(await use('wake_list', {})).toMatch(/oven[^]*other/);
    expect(await use('wake_cancel', { name: 'other' })).toBe('“other” is removed.');
    expect(await use('wake_cancel', { name: 'other' })).toBe(
      'You have nothing scheduled as “other”. wake_list tells what you have.',
    );
    expect(await use('wake_list', {})).not.toContain('other');
    await house.team.schedules.close(false);
    clock.pass(5 * 60 * MINUTE);
    await house.restart();
    await house.team.schedules.clock.start();
    await house.team.schedules.clock.whenQuiet();
    await house.until(() => house.of('run-ended').length === 1);
    const { last } = house.model.requests[0] ?? {};
    expect(last).toContain(
      '[A reminder that you left for yourself, “oven”, due Monday 23 November 2026, 10:00, late: the relay was away]',
    );
    expect(last).toContain('Look at the bread.');
    expect(last).not.toContain('Look at the oven.');
    await pass(house, clock, 24 * 60 * MINUTE);
    expect(house.model.requests).toHaveLength(1);
    expect(await use('wake_list', {})).toBe('Nothing is scheduled.');
  });

  it('asks by what the person chose for it: models, tools, what it is given of before', async () => {
    const { house, clock } = await open(({ results }) =>
      results.length === 0 ? [{ call: 'list_team', input: {} }] : [{ say: 'Nobody else is here.' }],
    );
    await add(house, {
      planningModel: 'claude-opus-5-5',
      executorModel: 'claude-haiku-4-5',
      tools: ['list_team'],
      context: 'last_session',
      timing: { kind: 'cron', cron: '*/30 * * * *', zone: null },
    });
    await pass(house, clock, 30 * MINUTE);
    const [first, second] = house.model.requests;
    expect([first?.body.model, second?.body.model]).toEqual(['claude-opus-5-5', 'claude-haiku-4-5']);
    expect(first?.body.tools?.map(({ name }) => name)).toEqual(['list_team']);
    expect(first?.last).toContain('My daughter is called Ida.');
    // What comes again within the hour stays in the model's cache until then; what changes stands
    // behind it.
    expect(first?.body.system).toMatchObject([{ cache_control: { type: 'ephemeral', ttl: '1h' } }]);
    expect(first?.system).not.toContain('2026');
  });

  const OWN = 'the agent’s own';
  it.each([
    [{}, [OWN, OWN]],
    [{ model: 'm' }, ['m', 'm']],
    [{ planningModel: 'p' }, ['p', OWN]],
    [{ executorModel: 'e' }, [OWN, 'e']],
    [{ model: 'm', planningModel: 'p' }, ['p', 'm']],
    [{ model: 'm', executorModel: 'e' }, ['m', 'e']],
    [{ planningModel: 'p', executorModel: 'e' }, ['p', 'e']],
    [{ model: 'm', planningModel: 'p', executorModel: 'e' }, ['p', 'e']],
  ])(
    'asks first by the one for planning, then by the other, else by its model or the agent’s: %j',
    async (models, asked) => {
      const { house, clock } = await open(({ results }) =>
        results.length === 0 ? [{ call: 'list_team', input: {} }] : [{ say: 'Nobody else is here.' }],
      );
      await add(house, models);
      await pass(house, clock, 30 * MINUTE);
      const [first, second] = house.model.requests.map(({ body }) => (/^[mpe]$/.test(body.model) ? body.model : OWN));
      expect([first, second]).toEqual(asked);
    },
  );

  it('is skipped with the reason when the budget allows no request', async () => {
    const { house, clock } = await open();
    await house.team.configs.setHousehold({ coordination: {}, daily_budget_usd: 0 });
    await add(house);
    await pass(house, clock, 30 * MINUTE);
    expect(house.model.requests).toEqual([]);
    const [skipped] = await history(house, clock);
    expect(skipped).toMatchObject({ state: 'skipped', reason: 'budget' });
    expect(skipped?.detail).toContain('budget');
  });

  it('looks at what others have written in its threads since it was last at work, once', async () => {
    const { house, clock } = await open();
    await house.team.directory.set({
      agents: ['agent-0', 'agent-1'].map((agentId, position) => ({
        agentId,
        name: `Name ${position}`,
        position,
        retired: false,
      })),
    });
    const made = await house.team.threads.create('agent-1', { title: 'The well', participantRefs: ['agent-0'] });
    if (!made.ok) throw new Error('No thread was made.');
    await add(house, { when: 'something_waits' });
    await pass(house, clock, 30 * MINUTE);
    const before = house.model.requests.length;
    await house.team.threads.send('agent-1', made.thread.threadId, {
      text: 'It is dry.',
      mentionRefs: [],
      clientId: null,
    });
    await pass(house, clock, 30 * MINUTE);
    expect(house.model.requests).toHaveLength(before + 1);
    // It was at work since: what it has not read by now is no news any more.
    await pass(house, clock, 30 * MINUTE);
    expect(house.model.requests).toHaveLength(before + 1);
    // And what it writes itself is none.
    await house.team.threads.send(LYRA.id, made.thread.threadId, { text: 'I saw.', mentionRefs: [], clientId: null });
    await pass(house, clock, 30 * MINUTE);
    expect(house.model.requests).toHaveLength(before + 1);
  });

  it('warns where it was skipped or failed so often in a row, until it runs', async () => {
    const { house, clock } = await open(undefined, false);
    await house.team.configs.setAgent(LYRA.id, { coordination: {}, pulse_max_consecutive_skips: 3 });
    const { scheduleId } = await add(house);
    const warning = async () => (await house.team.schedules.get(scheduleId))?.warning;
    for (let n = 0; n < 2; n++) await pass(house, clock, 30 * MINUTE);
    expect(await warning()).toBeNull();
    await pass(house, clock, 30 * MINUTE);
    expect(await warning()).toBe('It was skipped or failed 3 times in a row. Its history says why.');
    await house.team.snapshots.leave(LYRA.id, SNAPSHOT, 'v1');
    await pass(house, clock, 30 * MINUTE);
    expect(await warning()).toBeNull();
  });

  it('waits for its agent’s turn as long as the settings say', async () => {
    const { house, clock } = await open();
    await house.team.configs.setAgent(LYRA.id, { coordination: {}, pulse_busy_wait_ms: 1_000 });
    const { promise, resolve } = createDeferred();
    house.model.follow(() => [{ say: 'I am busy.' }, { until: promise }]);
    await add(house, { name: 'Long' });
    await add(house, { name: 'Short', timing: { kind: 'once', at: START + 31 * MINUTE } });
    clock.pass(30 * MINUTE);
    house.team.schedules.clock.wake();
    await house.until(() => house.model.requests.length === 1);
    clock.pass(MINUTE);
    house.team.schedules.clock.wake();
    await expect
      .poll(async () => (await history(house, clock)).find(({ name }) => name === 'Short'))
      .toMatchObject({ state: 'skipped', reason: 'agent-busy' });
    // Whoever is woken by somebody meanwhile is asked for when the run is over.
    clock.pass(6 * MINUTE);
    const source = { kind: 'api', name: 'The gardener' } as const;
    const about = { way: 'api', reason: null, messageId: null, callerSession: null } as const;
    const { decision } = await house.team.wakes.ask({ target: LYRA.id, source, ...about });
    expect(decision).toMatchObject({ outcome: 'deferred', check: 'idle' });
    resolve();
    await house.team.schedules.clock.whenQuiet();
  });

  it('does not start when its snapshot was withdrawn while it waited', async () => {
    const { house, clock } = await open();
    const { promise, resolve } = createDeferred();
    house.model.follow(() => [{ say: 'I am busy.' }, { until: promise }]);
    await add(house, { name: 'Long' });
    await add(house, { name: 'Short', timing: { kind: 'once', at: START + 30 * MINUTE + 1 } });
    clock.pass(30 * MINUTE);
    house.team.schedules.clock.wake();
    await house.until(() => house.model.requests.length === 1);
    clock.pass(MINUTE);
    house.team.schedules.clock.wake();
    const granted = async () => (await house.team.gate.feed({ before: null, limit: 5, agentId: LYRA.id })).wakes;
    await expect.poll(granted).toHaveLength(2);
    expect(await house.team.snapshots.withdraw(LYRA.id)).toBe(true);
    resolve();
    await house.team.schedules.clock.whenQuiet();
    expect(house.model.requests).toHaveLength(1);
    expect((await history(house, clock)).find(({ name }) => name === 'Short')).toMatchObject({
      state: 'skipped',
      reason: 'no-copy',
    });
  });

  it('comes in the dark where the person has set it for that one moment, and the routine beside it does not', async () => {
    const { house, clock } = await open();
    await house.team.configs.setAgent(LYRA.id, {
      coordination: { blackouts: [{ label: 'rest', start_time: '00:00', end_time: '00:00', days: [] }] },
    });
    await add(house);
    await add(house, { name: 'Only now', timing: { kind: 'once', at: START + 30 * MINUTE } });
    await pass(house, clock, 30 * MINUTE);
    const ended = (await history(house, clock)).map(({ name, state, reason }) => [name, state, reason]);
    expect(ended.sort()).toEqual([
      ['Morning round', 'skipped', 'blackout'],
      ['Only now', 'done', null],
    ]);
  });

  it('gets the last words of its last three runs when the person chose that', async () => {
    let runs = 0;
    const { house, clock } = await open(() => [{ say: `That was look ${++runs}.` }]);
    await add(house, { context: 'own_runs' });
    for (let i = 0; i < 5; i++) await pass(house, clock, 30 * MINUTE);
    const looks = house.model.requests[4]?.last.match(/look \d/g);
    expect(looks).toEqual(['look 2', 'look 3', 'look 4']);
    expect(house.model.requests[4]?.last).not.toContain('Ida');
  });

  it.each([
    [1, ['done', 'skipped']],
    [2, ['done', 'done']],
  ])('runs at most %i times at once', async (maxConcurrent, states) => {
    const { house, clock } = await open();
    const { promise, resolve } = createDeferred();
    house.model.follow(() => [{ say: 'I am busy.' }, { until: promise }]);
    await add(house, { maxConcurrent });
    clock.pass(30 * MINUTE);
    house.team.schedules.clock.wake();
    await house.until(() => house.model.requests.length === 1);
    clock.pass(30 * MINUTE);
    house.team.schedules.clock.wake();
    const second = async () => (await history(house, clock)).find(({ dueAt }) => dueAt === START + 60 * MINUTE)?.state;
    await expect.poll(second).toBe(maxConcurrent === 1 ? 'skipped' : 'claimed');
    // One agent has one turn at a time.
    expect(house.model.requests).toHaveLength(1);
    resolve();
    await house.team.schedules.clock.whenQuiet();
    const all = await history(house, clock);
    expect(all.map(({ state }) => state).reverse()).toEqual(states);
    expect(all.find(({ state }) => state === 'skipped')?.reason).toBe(maxConcurrent === 1 ? 'overlap' : undefined);
  });

  it.each([
    ['skip', ['done', 'skipped', 'skipped']],
    ['wait', ['done', 'done', 'skipped']],
  ] as const)('handles a script that takes longer than its interval: %s', async (overlap, states) => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-scripts-'));
    const scripts = createScripts(createWorkspaces({ folder, elapsed: () => performance.now() }));
    const { house, clock } = await open(undefined, true, undefined, scripts);
    await mkdir(join(folder, LYRA.id));
    await writeFile(join(folder, LYRA.id, 'long.sh'), 'until [ -e go ]; do sleep 0.05; done');
    const timing = { kind: 'every', minutes: 1 };
    const script = { kind: 'script', agentId: LYRA.id, name: 'Long', script: 'long.sh', timing, overlap };
    const { schedules } = house.team;
    const written = await schedules.add(scheduleSchema.parse(script));
    const stateAfter = async (minutes: number) =>
      (await history(house, clock)).find(({ dueAt }) => dueAt === START + minutes * MINUTE)?.state;
    const comes = async (minutes: number, state: string) => {
      clock.pass(MINUTE);
      schedules.clock.wake();
      await expect.poll(() => stateAfter(minutes)).toBe(state);
    };
    await comes(1, 'running');
    await comes(2, overlap === 'wait' ? 'due' : 'skipped');
    // Nothing stacks: one waits at most.
    await comes(3, 'skipped');
    await writeFile(join(folder, LYRA.id, 'go'), '');
    await schedules.clock.whenQuiet();
    await pass(house, clock, MINUTE / 6);
    expect((await history(house, clock)).map(({ state }) => state).reverse()).toEqual(states);
    if (overlap === 'wait' && written.ok) {
      // What waits goes with what it is of.
      await rm(join(folder, LYRA.id, 'go'));
      await comes(4, 'running');
      await comes(5, 'due');
      expect(await schedules.remove(written.scheduled.scheduleId)).toBe(true);
      await writeFile(join(folder, LYRA.id, 'go'), '');
      await schedules.clock.whenQuiet();
      await pass(house, clock, MINUTE / 6);
      expect([await stateAfter(4), await stateAfter(5)]).toEqual(['done', 'cancelled']);
    }
    await scripts.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('follows the time zone of the household', async () => {
    const { house, clock } = await open();
    const { scheduleId } = await add(house, { timing: { kind: 'weekly', days: [], time: '09:00', zone: null } });
    expect((await house.team.schedules.get(scheduleId))?.nextAt).toBe(START + 120 * MINUTE);
    await house.team.schedules.clock.whenQuiet();
    await house.team.configs.setHousehold({ coordination: {}, time_zone: 'Europe/Helsinki' });
    await pass(house, clock, 0);
    expect((await house.team.schedules.get(scheduleId))?.nextAt).toBe(START + 60 * MINUTE);
    await pass(house, clock, 60 * MINUTE);
    expect(await history(house, clock)).toMatchObject([{ dueAt: START + 60 * MINUTE, state: 'done', late: false }]);
    // Not before a day is over does it come again: its prefix is kept no longer than any.
    expect(JSON.stringify(house.model.requests[0]?.body.system)).not.toContain('1h');
  });

  it('moves no other that is there already when it is added', async () => {
    const { house } = await open();
    const ids: string[] = [];
    const offsets = async () =>
      Promise.all(ids.map(async (id) => (await house.team.schedules.get(id))?.offset ?? null));
    for (let n = 0; n < 5; n++) {
      const before = await offsets();
      ids.push((await add(house, { name: `Round ${n}` })).scheduleId);
      expect((await offsets()).slice(0, n)).toEqual(before);
    }
    expect([...(await offsets())].sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual([0, 3, 6, 9, 12]);
  });

  it("records another agent's wake in the same activity: listed, told at the next WAKE, paid for", async () => {
    const { house, clock } = await open(() => [{ say: 'I came, and closed the well.' }]);
    await house.team.wakes.ask({
      target: LYRA.id,
      source: { kind: 'api', name: 'The gardener' },
      way: 'api',
      reason: null,
      messageId: null,
      callerSession: null,
    });
    await expect
      .poll(() => house.team.schedules.runs({ agentId: LYRA.id, before: clock.now() + 1, most: 10 }))
      .toMatchObject([
        { kind: 'wake', name: 'The gardener', state: 'done', said: 'I came, and closed the well.', tokens: 35 },
      ]);
    expect(await history(house, clock)).toMatchObject([{ kind: 'wake', agentId: LYRA.id }]);
    expect(await house.team.schedules.spentSince(0)).toMatchObject([
      { agentId: LYRA.id, name: null, kind: 'wake', runs: 1, tokens: 35 },
    ]);
    clock.pass(MINUTE);
    await house.start();
    await house.wake([{ ...LYRA, asleepSince: START - MINUTE }]);
    await house.until(() => house.of('agent-awake').length === 1);
    const woken = house.model.requests.find(({ last }) => last.includes('You are waking'));
    expect(woken?.last).toContain('woken by “The gardener”, Monday 23 November 2026, 07:00: done.');
    expect(woken?.last).toContain('> I came, and closed the well.');
  });

  it.each([true, false])(
    'runs an agent with a snapshot when another wakes it, and waits without one: copy %s',
    async (copy) => {
      const { house, clock } = await open(() => [{ say: 'I came.' }], copy);
      const agents = [payload(1, { name: 'Ben' }), LYRA];
      await house.team.directory.set({
        agents: agents.map(({ id, name, position }) => ({ agentId: id, name, position, retired: false })),
      });
      const ben = { kind: 'agent', agentId: agents[0]?.id ?? '' } as const;
      const asks = [
        { way: 'wake_agent', source: ben, reason: 'blocker' },
        { way: 'urgent_message', source: ben, reason: null },
        { way: 'thread_mention', source: ben, reason: null },
        { way: 'api', source: { kind: 'api', name: 'A client' }, reason: null },
      ] as const;
      for (const [i, ask] of asks.entries()) {
        // No second wake comes too soon after the first, nor too often by the same.
        clock.pass(15 * MINUTE);
        const about = { target: LYRA.id, messageId: null, callerSession: null };
        const { decision } = await house.team.wakes.ask({ ...ask, ...about });
        expect(decision.outcome, `${ask.way}: ${decision.detail}`).toBe(copy ? 'granted' : 'deferred');
        const runs = () => house.team.schedules.runs({ agentId: LYRA.id, before: clock.now() + 1, most: 10 });
        await expect
          .poll(async () => (await runs()).filter(({ state }) => state === 'done').length)
          .toBe(copy ? i + 1 : 0);
      }
      expect(house.model.requests).toHaveLength(copy ? asks.length : 0);
      const { wakes } = await house.team.gate.feed({ before: null, limit: 10, agentId: LYRA.id });
      expect(wakes.map(({ way }) => way).reverse()).toEqual(asks.map(({ way }) => way));
    },
  );

  it("continues once, on the person's word, a run with too many tool calls, knowing all that it did", async () => {
    let rings = 0;
    const script: Script = ({ body }) =>
      rings < 4
        ? [
            { say: `Step ${++rings}. ` },
            { call: 'wake_later', input: { name: `Step ${rings}`, message: 'Look.', delay: '3 hours' } },
          ]
        : [{ say: body.model === 'm-own' ? 'The round is done.' : 'By another model.' }];
    const { house, clock } = await open(script);
    await house.inbox.put({
      messageId: 'm1',
      to: LYRA.id,
      from: 'agent-b',
      text: 'The well is dry.',
      time: clock.now(),
      priority: 'normal',
      threadId: null,
    });
    await add(house, { model: 'm-own', maxTurns: 2 });
    await pass(house, clock, 30 * MINUTE);
    const runs = () => house.team.schedules.runs({ agentId: LYRA.id, before: clock.now() + 1, most: 10 });
    const [first] = await runs();
    expect(first).toMatchObject({
      state: 'timed-out',
      continuedBy: null,
      detail: expect.stringContaining('Stopped after 2 steps'),
    });
    const { goOn } = house.team;
    const id = first?.runId ?? fail();
    clock.pass(MINUTE);
    const twice = await Promise.all([goOn(id), goOn(id)]);
    expect(twice).toEqual(
      expect.arrayContaining([{ ok: true }, { ok: false, reason: 'cannot', detail: 'It was continued already.' }]),
    );
    await expect.poll(async () => (await runs()).map(({ state }) => state)).toEqual(['timed-out', 'timed-out']);
    expect(await goOn(id)).toMatchObject({ ok: false, detail: 'It was continued already.' });
    const second = (await runs()).find(({ runId }) => runId !== id);
    expect((await runs()).find(({ runId }) => runId === id)?.continuedBy).toBe(second?.runId);
    clock.pass(MINUTE);
    expect(await goOn(second?.runId ?? fail())).toEqual({ ok: true });
    await expect
      .poll(async () => (await runs()).map(({ state }) => state).sort())
      .toEqual(['done', 'timed-out', 'timed-out']);
    const last = house.model.requests.at(-1);
    // As the routine that it is: its instructions, model and name.
    expect(last?.system).toContain('Look around and say what you see, Lyra.');
    expect((await runs()).every(({ kind: each, name }) => each === 'routine' && name === 'Morning round')).toBe(true);
    expect((await runs()).find(({ state }) => state === 'done')?.said).toBe('The round is done.');
    const told = last?.last ?? '';
    expect(told).toContain('because the human says so. It was set off by your routine “Morning round”.');
    expect(told).toContain('> The well is dry.');
    const at = [1, 2, 3, 4].map((n) => told.indexOf(`"name":"Step ${n}"`));
    expect(at.every((place, i) => place > (at[i - 1] ?? 0))).toBe(true);
    expect(told.match(/> → done: /g)).toHaveLength(4);
    // Nothing more of it is to be gone on with, and what never ran is not there.
    expect(await goOn((await runs()).find(({ state }) => state === 'done')?.runId ?? fail())).toMatchObject({
      detail: 'The run is complete.',
    });
    expect(await goOn('nobody')).toMatchObject({ ok: false, reason: 'unknown' });
    // The gate has it as the person's own word, and its account of moments no more than the one
    // that was due.
    const { wakes } = await house.team.gate.feed({ before: null, limit: 5, agentId: LYRA.id });
    expect(wakes.map(({ way }) => way)).toEqual(['person', 'person', 'schedule']);
  });

  it('wakes its agent once per reminder, also when the relay died before that was written', async () => {
    const { house, clock } = await open();
    const due = { kind: 'reminder', scheduleId: 's1', name: 'Tea', given: { lastSession: false, before: [] } } as const;
    const about = { target: LYRA.id, reason: null, messageId: 'm1', callerSession: null };
    const ask = () =>
      house.team.wakes.ask({ ...about, source: { kind: 'schedule', name: 'Tea' }, way: 'reminder', due });
    const first = await ask();
    await house.until(() => house.of('run-ended').length === 1);
    clock.pass(30 * MINUTE);
    expect(await ask()).toMatchObject({ decision: { outcome: 'granted', decisionId: first.decision.decisionId } });
    // Another message is another wake.
    expect(await house.team.gate.granted({ target: LYRA.id, messageId: 'm2' })).toBeNull();
    await house.team.schedules.clock.whenQuiet();
    expect((await house.team.gate.feed({ before: null, limit: 5, agentId: LYRA.id })).wakes).toHaveLength(1);
    expect(house.of('run-started')).toHaveLength(1);
  });

  it("is proposed by its agent when allowed, and due only after the person's yes", async () => {
    const { house, clock } = await open(({ results, body }) =>
      results.length > 0 || !offeredIn({ body }).includes('propose_routine')
        ? [{ say: 'So be it.' }]
        : [
            {
              call: 'propose_routine',
              input: { name: 'Well', instructions: 'Look into the well.', why: 'It runs dry.', every_minutes: 60 },
            },
          ],
    );
    await house.team.configs.setAgent(LYRA.id, { coordination: { may_propose_routines: false } });
    await add(house);
    await pass(house, clock, 30 * MINUTE);
    expect(await house.team.schedules.proposals.open()).toEqual([]);
    await house.team.configs.setAgent(LYRA.id, { coordination: { may_propose_routines: true } });
    await pass(house, clock, 30 * MINUTE);
    const [proposal, ...more] = await house.team.schedules.proposals.open();
    expect(more).toEqual([]);
    expect(proposal).toMatchObject({ agentId: LYRA.id, why: 'It runs dry.', routine: { name: 'Well' } });
    // Nothing of it is due while it waits, nor when it is declined.
    expect(await house.team.schedules.list()).toHaveLength(1);
    expect(await house.team.schedules.proposals.decline(proposal?.proposalId ?? '')).toBe(true);
    expect(await house.team.schedules.proposals.accept(proposal?.proposalId ?? '')).toBeNull();
    expect(await house.team.schedules.list()).toHaveLength(1);
    await pass(house, clock, 30 * MINUTE);
    const [second] = await house.team.schedules.proposals.open();
    expect(await house.team.schedules.proposals.accept(second?.proposalId ?? '')).toMatchObject({ ok: true });
    expect(await house.team.schedules.proposals.open()).toEqual([]);
    expect((await house.team.schedules.list()).map(({ schedule }) => schedule.name)).toEqual(['Morning round', 'Well']);
  });

  it('is skipped, not paused, while the model’s provider refuses for hours', async () => {
    const { house, clock } = await open(
      () => ({
        fail: {
          status: 429,
          type: 'rate_limit_error',
          message: 'Limit of the day: 100000 tokens',
          headers: { 'retry-after': '20000' },
        },
      }),
      true,
    );
    const { scheduleId } = await add(house);
    for (let n = 0; n < 6; n++) await pass(house, clock, 30 * MINUTE);
    const all = await history(house, clock);
    expect(all.map(({ state, reason }) => [state, reason])).toEqual(
      Array.from({ length: 6 }, () => ['skipped', 'model-refused']),
    );
    expect(all[0]?.detail).toMatch(/Try again in 6 h\. It said: Limit of the day/);
    expect(await house.team.schedules.get(scheduleId)).toMatchObject({ pausedWhy: null });
  });

  itLong('is ended when its time is over, and paused when it failed five times in a row', async () => {
    // That it is paused is logged as a warning.
    const { house, clock } = await open(
      () => [{ say: 'One, ' }, { until: new Promise(() => undefined) }],
      true,
      'expected',
    );
    const { scheduleId } = await add(house, { timeoutMs: 1_000 });
    for (let n = 0; n < 5; n++) await pass(house, clock, 30 * MINUTE);
    const all = await history(house, clock);
    expect(all.map(({ state }) => state)).toEqual(Array<string>(5).fill('timed-out'));
    // Its model did not come to telling what it took.
    expect(all[0]).toMatchObject({ said: 'One,', detail: 'It was not done within 1 s.', estimated: true });
    expect(await house.team.schedules.spentSince(0)).toMatchObject([
      { scheduleId, kind: 'routine', runs: 5, estimated: true },
    ]);
    expect(await house.team.schedules.get(scheduleId)).toMatchObject({ nextAt: null, failedInARow: 5 });
    expect((await house.team.schedules.get(scheduleId))?.pausedWhy).toContain('5 times in a row');
    await pass(house, clock, 60 * MINUTE);
    expect(house.model.requests).toHaveLength(5);
    // Said anew, it goes on.
    await house.team.schedules.change(scheduleId, routine());
    expect(await house.team.schedules.get(scheduleId)).toMatchObject({ pausedWhy: null });
    expect((await house.team.schedules.get(scheduleId))?.nextAt).toBeGreaterThan(clock.now());
  });

  it('tells its agent at the next wake that it did this itself', async () => {
    const { house, clock } = await open(({ last }) =>
      last.includes('is due:') ? [{ say: 'I looked around.\nAll is well.' }] : [{ say: 'Hello.' }],
    );
    await add(house);
    await pass(house, clock, 30 * MINUTE);
    await house.start();
    await house.wake([{ ...LYRA, asleepSince: START }]);
    await house.until(() => house.of('agent-awake').length === 1);
    const woken = house.model.requests.find(({ last }) => last.includes('You are waking'));
    expect(JSON.stringify(woken)).toContain('While you slept you were at work once, without the human:');
    expect(woken?.last).toContain(
      'routine “Morning round”, Monday 23 November 2026, 07:30: done. Your last words:\n> I looked around.\n> All is well.',
    );
    // Of what it knows already it is not told again.
    await house.host.end('ended');
    await house.start();
    const before = house.model.requests.length;
    await house.wake([{ ...LYRA, asleepSince: clock.now() + 1 }]);
    await house.until(() => house.of('agent-awake').length === 2);
    expect(JSON.stringify(house.model.requests.slice(before))).not.toContain('While you slept you were');
  });

  it('asks a model about a script only after a failure, with its name, exit status and last output', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-scripts-'));
    const scripts = createScripts(createWorkspaces({ folder, elapsed: () => performance.now() }));
    const { house, clock } = await open(undefined, true, undefined, scripts);
    await mkdir(join(folder, LYRA.id));
    const runs = async (text: string, on_failure: 'wake_agent' | 'ignore') => {
      await writeFile(join(folder, LYRA.id, 'watch.sh'), text);
      const timing = { kind: 'every', minutes: 10 };
      const script = { kind: 'script', agentId: LYRA.id, name: 'Watch', script: 'watch.sh', timing, on_failure };
      const [there] = await house.team.schedules.list();
      const parsed = scheduleSchema.parse(script);
      await (there ? house.team.schedules.change(there.scheduleId, parsed) : house.team.schedules.add(parsed));
      await pass(house, clock, 10 * MINUTE);
      const [newest] = (await history(house, clock)).filter(({ kind }) => kind === 'script');
      return newest;
    };
    expect(await runs('echo all is well', 'wake_agent')).toMatchObject({ state: 'done', said: 'all is well\n' });
    expect(await history(house, clock)).toHaveLength(1);
    expect(await runs('exit 1', 'ignore')).toMatchObject({
      state: 'failed',
      detail: expect.stringMatching(/^It ended with exit status 1 after \d+ s\.$/),
    });
    expect(await house.inbox.count(LYRA.id)).toBe(0);
    expect(house.model.requests).toEqual([]);
    expect(await runs('for i in $(seq 2000); do echo "line $i"; done; exit 3', 'wake_agent')).toMatchObject({
      ...{ state: 'failed', detail: expect.stringMatching(/^It ended with exit status 3 after \d+ s\.$/) },
    });
    await house.until(() => house.model.requests.length === 1);
    const told = house.model.requests[0]?.last ?? '';
    expect(told).toMatch(
      /\[Script watch\.sh failed\. It is scheduled as “Watch”\. It ended with exit status 3 after \d+ s\. The end of what it wrote:\]/,
    );
    expect(told).toMatch(/^.*line 2000$/m);
    expect(told).not.toMatch(/line 1000$/m);
    expect((await house.team.gate.feed({ before: null, limit: 5, agentId: LYRA.id })).wakes).toMatchObject([
      { way: 'script_failure', outcome: 'granted', source: { kind: 'script', name: 'Watch' } },
    ]);
    expect(await runs('exit 75', 'wake_agent')).toMatchObject({ state: 'done' });
    expect(await house.team.schedules.list()).toEqual([]);
    expect(house.model.requests).toHaveLength(1);
    await scripts.close();
    await rm(folder, { recursive: true, force: true });
  });

  itLong(
    'of scripts that fail again and again within five minutes tells each failure; where nobody may be woken they wait, and come in one run',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'roost-scripts-'));
      const scripts = createScripts(createWorkspaces({ folder, elapsed: () => performance.now() }));
      const { house, clock } = await open(undefined, true, undefined, scripts);
      await mkdir(join(folder, LYRA.id));
      const names = ['One', 'Two', 'Three'];
      for (const name of names) {
        await writeFile(join(folder, LYRA.id, `${name}.sh`), `echo ${name} is broken; exit 1`);
        const timing = { kind: 'every', minutes: 60, offset: names.indexOf(name) };
        const script = {
          kind: 'script',
          agentId: LYRA.id,
          name,
          script: `${name}.sh`,
          timing,
          on_failure: 'wake_agent',
        };
        expect((await house.team.schedules.add(scheduleSchema.parse(script))).ok).toBe(true);
      }
      const told = (name: string) => house.model.requests.filter(({ last }) => last.includes(`${name} is broken`));
      await pass(house, clock, 60 * MINUTE);
      for (const minutes of [1, 1]) await pass(house, clock, minutes * MINUTE);
      for (const name of names) expect(told(name), name).toHaveLength(1);
      await house.team.configs.setAgent(LYRA.id, { coordination: { wakes_enabled: false } });
      for (const minutes of [58, 1, 1]) await pass(house, clock, minutes * MINUTE);
      expect(house.model.requests).toHaveLength(3);
      expect((await house.team.schedules.list()).map(({ waits }) => waits?.reason)).toEqual(
        names.map(() => 'switched-off'),
      );
      const list = house.team.tools.find(({ name }) => name === 'wake_list');
      const caller = { agentId: LYRA.id, sessionId: null, run: 'r', signal: new AbortController().signal };
      expect((await list?.run({}, { ...caller, kind: 'session' }))?.text).toMatch(
        /“Two”.*failed on .*that waits for you: switched-off/,
      );
      // Of a script that was taken away nothing is to be told any more.
      const three = await house.team.schedules.named(LYRA.id, 'Three');
      expect(await house.team.schedules.remove(three?.scheduleId ?? '')).toBe(true);
      await house.restart();
      await house.team.configs.setAgent(LYRA.id, { coordination: {} });
      clock.pass(10 * MINUTE);
      await house.team.schedules.clock.start();
      await house.team.schedules.clock.whenQuiet();
      await pass(house, clock, 6_000);
      await pass(house, clock, 6_000);
      expect(told('One')).toHaveLength(2);
      expect(told('Two')).toHaveLength(2);
      expect(told('One')[1]?.last).toContain('Two is broken');
      expect((await house.team.schedules.list()).map(({ waits }) => waits)).toEqual([undefined, undefined]);
      await scripts.close();
      await rm(folder, { recursive: true, force: true });
    },
  );

  it('is told once to an awake agent with its next turn, without a turn of its own', async () => {
    const { house, clock } = await open(({ last }) => [
      { say: last.includes('is due:') ? 'I looked around.' : 'Hello.' },
    ]);
    await add(house);
    await house.start();
    await house.wake([LYRA]);
    await house.until(() => house.of('agent-awake').length === 1);
    await pass(house, clock, 30 * MINUTE);
    await house.until(() => house.of('run-ended').length === 1);
    const before = house.requestsOf(1).length;
    const answers = () =>
      house.of('message').filter(({ author, sessionId }) => author === LYRA.id && sessionId !== null);
    for (const text of ['What did you do?', 'And now?']) {
      const already = answers().length;
      await house.post({ text, to: LYRA.id });
      await house.until(() => answers().length > already);
    }
    const [first, second, ...more] = house.requestsOf(1).slice(before);
    expect(more).toEqual([]);
    expect(first?.last).toContain('[Meanwhile you were at work by yourself once, without the human:]');
    expect(first?.last).toContain('routine “Morning round”, Monday 23 November 2026, 07:30: done.');
    expect(second?.last).not.toContain('Meanwhile you were at work');
  });

  it('is a record that a page restores to a relay that has lost it', async () => {
    const { house } = await open();
    const { scheduleId } = await add(house);
    const second = await add(house, { name: 'Evening round', enabled: false });
    await house.team.schedules.reorder([second.scheduleId, scheduleId]);
    const newest = (id: string) => house.of('record').findLast(({ record }) => record.id === id);
    const places = () =>
      [second.scheduleId, scheduleId].map((id) => {
        const { record } = newest(id) ?? {};
        return record?.type === 'schedule' ? record.value.position : null;
      });
    await house.until(() => places().join() === '0,1');
    const [told, first] = [newest(scheduleId), newest(second.scheduleId)];
    if (!told?.at || !first?.at) throw new Error('It has no stamp.');
    const other = await bench.open({ now: () => START });
    expect(await other.team.records.offer([{ ...told.record, at: told.at }])).toEqual([{ answer: 'taken' }]);
    expect(await other.team.records.offer([{ ...first.record, at: first.at }])).toEqual([{ answer: 'taken' }]);
    // In the person’s order, whichever came first.
    expect((await other.team.schedules.list()).map(({ schedule }) => schedule.name)).toEqual([
      'Evening round',
      'Morning round',
    ]);
    await other.team.schedules.remove(second.scheduleId);
    // It is due where it was, as far as anybody knows; the person says that nothing is there any
    // more.
    expect(await other.team.schedules.list()).toMatchObject([{ scheduleId, nextAt: null, elsewhere: 'due' }]);
    await other.team.schedules.move(true);
    // It was never set there: the person says yes to what it says.
    expect(await other.team.schedules.list()).toMatchObject([{ scheduleId, nextAt: null, elsewhere: null }]);
    await allowIn(other.team.records);
    expect(await other.team.schedules.list()).toMatchObject([
      { scheduleId, nextAt: START + 30 * MINUTE, elsewhere: null },
    ]);
    // A name is there once: another relay's routine of the same name does not take its place.
    expect(await other.team.records.offer([{ ...told.record, id: 'another', at: told.at }])).toMatchObject([
      { answer: 'refused' },
    ]);
    // It is due there from now on, and every device is told.
    await other.until(() => other.of('record').some(({ record }) => record.id === scheduleId));
  });

  it.each([
    ['runs the file once the person has said yes, where that is the text that they had accepted', 'echo as accepted'],
    ['runs nothing where the file is another, and asks about it', 'echo planted'],
  ])('restores a script to a relay that has lost it: %s', async (_what, text) => {
    const roots = [1, 2].map(() => mkdtemp(join(tmpdir(), 'roost-scripts-')));
    const [first = '', second = ''] = await Promise.all(roots);
    const scriptsIn = (folder: string) => createScripts(createWorkspaces({ folder, elapsed: () => performance.now() }));
    const own = [scriptsIn(first), scriptsIn(second)] as const;
    const lay = async (folder: string, says: string) => {
      await mkdir(join(folder, LYRA.id), { recursive: true });
      await writeFile(join(folder, LYRA.id, 'watch.sh'), says);
    };
    await lay(first, 'echo as accepted');
    const { house } = await open(undefined, true, undefined, own[0]);
    const timing = { kind: 'every', minutes: 10 };
    const script = { kind: 'script', agentId: LYRA.id, name: 'Watch', script: 'watch.sh', timing };
    const written = await house.team.schedules.add(scheduleSchema.parse(script));
    const scheduleId = written.ok ? written.scheduled.scheduleId : fail();
    const told = () => house.of('record').findLast(({ record }) => record.id === scheduleId);
    await house.until(() => told() !== undefined);
    await lay(second, text);
    const { house: other, clock } = await open(undefined, true, undefined, own[1]);
    const { record, at } = told() ?? fail();
    expect(await other.team.records.offer([{ ...record, at: at ?? fail() }])).toEqual([{ answer: 'taken' }]);
    await other.team.schedules.move(true);
    await pass(other, clock, 10 * MINUTE);
    // Nothing runs before a yes, and nobody is asked about its text.
    expect(await history(other, clock)).toEqual([]);
    expect(await other.team.approvals.open()).toEqual([]);
    await allowIn(other.team.records);
    await pass(other, clock, 10 * MINUTE);
    const [newest] = await history(other, clock);
    if (text === 'echo as accepted') {
      expect(newest).toMatchObject({ state: 'done', said: 'as accepted\n' });
      // It is kept from now on.
      await lay(second, 'echo another');
      await pass(other, clock, 10 * MINUTE);
      expect((await history(other, clock))[0]).toMatchObject({ state: 'done', said: 'as accepted\n' });
    } else {
      expect(newest).toMatchObject({ state: 'failed', said: '', detail: expect.stringContaining('It was not run') });
      expect(await other.team.approvals.open()).toMatchObject([{ tool: 'accept_script', where: 'relay' }]);
    }
    for (const each of own) await each.close();
    for (const root of [first, second]) await rm(root, { recursive: true, force: true });
  });

  it('stops here when another relay has taken it, says so, and returns when that one releases it', async () => {
    // That it is due elsewhere is logged as a warning.
    const { house, clock } = await open(undefined, true, 'expected');
    const { scheduleId, schedule } = await add(house);
    const told = async (from: Household, many: number) => {
      const all = () => from.of('record').filter(({ record }) => record.id === scheduleId);
      await from.until(() => all().length === many);
      const newest = all().at(-1);
      if (!newest?.at) throw new Error('It has no stamp.');
      return { ...newest.record, at: newest.at };
    };
    const give = async (to: Household, what: Awaited<ReturnType<typeof told>>) =>
      (await to.team.records.offer([what]))[0]?.answer;
    const other = await bench.open({ script: () => [{ say: 'Here.' }], now: clock.now, onError: 'expected' });
    await other.team.directory.set({
      agents: [{ agentId: LYRA.id, name: LYRA.name, position: LYRA.position, retired: false }],
    });
    await other.team.snapshots.leave(LYRA.id, SNAPSHOT, 'v1');
    await other.team.schedules.clock.start();
    const requests = () => [house.model.requests.length, other.model.requests.length];
    expect(await give(other, await told(house, 1))).toBe('taken');
    await pass(house, clock, 30 * MINUTE);
    await pass(other, clock, 0);
    expect(requests()).toEqual([1, 0]);
    // Taken with the person's word that there is no other: a page that comes there with that stops
    // it.
    await other.team.schedules.move(true);
    await allowIn(other.team.records);
    const moved = await told(other, 1);
    expect(await give(house, moved)).toBe('taken');
    expect(await house.team.schedules.get(scheduleId)).toMatchObject({ nextAt: null, elsewhere: 'due' });
    expect((await house.team.schedules.get(scheduleId))?.pausedWhy).toContain('another relay of this household');
    expect(await house.team.schedules.change(scheduleId, schedule)).toMatchObject({ ok: false });
    await pass(house, clock, 30 * MINUTE);
    await pass(other, clock, 0);
    expect(requests()).toEqual([1, 1]);
    // Told again, nothing moves back by itself.
    expect(await give(house, moved)).toBe('kept');
    expect(await give(other, moved)).toBe('kept');
    // It asks. The other lets go when it hears that, and what was due in between is in the account
    // of this one.
    await house.team.schedules.move(false);
    const asked = await told(house, 2);
    await pass(house, clock, 5 * MINUTE);
    expect(await give(other, asked)).toBe('taken');
    const release = await told(other, 2);
    await pass(other, clock, 30 * MINUTE);
    expect(requests()).toEqual([1, 1]);
    expect(await give(house, release)).toBe('taken');
    await pass(house, clock, 0);
    expect(requests()).toEqual([2, 1]);
    expect(await other.team.schedules.get(scheduleId)).toMatchObject({ nextAt: null, elsewhere: 'due' });
  });
});

describe('a script', () => {
  let folder: string;
  let scripts: Scripts;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-scripts-'));
    scripts = createScripts(createWorkspaces({ folder, elapsed: () => performance.now() }));
    await mkdir(join(folder, 'agent-0'));
  });
  afterEach(async () => {
    await scripts.close();
    await rm(folder, { recursive: true, force: true });
  });
  const write = (name: string, text: string) => writeFile(join(folder, 'agent-0', name), text);
  const run = async (name: string, timeoutMs = 20_000, begins?: Parameters<Scripts['run']>[2]) => {
    const file = await scripts.read('agent-0', name);
    if (typeof file === 'string') throw new Error(file);
    return await scripts.run({ agentId: 'agent-0', script: name, timeoutMs }, file.text, begins);
  };

  it('runs in its agent’s folder, with an environment without keys', async () => {
    process.env['ROOST_PLANTED_KEY'] = 'sk-planted';
    await write('look.sh', 'pwd; env; echo to the other >&2');
    const { kind, output } = await run('look.sh');
    delete process.env['ROOST_PLANTED_KEY'];
    expect(kind).toBe('done');
    expect(output).toContain(join(folder, 'agent-0'));
    expect(output).toContain('to the other');
    expect(output).not.toContain('sk-planted');
  });

  it('fails by its exit status, says 75 where it is not to come again, and keeps the end of what it wrote', async () => {
    await write('fails.sh', 'for i in $(seq 2000); do echo "line $i"; done; exit 3');
    expect(await run('fails.sh')).toMatchObject({ kind: 'failed', status: 'exit status 3', cancels: false });
    expect((await run('fails.sh')).output).toMatch(/line 2000\n$/);
    await write('done.sh', 'exit 75');
    expect(await run('done.sh')).toMatchObject({ kind: 'done', cancels: true });
  });

  it('ends with all that it started when its time is over', async () => {
    await write('long.sh', 'sleep 600 & echo $!; trap "" TERM; sleep 600');
    const { kind, output } = await run('long.sh', 1_000);
    expect(kind).toBe('timed-out');
    const pid = Number(output.trim());
    expect(pid).toBeGreaterThan(1);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('ends by its recorded processes after its relay died, and no other process of the same number', async () => {
    // Its first process has ended, and has left another behind.
    const child = spawn('bash', ['-c', 'sleep 600 & echo $!; read -r'], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], [GROUP_MARK]: 'this-run' },
    });
    const left = Number(String((await once(child.stdout, 'data'))[0]));
    const group = await groupOf(child.pid ?? 0, 'this-run');
    if (!group) throw new Error('It has no group.');
    const others = [{ machine: 'another' }, { since: '1', mark: 'another-run' }].map((more) => ({ ...group, ...more }));
    for (const other of others) expect(await endGroup(other)).toBe(false);
    child.stdin.end('\n');
    await once(child, 'exit');
    for (const other of others) expect(await endGroup(other)).toBe(false);
    expect(isAlive(left)).toBe(true);
    expect(await endGroup(group)).toBe(true);
    await expect.poll(() => isAlive(left)).toBe(false);
  });

  it('does not start before its processes are recorded, and never when they cannot be', async () => {
    await write('look.sh', 'echo looked > looked');
    const written: unknown[] = [];
    const end = await run('look.sh', 20_000, (group) => {
      written.push(group);
      return Promise.resolve(false);
    });
    expect(end).toMatchObject({ kind: 'failed' });
    expect(written).toMatchObject([{ pid: expect.any(Number) }]);
    expect(await readdir(join(folder, 'agent-0'))).toEqual(['look.sh']);
  });

  it('counts as stopped, not as failed, when the relay ends during it', async () => {
    await write('long.sh', 'echo begun > begun; sleep 600');
    const end = run('long.sh');
    await expect.poll(() => readdir(join(folder, 'agent-0'))).toContain('begun');
    await scripts.close();
    expect(await end).toMatchObject({ kind: 'stopped' });
  });

  it('has its path in `$0`, also from a folder below, and starts in its agent’s folder', async () => {
    await mkdir(join(folder, 'agent-0', 'checks'));
    await writeFile(join(folder, 'agent-0', 'checks', 'word.txt'), 'beside\n');
    await write('checks/look.sh', 'echo "$0"; pwd; cat "$(dirname "$0")/word.txt" checks/word.txt');
    expect((await run('checks/look.sh')).output.split('\n')).toEqual([
      expect.stringMatching(/\/agent-0\/checks\/look\.sh$/),
      expect.stringMatching(/\/agent-0$/),
      ...['beside', 'beside', ''],
    ]);
  });

  it('lies in its agent’s folder, also after links are followed, is no longer than people can look at, and is refused where scripts are off', async () => {
    await writeFile(join(folder, 'elsewhere.sh'), 'echo out');
    await symlink(join(folder, 'elsewhere.sh'), join(folder, 'agent-0', 'link.sh'));
    const read = (script: string) => scripts.read('agent-0', script);
    expect(await read('link.sh')).toBe('The script lies outside of the agent’s folder.');
    expect(await read('../elsewhere.sh')).toBe('The script lies outside of the agent’s folder.');
    expect(await read('/bin/true')).toContain('named by its path');
    expect(await read('none.sh')).toContain('There is no file none.sh');
    await write('long.sh', 'x'.repeat(100_001));
    expect(await read('long.sh')).toBe('A script is 100 kB long at most.');
    await write('look.sh', 'echo in');
    await symlink('look.sh', join(folder, 'agent-0', 'inner.sh'));
    expect(await read('inner.sh')).toMatchObject({ path: 'look.sh' });
    expect(await createScripts(null).read('agent-0', 'look.sh')).toContain('Scripts are off');
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
