/** Programs in the sandbox that use WebAssembly, as Node's `fetch` does, through a whole relay. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attemptsSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { openNightRelay, type NightRelay } from '../../../support/night-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';

const LINE = 'node -e "new WebAssembly.Memory({initial:1})"';
let night: NightRelay;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-wasm-'));
  night = await openNightRelay(['a1']);
  await night.good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await night.close();
  rmSync(folder, { recursive: true, force: true });
});

it('run as a command of an agent', async () => {
  expect(await night.tool('a1', 'run_command', { command: LINE })).toContain('[Exit status 0');
});

it('run as a check and as the setup of a project', async () => {
  const repository = createRepository(join(folder, 'repository'), { 'a.txt': 'one\n' });
  const project = { name: 'Wasm', kind: 'git', repository, agents: ['a1'], setup: LINE, checks: [LINE] };
  const { projectId } = projectSchema.parse(await night.good('POST', '/v1/projects', project));
  const tasks = `/v1/projects/${projectId}/tasks`;
  const { taskId } = taskSchema.parse(await night.good('POST', tasks, { title: 'Two', columnId: 'ready' }));
  const claimed = await night.tool('a1', 'claim_task', { projectId, taskId });
  expect(claimed).toMatch(/Setup .* ended with 0/);
  const where = /in the folder “([^”]+)”/.exec(claimed)?.[1] ?? '';
  await night.tool('a1', 'run_command', { command: `cd ${where} && echo two > a.txt && git commit -qam Two` });
  expect(await night.tool('a1', 'transition_task', { projectId, taskId, status: 'review' })).toContain('Moved.');
  const receipt = async () =>
    attemptsSchema.parse(await night.good('GET', `${tasks}/${taskId}/attempts`)).attempts[0]?.receipt;
  await expect.poll(receipt).toMatchObject({ checks: [{ command: LINE, code: 0 }] });
});
