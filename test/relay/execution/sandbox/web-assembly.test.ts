/** Programs in the sandbox that use WebAssembly, as Node's `fetch` does, through a whole relay. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attemptsSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';

const LINE = 'node -e "new WebAssembly.Memory({initial:1})"';
let scheduleRelay: ScheduleRelay;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-wasm-'));
  scheduleRelay = await openScheduleRelay(['a1']);
  await scheduleRelay.good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

it('run as a command of an agent', async () => {
  expect(await scheduleRelay.tool('a1', 'run_command', { command: LINE })).toContain('[Exit status 0');
});

it('run as a check and as the setup of a project', async () => {
  const repository = createRepository(join(folder, 'repository'), { 'a.txt': 'one\n' });
  const project = { name: 'Wasm', kind: 'git', repository, agents: ['a1'], setup: LINE, checks: [LINE] };
  const { projectId } = projectSchema.parse(await scheduleRelay.good('POST', '/v1/projects', project));
  const tasks = `/v1/projects/${projectId}/tasks`;
  const { taskId } = taskSchema.parse(await scheduleRelay.good('POST', tasks, { title: 'Two', columnId: 'ready' }));
  const claimed = await scheduleRelay.tool('a1', 'claim_task', { projectId, taskId });
  expect(claimed).toMatch(/Setup .* ended with 0/);
  const where = /in the folder “([^”]+)”/.exec(claimed)?.[1] ?? '';
  await scheduleRelay.tool('a1', 'run_command', { command: `cd ${where} && echo two > a.txt && git commit -qam Two` });
  expect(await scheduleRelay.tool('a1', 'transition_task', { projectId, taskId, status: 'review' })).toContain(
    'Moved.',
  );
  const receipt = async () =>
    attemptsSchema.parse(await scheduleRelay.good('GET', `${tasks}/${taskId}/attempts`)).attempts[0]?.receipt;
  await expect.poll(receipt).toMatchObject({ checks: [{ command: LINE, code: 0 }] });
});
