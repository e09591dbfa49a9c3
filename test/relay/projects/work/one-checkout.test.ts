/** Projects with one checkout for all tasks, with real git and a real sandbox. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsSchema, checkoutsSchema, diffSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Project, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';

let scheduleRelay: ScheduleRelay;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-one-'));
  scheduleRelay = await openScheduleRelay(['a1', 'a2']);
  for (const agentId of ['a1', 'a2'])
    await good('PUT', `/v1/agents/${agentId}/config`, { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
let made = 0;
async function project(fields: object = {}): Promise<Project> {
  const files = { 'a.txt': 'one\n', 'b.txt': 'bee\n', '.gitignore': 'node_modules\n' };
  const path = createRepository(join(folder, `repository-${++made}`), files);
  writeFileSync(join(path, '.env'), 'KEY=1\n');
  const given = { name: `One ${made}`, kind: 'git', repository: path, agents: ['a1', 'a2'], worktrees: false };
  return projectSchema.parse(await good('POST', '/v1/projects', { ...given, ...fields }));
}
const task = async ({ projectId }: Project, title: string): Promise<Task> =>
  taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, { title, columnId: 'ready' }));
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const claim = (of: Task, agentId = 'a1') => scheduleRelay.tool(agentId, 'claim_task', ids(of));
const folderIn = (text: string) => /in the folder “([^”]+)”/.exec(text)?.[1] ?? '';
const runIn =
  (where: string, agentId = 'a1') =>
  (command: string) =>
    scheduleRelay.tool(agentId, 'run_command', { command: `cd ${where} && ${command}` });
const review = (of: Task, agentId = 'a1') =>
  scheduleRelay.tool(agentId, 'transition_task', { ...ids(of), status: 'review', note: '' });
const release = (of: Task) => scheduleRelay.tool('a1', 'release_task', { ...ids(of), note: 'Not now.' });

describe('a project without worktrees', () => {
  it('takes one task at a time, and says who works on what', async () => {
    const of = await project();
    const [one, two] = [await task(of, 'One'), await task(of, 'Two')];
    // Both at once: one of them is claimed.
    const both = await Promise.all([claim(one, 'a1'), claim(two, 'a2')]);
    const isFirst = both[0].includes('The task is yours');
    expect(both.filter((text) => text.includes('The task is yours'))).toHaveLength(1);
    const [mine, other, holder, waiting] = isFirst ? [one, two, 'a1', 'a2'] : [two, one, 'a2', 'a1'];
    const why = new RegExp(`Name of ${holder}. works on #${mine.number} since .*This project takes one task at a time`);
    expect(both[isFirst ? 1 : 0]).toMatch(why);
    expect(await scheduleRelay.tool(waiting, 'get_ready_tasks', { projectId: of.projectId })).toMatch(
      new RegExp(`No task is ready for you\\. .Name of ${holder}. works on #${mine.number}`),
    );
    expect(await claim(other, holder)).toContain(`You work on #${mine.number} since`);
    await scheduleRelay.tool(holder, 'release_task', { ...ids(mine), note: '' });
    expect(await claim(other, waiting)).toContain('The task is yours');
    await good('PUT', `/v1/projects/${of.projectId}`, { worktrees: true });
    expect(await claim(mine, holder)).toContain('The task is yours');
  });

  it('uses one folder for all tasks of an agent, and keeps what was installed there', async () => {
    const of = await project({ setup: 'mkdir -p node_modules && date +%N >> node_modules/installed', copy: ['.env'] });
    const [one, two] = [await task(of, 'One'), await task(of, 'Two')];
    const where = folderIn(await claim(one));
    const run = runIn(where);
    await run('echo two >> a.txt && git commit -qam Two');
    expect(await review(one)).toMatch(/\.env|Moved/);
    await run('echo .env >> .git/info/exclude');
    await review(one);
    expect(folderIn(await claim(two))).toBe(where);
    expect(await run('git branch --show-current; cat a.txt .env; wc -l < node_modules/installed')).toMatch(
      /feat\/2-two\\n> one\\n> KEY=1\\n> 1/,
    );
    await run('echo bees > b.txt && git commit -qam Bees');
    expect(await review(two)).toContain('Moved.');
    // Each branch has its own work alone.
    for (const [of1, path] of [
      [one, 'a.txt'],
      [two, 'b.txt'],
    ] as const) {
      const diff = diffSchema.parse(await good('GET', `${at(of1)}/diff`));
      expect(diff.files.map((file) => file.path)).toEqual([path]);
      await good('POST', `${at(of1)}/request/merge`, { head: diff.head });
    }
    const { checkouts } = checkoutsSchema.parse(await good('GET', `/v1/projects/${of.projectId}/checkouts`));
    expect(checkouts).toMatchObject([{ folder: where, taskId: two.taskId }]);
  });

  it('commits unsaved work to the branch of its task, and continues there', async () => {
    const of = await project();
    const [one, two] = [await task(of, 'One'), await task(of, 'Two')];
    const where = folderIn(await claim(one));
    const run = runIn(where);
    await run(
      [
        'echo changed >> a.txt && git add a.txt && echo more >> a.txt && rm .gitignore',
        'mkdir -p "odd dir" && echo new > "odd dir/new file.txt" && chmod +x "odd dir/new file.txt"',
        // A change that git was told not to look at.
        'git update-index --assume-unchanged b.txt && echo hidden >> b.txt',
      ].join(' && '),
    );
    await release(one);
    expect(folderIn(await claim(two))).toBe(where);
    expect(await run('git status --porcelain; cat a.txt b.txt; ls -A')).toMatch(
      /> one\\n> bee\\n> \.git\\n> \.gitignore\\n> a\.txt\\n> b\.txt/,
    );
    const { history } = taskSchema.parse(await good('GET', at(one)));
    expect(history.at(-1)).toMatchObject({ by: 'relay', note: expect.stringContaining('unfinished work') as string });
    await run('echo x > x.txt && git add -A && git commit -qm X');
    await release(two);
    expect(folderIn(await claim(one))).toBe(where);
    expect(await run('git log --format=%s -1; cat a.txt b.txt "odd dir/new file.txt"; ls -A; ls -l odd*')).toMatch(
      /Keep unfinished work\\n> one\\n> changed\\n> more\\n> bee\\n> hidden\\n> new\\n> \.git\\n> a\.txt\\n.*-rwx/,
    );
    expect(await run('git reset -q --soft HEAD^ && git commit -qm Work')).not.toContain('fatal');
    expect(await review(one)).toContain('Moved.');
    const diff = diffSchema.parse(await good('GET', `${at(one)}/diff`));
    expect(diff.files.map(({ path }) => path).toSorted()).toEqual([
      ...['.gitignore', 'a.txt', 'b.txt', 'odd dir/new file.txt'],
    ]);
  });

  it('refuses the next task, and changes nothing, where work would be lost', async () => {
    const of = await project();
    const [one, two] = [await task(of, 'One'), await task(of, 'Two')];
    const where = folderIn(await claim(one));
    const run = runIn(where);
    const look = async () =>
      (await run('git status; find . -name .git -prune -o -type f -print | sort | xargs cat')).replace(
        /after [\d.]+ s/,
        '',
      );
    await run('echo two > a.txt && git commit -qam Two');
    const states = [
      [
        'git checkout -q -b side HEAD^ && echo three > a.txt && git commit -qam Three && ! git rebase feat/1-one',
        '.git/rebase-merge',
        'git rebase --abort && git checkout -q feat/1-one',
      ],
      ['git init -q inner && cd inner && echo x > x && git add x && git commit -qm X', 'inner/', 'rm -rf inner'],
      ['git checkout -q --detach && echo four > d.txt', 'd.txt', 'rm d.txt && git checkout -q feat/1-one'],
    ] as const;
    for (const [before, left, after] of states) {
      await run(before);
      const seen = await look();
      await release(one);
      const refused = await claim(two);
      expect(refused, before).toContain(`“${left}”`);
      expect(refused).toContain('would be lost');
      expect(taskSchema.parse(await good('GET', at(two)))).toMatchObject({ claim: null });
      expect(await look()).toBe(seen);
      await run(after);
      for (const each of [one, two]) await good('POST', `${at(each)}/move`, { columnId: 'ready' });
      await claim(one);
    }
    // Commits on no branch are kept by one.
    await run('git checkout -q --detach && echo five > e.txt && git add -A && git commit -qm Five');
    await release(one);
    expect(await claim(two)).toContain('The task is yours');
    expect(await run('git log --all --format=%s')).toContain('Five');
    const last = attemptsSchema.parse(await good('GET', `${at(one)}/attempts`)).attempts.at(-1);
    expect(last?.receipt?.commits.map(({ subject }) => subject)).toContain('Two');
  });
});
