/** Merges that are taken back, through a relay over HTTP with real git. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { diffSchema, projectFilesSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Project, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/projects/work/revert.test.ts');

let scheduleRelay: ScheduleRelay;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-revert-'));
  scheduleRelay = await openScheduleRelay(['a1']);
  await good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask: ScheduleRelay['ask'] = (...given) => scheduleRelay.ask(...given);
const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const project = async (fields: object): Promise<Project> =>
  projectSchema.parse(await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'], ...fields }));
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });

/** The agent writes these files, and asks for a review. */
async function work(task: Task, files: Readonly<Record<string, string>>, isGit: boolean): Promise<string> {
  const said = await scheduleRelay.tool('a1', 'claim_task', ids(task));
  const where = /in the folder “([^”]+)”/.exec(said)?.[1] ?? '';
  expect(where, said).not.toBe('');
  for (const [path, content] of Object.entries(files))
    await scheduleRelay.tool('a1', 'write_file', { path: `${where}/${path}`, content });
  if (isGit)
    await scheduleRelay.tool('a1', 'run_command', { command: `cd ${where} && git add -A && git commit -qm Work` });
  expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids(task), status: 'review' })).toContain('Moved.');
  return said;
}
/** A task whose work is merged. */
async function merged(of: Project, files: Readonly<Record<string, string>>): Promise<Task> {
  const path = `/v1/projects/${of.projectId}/tasks`;
  const task = taskSchema.parse(await good('POST', path, { title: 'Add a price', columnId: 'ready' }));
  await work(task, files, of.kind === 'git');
  return taskSchema.parse(await good('POST', `${at(task)}/request/merge`, {}));
}
const revert = (task: Task, commit: string | null | undefined) => ask('POST', `${at(task)}/request/revert`, { commit });
const reverted = async (task: Task, commit: string | null | undefined): Promise<Task> =>
  taskSchema.parse(await good('POST', `${at(task)}/request/revert`, { commit }));

it('takes a merge back by a commit, leaves later work, and takes the revert back in the same way', async () => {
  const path = createRepository(join(folder, 'plain'), { 'bread.txt': 'rye\n' });
  const task = await merged(await project({ kind: 'git', repository: path }), { 'bread.txt': 'rye\nprice 3\n' });
  writeFileSync(join(path, 'later.txt'), 'later\n');
  git(path, 'add', '-A');
  git(path, 'commit', '-qm', 'Later');
  const commit = task.request?.merged;
  const back = await reverted(task, commit);
  expect(back).toMatchObject({ columnId: 'review', request: { state: 'reverted', merged: commit } });
  expect(readFileSync(join(path, 'bread.txt'), 'utf8')).toBe('rye\n');
  expect(existsSync(join(path, 'later.txt'))).toBe(true);
  expect(git(path, 'status', '--porcelain')).toBe('');
  const words = git(path, 'log', '-1', '--format=%H%n%B').trim();
  expect(words).toBe(`${back.request?.reverted}\nRevert #1 Add a price\n\nThis reverts commit ${commit}.`);
  expect(back.history.at(-1)).toMatchObject({ by: 'human', what: 'reverted' });
  // What was taken back already is not taken back twice.
  expect(await revert(task, commit)).toMatchObject({ status: 409, body: { type: 'about:roost/changed-elsewhere' } });

  const again = await reverted(task, back.request?.reverted);
  expect(again).toMatchObject({ columnId: 'done', request: { state: 'merged', reverted: null } });
  expect(readFileSync(join(path, 'bread.txt'), 'utf8')).toBe('rye\nprice 3\n');
  // And a third time.
  await reverted(task, again.request?.merged);
  expect(readFileSync(join(path, 'bread.txt'), 'utf8')).toBe('rye\n');
  expect(git(path, 'log', '--format=%s').trim().split('\n').slice(0, 3)).toEqual([
    'Revert #1 Add a price',
    'Merge #1 Add a price again',
    'Revert #1 Add a price',
  ]);
});

itLong('reverts nothing where later work changed the same lines, and names the files', async () => {
  const path = createRepository(join(folder, 'conflict'), { 'bread.txt': 'rye\n' });
  const task = await merged(await project({ kind: 'git', repository: path }), { 'bread.txt': 'rye, 3\n' });
  writeFileSync(join(path, 'bread.txt'), 'rye, 4\n');
  git(path, 'commit', '-qam', 'Dearer');
  const refused = await revert(task, task.request?.merged);
  expect(refused).toMatchObject({ status: 409, body: { type: 'about:roost/merge-conflict' } });
  expect(JSON.stringify(refused.body)).toContain('Later work changed “bread.txt”, too. Nothing was reverted.');
  expect(readFileSync(join(path, 'bread.txt'), 'utf8')).toBe('rye, 4\n');
  expect(taskSchema.parse(await good('GET', at(task)))).toMatchObject({
    columnId: 'done',
    request: { state: 'merged' },
  });
});

itLong('refuses a revert over changes that are in no commit, and of a task that is not merged', async () => {
  const path = createRepository(join(folder, 'dirty'), { 'bread.txt': 'rye\n' });
  const of = await project({ kind: 'git', repository: path });
  const task = await merged(of, { 'price.txt': '3\n' });
  writeFileSync(join(path, 'bread.txt'), 'wheat\n');
  expect(JSON.stringify((await revert(task, task.request?.merged)).body)).toContain('changes that are in no commit');
  expect(existsSync(join(path, 'price.txt'))).toBe(true);
  const other = taskSchema.parse(
    await good('POST', `/v1/projects/${of.projectId}/tasks`, { title: 'Other', columnId: 'ready' }),
  );
  expect(await revert(other, 'f'.repeat(40))).toMatchObject({ status: 409, body: { type: 'about:roost/no-request' } });
});

itLong('gives the work back to the agent after a revert, and the next merge has all of it', async () => {
  const path = createRepository(join(folder, 'goes-on'), { 'bread.txt': 'rye\n' });
  const task = await merged(await project({ kind: 'git', repository: path }), { 'price.txt': '3\n' });
  await reverted(task, task.request?.merged);
  expect(existsSync(join(path, 'price.txt'))).toBe(false);
  await good('POST', `${at(task)}/request/changes`, { note: 'Name the currency.' });
  const said = await scheduleRelay.tool('a1', 'claim_task', ids(task));
  const where = /in the folder “([^”]+)”/.exec(said)?.[1] ?? '';
  expect(await scheduleRelay.tool('a1', 'read_file', { path: `${where}/price.txt` })).toContain('3');
  const command = `cd ${where} && echo euro > currency.txt && git add -A && git commit -qm Euro`;
  await scheduleRelay.tool('a1', 'run_command', { command });
  expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids(task), status: 'review' })).toContain('Moved.');
  const diff = diffSchema.parse(await good('GET', `${at(task)}/diff`));
  expect(diff.files.map(({ path: file }) => file)).toEqual(['currency.txt', 'price.txt']);
  await good('POST', `${at(task)}/request/merge`, { head: diff.head });
  expect(readFileSync(join(path, 'price.txt'), 'utf8')).toBe('3\n');
  expect(readFileSync(join(path, 'currency.txt'), 'utf8')).toBe('euro\n');
});

itLong('puts the files of a folder project back to the version before, and once where two ask at once', async () => {
  const of = await project({ name: 'Trip' });
  const first = await merged(of, { 'ferries.md': 'Three ferries.\n' });
  await merged(of, { 'hotels.md': 'Two hotels.\n' });
  const answers = await Promise.all([1, 2].map(() => revert(first, first.request?.merged)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const { files } = projectFilesSchema.parse(await good('GET', `/v1/projects/${of.projectId}/files`));
  expect(files.map(({ path }) => path)).toEqual(['hotels.md']);
});
