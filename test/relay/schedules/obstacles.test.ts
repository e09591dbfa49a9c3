/**
 * What the relay says keeps agents from the tasks of a project, over HTTP. A routine that is due is
 * skipped for the same reason.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ObstaclesAnswer, obstaclesSchema } from '../../../src/shared/protocol/obstacles.ts';
import { projectSchema, type Project, type Task, taskSchema } from '../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../support/schedule-relay.ts';
import type { Reply, ScriptedRequest } from '../../support/scripted-model.ts';

const SECOND = 1_000;
const DAY = 24 * 3_600_000;
let scheduleRelay: ScheduleRelay;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(['a1', 'a2'], (request) => script(request));
});
beforeEach(() => letAll());
afterAll(() => scheduleRelay.close());

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const project = async (fields: object = {}): Promise<Project> =>
  projectSchema.parse(await good('POST', '/v1/projects', { name: 'Trip', agents: ['a1'], ...fields }));
const task = async ({ projectId }: Project): Promise<Task> =>
  taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Ferry', columnId: 'ready' }));
const obstacles = async ({ projectId }: Project): Promise<ObstaclesAnswer> =>
  obstaclesSchema.parse(await good('GET', `/v1/projects/${projectId}/obstacles`));
/** Of its first agent. */
const ofAgent = async (of: Project) => (await obstacles(of)).agents[0];
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
let made = 0;
async function routine(fields: object = {}): Promise<string> {
  const added = await good('POST', '/v1/pulse-routines', {
    ...{ kind: 'routine', agentId: 'a1', name: `R${(made += 1)}`, instructions: 'Work.', when: 'always' },
    ...{ timing: { kind: 'every', minutes: 60 }, ...fields },
  });
  return scheduledSchema.parse(added).scheduleId;
}
const map = async (of: Project, routineId: string, fields: object = {}) =>
  good('POST', `/v1/projects/${of.projectId}/agents/a1/routines`, { routineId, ...fields });
/** Lets the clock go on until this routine is due. Much later, its moment would count as missed. */
async function passToDue(scheduleId: string): Promise<void> {
  const nextAt = (await scheduleRelay.scheduled('a1')).find((one) => one.scheduleId === scheduleId)?.nextAt ?? null;
  if (nextAt === null) throw new Error('it is never due');
  await scheduleRelay.pass(nextAt - scheduleRelay.now() + SECOND);
}
const skipOf = async (scheduleId: string) =>
  (await scheduleRelay.history('a1')).find((one) => one.scheduleId === scheduleId);
/** No limit keeps the agent from anything. */
async function letAll(): Promise<void> {
  const coordination = {
    ...{ daily_budget_usd: null, wakes_enabled: true, max_concurrent_pulse_sessions: 10, blackouts: [] },
    wake_guardrails: { max_daily_session_minutes: 1_440 },
  };
  await good('PUT', '/v1/config', { daily_budget_usd: null, wakes_enabled: true });
  await good('PUT', '/v1/agents/a1/config', { coordination });
}
const remove = (scheduleId: string) => good('DELETE', `/v1/pulse-routines/${scheduleId}`);

it.each([
  ['the budget of the agent', 'agents/a1/', { coordination: { daily_budget_usd: 0 } }, 'budget'],
  ['the budget of the household', '', { daily_budget_usd: 0 }, 'budget'],
  ['the switch of the household', '', { wakes_enabled: false }, 'switched-off'],
  ['the switch of the agent', 'agents/a1/', { coordination: { wakes_enabled: false } }, 'switched-off'],
  ['its minutes', 'agents/a1/', { coordination: { wake_guardrails: { max_daily_session_minutes: 0 } } }, 'minutes'],
  ['its sessions', 'agents/a1/', { coordination: { max_concurrent_pulse_sessions: 0 } }, 'concurrency'],
  [
    'quiet hours',
    'agents/a1/',
    {
      coordination: {
        blackouts: [{ type: 'recurring', label: 'rest', start_time: '00:00', end_time: '00:00', days: [] }],
      },
    },
    'blackout',
  ],
])('says the same as a routine that is skipped: %s', async (_name, whose, config, why) => {
  const of = await project();
  const scheduleId = await routine();
  await map(of, scheduleId);
  expect((await ofAgent(of))?.obstacle).toBe(null);
  await good('PUT', `/v1/${whose}config`, config);
  const said = (await ofAgent(of))?.obstacle;
  expect(said).toMatchObject({ why });
  await passToDue(scheduleId);
  const skipped = () => skipOf(scheduleId);
  await expect.poll(async () => (await skipped())?.state, { timeout: 10_000 }).toBe('skipped');
  const { reason, detail } = (await skipped()) ?? {};
  expect(reason).toBe(said?.why);
  // Quiet hours say nothing further in the history.
  if (detail !== null) expect(said?.detail).toBe(detail);
  if (why === 'budget') expect(said?.until).toBeGreaterThan(scheduleRelay.now() - DAY);
  await letAll();
  await remove(scheduleId);
  expect((await ofAgent(of))?.obstacle).toBe(null);
});

it('says from which columns routines take tasks: those that are switched on, and work on the project', async () => {
  const of = await project();
  const columns = async () => (await ofAgent(of))?.columnIds;
  expect(await columns()).toEqual([]);
  const byKind = await routine({ pulse_columns: ['backlog', 'no such column'] });
  expect(await columns()).toEqual(['backlog']);
  await map(of, byKind);
  expect(await columns()).toEqual(['backlog']);
  const other = await routine();
  await map(of, other, { columnIds: ['ready'] });
  expect(await columns()).toEqual(['backlog', 'ready']);
  // One that works on no project in particular takes what is ready anywhere.
  const free = await routine();
  expect(await columns()).toEqual(['backlog', 'ready']);
  await remove(free);
  await good('POST', `/v1/pulse-routines/${other}/toggle`);
  expect(await columns()).toEqual(['backlog']);
  await remove(byKind);
  await remove(other);
  expect(await columns()).toEqual([]);
  const any = await routine();
  expect(await columns()).toBe(null);
  await remove(any);
  expect((await scheduleRelay.call('GET', '/v1/projects/none/obstacles')).status).toBe(404);
});

it('says that a project has no money left today, and then nobody takes a task of it', async () => {
  const of = await project({ dayMicroUsd: 0 });
  const waits = await task(of);
  const { project: said } = await obstacles(of);
  expect(said).toMatchObject({ why: 'project-budget' });
  expect(said?.until).toBeGreaterThan(scheduleRelay.now());
  expect(await scheduleRelay.tool('a1', 'claim_task', ids(waits))).toContain(said?.detail.slice(0, 20));
  expect(await scheduleRelay.tool('a1', 'get_ready_tasks', { projectId: of.projectId })).toContain(
    'may cost $0.00 in a day',
  );
  const asked = scheduleRelay.model.requests.length;
  const scheduleId = await routine({ when: 'something_waits' });
  await map(of, scheduleId);
  await passToDue(scheduleId);
  await expect.poll(async () => (await skipOf(scheduleId))?.reason, { timeout: 10_000 }).toBe('budget');
  expect(scheduleRelay.model.requests).toHaveLength(asked);
  await remove(scheduleId);
  await good('PUT', `/v1/projects/${of.projectId}`, { dayMicroUsd: null });
  expect((await obstacles(of)).project).toBe(null);
  expect(await scheduleRelay.tool('a1', 'claim_task', ids(waits))).toContain('The task is yours.');
});

it('says that a call of the run that works on a task waits for the person', async () => {
  const of = await project();
  const [own, others] = [await task(of), await task(of)];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  await good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { files: 'ask' } } });
  script = ({ results }) =>
    results.length === 0
      ? [{ call: 'claim_task', input: ids(own) }]
      : results.join().includes('The task is yours')
        ? [{ call: 'write_file', input: { path: 'a.txt', content: 'a' } }]
        : [{ until: ended }, { say: 'I wait.' }];
  const scheduleId = await routine();
  await map(of, scheduleId);
  await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
  await expect
    .poll(async () => (await obstacles(of)).tasks, { timeout: 10_000 })
    .toEqual([
      { taskId: own.taskId, obstacle: { why: 'approval', detail: 'write_file waits for your yes.', until: null } },
    ]);
  // The same agent holds another task as a client, which asks for nothing.
  await scheduleRelay.tool('a1', 'claim_task', ids(others));
  expect((await obstacles(of)).tasks.map(({ taskId }) => taskId)).toEqual([own.taskId]);
  end();
  await expect.poll(async () => (await obstacles(of)).tasks, { timeout: 10_000 }).toEqual([]);
  await remove(scheduleId);
});
