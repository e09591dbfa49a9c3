/**
 * An agent that has two tasks: commands and tokens count to the one in whose checkout they
 * happened. With real git and a real sandbox. Only the model is scripted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attemptsSchema, type Attempt } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

let scheduleRelay: ScheduleRelay;
let folder: string;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-whose-'));
  scheduleRelay = await openScheduleRelay(['a1'], (request) => script(request));
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

it('counts commands and tokens to the task in whose checkout they happened, and not to the newest', async () => {
  const repository = createRepository(join(folder, 'greeter'), { 'a.txt': 'one\n' });
  const { projectId } = projectSchema.parse(
    await scheduleRelay.good('POST', '/v1/projects', {
      ...{ name: 'Greeter', agents: ['a1'], kind: 'git', repository, commands: 'sandbox' },
    }),
  );
  const tasks = `/v1/projects/${projectId}/tasks`;
  const create = async (title: string): Promise<Task> =>
    taskSchema.parse(await scheduleRelay.good('POST', tasks, { title, columnId: 'ready' }));
  const [first, second] = [await create('Greet'), await create('Greet again')];
  const attemptOf = async ({ taskId }: Task): Promise<Attempt | undefined> =>
    attemptsSchema.parse(await scheduleRelay.good('GET', `${tasks}/${taskId}/attempts`)).attempts[0];
  let step = 0;
  script = () => {
    step += 1;
    // The name of its folder begins with that of the first.
    const place = 'projects/greeter-' + projectId.slice(0, 4);
    if (step === 1) return [{ call: 'claim_task', input: { projectId, taskId: second.taskId } }];
    if (step === 2)
      return [{ call: 'run_command', input: { command: `cd ${place}/1-greet && echo one > b.txt && git add .` } }];
    if (step === 3) return [{ call: 'run_command', input: { command: 'echo nowhere in particular' } }];
    return [{ say: 'That is all.' }];
  };
  await scheduleRelay.good('POST', `${tasks}/${first.taskId}/start`, { agentId: 'a1' });
  await expect.poll(async () => (await attemptOf(second))?.endedAt, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect.poll(async () => (await attemptOf(first))?.endedAt, { timeout: 20_000 }).toBeGreaterThan(0);
  const [one, two] = [(await attemptOf(first))?.receipt, (await attemptOf(second))?.receipt];
  expect(one?.commands).toHaveLength(2);
  expect(two?.commands).toEqual([]);
  expect(one?.files.map(({ path }) => path)).toEqual([]);
  expect(one?.uncommitted).toEqual(['b.txt']);
  // The request that claimed the second, and the one after it.
  expect(one?.tokens ?? 0).toBeGreaterThan(two?.tokens ?? 0);
});
