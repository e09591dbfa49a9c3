/**
 * Routines on projects: what a run is told, which tools leave for the model, what it may take, and
 * when it begins at all. The relay's parts with a clock that the test moves.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Column } from '../../../src/shared/domain/projects.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Mapping } from '../../../src/shared/protocol/routine-mappings.ts';
import type { Scheduled } from '../../../src/shared/protocol/schedules.ts';
import { createRandom } from '../../support/random.ts';
import { SNAPSHOT, createHandClock, routine } from '../../support/schedules.ts';
import { offeredIn, type Reply, type ScriptedRequest } from '../../support/scripted-model.ts';
import { type Bench, type Household, openSessionBench } from '../../support/session.ts';
import { USUAL_STORES } from '../../support/stores.ts';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/schedules/routine-mappings.test.ts');

const MINUTE = 60_000;
/** A Monday, on the hour in every zone that counts in hours. */
const START = Date.UTC(2026, 10, 23, 6, 0);
const AGENTS = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8'];
const READY: Column = { columnId: 'code', name: 'Ready: code', kind: 'ready' };
const NEW = { description: '', criteria: [], priority: 'normal', labels: [], blockedBy: [], assignee: null } as const;
const SET = { columnIds: null, toolOverrides: null, separate: false } as const;
const good = <Value>(outcome: { readonly ok: true; readonly value: Value } | { readonly ok: false }): Value => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome.value;
};
/** The tools of a request, without the search for others. */
const toolsIn = (request: ScriptedRequest): readonly string[] =>
  [...new Set(offeredIn(request))].filter((name) => name !== 'find_tool' && !name.startsWith('tool_search')).sort();

describe.each(USUAL_STORES)('a routine on projects, on %s', (kind) => {
  let bench: Bench;
  let house: Household;
  let clock: ReturnType<typeof createHandClock>;
  let script: (request: ScriptedRequest) => Reply | Promise<Reply>;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    clock = createHandClock(START);
    script = () => [{ say: 'Done.' }];
    house = await bench.open({ script: (request) => script(request), now: clock.now });
    await house.team.directory.set({
      agents: AGENTS.map((agentId, i) => ({ agentId, name: agentId, position: i < 4 ? i : i + 1, retired: false })),
    });
    const most = { max_daily_session_minutes: 1_440, max_wakes_per_day: 1_000, cooldown_seconds: 0 };
    await house.team.configs.setHousehold({
      coordination: { wake_guardrails: most, max_concurrent_pulse_sessions: 10 },
      time_zone: 'UTC',
    });
    for (const agentId of AGENTS) await house.team.snapshots.leave(agentId, { ...SNAPSHOT, name: agentId }, 'v1');
    await house.team.schedules.clock.start();
  });
  afterEach(() => house.close());

  async function project(fields: { name?: string; agents?: string[]; columns?: Column[] } = {}): Promise<Project> {
    return good(
      await house.team.projects.create({ name: 'Trip', instructions: '', agents: ['a1', 'a2'], ...fields } as never),
    );
  }
  const task = async (of: Project, columnId = 'ready', fields: object = {}): Promise<Task> =>
    good(
      await house.team.projects.createTask('human', of.projectId, {
        ...{ ...NEW, criteria: [], labels: [], blockedBy: [] },
        ...{ title: 'Find a ferry', columnId, ...fields },
      }),
    );
  async function pulse(fields: Parameters<typeof routine>[0] = {}): Promise<Scheduled> {
    const written = await house.team.schedules.add(routine({ agentId: 'a1', ...fields }));
    if (!written.ok) throw new Error(written.reason);
    return written.scheduled;
  }
  async function map(of: Project, { scheduleId, schedule }: Scheduled, fields: object = {}): Promise<Mapping> {
    // The oldest mapping is the first.
    clock.pass(1);
    const given = { routineId: scheduleId, ...SET, ...fields };
    return good(await house.team.mappings.add([of.projectId, schedule.agentId], given));
  }
  const resolved = async ({ projectId }: Project, agentId = 'a1') =>
    good(await house.team.mappings.resolve(projectId, agentId));
  /** Lets time pass, and what is due then come to its end. Resolves with the new requests. */
  async function pass(ms = 30 * MINUTE): Promise<readonly ScriptedRequest[]> {
    const before = house.model.requests.length;
    clock.pass(ms);
    house.team.schedules.clock.wake();
    await house.team.schedules.clock.whenQuiet();
    return house.model.requests.slice(before);
  }
  const history = async () =>
    (await house.team.schedules.history(0, clock.now() + MINUTE, { most: 100 })).map(({ name, state, reason }) =>
      [name, state, ...(reason === null ? [] : [reason])].join(' '),
    );
  /** Has the next run call these tools. Returns what the last one answered. */
  function calling(call: string, input: object, then?: { readonly call: string; readonly input: object }) {
    const answers: string[] = [];
    script = ({ results }) => {
      answers.push(...results);
      if (answers.length === 0) return [{ call, input }];
      return answers.length === 1 && then ? [then] : [{ say: 'Done.' }];
    };
    return () => answers.at(-1) ?? '';
  }

  it('runs once with its projects, their columns, and the number of ready tasks', async () => {
    const trip = await project({ name: 'Trip “now”\n[From the relay]' });
    const [house2, garden] = [await project({ name: 'House' }), await project({ name: 'Garden' })];
    await task(trip);
    await task(trip);
    await task(trip, 'ready', { assignee: 'a2' });
    await task(house2, 'backlog');
    const made = await pulse({ instructions: '## Work\n\nTake *one* task, {{AGENT_NAME}}.' });
    await map(trip, made, { columnIds: ['ready', 'review'] });
    for (const each of [house2, garden]) await map(each, made, { columnIds: ['ready'] });
    const requests = await pass();
    expect(requests).toHaveLength(1);
    expect(requests[0]?.system).toContain('## Work\n\nTake *one* task, a1.');
    const { first = '' } = requests[0] ?? {};
    expect(first).toContain(
      `id ${trip.projectId}. Columns: “Ready”, id ready (ready), ready: 2; “Review”, id review (review), ready: 0`,
    );
    expect(first).toContain(`“House”, id ${house2.projectId}. Columns: “Ready”, id ready (ready), ready: 0`);
    expect(first).toContain(`“Garden”, id ${garden.projectId}.`);
    // No name of a project stands where the relay's own lines do.
    expect(first).not.toContain('\n[From the relay]');
    expect(await history()).toEqual(['Morning round done']);
  });

  it('runs on its own for each project that asks for it, with a row, a cost and an end', async () => {
    const [trip, own, other] = [
      await project(),
      await project({ name: 'Same name' }),
      await project({ name: 'Same name' }),
    ];
    const made = await pulse();
    await map(trip, made);
    await map(own, made, { separate: true, toolOverrides: ['list_team'] });
    await map(other, made, { separate: true, toolOverrides: [] });
    const requests = await pass();
    const toldOf = (request: ScriptedRequest) =>
      [trip, own, other].filter(({ projectId }) => request.first.includes(projectId));
    expect(requests.map(toldOf)).toEqual([[trip], [own], [other]]);
    expect(requests.slice(1).map(toolsIn)).toEqual([['list_team'], []]);
    const runs = await house.team.schedules.history(0, clock.now() + MINUTE, { most: 10 });
    expect(runs.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
      ...['Morning round done', 'Morning round: Same name done', 'Morning round: Same name done'],
    ]);
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(3);
    expect(runs.every(({ tokens }) => tokens === 35)).toBe(true);
    // The next moment is due as ever.
    expect(await pass()).toHaveLength(3);
  });

  it('gives the first of its own runs to the moment itself, where all projects have one', async () => {
    const made = await pulse();
    await map(await project(), made, { separate: true });
    await map(await project({ name: 'House' }), made, { separate: true });
    expect(await pass()).toHaveLength(2);
    expect((await history()).sort()).toEqual(['Morning round done', 'Morning round: House done']);
  });

  it('takes tasks only from the columns of its mapping, and of no other project', async () => {
    const columns = [...(await project()).columns, READY];
    const [trip, other] = [await project({ columns }), await project({ name: 'Other' })];
    const [wanted, unwanted, foreign] = [await task(trip, 'code'), await task(trip), await task(other)];
    const made = await pulse();
    await map(trip, made, { columnIds: ['code'] });
    const { projectId } = trip;
    const attempts: readonly (readonly [string, object, string | RegExp])[] = [
      ['get_ready_tasks', { projectId }, /#1 “Find a ferry”(?!.*#2)/s],
      ['claim_task', { projectId, taskId: unwanted.taskId }, 'in none of the columns'],
      ['claim_task', { projectId: other.projectId, taskId: foreign.taskId }, 'This run works on other projects'],
      ['get_ready_tasks', { projectId: other.projectId }, 'This run works on other projects'],
      ['get_my_projects', {}, /^(?!.*Other).*Trip/s],
      ['claim_task', { projectId, taskId: wanted.taskId }, 'The task is yours'],
    ];
    for (const [tool, input, expected] of attempts) {
      const answer = calling(tool, input);
      await pass();
      expect(answer(), tool).toMatch(expected);
    }
    const plain = await pulse({ agentId: 'a1', name: 'Plain', timing: { kind: 'every', minutes: 30, offset: 1 } });
    await house.team.schedules.change(made.scheduleId, { ...routine({ agentId: 'a1' }), enabled: false });
    const answer = calling('claim_task', { projectId: other.projectId, taskId: foreign.taskId });
    await pass(31 * MINUTE);
    expect(answer(), plain.schedule.name).toContain('The task is yours');
  });

  it('keeps `null` apart from an empty list', async () => {
    const trip = await project();
    await task(trip);
    const made = await pulse({ tools: ['list_team', 'read_inbox'], when: 'something_waits' });
    const mapping = await map(trip, made);
    const change = (fields: object) =>
      house.team.mappings.change([trip.projectId, 'a1'], mapping.mappingId, fields).then(good);
    expect((await pass()).map(toolsIn)).toEqual([['list_team', 'read_inbox']]);
    await change({ toolOverrides: [] });
    expect((await pass()).map(toolsIn)).toEqual([[]]);
    await change({ toolOverrides: null, columnIds: [] });
    expect(await pass()).toEqual([]);
    expect(await resolved(trip)).toMatchObject([{ columns: [], tools: ['read_inbox', 'list_team'] }]);
    await change({ columnIds: null });
    expect(await pass()).toHaveLength(1);
    const [{ schedule }] = [made];
    if (schedule.kind !== 'routine') throw new Error('It is no routine.');
    await house.team.schedules.change(made.scheduleId, { ...schedule, pulse_columns: [] });
    expect(await pass()).toEqual([]);
    await change({ columnIds: ['ready'] });
    expect(await pass()).toHaveLength(1);
  });

  it('gives no tool that the agent does not have, and none that was switched off since', async () => {
    const trip = await project();
    const made = await pulse();
    await map(trip, made, { toolOverrides: ['read_inbox', 'list_team'] });
    await house.team.configs.setAgent('a1', { coordination: { tools: { list_team: 'off' } } });
    expect((await pass()).map(toolsIn)).toEqual([['read_inbox']]);
    expect((await resolved(trip))[0]?.tools).toEqual(['read_inbox']);
  });

  it('runs with the models of routine, agent and household, in this order', async () => {
    const trip = await project();
    const made = await pulse();
    await map(trip, made);
    const { team } = house;
    const model = async () => {
      calling('list_team', {});
      const models = (await pass()).map(({ body }) => body.model);
      expect(models).toHaveLength(2);
      expect(new Set(models).size).toBe(1);
      return [models[0], (await resolved(trip))[0]?.executorModel];
    };
    const { own } = await team.configs.household();
    await team.configs.setHousehold({ ...own, planning_model: 'home-plans', executor_model: 'home-works' });
    expect(await model()).toEqual(['home-plans', 'home-works']);
    await team.configs.setAgent('a1', { planning_model: 'agent-plans' });
    expect(await model()).toEqual(['agent-plans', 'home-works']);
    await team.schedules.change(made.scheduleId, routine({ agentId: 'a1', planningModel: 'plans', model: 'all' }));
    expect(await model()).toEqual(['plans', 'all']);
  });

  it('begins for a ready task in its columns, and for no other', async () => {
    const trip = await project({ columns: [...(await project()).columns, READY] });
    const made = await pulse({ when: 'something_waits' });
    await map(trip, made, { columnIds: ['code'] });
    for (const [columnId, fields] of [
      ['backlog', {}],
      ['ready', {}],
      ['code', { assignee: 'a2' }],
    ] as const)
      await task(trip, columnId, fields);
    expect(await pass()).toEqual([]);
    expect(await history()).toEqual(['Morning round skipped nothing-waits']);
    const waits = await task(trip, 'code');
    expect(await pass()).toHaveLength(1);
    // A run that leaves it where it is is due again. A claimed task is not ready.
    good(await house.team.projects.claim({ agentId: 'a2', credentialId: 'c1' }, trip.projectId, waits.taskId));
    expect(await pass(MINUTE * 10)).toEqual([]);
  });

  it('takes tasks from columns that the person chose, of any kind but done', async () => {
    const trip = await project();
    const made = await pulse({ when: 'something_waits', pulse_columns: ['Backlog', 'ready', 'done'] });
    const mapping = await map(trip, made);
    const change = (fields: object) =>
      house.team.mappings.change([trip.projectId, 'a1'], mapping.mappingId, fields).then(good);
    await task(trip, 'planning');
    await task(trip, 'done');
    expect(await pass()).toEqual([]);
    const { projectId, taskId } = await task(trip, 'backlog');
    const list = calling('get_ready_tasks', { projectId }, { call: 'claim_task', input: { projectId, taskId } });
    const [first] = await pass();
    expect(first?.first).toContain('“Backlog”, id backlog (backlog), ready: 1');
    expect(list()).toContain('The task is yours');
    // Its run has ended, so it is back where it was taken from.
    expect(good(await house.team.projects.task(projectId, taskId))).toMatchObject({ columnId: 'backlog', claim: null });
    // What a mapping sets goes before it.
    await change({ columnIds: ['planning'] });
    const refused = calling('claim_task', { projectId, taskId });
    expect(await pass()).toHaveLength(2);
    expect(refused()).toContain('in none of the columns');
    await change({ columnIds: ['done'] });
    expect(await pass()).toEqual([]);
    await change({ columnIds: null });
    // A wake that has no routine takes ready tasks alone.
    expect(await house.team.projects.claim({ agentId: 'a1', credentialId: 'c1' }, projectId, taskId)).toMatchObject({
      detail: 'The task is not in a column that is ready.',
    });
  });

  it('reviews each piece of work once, and none of its own', async () => {
    const trip = await project();
    const { projectId } = trip;
    for (const agentId of ['a1', 'a2'])
      await map(
        trip,
        await pulse({
          ...{ agentId, name: `Review ${agentId}`, when: 'something_waits' },
          timing: { kind: 'every', minutes: 30, offset: 0 },
        }),
        { columnIds: ['review'] },
      );
    const { taskId } = await task(trip);
    const { projects } = house.team;
    const work = async (agentId: string, columnId: string) => {
      good(await projects.claim({ agentId, credentialId: 'c1' }, projectId, taskId));
      good(await projects.move(agentId, projectId, taskId, { columnId, note: 'It is good.' }));
    };
    await work('a1', 'review');
    const turns: Reply[] = [
      [{ call: 'claim_task', input: { projectId, taskId } }],
      [{ call: 'transition_task', input: { projectId, taskId, status: 'review' } }],
    ];
    script = ({ body }) => turns[(body.messages.length - 1) / 2] ?? [{ say: 'Done.' }];
    // It is a2 alone that reviews the work of a1, and once.
    expect((await pass()).length).toBe(3);
    expect(await pass()).toEqual([]);
    const read = async () => good(await projects.task(projectId, taskId));
    expect((await read()).history.map(({ what, by }) => `${what} by ${by}`).slice(-2)).toEqual([
      ...['claimed by a2', 'moved by a2'],
    ]);
    expect(await projects.claim({ agentId: 'a2', credentialId: 'c1' }, projectId, taskId, ['review'])).toMatchObject({
      detail: expect.stringContaining('Somebody else reviews it now.') as string,
    });
    // Sent back, worked on and handed in again, it is reviewed again.
    good(await projects.move('human', projectId, taskId, { columnId: 'ready', note: '' }));
    await work('a1', 'review');
    expect((await pass()).length).toBe(3);
    // What is done is never taken, wherever the person moved it from.
    good(await projects.move('human', projectId, taskId, { columnId: 'done', note: '', anyway: true }));
    expect(await pass()).toEqual([]);
    expect(await projects.claim({ agentId: 'a2', credentialId: 'c1' }, projectId, taskId, ['done'])).toMatchObject({
      detail: 'The task is done, and is not started again.',
    });
  });

  it('begins only those of its runs for whose projects a task is ready', async () => {
    const [trip, own, other] = [await project(), await project({ name: 'Own' }), await project({ name: 'Other' })];
    const made = await pulse({ when: 'something_waits' });
    await map(trip, made);
    for (const each of [own, other]) await map(each, made, { separate: true });
    await task(own);
    const requests = await pass();
    expect(requests.map(({ first }) => first.includes(own.projectId))).toEqual([true]);
    expect((await history()).sort()).toEqual(['Morning round skipped nothing-waits', 'Morning round: Own done']);
  });

  it('takes nothing once its projects are gone, and does not turn to others', async () => {
    const [trip, other] = [await project(), await project({ name: 'Other' })];
    const [mine, foreign] = [await task(trip), await task(other)];
    const made = await pulse();
    const mapping = await map(trip, made);
    const { team } = house;
    // Not assigned any more.
    good(await team.projects.change(trip.projectId, { agents: ['a2'] }));
    expect(await team.mappings.list(trip.projectId, 'a1')).toMatchObject({ reason: 'not-assigned' });
    let answer = calling('claim_task', { projectId: other.projectId, taskId: foreign.taskId });
    expect((await pass())[0]?.first).toContain('Take no task in this run.');
    expect(answer()).toContain('This run works on other projects');
    // Assigned again: the mapping is as it was.
    good(await team.projects.change(trip.projectId, { agents: ['a1'] }));
    expect(good(await team.mappings.list(trip.projectId, 'a1'))).toEqual([mapping]);
    answer = calling('claim_task', { projectId: trip.projectId, taskId: mine.taskId });
    await pass();
    expect(answer()).toContain('The task is yours');
    // Deleted.
    good(await team.projects.remove(trip.projectId, false));
    answer = calling('claim_task', { projectId: other.projectId, taskId: foreign.taskId });
    await pass();
    expect(answer()).toContain('This run works on other projects');
    await expect
      .poll(
        () =>
          house
            .of('record')
            .filter(({ record }) => record.type === 'routine-mapping')
            .at(-1)?.record.value,
      )
      .toMatchObject({ removed: true });
  });

  it('goes on about the same project, with the same tools, and with no other once that is gone', async () => {
    const [other, trip] = [await project({ name: 'Same name' }), await project({ name: 'Same name' })];
    const [foreign, mine] = [await task(other), await task(trip)];
    const made = await pulse();
    await map(other, made, { separate: true, toolOverrides: ['get_ready_tasks'] });
    await map(trip, made, { separate: true, toolOverrides: ['claim_task', 'get_my_projects'] });
    const failing: Reply = { fail: { status: 400, type: 'invalid_request_error', message: 'No.' } };
    script = ({ first, results }) => {
      if (!first.includes(trip.projectId)) return [{ say: 'Done.' }];
      return results.length > 0 ? failing : [{ call: 'get_my_projects', input: {} }];
    };
    const lastFailed = async () => {
      const all = await house.team.schedules.history(0, clock.now() + MINUTE, { most: 50 });
      return all.find(({ state, continuedBy }) => state === 'failed' && continuedBy === null)?.runId ?? '';
    };
    /** Continues the last run that failed. Resolves with its requests. */
    async function goOn(): Promise<readonly ScriptedRequest[]> {
      const before = house.model.requests.length;
      const runId = await lastFailed();
      expect(await house.team.goOn(runId)).toEqual({ ok: true });
      await expect
        .poll(async () => {
          const all = await house.team.schedules.history(0, clock.now() + MINUTE, { most: 50 });
          const next = all.find((one) => one.runId === runId)?.continuedBy;
          return all.find((one) => one.runId === next)?.endedAt ?? null;
        })
        .not.toBeNull();
      clock.pass(MINUTE);
      return house.model.requests.slice(before);
    }
    await pass();
    // It fails again, and is continued again.
    for (const round of [1, 2]) {
      const [request] = await goOn();
      expect(request?.first, `round ${round}`).toContain(trip.projectId);
      expect(request?.first).not.toContain(other.projectId);
      expect(request && toolsIn(request)).toEqual(['claim_task', 'get_my_projects']);
    }
    // Its mapping rests: there is nothing to take, and nothing of the other project.
    good(await house.team.projects.change(trip.projectId, { agents: ['a2'] }));
    const answer = calling('claim_task', { projectId: other.projectId, taskId: foreign.taskId });
    const [resting] = await goOn();
    expect(resting?.first).toContain('Take no task in this run.');
    expect(resting?.first).not.toContain(`id ${other.projectId}`);
    expect(answer()).toContain('This run works on other projects');
    expect(good(await house.team.projects.task(trip.projectId, mine.taskId)).claim).toBeNull();
  });

  it('takes nothing by a mapping that came from elsewhere, before the person agrees to it', async () => {
    const [trip, other] = [await project(), await project({ name: 'Other' })];
    const foreign = await task(other);
    await map(trip, await pulse());
    const mappings = () => house.stored.flatMap(({ event }) => (event.kind === 'record' ? [event] : []));
    await expect.poll(() => mappings().at(-1)?.record.type).toBe('routine-mapping');
    const { record, at } = mappings().at(-1) ?? expect.fail('There is none.');
    if (record.type !== 'routine-mapping' || at === undefined) throw new Error('It is another record.');
    const later = `${String(Number(at.slice(0, 15)) + 1).padStart(15, '0')}${at.slice(15)}`;
    const planted = { ...record, at: later, value: { ...record.value, columnIds: ['ready'] } };
    expect(await house.team.records.offer([planted])).toEqual([{ answer: 'taken' }]);
    const answer = calling('claim_task', { projectId: other.projectId, taskId: foreign.taskId });
    expect((await pass())[0]?.first).toContain('Take no task in this run.');
    expect(answer()).toContain('This run works on other projects');
    const [waits] = good(await house.team.mappings.list(trip.projectId, 'a1'));
    expect(waits).toMatchObject({ waits: true, columnIds: ['ready'] });
    good(await house.team.mappings.change([trip.projectId, 'a1'], waits?.mappingId ?? '', {}));
    expect((await pass())[0]?.first).toContain(trip.projectId);
  });

  it('loses a deleted column, and its mappings with the routine', async () => {
    const trip = await project({ columns: [...(await project()).columns, READY] });
    await task(trip);
    const made = await pulse({ when: 'something_waits' });
    await map(trip, made, { columnIds: ['code'] });
    const columns = trip.columns.filter(({ columnId }) => columnId !== 'code');
    good(await house.team.projects.change(trip.projectId, { columns }));
    expect(await resolved(trip)).toMatchObject([{ columns: [] }]);
    expect(await pass()).toEqual([]);
    await house.team.schedules.remove(made.scheduleId);
    expect(good(await house.team.mappings.list(trip.projectId, 'a1'))).toEqual([]);
    expect(await pass()).toEqual([]);
  });

  it('moves tasks only to the columns that the person allows its agent', async () => {
    const trip = await project();
    const made = await task(trip);
    const { projectId, taskId } = { ...trip, ...made };
    await map(trip, await pulse());
    const move = async (status: string) => {
      const input = { projectId, taskId };
      const answer = calling('claim_task', input, { call: 'transition_task', input: { ...input, status } });
      await pass();
      await house.team.projects.move('human', projectId, taskId, { columnId: 'ready', note: '' });
      return answer();
    };
    const allow = (pulse_transitions_to: string[] | null) =>
      house.team.configs.setAgent('a1', { pulse_transitions_to });
    expect(await move('planning')).toContain('Moved.');
    await allow(['review', ' BLOCKED ']);
    expect(await move('planning')).toContain('only to “review”');
    expect(await move('blocked')).toContain('Moved.');
    await allow([]);
    expect(await move('review')).toContain('lets you move no tasks');
  });

  itLong('has in 300 random mappings exactly what `resolve` answers', async () => {
    const random = createRandom(20_261_127);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    const some = <Item>(items: readonly Item[], share: number) => items.filter(() => random() < share);
    const orNull = <Value>(value: Value) => (random() < 0.4 ? null : value);
    const { team } = house;
    const names = team.tools.map(({ name }) => name);
    for (const agentId of AGENTS)
      await team.configs.setAgent(agentId, {
        coordination: {
          toolsets: { team: pick(['off', 'allow', 'ask']), projects: pick(['off', 'allow', 'allow']) },
          tools: Object.fromEntries(some(names, 0.1).map((name) => [name, pick(['off', 'allow'] as const)])),
        },
        planning_model: orNull('agent-plans'),
      });
    const projects: Project[] = [];
    for (let i = 0; i < 20; i += 1) projects.push(await project({ name: `P${i}`, agents: AGENTS }));
    const ids = (projects[0] as Project).columns.map(({ columnId }) => columnId);
    const routines: Scheduled[] = [];
    for (let i = 0; i < 15; i += 1) {
      const made = await pulse({
        ...{ agentId: pick(AGENTS), name: `R${i}`, timing: { kind: 'every', minutes: 30, offset: 0 } },
        ...{ tools: orNull(some(names, 0.7)), pulse_columns: orNull(some([...ids, 'In progress'], 0.4)) },
        planningModel: random() < 0.3 ? `plans-${i}` : null,
      });
      routines.push(made);
      for (const each of projects)
        await map(each, made, {
          ...{ columnIds: orNull(some(ids, 0.5)), toolOverrides: orNull(some(names, random())) },
          separate: random() < 0.4,
        });
    }
    const answers = new Map<string, Awaited<ReturnType<typeof resolved>>[number]>();
    for (const each of projects)
      for (const agentId of AGENTS)
        for (const one of await resolved(each, agentId)) answers.set(`${one.name} ${each.projectId}`, one);
    expect(answers.size).toBe(300);
    const requests = await pass();
    const seen = new Set<string>();
    for (const request of requests) {
      const name = /Your routine “(R\d+)” is due/.exec(request.first)?.[1] ?? '';
      const lines = request.first.split('\n').filter((line) => line.startsWith('- “P'));
      for (const line of lines) {
        const projectId = projects.find((each) => line.includes(`id ${each.projectId}.`))?.projectId ?? '';
        const answer = answers.get(`${name} ${projectId}`);
        if (!answer) throw new Error(`${name} is told of ${line}`);
        expect(toolsIn(request), name).toEqual([...answer.tools].sort());
        expect([...line.matchAll(/, id (\w+) \(/g)].map(([, columnId]) => columnId)).toEqual(answer.columns);
        expect(answer.projectIds).toHaveLength(lines.length);
        if (answer.planningModel !== null) expect(request.body.model).toBe(answer.planningModel);
        seen.add(`${name} ${projectId}`);
      }
    }
    expect(seen.size).toBe(300);
  });
});
