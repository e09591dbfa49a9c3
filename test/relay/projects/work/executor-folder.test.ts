/** The folder of an executor, through a relay over HTTP, with real git and a real sandbox. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { attemptsSchema, diffSchema, type Attempt } from '../../../../src/shared/protocol/attempts.ts';
import { toolCallSchema, type ToolCall } from '../../../../src/shared/protocol/approvals.ts';
import { programSchema } from '../../../../src/shared/protocol/programs.ts';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';
import { programOf } from '../../../support/relay-build.ts';
import type { Part, Reply, ScriptedRequest } from '../../../support/scripted-model.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/projects/work/executor-folder.test.ts');

const MEMORY = 'the person is ill';
let scheduleRelay: ScheduleRelay;
let folder: string;
let script: (request: ScriptedRequest) => Reply | Promise<Reply> = () => [{ say: 'Done.' }];

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const grant = (toolsets: object) => good('PUT', '/v1/agents/a1/config', { coordination: { toolsets } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-executor-'));
  scheduleRelay = await openScheduleRelay(['a1'], (request) => script(request), { args: ['--scripts'] });
  await grant({ shell: 'allow' });
  await scheduleRelay.tool('a1', 'write_file', { path: 'memory.md', content: MEMORY });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const folderIn = (text: string) => /in the folder “([^”]+)”/.exec(text)?.[1] ?? '';
const run = (command: string): Part => ({ call: 'run_command', input: { command } });
const attempts = async (of: Task): Promise<Attempt[]> =>
  attemptsSchema.parse(await good('GET', `${at(of)}/attempts`)).attempts;

/** A task that the agent has claimed, and the folder of its checkout. */
async function claimed(fields: object): Promise<{ readonly task: Task; readonly where: string }> {
  const made = projectSchema.parse(await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'], ...fields }));
  const task = taskSchema.parse(
    await good('POST', `/v1/projects/${made.projectId}/tasks`, { title: 'Add', columnId: 'ready' }),
  );
  return { task, where: folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(task))) };
}
const repository = (name: string, files: Readonly<Record<string, string>>, fill?: (path: string) => void) =>
  createRepository(join(folder, name), files, fill);

/** Runs an executor that makes these calls. Resolves with its result, and that of each call. */
async function executes(
  task: Task,
  parts: readonly Part[],
  before: (index: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<{ readonly text: string; readonly results: readonly string[] }> {
  const results: string[] = [];
  let step = 0;
  script = async (request) => {
    results.push(...request.results);
    await before(step);
    return [parts[step++] ?? { call: 'complete', input: {} }];
  };
  const text = await scheduleRelay.tool('a1', 'execute_task', ids(task));
  return { text, results };
}
const read = (path: string): Part => ({ call: 'read_file', input: { path } });
const write = (path: string, content: string): Part => ({ call: 'write_file', input: { path, content } });

itLong('begins in the checkout with files and commands, and its work is on the branch and in the history', async () => {
  const { task, where } = await claimed({ kind: 'git', repository: repository('begins', { 'a.txt': 'one\n' }) });
  const { text, results } = await executes(task, [
    write('src/add.mjs', 'export const add = 1;\n'),
    { call: 'list_files', input: { deep: true } },
    run('pwd; git status --short; echo $HOME $ROOST_TASK'),
    run('git add -A && git commit -qm "Add" && git log --oneline | wc -l'),
    { call: 'edit_file', input: { path: 'a.txt', old_text: 'one', new_text: 'two' } },
    { call: 'move_file', input: { from: 'a.txt', to: 'b.txt' } },
    { call: 'search_files', input: { text: 'two' } },
    run('git add -A && git commit -qm "Move"'),
  ]);
  expect(results[1]).toContain('src/add.mjs');
  expect(results[1]).not.toContain('projects/');
  expect(results[2]).toMatch(/> \/workspace\n> \?\? src\/\n/);
  expect(results[2]).toContain(`> /tmp ${task.projectId}/${task.taskId}`);
  expect(results[3]).toContain('> 2');
  expect(results[6]).toContain('b.txt:1: two');
  expect(text).toContain('Outcome: complete');
  expect((await attempts(task)).at(-1)).toMatchObject({
    kind: 'executor',
    receipt: { commands: [{ code: 0 }, { code: 0 }, { code: 0 }], commits: [{}, {}], uncommitted: [] },
  });
  const listed = await scheduleRelay.tool('a1', 'list_files', {});
  expect(listed).not.toContain('src');
  const history = JSON.stringify(await good('GET', '/api/workspaces/a1/history'));
  expect(history).toContain(`"kind":"executor","projectId":"${task.projectId}"`);
  expect(await scheduleRelay.tool('a1', 'read_file', { path: `${where}/src/add.mjs` })).toContain('add = 1');
});

it('reads nothing of its agent, by paths, links, commands or the output of its agent’s commands', async () => {
  const links = (path: string) => {
    symlinkSync('../../..', join(path, 'up'));
    symlinkSync('/', join(path, 'top'));
    symlinkSync('../../../memory.md', join(path, 'file'));
  };
  const { task, where } = await claimed({ kind: 'git', repository: repository('reads', { 'a.txt': 'one\n' }, links) });
  await scheduleRelay.tool('a1', 'run_command', { command: 'cat memory.md', background: true });
  const own = /Command (c\d+) is running/.exec(
    await scheduleRelay.tool('a1', 'run_command', { command: 'cat memory.md', background: true }),
  )?.[1];
  const refused = [
    ...['memory.md', '../../../memory.md', 'up/memory.md', 'file', `/${where}/../../../memory.md`, where].map(read),
    write('up/planted.md', 'x'),
    { call: 'move_file', input: { from: 'up/memory.md', to: 'mine.md' } },
    { call: 'delete_file', input: { path: 'up/memory.md' } },
    { call: 'list_files', input: { path: 'up' } },
    { call: 'read_output', input: { id: own } },
    { call: 'stop_command', input: { id: own } },
    run('cat memory.md up/memory.md file ../memory.md /workspace/../memory.md'),
  ] as const;
  const { results } = await executes(task, [
    ...refused,
    { call: 'search_files', input: { text: 'ill' } },
    run('grep -rs "person is ill" / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr; ls /'),
  ]);
  expect(results).toHaveLength(refused.length + 2);
  expect(results.join('\n')).not.toContain(MEMORY);
  for (const [i, result] of results.slice(0, refused.length).entries())
    expect(result, JSON.stringify(refused[i])).toMatch(
      /There is no|leads out|is a link|not a path|is no folder|links are not followed|run no command|Exit status 1/,
    );
  expect(await scheduleRelay.tool('a1', 'read_file', { path: 'memory.md' })).toContain(MEMORY);
});

itLong('works in the folder of a folder project, also in one that is empty', async () => {
  const { task, where } = await claimed({ kind: 'folder' });
  const { text, results } = await executes(task, [run('pwd; ls -A'), write('plan.md', 'Bread.\n')]);
  expect(results[0]).toMatch(/> \/workspace/);
  expect(text).toContain('Outcome: complete');
  const { files } = diffSchema.parse(await good('GET', `${at(task)}/diff`));
  expect(files.map(({ path }) => path)).toEqual(['plan.md']);
  expect(await scheduleRelay.tool('a1', 'read_file', { path: `${where}/plan.md` })).toContain('Bread.');
});

it('refuses a checkout that was moved or replaced by a link, and makes no new one', async () => {
  const { task, where } = await claimed({ kind: 'git', repository: repository('moved', { 'a.txt': 'one\n' }) });
  const top = where.slice(0, where.lastIndexOf('/'));
  const { text, results } = await executes(
    task,
    [read('a.txt'), run('ls'), read('memory.md'), write('b.txt', 'x'), run('cat memory.md')],
    async (step) => {
      // An agent's own command may run beside its executor.
      const swap = `mv ${top} away && mkdir -p ${top} && ln -s ../.. ${where}`;
      if (step === 2)
        expect(await scheduleRelay.tool('a1', 'run_command', { command: swap })).toContain('Exit status 0');
    },
  );
  expect(results[0]).toContain('> one');
  expect(results.slice(2)).toEqual([
    expect.stringContaining('Your folder is gone'),
    expect.stringContaining('Your folder is gone'),
    expect.stringContaining('Your folder is gone'),
  ]);
  expect(text).toContain('Outcome: blocked');
  expect(await scheduleRelay.tool('a1', 'execute_task', ids(task))).toContain('The checkout of the task is gone');
});

itLong('leaves no command behind, and the commands of its agent go on', async () => {
  const { task, where } = await claimed({ kind: 'git', repository: repository('behind', { 'a.txt': 'one\n' }) });
  const own = await scheduleRelay.tool('a1', 'run_command', { command: 'sleep 100; echo woke', background: true });
  const { text } = await executes(task, [
    { call: 'run_command', input: { command: 'while sleep 0.1; do date >> late.txt; done', background: true } },
    run('until [ -s late.txt ]; do sleep 0.1; done'),
  ]);
  expect(text).toContain('late.txt');
  const late = () => scheduleRelay.tool('a1', 'run_command', { command: `wc -c < ${where}/late.txt; sleep 0.5` });
  const sizeIn = (said: string) => />\s*(\d+)/.exec(said)?.[1];
  const first = sizeIn(await late());
  expect(first).toBeDefined();
  expect(sizeIn(await late())).toBe(first);
  const id = /Command (c\d+) is running/.exec(own)?.[1] ?? '';
  expect(await scheduleRelay.tool('a1', 'read_output', { id })).toContain('still running');
  await scheduleRelay.tool('a1', 'stop_command', { id });
});

itLong('asks about a call of its checkout, and a later yes counts there', async () => {
  const { task, where } = await claimed({ kind: 'folder' });
  await grant({ shell: 'allow', files: 'ask' });
  const waiting = async (): Promise<readonly ToolCall[]> =>
    z.object({ waiting: z.array(toolCallSchema) }).parse(await good('GET', '/api/approvals')).waiting;
  // The agent's own question of the same words is another one.
  await scheduleRelay.tool('a1', 'write_file', { path: 'memory.md', content: 'Over.' });
  const { text } = await executes(task, [write('memory.md', 'Over.')]);
  expect(text).toContain('permission for write_file');
  const asked = await waiting();
  expect(asked.map(({ folder: of }) => of)).toEqual([undefined, where]);
  await good('POST', `/api/approvals/${asked[1]?.callId}/answer`, { answer: 'once' });
  await grant({ shell: 'allow', files: 'allow' });
  await expect.poll(() => scheduleRelay.tool('a1', 'read_file', { path: `${where}/memory.md` })).toContain('Over.');
  expect(await scheduleRelay.tool('a1', 'read_file', { path: 'memory.md' })).toContain(MEMORY);
  await good('POST', `/api/approvals/${asked[0]?.callId}/answer`, { answer: 'no' });
});

itLong('of two at once has each its own checkout, ports and commands', async () => {
  const path = repository('both', { 'a.txt': 'one\n' });
  const one = await claimed({ kind: 'git', repository: path, name: 'One' });
  const two = await claimed({ kind: 'git', repository: path, name: 'Two' });
  const seen = new Map<string, string[]>();
  script = ({ first, results }) => {
    const name = /BRIEF (\w+)/.exec(first)?.[1] ?? '';
    const known = [...(seen.get(name) ?? []), ...results];
    seen.set(name, known);
    const steps: readonly Part[] = [
      run(`echo ${name} > own.txt; git add -A; git commit -qm ${name}; echo $ROOST_TASK; sleep 1`),
      { call: 'list_files', input: {} },
    ];
    return [steps[known.length] ?? { call: 'complete', input: {} }];
  };
  const spawn = (task: Task, name: string) =>
    scheduleRelay.tool('a1', 'spawn_executor', { ...ids(task), executionPrompt: `BRIEF ${name}` });
  const texts = await Promise.all([spawn(one.task, 'one'), spawn(two.task, 'two')]);
  expect(texts.map((text) => /Outcome: (\w+)/.exec(text)?.[1])).toEqual(['complete', 'complete']);
  for (const [task, name] of [
    [one.task, 'one'],
    [two.task, 'two'],
  ] as const) {
    expect(seen.get(name)?.[0]).toContain(task.taskId);
    const executor = (await attempts(task)).find(({ kind }) => kind === 'executor');
    expect(executor?.receipt?.commits.map(({ subject }) => subject)).toEqual([name]);
    expect(executor?.receipt?.commands).toHaveLength(1);
  }
});

itLong('begins in the checkout when an API client of the agent asks for it', async () => {
  const { task } = await claimed({ kind: 'git', repository: repository('client', { 'a.txt': 'one\n' }) });
  const results: string[] = [];
  script = (request) => {
    results.push(...request.results);
    return [
      results.length === 0 ? run('git log --format=%s; cat ../memory.md') : { call: 'fail', input: { why: 'x' } },
    ];
  };
  const answer = await fetch(new URL('/v1/internal/spawn-executor', scheduleRelay.relay.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${await scheduleRelay.secret('a1')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ids(task), executionPrompt: 'Look around.' }),
  });
  expect(answer.status).toBe(200);
  expect(results[0]).toContain('> Begin');
  expect(results[0]).not.toContain(MEMORY);
});

itLong(
  'of an agent that an ACP agent drives is a run of a model, since an ACP agent sees the whole folder',
  async () => {
    const { task } = await claimed({ kind: 'folder' });
    const log = join(folder, 'acp.log');
    const args = [await programOf('test/support/acp-agent.mjs'), log, 'good'];
    const { programId } = programSchema.parse(
      await good('POST', '/api/agent-programs', { name: 'Program', command: process.execPath, args }),
    );
    const tried = readFileSync(log, 'utf8');
    await good('PUT', '/v1/agents/a1/config', { coordination: { mind: programId } });
    const { text } = await executes(task, [write('plan.md', 'Bread.')]);
    expect(text).toContain('Outcome: complete');
    expect(readFileSync(log, 'utf8')).toBe(tried);
  },
);
