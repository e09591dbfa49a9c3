/** Work on tasks through a relay over HTTP, with real git, a real sandbox and a real repository. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attemptsSchema,
  checkoutsSchema,
  diffSchema,
  endedAttemptsSchema,
  projectSpentSchema,
  type Attempt,
} from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Project, type Task } from '../../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/projects/work/task-work.test.ts');

const AGENTS = ['a1', 'a2'];
let scheduleRelay: ScheduleRelay;
let folder: string;
/** What a run answers. Set by each test. */
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-git-'));
  scheduleRelay = await openScheduleRelay(AGENTS, (request) => script(request));
  for (const agentId of AGENTS)
    await good('PUT', `/v1/agents/${agentId}/config`, { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const repository = (name: string, files: Readonly<Record<string, string>>) =>
  createRepository(join(folder, name), files);
const ask: ScheduleRelay['ask'] = (...given) => scheduleRelay.ask(...given);
const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const project = async (fields: object): Promise<Project> =>
  projectSchema.parse(await good('POST', '/v1/projects', { name: 'Bakery', agents: AGENTS, ...fields }));
const task = async ({ projectId }: Project, fields: object = {}): Promise<Task> =>
  taskSchema.parse(
    await good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Add a price', columnId: 'ready', ...fields }),
  );
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const read = async (of: Task): Promise<Task> => taskSchema.parse(await good('GET', at(of)));
const attempts = async (of: Task): Promise<Attempt[]> =>
  attemptsSchema.parse(await good('GET', `${at(of)}/attempts`)).attempts;
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const folderIn = (text: string) => /in the folder “([^”]+)”/.exec(text)?.[1] ?? '';
/** Waits for something that ends a moment after its call. */
async function until<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
  for (let i = 0; i < 200; i++) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('It did not come.');
}

describe('a task of a repository', () => {
  itLong('tells of long instructions that they are cut, of nested ones, and of submodules that are empty', async () => {
    const line = (n: number) => `Rule ${n}: ${'x'.repeat(90)}`;
    const long = Array.from({ length: 600 }, (_none, i) => line(i)).join('\n');
    const path = repository('rules', {
      'AGENTS.md': long,
      'web/AGENTS.md': 'Of the web.',
      'web/shop/CLAUDE.md': 'Of the shop.',
      '.gitmodules': '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://example.org/lib.git\n',
    });
    const made = await task(await project({ kind: 'git', repository: path }));
    const claimed = await scheduleRelay.tool('a1', 'claim_task', ids(made));
    await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: '' });
    await until(async () => (await attempts(made)).every(({ endedAt }) => endedAt !== null));
    const rules = [...claimed.matchAll(/Rule (\d+): (x+)/g)];
    expect(rules.length).toBeGreaterThan(300);
    expect(rules.length).toBeLessThan(600);
    expect(rules.every(([, , xs]) => xs?.length === 90)).toBe(true);
    expect(claimed).toContain('[AGENTS.md is cut here. Read the rest in the checkout.]');
    expect(claimed).toMatch(/instructions of their own[^\n]*“web\/AGENTS\.md”, “web\/shop\/CLAUDE\.md”/);
    expect(claimed).toMatch(/Submodules, which are empty folders here[^\n]*“vendor\/lib”/);
  });

  itLong('repeats the setup at each attempt until it has ended with 0, and says so', async () => {
    const path = repository('setup', { 'bread.txt': 'rye\n' });
    const setup = 'echo x >> ../tries; test $(wc -l < ../tries) -ge 2 || exit 3';
    const of = await project({ kind: 'git', repository: path, setup });
    const made = await task(of);
    const claim = () => scheduleRelay.tool('a1', 'claim_task', ids(made));
    const release = () => scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: '' });
    const ended = async (count: number) =>
      until(async () => (await attempts(made)).filter(({ endedAt }) => endedAt !== null).length === count);
    expect(await claim()).toMatch(/ended with 3[^]*The next attempt repeats the setup/);
    await release();
    await ended(1);
    expect(await claim()).toMatch(/setup had not ended with 0 here, and was repeated[^]*ended with 0/);
    await release();
    await ended(2);
    expect(await claim()).not.toContain('ended with');
    await release();
    await ended(3);
  });

  itLong('names the setup that failed, with its status and the end of its output, where it is blocked', async () => {
    const path = repository('no-setup', { 'bread.txt': 'rye\n' });
    const setup = 'echo first; echo "no module called flour" >&2; exit 3';
    const of = await project({ kind: 'git', repository: path, setup, attemptsPerTask: 2 });
    const made = await task(of);
    const claim = () => scheduleRelay.tool('a1', 'claim_task', ids(made));
    for (const count of [1, 2]) {
      expect(await claim()).toContain('The task is yours');
      await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: '' });
      await until(async () => (await attempts(made)).filter(({ endedAt }) => endedAt !== null).length === count);
    }
    const why = /There were 2 attempts.* The setup “echo first.*” failed with status 3: “.*no module called flour”/;
    expect(await claim()).toMatch(why);
    expect(await read(made)).toMatchObject({ columnId: 'blocked' });
    expect((await read(made)).history.findLast(({ columnId }) => columnId === 'blocked')?.note).toMatch(why);
    // Another reason names no setup: it ended with 0 since.
    await good('PUT', `/v1/projects/${of.projectId}`, { setup: 'true' });
    await good('POST', `${at(made)}/move`, { columnId: 'ready' });
    for (const count of [3, 4]) {
      expect(await claim()).toContain('The task is yours');
      await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: '' });
      await until(async () => (await attempts(made)).filter(({ endedAt }) => endedAt !== null).length === count);
    }
    expect(await claim()).toMatch(/There were 2 attempts(?!.*setup)/);
  });

  it('goes from ready to merged, and the receipt says what git says', async () => {
    const path = repository('bakery', { 'bread.txt': 'rye\n', 'AGENTS.md': 'Bake slowly.\n' });
    const of = await project({ kind: 'git', repository: path, checks: ['grep -q price bread.txt'] });
    const made = await task(of, { criteria: [{ text: 'A price is there' }] });
    const claimed = await scheduleRelay.tool('a1', 'claim_task', ids(made));
    expect(claimed).toContain('Bake slowly.');
    const where = folderIn(claimed);
    const run = (command: string) => scheduleRelay.tool('a1', 'run_command', { command: `cd ${where} && ${command}` });
    expect(await run('git branch --show-current && git remote && echo $PORT $ROOST_TASK')).toMatch(
      new RegExp(`feat/1-add-a-price\\\\n> 20000 ${of.projectId}/${made.taskId}`),
    );
    const review = { ...ids(made), status: 'review' };
    await run('echo price 3 >> bread.txt');
    expect(await scheduleRelay.tool('a1', 'transition_task', review)).toContain('in no commit: “bread.txt”');
    await run('git commit -qam "Add a price"');
    expect(await scheduleRelay.tool('a1', 'transition_task', review)).toContain('Not every criterion is met');
    await scheduleRelay.tool('a1', 'meet_criterion', { ...ids(made), criterion: 1, evidence: 'bread.txt' });
    await scheduleRelay.tool('a1', 'open_pull_request', { ...ids(made), title: 'A price', body: 'Look at it.' });
    expect(await scheduleRelay.tool('a1', 'transition_task', review)).toContain('Moved.');
    const [attempt] = await until(async () => {
      const all = await attempts(made);
      return all[0]?.endedAt != null && all;
    });
    expect(attempt).toMatchObject({
      ...{ outcome: 'review', agentId: 'a1', branch: 'feat/1-add-a-price', note: '' },
      receipt: {
        files: [{ path: 'bread.txt', status: 'changed', added: 1, removed: 0 }],
        commits: [{ subject: 'Add a price' }],
        checks: [{ command: 'grep -q price bread.txt', code: 0 }],
        uncommitted: [],
      },
    });
    expect(attempt?.receipt?.commands.map(({ code }) => code)).toContain(0);
    const { attempts: spent } = projectSpentSchema.parse(await good('GET', `/v1/projects/${of.projectId}/spent`));
    const { taskId, receipt } = attempt ?? {};
    expect(spent).toEqual([
      {
        ...{ taskId, startedAt: attempt?.startedAt, tokens: receipt?.tokens },
        ...{ costMicroUsd: receipt?.costMicroUsd, estimated: receipt?.estimated },
      },
    ]);
    const lately = async () => endedAttemptsSchema.parse(await good('GET', '/v1/attempts?hours=1')).attempts;
    expect((await lately()).find((one) => one.taskId === taskId)).toMatchObject({
      ...{ outcome: 'review', runId: null, kind: 'agent', task: { number: 1, title: 'Add a price' } },
      receipt: { commits: 1, files: 1, added: 1, removed: 0, checks: { passed: 1, failed: 0 }, costMicroUsd: 0 },
    });
    expect(await ask('GET', '/v1/attempts?hours=169')).toMatchObject({ status: 400 });
    const diff = diffSchema.parse(await good('GET', `${at(made)}/diff`));
    expect(diff.files).toMatchObject([{ path: 'bread.txt', patch: expect.stringContaining('+price 3') as string }]);
    expect(await ask('POST', `${at(made)}/request/merge`, { head: 'f'.repeat(40) })).toMatchObject({ status: 409 });
    const merged = taskSchema.parse(await good('POST', `${at(made)}/request/merge`, { head: diff.head }));
    expect(merged).toMatchObject({ columnId: 'done', doneWithout: [], request: { state: 'merged' } });
    expect(readFileSync(join(path, 'bread.txt'), 'utf8')).toBe('rye\nprice 3\n');
    expect(git(path, 'status', '--porcelain')).toBe('');
    const { checkouts } = checkoutsSchema.parse(await good('GET', `/v1/projects/${of.projectId}/checkouts`));
    expect(checkouts).toMatchObject([{ state: 'clean', agentId: 'a1', folder: where }]);
    await good('POST', `${at(made)}/checkout/remove`, {});
    expect(await good('GET', `/v1/projects/${of.projectId}/checkouts`)).toEqual({ checkouts: [] });
    await good('DELETE', at(made));
    expect((await lately()).map((one) => one.taskId)).not.toContain(taskId);
  });

  it('needs a repository that is there: the refusal names the field', async () => {
    const fields = { name: 'Bakery', kind: 'git', repository: join(folder, 'gone') };
    expect(await ask('POST', '/v1/projects', fields)).toMatchObject({
      ...{ status: 400, body: { type: 'about:roost/misfit', errors: [{ field: 'repository' }] } },
    });
  });

  itLong('is refused where both sides changed a file, and goes on after changes were asked for', async () => {
    const path = repository('conflict', { 'a.txt': 'one\n' });
    const of = await project({ kind: 'git', repository: path });
    const made = await task(of);
    const where = folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(made)));
    const run = (command: string) => scheduleRelay.tool('a1', 'run_command', { command: `cd ${where} && ${command}` });
    await run('echo two > a.txt && git commit -qam Two');
    await scheduleRelay.tool('a1', 'transition_task', { ...ids(made), status: 'review' });
    writeFileSync(join(path, 'a.txt'), 'three\n');
    git(path, 'commit', '-qam', 'Three');
    const conflict = await ask('POST', `${at(made)}/request/merge`, {});
    expect(conflict).toMatchObject({ status: 409, body: { type: 'about:roost/merge-conflict' } });
    expect(JSON.stringify(conflict.body)).toContain('a.txt');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('three\n');
    await good('POST', `${at(made)}/request/changes`, { note: 'Keep both.' });
    expect(await read(made)).toMatchObject({ columnId: 'ready', assignee: 'a1', request: { state: 'changes-wanted' } });
    const again = await scheduleRelay.tool('a1', 'claim_task', ids(made));
    expect(folderIn(again)).toBe(where);
    expect(again).toContain('git merge base/main');
    await run('(git merge -q base/main || true) && printf "two\\nthree\\n" > a.txt && git commit -qam Both');
    expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids(made), status: 'review' })).toContain('Moved.');
    const both = diffSchema.parse(await good('GET', `${at(made)}/diff`));
    expect(both.files).toMatchObject([{ path: 'a.txt', added: 1, removed: 0 }]);
    await good('POST', `${at(made)}/request/merge`, { head: both.head });
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('two\nthree\n');
    expect(again).toMatch(/Keep both\..*Attempt 1 by Name of a1 \(you\): review, branch .*1 commits, 1 files changed/);
  });

  it('frees the task of a dead run with its work on the branch, and ends its commands', async () => {
    const of = await project({ kind: 'git', repository: repository('dies', { 'a.txt': 'one\n' }), agents: ['a1'] });
    const made = await task(of);
    let step = 0;
    let where = '';
    script = ({ results }) => {
      where = folderIn(results.at(-1) ?? '') || where;
      const steps: Reply[] = [
        [{ call: 'claim_task', input: ids(made) }],
        [{ call: 'run_command', input: { command: `cd ${where} && echo two > a.txt && git commit -qam Two` } }],
        [{ call: 'run_command', input: { command: 'sleep 300', background: true } }],
      ];
      return steps[step++] ?? { fail: { status: 400, type: 'invalid_request_error', message: 'No.' } };
    };
    const routine = {
      ...{ kind: 'routine', agentId: 'a1', name: 'Dies', instructions: 'Take it.' },
      timing: { kind: 'weekly', days: [1], time: '07:30' },
    };
    const { scheduleId } = (await good('POST', '/v1/pulse-routines', routine)) as { scheduleId: string };
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    const ended = await until(async () => (await attempts(made)).find(({ endedAt }) => endedAt !== null));
    expect(ended).toMatchObject({ outcome: 'ended', receipt: { commits: [{ subject: 'Two' }], uncommitted: [] } });
    expect(await read(made)).toMatchObject({ columnId: 'ready', claim: null });
    expect(await scheduleRelay.tool('a1', 'read_output', { id: 'c9' })).toContain('You have run no command');
  });

  itLong('has one branch, whoever goes on with it', async () => {
    const of = await project({ kind: 'git', repository: repository('branch', { 'a.txt': 'one\n' }) });
    const made = await task(of);
    const first = folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(made)));
    await scheduleRelay.tool('a1', 'run_command', {
      command: `cd ${first} && echo two > a.txt && git commit -qam Two`,
    });
    // Another claim of the same agent is the same claim.
    expect(folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(made)))).toBe(first);
    await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: 'The rest is yours.' });
    await until(async () => (await attempts(made))[0]?.endedAt != null);
    const second = folderIn(await scheduleRelay.tool('a2', 'claim_task', ids(made)));
    const look = `cd ${second} && git branch --show-current && git log --format=%s && cat a.txt`;
    expect(await scheduleRelay.tool('a2', 'run_command', { command: look })).toMatch(
      /feat\/1-add-a-price\\n> Two\\n> Begin\\n> two/,
    );
    const all = await attempts(made);
    expect(all.map(({ branch }) => branch)).toEqual(['feat/1-add-a-price', 'feat/1-add-a-price']);
    expect(all.map(({ base }) => base)).toEqual([all[0]?.base, all[0]?.base]);
    // The first agent comes back to its own checkout, and to what it had in no commit there.
    const commit = (agentId: string, where: string, name: string) =>
      scheduleRelay.tool(agentId, 'run_command', {
        command: `cd ${where} && echo ${name} > ${name}.txt && git add ${name}.txt && git commit -qm ${name}`,
      });
    await commit('a2', second, 'Three');
    await scheduleRelay.tool('a1', 'write_file', { path: `${first}/left.txt`, content: 'Left.' });
    await scheduleRelay.tool('a2', 'release_task', { ...ids(made), note: 'Yours again.' });
    await until(async () => (await attempts(made))[1]?.endedAt != null);
    const again = await scheduleRelay.tool('a1', 'claim_task', ids(made));
    expect(folderIn(again)).toBe(first);
    expect(again).toContain('Somebody else went on with it since');
    await commit('a1', first, 'Four');
    expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids(made), status: 'review' })).toContain('Moved.');
    const diff = diffSchema.parse(await good('GET', `${at(made)}/diff`));
    expect(diff.commits.map(({ subject }) => subject)).toEqual(['Two', 'Three', 'Four']);
    const kept = `cd ${first} && git log --all --format=%s -- left.txt && git show $(git branch --list 'kept/*' --format='%(refname)'):left.txt`;
    expect(await scheduleRelay.tool('a1', 'run_command', { command: kept })).toMatch(/Keep unfinished work\\n> Left\./);
  });

  itLong('can be reviewed by another agent, which is no attempt at it', async () => {
    const of = await project({
      kind: 'git',
      repository: repository('reviewed', { 'a.txt': 'one\n' }),
      attemptsPerTask: 1,
    });
    const made = await task(of);
    const begun = await scheduleRelay.tool('a1', 'claim_task', ids(made));
    await scheduleRelay.tool('a1', 'run_command', {
      command: `cd '${folderIn(begun)}' && echo price > a.txt && git commit -qam Price`,
    });
    const review = { ...ids(made), status: 'review' };
    expect(await scheduleRelay.tool('a1', 'transition_task', review)).toContain('Moved.');
    const { scheduleId } = scheduledSchema.parse(
      await good('POST', '/v1/pulse-routines', {
        ...{ kind: 'routine', agentId: 'a2', name: 'Review', instructions: 'Review.', when: 'something_waits' },
        ...{ timing: { kind: 'weekly', days: [1], time: '07:30' } },
      }),
    );
    await good('POST', `/v1/projects/${of.projectId}/agents/a2/routines`, {
      ...{ routineId: scheduleId, columnIds: ['review'] },
    });
    const said: string[] = [];
    const turns: Reply[] = [
      [{ call: 'claim_task', input: ids(made) }],
      [{ call: 'transition_task', input: { ...ids(made), status: 'ready', note: 'Say the currency.' } }],
    ];
    script = ({ body, results }) => {
      said.push(...results);
      return turns[(body.messages.length - 1) / 2] ?? [{ say: 'Done.' }];
    };
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await until(async () => (await read(made)).columnId === 'ready');
    expect(said[0]).toContain('The task is yours.');
    expect(said[0]).toContain('Attempt 1 by Name of a1: review');
    expect((await read(made)).history.at(-1)).toMatchObject({ by: 'a2', note: 'Say the currency.' });
    await good('DELETE', `/v1/pulse-routines/${scheduleId}`);
    // The one attempt was that of a1.
    expect(await scheduleRelay.tool('a1', 'claim_task', ids(made))).toContain('There were 1 attempts');
  });

  itLong('has a checkout that is kept as long as something is only there', async () => {
    const of = await project({ kind: 'git', repository: repository('kept', { 'a.txt': 'one\n' }) });
    const made = await task(of);
    const where = folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(made)));
    await scheduleRelay.tool('a1', 'write_file', { path: `${where}/new.txt`, content: 'Only here.' });
    expect(await ask('POST', `${at(made)}/checkout/remove`, {})).toMatchObject({
      status: 409,
      body: { type: 'about:roost/busy' },
    });
    await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: 'Not now.' });
    await until(async () => (await attempts(made))[0]?.endedAt != null);
    const refused = await ask('POST', `${at(made)}/checkout/remove`, {});
    expect(refused).toMatchObject({ status: 409, body: { type: 'about:roost/unsaved' } });
    expect(JSON.stringify(refused.body)).toContain('new.txt');
    await good('POST', `${at(made)}/checkout/remove`, { lose: true });
  });
});

describe('a task of a folder project', () => {
  it('begins with the project’s files, and the person accepts what was changed', async () => {
    const of = await project({ name: 'Trip' });
    const work = async (agentId: string, title: string, file: string, text: string) => {
      const made = await task(of, { title });
      const where = folderIn(await scheduleRelay.tool(agentId, 'claim_task', ids(made)));
      await scheduleRelay.tool(agentId, 'write_file', { path: `${where}/${file}`, content: text });
      expect(await scheduleRelay.tool(agentId, 'transition_task', { ...ids(made), status: 'review' })).toContain(
        'Moved.',
      );
      return { made, where };
    };
    const first = await work('a1', 'Ferries', 'ferries.md', 'Three ferries.\n');
    await good('POST', `${at(first.made)}/request/merge`, {});
    expect(await read(first.made)).toMatchObject({ columnId: 'done', request: { state: 'merged' } });
    const file = (path: string) => `/v1/projects/${of.projectId}/file?path=${encodeURIComponent(path)}`;
    const put = async (path: string, text: string) =>
      (
        await scheduleRelay.raw('PUT', file(path), {
          body: text,
          headers: { 'content-type': 'application/octet-stream' },
        })
      ).status;
    expect(await put('given/tickets.txt', 'Two tickets.')).toBe(204);
    for (const path of ['../x', '/etc/x', 'a/../b', '.git/config', '']) expect(await put(path, 'x'), path).toBe(400);
    expect(await put('given', 'x')).toBe(409);
    expect(await good('GET', `/v1/projects/${of.projectId}/files`)).toMatchObject({
      files: [{ path: 'ferries.md' }, { path: 'given/tickets.txt', bytes: 12 }],
    });
    const second = await work('a2', 'Hotels', 'notes/hotels.md', 'Two hotels.\n');
    expect(await scheduleRelay.tool('a2', 'read_file', { path: `${second.where}/ferries.md` })).toContain(
      'Three ferries.',
    );
    const diff = diffSchema.parse(await good('GET', `${at(second.made)}/diff`));
    expect(diff.files.map(({ path, status }) => [path, status])).toEqual([['notes/hotels.md', 'added']]);
  });

  itLong('has the work of both agents that worked on it in turn', async () => {
    const of = await project({ name: 'In turn' });
    const made = await task(of);
    const work = async (agentId: string, file: string) => {
      const where = folderIn(await scheduleRelay.tool(agentId, 'claim_task', ids(made)));
      await scheduleRelay.tool(agentId, 'write_file', { path: `${where}/${file}`, content: `By ${agentId}.\n` });
      return where;
    };
    for (const [agentId, file] of [
      ['a1', 'one.md'],
      ['a2', 'two.md'],
    ] as const) {
      await work(agentId, file);
      await scheduleRelay.tool(agentId, 'release_task', { ...ids(made), note: 'Yours.' });
      await until(async () => (await attempts(made)).every(({ endedAt }) => endedAt !== null));
    }
    const where = await work('a1', 'three.md');
    expect(await scheduleRelay.tool('a1', 'read_file', { path: `${where}/two.md` })).toContain('By a2.');
    expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids(made), status: 'review' })).toContain('Moved.');
    const { files } = diffSchema.parse(await good('GET', `${at(made)}/diff`));
    expect(files.map(({ path }) => path)).toEqual(['one.md', 'three.md', 'two.md']);
  });

  itLong('that changes a file of another task is put together with it by its own agent', async () => {
    const of = await project({ name: 'Plan' });
    await scheduleRelay.raw('PUT', `/v1/projects/${of.projectId}/file?path=plan.md`, {
      ...{ body: 'Plan\n', headers: { 'content-type': 'application/octet-stream' } },
    });
    const claimed = async (agentId: string, title: string) => {
      const made = await task(of, { title });
      const where = folderIn(await scheduleRelay.tool(agentId, 'claim_task', ids(made)));
      await scheduleRelay.tool(agentId, 'write_file', { path: `${where}/plan.md`, content: `Plan\n${title}\n` });
      await scheduleRelay.tool(agentId, 'write_file', { path: `${where}/${title}.md`, content: title });
      await scheduleRelay.tool(agentId, 'transition_task', { ...ids(made), status: 'review' });
      return { made, where };
    };
    const [one, two] = [await claimed('a1', 'Ferry'), await claimed('a2', 'Hotel')];
    await good('POST', `${at(one.made)}/request/merge`, {});
    expect(await ask('POST', `${at(two.made)}/request/merge`, {})).toMatchObject({ status: 409 });
    await good('POST', `${at(two.made)}/request/changes`, { note: 'Keep both.' });
    const again = await scheduleRelay.tool('a2', 'claim_task', ids(two.made));
    expect(again).toContain('Both sides changed “plan.md”');
    const read2 = (path: string) => scheduleRelay.tool('a2', 'read_file', { path: `${two.where}/${path}` });
    expect(await read2('plan.md')).toContain('Hotel');
    expect(await read2('plan.md.project')).toContain('Ferry');
    expect(await read2('Ferry.md')).toContain('Ferry');
    await scheduleRelay.tool('a2', 'write_file', { path: `${two.where}/plan.md`, content: 'Plan\nFerry\nHotel\n' });
    await scheduleRelay.tool('a2', 'delete_file', { path: `${two.where}/plan.md.project` });
    expect(await scheduleRelay.tool('a2', 'transition_task', { ...ids(two.made), status: 'review' })).toContain(
      'Moved.',
    );
    const { files } = diffSchema.parse(await good('GET', `${at(two.made)}/diff`));
    expect(files.map(({ path, added }) => [path, added])).toEqual([
      ['Hotel.md', 1],
      ['plan.md', 1],
    ]);
    await good('POST', `${at(two.made)}/request/merge`, {});
  });
});

describe('an executor', () => {
  it('gives an executor only the brief and the rules, and takes its result from git', async () => {
    const of = await project({
      kind: 'git',
      repository: repository('exec', { 'a.txt': 'one\n' }),
      checks: ['grep -q two a.txt'],
    });
    const made = await task(of);
    await scheduleRelay.tool('a1', 'claim_task', ids(made));
    const asked: ScriptedRequest[] = [];
    script = (request) => {
      asked.push(request);
      return request.results.length === 0
        ? [{ call: 'run_command', input: { command: 'echo two > a.txt && git commit -qam "fix: write two"' } }]
        : [{ call: 'complete', input: {} }];
    };
    const text = await scheduleRelay.tool('a1', 'spawn_executor', {
      ...ids(made),
      executionPrompt: 'Write two into a.txt.',
    });
    expect(text).toMatch(/Outcome: complete.*fix: write two.*Check “grep -q two a.txt”: passed/);
    const [first] = asked;
    expect(first?.last).toBe('Write two into a.txt.');
    expect(first?.system).not.toMatch(/Name of a1|soul/i);
    const all = await attempts(made);
    expect(all.at(-1)).toMatchObject({ kind: 'executor', outcome: 'done', receipt: { commands: [{ code: 0 }] } });
  });

  itLong('has the model of the routine that began its run, or else of its agent or the household', async () => {
    const of = await project({ kind: 'folder' });
    const made = await task(of);
    const models: string[] = [];
    script = ({ system, results, body }) => {
      if (system.startsWith('You execute one task')) {
        models.push(body.model);
        return [{ call: 'fail', input: { why: 'Enough.' } }];
      }
      if (results.length === 0) return [{ call: 'claim_task', input: ids(made) }];
      return results.join().includes('The task is yours')
        ? [{ call: 'execute_task', input: ids(made) }]
        : [{ say: 'Done.' }];
    };
    await scheduleRelay.tool('a1', 'claim_task', ids(made));
    await good('PUT', '/v1/config', { executor_model: 'home-works' });
    await scheduleRelay.tool('a1', 'execute_task', ids(made));
    await good('PUT', '/v1/agents/a1/config', { executor_model: 'agent-works' });
    await scheduleRelay.tool('a1', 'execute_task', ids(made));
    await good('POST', `${at(made)}/release`, {});
    const { scheduleId } = scheduledSchema.parse(
      await good('POST', '/v1/pulse-routines', {
        ...{ kind: 'routine', agentId: 'a1', name: 'Bake', instructions: 'Bake.', executorModel: 'routine-works' },
        timing: { kind: 'cron', cron: '0 0 1 1 *' },
      }),
    );
    await good('POST', `/v1/projects/${of.projectId}/agents/a1/routines`, { routineId: scheduleId });
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await until(() => Promise.resolve(models.length === 3));
    expect(models).toEqual(['home-works', 'agent-works', 'routine-works']);
    await good('PUT', '/v1/config', { executor_model: null });
    await good('PUT', '/v1/agents/a1/config', { executor_model: null });
  });

  itLong('that lies ends as blocked', async () => {
    const of = await project({ kind: 'git', repository: repository('lies', { 'a.txt': 'one\n' }) });
    const made = await task(of);
    await scheduleRelay.tool('a1', 'claim_task', ids(made));
    script = () => [{ say: 'All tests pass.' }, { call: 'complete', input: { notes: 'Committed everything.' } }];
    const text = await scheduleRelay.tool('a1', 'execute_task', ids(made));
    expect(text).toContain('Outcome: blocked (It changed nothing.)');
    expect((await attempts(made)).at(-1)).toMatchObject({ kind: 'executor', outcome: 'blocked' });
  });

  itLong('whose agent has no permission for a tool ends as blocked, and the receipt says so', async () => {
    const of = await project({ kind: 'git', repository: repository('asks', { 'a.txt': 'one\n' }), agents: ['a2'] });
    const made = await task(of);
    await good('PUT', '/v1/agents/a2/config', { coordination: { toolsets: { shell: 'ask' } } });
    await scheduleRelay.tool('a2', 'claim_task', ids(made));
    script = ({ results }) =>
      results.length === 0 ? [{ call: 'run_command', input: { command: 'true' } }] : [{ call: 'complete', input: {} }];
    expect(await scheduleRelay.tool('a2', 'execute_task', ids(made))).toContain('permission for run_command');
    expect((await attempts(made)).at(-1)).toMatchObject({
      ...{ outcome: 'blocked', receipt: { approvals: [{ tool: 'run_command', allowed: null }] } },
    });
    await good('PUT', '/v1/agents/a2/config', { coordination: { toolsets: { shell: 'allow' } } });
  });

  itLong('is stopped by each limit of its project, and its task waits after an overload', async () => {
    const of = await project({
      kind: 'git',
      repository: repository('limits', { 'a.txt': 'one\n' }),
      attemptsPerTask: 2,
    });
    const made = await task(of);
    await scheduleRelay.tool('a1', 'claim_task', ids(made));
    script = () => [{ call: 'fail', input: { why: 'It needs a table.', proposal: 'A table of prices.' } }];
    const first = await scheduleRelay.tool('a1', 'execute_task', ids(made));
    expect(first).toMatch(/Outcome: blocked \(It needs a table\.\).*A table of prices/);
    await scheduleRelay.tool('a1', 'execute_task', ids(made));
    expect(await scheduleRelay.tool('a1', 'execute_task', ids(made))).toContain('2 executors have worked on the task');
    await scheduleRelay.tool('a1', 'meet_criterion', { ...ids(made), criterion: 1, evidence: 'x' });
    await good('POST', `${at(made)}/move`, { columnId: 'review' });
    expect(await scheduleRelay.tool('a1', 'execute_task', ids(made))).toMatch(/not claimed|not started again/);
  });

  itLong('is followed by a second mind that sees criteria, diff and checks, and no words', async () => {
    const of = await project({
      ...{ kind: 'git', repository: repository('second', { 'a.txt': 'one\n' }), checks: ['grep two a.txt'] },
      reviewer: 'a2',
    });
    const made = await task(of, { criteria: [{ text: 'two is written' }, { text: 'it is tested' }] });
    const where = folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(made)));
    await scheduleRelay.tool('a1', 'run_command', {
      command: `cd ${where} && echo two >> a.txt && git commit -qam Two`,
    });
    for (const criterion of [1, 2])
      await scheduleRelay.tool('a1', 'meet_criterion', {
        ...ids(made),
        criterion,
        evidence: 'Trust me, all is tested.',
      });
    const asked: ScriptedRequest[] = [];
    script = (request) => {
      asked.push(request);
      const verdicts = [
        { criterion: 1, verdict: 'met', why: 'a.txt' },
        { criterion: 2, verdict: 'not-met', why: 'No test is in the diff.' },
      ];
      return [{ call: 'judge', input: { verdicts } }];
    };
    await scheduleRelay.tool('a1', 'transition_task', { ...ids(made), status: 'review', note: 'All is well.' });
    const reviewed = await until(async () => (await attempts(made)).find(({ review }) => review !== null));
    expect(reviewed.review).toMatchObject({
      ...{ by: 'a2', error: null },
      criteria: [{ verdict: 'met' }, { verdict: 'not-met', why: 'No test is in the diff.' }],
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.last).toMatch(/two is written[^]*\+two[^]*grep two a.txt/);
    expect(asked[0]?.last).not.toMatch(/Trust me|All is well/);
  });
});

describe('a project that is deleted', () => {
  itLong('goes with its clone and its checkouts, after a question that names what would be lost', async () => {
    const path = repository('deleted', { 'a.txt': 'one\n' });
    const of = await project({ kind: 'git', repository: path, name: 'Deleted' });
    const made = await task(of, { title: 'Unmerged' });
    const where = folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(made)));
    await scheduleRelay.tool('a1', 'run_command', {
      command: `cd ${where} && echo two > a.txt && git commit -qam Two`,
    });
    await scheduleRelay.tool('a1', 'write_file', { path: `${where}/only.txt`, content: 'Only here.' });
    await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: 'Not now.' });
    await until(async () => (await attempts(made))[0]?.endedAt != null);
    const clones = () =>
      readdirSync(scheduleRelay.relay.home, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith(`${of.projectId}.git`),
      );
    expect(clones()).toHaveLength(1);
    const refused = await ask('DELETE', `/v1/projects/${of.projectId}`);
    expect(refused).toMatchObject({ status: 409, body: { type: 'about:roost/unsaved' } });
    expect(JSON.stringify(refused.body)).toMatch(/#1 “Unmerged”; “only\.txt” in the checkout of Name of a1/);
    expect(projectSchema.parse(await good('GET', `/v1/projects/${of.projectId}`)).name).toBe('Deleted');
    // Another agent works on it meanwhile.
    const other = await task(of, { title: 'Under way' });
    const there = folderIn(await scheduleRelay.tool('a2', 'claim_task', ids(other)));
    await good('DELETE', `/v1/projects/${of.projectId}?lose=true`);
    expect(clones()).toEqual([]);
    expect(await scheduleRelay.tool('a1', 'list_files', { path: where })).toContain('There is no');
    expect(await scheduleRelay.tool('a2', 'list_files', { path: there })).toContain('There is no');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('asks for the files of its folder, and for nothing where there are none', async () => {
    const of = await project({ name: 'Files' });
    await scheduleRelay.raw('PUT', `/v1/projects/${of.projectId}/file?path=plan.md`, {
      ...{ body: 'Plan', headers: { 'content-type': 'application/octet-stream' } },
    });
    expect(JSON.stringify((await ask('DELETE', `/v1/projects/${of.projectId}`)).body)).toContain(
      'the files of its folder (1)',
    );
    await good('DELETE', `/v1/projects/${of.projectId}/file?path=plan.md`);
    await good('DELETE', `/v1/projects/${of.projectId}`);
  });
});
