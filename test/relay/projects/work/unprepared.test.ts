/**
 * Claims of tasks whose work cannot begin, through a relay over HTTP, with real git and a real
 * sandbox.
 */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { obstaclesSchema } from '../../../../src/shared/protocol/obstacles.ts';
import { projectSchema, taskSchema, type Project, type Task } from '../../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

let scheduleRelay: ScheduleRelay;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-unprepared-'));
  scheduleRelay = await openScheduleRelay(['a1'], takeFirst);
  await good('PUT', '/v1/agents/a1/config', {
    coordination: {
      toolsets: { shell: 'allow' },
      wake_guardrails: { cooldown_seconds: 0, max_daily_session_minutes: 1_440 },
    },
  });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const project = async (path: string, fields: object = {}): Promise<Project> =>
  projectSchema.parse(
    await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'], kind: 'git', repository: path, ...fields }),
  );
const repository = (name: string) => createRepository(join(folder, name), { 'a.txt': 'one\n' });
const task = async ({ projectId }: Project, title = 'Bake'): Promise<Task> =>
  taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, { title, columnId: 'ready' }));
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const read = async (of: Task): Promise<Task> => taskSchema.parse(await good('GET', at(of)));
const claim = ({ projectId, taskId }: Task) => scheduleRelay.tool('a1', 'claim_task', { projectId, taskId });
const obstacleOf = async ({ projectId, taskId }: Task) =>
  obstaclesSchema
    .parse(await good('GET', `/v1/projects/${projectId}/obstacles`))
    .tasks.find((one) => one.taskId === taskId)?.obstacle;

/** An agent that claims the first ready task, and says that all is done. */
function takeFirst({ first, results }: ScriptedRequest): Reply {
  const projectId = /, id ([\w-]+)\. Columns/.exec(first)?.[1] ?? '';
  const taskId = /#\d+ .*, id ([\w-]+),/.exec(results.at(-1) ?? '')?.[1];
  if (results.length === 0) return [{ call: 'get_ready_tasks', input: { projectId } }];
  return results.length === 1 && taskId !== undefined
    ? [{ call: 'claim_task', input: { projectId, taskId } }]
    : [{ say: 'Done.' }];
}

it('a routine whose claims fail is failed and paused, its tasks are blocked, and nothing more is paid', async () => {
  const path = repository('gone');
  const of = await project(path);
  const tasks = [await task(of, 'One'), await task(of, 'Two'), await task(of, 'Three')];
  const [one, two] = tasks as [Task, Task, Task];
  const { scheduleId } = scheduledSchema.parse(
    await good('POST', '/v1/pulse-routines', {
      ...{ kind: 'routine', agentId: 'a1', name: 'Pulse', instructions: 'Work.' },
      ...{ timing: { kind: 'every', minutes: 30 }, when: 'something_waits' },
    }),
  );
  await good('POST', `/v1/projects/${of.projectId}/agents/a1/routines`, { routineId: scheduleId });
  renameSync(path, `${path}-away`);
  const own = async () => (await scheduleRelay.scheduled('a1')).find((each) => each.scheduleId === scheduleId);
  async function pass(): Promise<string | undefined> {
    const runs = (await scheduleRelay.history('a1')).length;
    await scheduleRelay.pass(((await own())?.nextAt ?? 0) - scheduleRelay.now());
    const newest = async () => (await scheduleRelay.history('a1')).slice(0, -runs || undefined).at(0);
    await expect.poll(async () => (await newest())?.state, { timeout: 30_000 }).toMatch(/^(done|failed|skipped)$/);
    return (await newest())?.detail ?? undefined;
  }
  expect(await pass()).toMatch(/could not begin\. .*gone/);
  expect(await read(one)).toMatchObject({ columnId: 'ready', claim: null, unprepared: { times: 1 } });
  expect(await obstacleOf(one)).toMatchObject({
    why: 'unprepared',
    detail: expect.stringContaining('gone') as string,
  });
  await pass();
  const blocked = await read(one);
  expect(blocked).toMatchObject({ columnId: 'blocked', claim: null });
  expect(blocked.history.at(-1)?.note).toContain('gone');
  expect(await obstacleOf(one)).toMatchObject({ why: 'unprepared' });
  for (let i = 0; i < 3; i++) await pass();
  expect((await own())?.pausedWhy).toContain('could not begin');
  expect(await read(two)).toMatchObject({ columnId: 'blocked' });
  const asked = scheduleRelay.model.requests.length;
  await scheduleRelay.pass(3 * 3_600_000);
  expect(scheduleRelay.model.requests.length).toBe(asked);
  // The person looks after it.
  renameSync(`${path}-away`, path);
  await good('POST', `${at(one)}/move`, { columnId: 'ready' });
  expect(await obstacleOf(one)).toBe(undefined);
  expect(await claim(one)).toContain('The task is yours');
});

it('claims that are released without any change count as attempts', async () => {
  const made = await task(await project(repository('released')));
  for (let i = 0; i < 3; i++) {
    expect(await claim(made)).toContain('The task is yours');
    await scheduleRelay.tool('a1', 'release_task', {
      projectId: made.projectId,
      taskId: made.taskId,
      note: 'Too hard.',
    });
  }
  expect(await claim(made)).toContain('There were 3 attempts');
  expect(await read(made)).toMatchObject({ columnId: 'blocked' });
});
