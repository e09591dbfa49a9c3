/** What a checkout has besides the commits of its task, at the move to review: with real git. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { diffSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/projects/work/left-out.test.ts');

const SECRET = 'KEY=a-secret-of-the-person\n';
let scheduleRelay: ScheduleRelay;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-left-'));
  scheduleRelay = await openScheduleRelay(['a1']);
  await good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});
const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);

/**
 * A claimed task of a new repository. `.env` is copied, and ignored only by the person's own list.
 */
async function claimed(name: string) {
  const path = createRepository(join(folder, name), { 'a.txt': 'one\n' });
  writeFileSync(join(path, '.env'), SECRET);
  writeFileSync(join(path, '.git', 'info', 'exclude'), '.env\n');
  const project = projectSchema.parse(
    await good('POST', '/v1/projects', { name, agents: ['a1'], kind: 'git', repository: path, copy: ['.env'] }),
  );
  const tasks = `/v1/projects/${project.projectId}/tasks`;
  const task = taskSchema.parse(await good('POST', tasks, { title: 'Work', columnId: 'ready' }));
  const ids = { projectId: task.projectId, taskId: task.taskId };
  const where = /in the folder “([^”]+)”/.exec(await scheduleRelay.tool('a1', 'claim_task', ids))?.[1] ?? '';
  const at = `${tasks}/${task.taskId}`;
  return {
    path,
    at,
    run: (command: string) => scheduleRelay.tool('a1', 'run_command', { command: `cd ${where} && ${command}` }),
    review: () => scheduleRelay.tool('a1', 'transition_task', { ...ids, status: 'review' }),
    ask: () => scheduleRelay.tool('a1', 'open_pull_request', { ...ids, title: 'Look', body: '' }),
    read: async (): Promise<Task> => taskSchema.parse(await good('GET', at)),
    subjects: async () => diffSchema.parse(await good('GET', `${at}/diff`)).commits.map(({ subject }) => subject),
  };
}

itLong('commits on top of the branch are in the review, whatever branch they were made on', async () => {
  const { run, review, subjects, at, path } = await claimed('ahead');
  await run('echo two >> a.txt && git commit -qam Two');
  await run('git checkout -q -b better && echo three >> a.txt && git commit -qam Three');
  await run('git checkout -q --detach && echo four >> a.txt && git commit -qam Four');
  expect(await review()).toContain('Moved.');
  expect(await subjects()).toEqual(['Two', 'Three', 'Four']);
  await good('POST', `${at}/request/merge`, {});
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\nfour\n');
});

itLong('commits beside the branch, and a stash, are named and keep the task from review', async () => {
  const { run, review, read, subjects } = await claimed('beside');
  await run(
    'git checkout -q -b better && echo x > x.txt && git add x.txt && git commit -qm Better && git checkout -q -',
  );
  await run('echo two >> a.txt && git commit -qam Two && echo three >> a.txt && git stash -q');
  const refused = await review();
  expect(refused).toMatch(/These commits are not on the task’s branch: .*“(Better|WIP on)/);
  for (const named of ['“Better”', '“WIP on']) expect(refused).toContain(named);
  expect((await read()).columnId).toBe('in_progress');
  await run('git stash pop -q && git commit -qam Three && git cherry-pick better && git branch -qD better');
  expect(await review()).toContain('Moved.');
  expect(await subjects()).toEqual(['Two', 'Three', 'Better']);
});

it('a copied file is in no way of the review, and no commit with it is accepted or merged', async () => {
  const { run, review, ask, read, at, path } = await claimed('secret');
  await run('echo two >> a.txt && git commit -qam Two');
  expect(await run('git status --porcelain')).not.toContain('.env');
  const commits = [
    ['git add -f .env && git commit -qm Env', '“.env”'],
    ['git rm -q --cached .env && git commit -qm Without', '“.env”'],
    [
      'cp .env settings.txt && git add settings.txt && git reset -q --soft HEAD~2 && git commit -qm Copy',
      '“settings.txt”',
    ],
    [
      'git rm -q --cached settings.txt && echo new > .env && git add -f .env && git commit -q --amend -m Changed',
      '“.env”',
    ],
  ] as const;
  const tries = [review, ask];
  for (const [n, [command, named]] of commits.entries()) {
    await run(command);
    const refused = await tries[n % 2]?.();
    expect(refused, command).toContain('that is not published');
    expect(refused, command).toContain(named);
  }
  expect(await read()).toMatchObject({ columnId: 'in_progress', request: null });
  await run('rm -f settings.txt && git reset -q --hard HEAD~1');
  expect(await review()).toContain('Moved.');
  await good('POST', `${at}/request/merge`, {});
  expect(git(path, 'log', '--all', '--format=%s')).not.toMatch(/Env|Copy|Changed/);
  expect(readFileSync(join(path, '.env'), 'utf8')).toBe(SECRET);
});
