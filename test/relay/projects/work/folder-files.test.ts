/** Files of folder projects over HTTP: which enter, which are read, and what is not recorded. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffSchema, projectFilesSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Project, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';

const AGENTS = ['a1', 'a2'];
let scheduleRelay: ScheduleRelay;

beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(AGENTS);
  for (const agentId of AGENTS)
    await good('PUT', `/v1/agents/${agentId}/config`, { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(() => scheduleRelay.close());

const ask: ScheduleRelay['ask'] = (...given) => scheduleRelay.ask(...given);
const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const project = async (name: string): Promise<Project> =>
  projectSchema.parse(await good('POST', '/v1/projects', { name, agents: AGENTS }));
const file = ({ projectId }: Project, path: string) =>
  `/v1/projects/${projectId}/file?path=${encodeURIComponent(path)}`;
const put = async (of: Project, path: string, body: string | Uint8Array<ArrayBuffer>) =>
  (
    await scheduleRelay.raw('PUT', file(of, path), {
      ...{ body, headers: { 'content-type': 'application/octet-stream' } },
    })
  ).status;
const get = async (of: Project, path: string) => await scheduleRelay.raw('GET', file(of, path), {});
const listed = async ({ projectId }: Project) =>
  projectFilesSchema.parse(await good('GET', `/v1/projects/${projectId}/files`)).files.map(({ path }) => path);

interface Claimed {
  readonly task: Task;
  readonly said: string;
  readonly agentId: string;
  run(command: string): Promise<string>;
  review(): Promise<string>;
  merge(): Promise<{ readonly status: number; readonly body: unknown }>;
  changed(): Promise<readonly (readonly [string, string])[]>;
}
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
async function claim(of: Project, title = 'Work', agentId = 'a1', known?: Task): Promise<Claimed> {
  const path = `/v1/projects/${of.projectId}/tasks`;
  const task = known ?? taskSchema.parse(await good('POST', path, { title, columnId: 'ready' }));
  const ids = { projectId: task.projectId, taskId: task.taskId };
  const said = await scheduleRelay.tool(agentId, 'claim_task', ids);
  const where = /in the folder “([^”]+)”/.exec(said)?.[1];
  expect(where, said).toBeDefined();
  return {
    ...{ task, said, agentId },
    run: (command) =>
      scheduleRelay.tool(agentId, 'run_command', { command: `mkdir -p '${where}' && cd '${where}' && ${command}` }),
    review: () => scheduleRelay.tool(agentId, 'transition_task', { ...ids, status: 'review' }),
    merge: () => ask('POST', `${at(task)}/request/merge`, {}),
    changed: async () =>
      diffSchema
        .parse(await good('GET', `${at(task)}/diff`))
        .files.map(({ path: each, status }) => [each, status] as const),
  };
}

describe('a file of a folder project', () => {
  it('stores, reads, claims and deletes a file of 22 MB, and all others beside it', async () => {
    const of = await project('Large');
    const large = new Uint8Array(22_000_000).fill(7);
    expect(await put(of, 'large.bin', large)).toBe(204);
    expect(await put(of, 'more.bin', new Uint8Array(30_000_001))).toBe(413);
    expect(await put(of, 'empty.txt', '')).toBe(204);
    expect((await (await get(of, 'large.bin')).arrayBuffer()).byteLength).toBe(22_000_000);
    const { run, review, changed } = await claim(of);
    expect(await run('stat -c "%n %s" *')).toMatch(/empty\.txt 0.*large\.bin 22000000/);
    // The most that is recorded of one file.
    await run('truncate -s 50000000 most.bin && echo small > small.txt && rm large.bin');
    expect(await review()).toContain('Moved.');
    expect(await changed()).toEqual([
      ['large.bin', 'deleted'],
      ['most.bin', 'added'],
      ['small.txt', 'added'],
    ]);
    await good('DELETE', file(of, 'large.bin'));
    expect(await listed(of)).toEqual(['empty.txt']);
  });

  it('refuses names that a checkout cannot have, whoever writes them', async () => {
    const of = await project('Names');
    const good255 = `${'n'.repeat(251)}.txt`;
    const names = ['-rf', ':(top)x', ':!x', '"quoted" \'name\'.txt', 'dot.', 'Case.txt', good255];
    names.push('nfc-\u00e9.txt', 'nfd-e\u0301.txt', 'a *?[b].txt', '%2e%2e', `${'d/'.repeat(24)}deep.txt`);
    for (const name of names) expect(await put(of, name, name), name).toBe(204);
    const bad = ['a\\b', 'a\nb', 'a\tb', 'a\u200bb', '.git/x', 'x/.GIT', 'git~1', '.git ', '../x', 'a//b', './a', '/a'];
    bad.push('n'.repeat(256), 'd/'.repeat(25) + 'x', `${'p'.repeat(200)}/`.repeat(4) + 'x', 'a\ufffdb', '');
    for (const name of bad) expect(await put(of, name, 'x'), name).toBe(400);
    const { run, review } = await claim(of);
    expect(await run('cat Case.txt ./-rf && ls -A | wc -l')).toMatch(/Case\.txt-rf12/);
    expect(await review()).toContain('Nothing was changed');
    const unlike = ['$(printf "a\\\\\\\\b")', '$(printf "a\\\\tb")', '$(printf "\\\\377")', 'git~1', '.git'];
    await run(unlike.map((name) => `echo x > "${name}"`).join('; '));
    await run('echo fine > fine.txt');
    const refused = await review();
    for (const name of ['a\\\\b', 'git~1', '.git']) expect(refused).toContain(`“${name}”`);
    expect(refused).toContain('could not be recorded');
    await run(`rm -f .git git~1 [a]?b $(printf '\\377')`);
    expect(await review()).toContain('Moved.');
    for (const name of await listed(of)) await good('DELETE', file(of, name));
    expect(await listed(of)).toEqual([]);
  });

  it('refuses a name that differs from another only in case or accents', async () => {
    const of = await project('Twins');
    for (const name of ['Plan.md', 'Docs/caf\u00e9.md']) expect(await put(of, name, 'first'), name).toBe(204);
    const twins = ['plan.md', 'PLAN.md/x', 'docs/other.md', 'Docs/cafe\u0301.md'];
    for (const name of twins) expect(await put(of, name, 'x'), name).toBe(409);
    expect(await put(of, 'Plan.md', 'again')).toBe(204);
    const [one, two] = [await claim(of), await claim(of, 'Other work', 'a2')];
    await one.run('echo x > plan.md');
    const refused = await one.review();
    expect(refused).toContain('“plan.md”');
    expect(refused).toContain('differs only in case or accents');
    // What is spelled anew has the new name.
    await one.run('rm Plan.md && mv plan.md PLAN.md && echo new > New.md');
    expect(await one.review()).toContain('Moved.');
    expect(await one.merge()).toMatchObject({ status: 200 });
    expect((await listed(of)).sort()).toEqual(['Docs/caf\u00e9.md', 'New.md', 'PLAN.md']);
    await two.run('echo x > new.md');
    expect(await two.review()).toContain('Moved.');
    expect(await two.merge()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('“new.md”') } });
    expect((await listed(of)).sort()).toEqual(['Docs/caf\u00e9.md', 'New.md', 'PLAN.md']);
  });

  it('takes the place of no folder, and a folder of no file, but by an agent', async () => {
    const of = await project('Places');
    expect(await put(of, 'a/b.txt', 'one')).toBe(204);
    expect(await put(of, 'a', 'one')).toBe(409);
    expect(await put(of, 'a/b.txt/c', 'one')).toBe(409);
    expect(await put(of, 'c', 'one')).toBe(204);
    const { run, review, merge } = await claim(of);
    await run('rm -r a && echo file > a && rm c && mkdir c && echo below > c/d.txt');
    expect(await review()).toContain('Moved.');
    expect(await merge()).toMatchObject({ status: 200 });
    expect(await listed(of)).toEqual(['a', 'c/d.txt']);
  });
});

describe('what of a folder project cannot be recorded', () => {
  it('keeps its content, is named, and keeps the task from review', async () => {
    const of = await project('Unrecorded');
    for (const path of ['log.txt', 'linked.txt', 'hard.txt', 'piped.txt', 'docs/a.txt', 'gone.txt'])
      expect(await put(of, path, `Old ${path}`)).toBe(204);
    const { run, review, merge, task } = await claim(of);
    await run('truncate -s 50000001 log.txt && ln -sf /etc/hostname linked.txt && rm gone.txt && echo new > new.txt');
    await run('ln hard.txt other.txt; rm piped.txt && mkfifo piped.txt; mv docs ../docs && ln -s ../docs docs');
    const refused = await review();
    for (const path of ['log.txt', 'linked.txt', 'hard.txt', 'other.txt', 'piped.txt', 'docs'])
      expect(refused).toContain(`“${path}”`);
    expect(refused).not.toContain('“new.txt”');
    expect(
      await scheduleRelay.tool('a1', 'open_pull_request', {
        ...{ projectId: of.projectId, taskId: task.taskId },
        title: 'It',
      }),
    ).toContain('The request is open');
    expect(await merge()).toMatchObject({ status: 200 });
    expect(await listed(of)).toEqual(['docs/a.txt', 'hard.txt', 'linked.txt', 'log.txt', 'new.txt', 'piped.txt']);
    expect(await (await get(of, 'log.txt')).text()).toBe('Old log.txt');
    expect(await (await get(of, 'docs/a.txt')).text()).toBe('Old docs/a.txt');
  });

  it('records nothing when there are too many files, so that nothing counts as deleted', async () => {
    const of = await project('Many');
    expect(await put(of, 'kept.txt', 'Kept.')).toBe(204);
    const { run, review, changed } = await claim(of);
    await run('rm kept.txt && mkdir n && (cd n && seq 10000 | xargs touch)');
    expect(await review()).toContain('at most 10000 files and folders');
    expect(await changed()).toEqual([]);
    await run('rm -r n && echo new > new.txt');
    expect(await review()).toContain('Moved.');
    expect(await changed()).toEqual([
      ['kept.txt', 'deleted'],
      ['new.txt', 'added'],
    ]);
  });
});

describe('what others changed in a folder project', () => {
  it('comes into a checkout whole: many files, renames, and folders in the place of files', async () => {
    const of = await project('Brought');
    for (const path of ['old.txt', 'turned', 'dir/one.txt', 'both.txt', 'log.txt'])
      expect(await put(of, path, `Old ${path}`)).toBe(204);
    const theirs = await claim(of, 'Theirs');
    const mine = await claim(of, 'Mine', 'a2');
    await theirs.run('mkdir many && (cd many && for i in $(seq 310); do echo $i > $i.txt; done)');
    await theirs.run('mv old.txt new.txt && rm turned && mkdir turned && echo in > turned/in.txt');
    await theirs.run('rm -r dir && echo file > dir && echo theirs > both.txt && echo theirs > log.txt');
    expect(await theirs.review()).toContain('Moved.');
    expect(await theirs.merge()).toMatchObject({ status: 200 });
    await mine.run('echo mine > both.txt && echo mine > both.txt.project && echo mine > mine.txt');
    expect(await mine.review()).toContain('Moved.');
    await good('POST', `${at(mine.task)}/request/changes`, { note: 'Go on.' });
    await mine.run('truncate -s 50000001 log.txt');
    const again = await claim(of, 'Mine', 'a2', mine.task);
    expect(again.said).toContain('The project’s is in “both.txt.project-2”');
    expect(again.said).toContain('The project’s is in “log.txt.project”');
    const look = 'ls -A; ls many | wc -l; cat dir turned/in.txt both.txt both.txt.project both.txt.project-2';
    expect(await again.run(look)).toMatch(/new\.txt.*310.*file.*in.*mine.*mine.*theirs/);
    await again.run('rm *.project*');
    expect(await again.review()).toContain('“log.txt”');
    await again.run('echo both > both.txt && echo theirs > log.txt');
    expect(await again.review()).toContain('Moved.');
    expect(await again.changed()).toEqual([
      ['both.txt', 'changed'],
      ['mine.txt', 'added'],
    ]);
    expect(await again.merge()).toMatchObject({ status: 200 });
    const all = await listed(of);
    expect(all.filter((path) => !path.startsWith('many/'))).toEqual([
      ...['both.txt', 'dir', 'log.txt', 'mine.txt', 'new.txt', 'turned/in.txt'],
    ]);
    expect(all).toHaveLength(316);
  });
});
