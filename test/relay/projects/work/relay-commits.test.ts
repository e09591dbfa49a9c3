/**
 * Work of agents that may run no git, as at default settings: the relay commits it. With real git,
 * a real sandbox and a real repository. Only the model is scripted.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsSchema, diffSchema, executedSchema } from '../../../../src/shared/protocol/attempts.ts';
import { obstaclesSchema } from '../../../../src/shared/protocol/obstacles.ts';
import {
  claimedTaskSchema,
  projectSchema,
  taskSchema,
  type Project,
  type Task,
} from '../../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/projects/work/relay-commits.test.ts');

const SECRET = 'KEY=a-secret-of-the-person\n';
const AGENTS = ['a1', 'a2'];
let scheduleRelay: ScheduleRelay;
let folder: string;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-commits-'));
  scheduleRelay = await openScheduleRelay(AGENTS, (request) => script(request));
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const read = async (of: Task): Promise<Task> => taskSchema.parse(await good('GET', at(of)));
const diffOf = async (of: Task) => diffSchema.parse(await good('GET', `${at(of)}/diff`));
const folderIn = (text: string) => /in the folder “([^”]+)”/.exec(text)?.[1] ?? '';
const config = (coordination: object) => good('PUT', '/v1/agents/a1/config', { coordination });

/** A project of a new repository with checks and a setup, and a ready task. `.env` is copied. */
async function ready(name: string, fields: object = {}): Promise<{ path: string; of: Project; made: Task }> {
  const path = createRepository(join(folder, name), { 'a.txt': 'one\n', '.gitignore': '*.log\n' });
  writeFileSync(join(path, '.env'), SECRET);
  writeFileSync(join(path, '.git', 'info', 'exclude'), '.env\n');
  const of = projectSchema.parse(
    await good('POST', '/v1/projects', {
      ...{ name, agents: AGENTS, kind: 'git', repository: path, copy: ['.env'] },
      ...{ setup: 'test -f .env', checks: ['grep -q two b.txt'], ...fields },
    }),
  );
  const made = taskSchema.parse(
    await good('POST', `/v1/projects/${of.projectId}/tasks`, { title: 'Add “b” -- it’s new', columnId: 'ready' }),
  );
  return { path, of, made };
}

/** The task is in review with one commit of the agent, and is merged. */
async function isAccepted(path: string, made: Task, by: string): Promise<void> {
  const task = await read(made);
  expect(task).toMatchObject({ columnId: 'review', request: { state: 'open' } });
  const diff = await diffOf(made);
  expect(diff.commits.map(({ subject }) => subject)).toEqual([made.title]);
  expect(diff.files).toMatchObject([{ path: 'b.txt', status: 'added' }]);
  await good('POST', `${at(made)}/request/merge`, { head: diff.head });
  expect(readFileSync(join(path, 'b.txt'), 'utf8')).toBe('two\n');
  expect(git(path, 'log', '-1', '--format=%an', diff.head).trim()).toBe(by);
  expect(git(path, 'log', '--all', '--name-only', '--format=')).not.toContain('.env');
}

describe('an agent at default settings, in a project of a repository', () => {
  it('brings a task from claim to merge in a run: the relay commits its files at the move to review', async () => {
    const { path, of, made } = await ready('run');
    let step = 0;
    let claimed = '';
    script = ({ results }) => {
      if (step === 1) claimed = results.at(-1) ?? '';
      const where = folderIn(claimed);
      const steps: Reply[] = [
        [{ call: 'claim_task', input: ids(made) }],
        [{ call: 'write_file', input: { path: `${where}/b.txt`, content: 'two\n' } }],
        [{ call: 'write_file', input: { path: `${where}/build.log`, content: 'built\n' } }],
        [{ call: 'transition_task', input: { ...ids(made), status: 'review' } }],
      ];
      return steps[step++] ?? [{ say: 'Done.' }];
    };
    const routine = { kind: 'routine', agentId: 'a1', name: 'Works', instructions: 'Take it.' };
    const timing = { kind: 'weekly', days: [1], time: '07:30' };
    const { scheduleId } = scheduledSchema.parse(await good('POST', '/v1/pulse-routines', { ...routine, timing }));
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect.poll(async () => (await read(made)).request?.state, { timeout: 30_000 }).toBe('open');
    expect(claimed).toContain('The relay commits what you change there when you move the task to review');
    expect(claimed).not.toContain('Commit what you do');
    await isAccepted(path, made, 'Name of a1');
    const { attempts } = attemptsSchema.parse(await good('GET', `${at(made)}/attempts`));
    expect(attempts).toMatchObject([{ outcome: 'review', receipt: { uncommitted: [], checks: [{ code: 0 }] } }]);
    expect(obstaclesSchema.parse(await good('GET', `/v1/projects/${of.projectId}/obstacles`)).project).toBe(null);
  });

  itLong(
    'brings a task from claim to merge as an MCP client, which is told the tools that reach the files',
    async () => {
      const { path, made } = await ready('client');
      const claimed = await scheduleRelay.tool('a2', 'claim_task', ids(made));
      const where = folderIn(claimed);
      expect(claimed).toContain('You reach it only by tools of Roost’s MCP server (/mcp): ');
      expect(claimed).toContain('write_file');
      expect(claimed).toContain(`Their paths begin with ${where}/.`);
      expect(claimed).not.toMatch(/run_command|of your own folder|Commit what you do/);
      await scheduleRelay.tool('a2', 'write_file', { path: `${where}/b.txt`, content: 'two\n' });
      expect(
        await scheduleRelay.tool('a2', 'open_pull_request', { ...ids(made), title: 'B', body: 'Look.' }),
      ).toContain('The request is open');
      expect(await scheduleRelay.tool('a2', 'transition_task', { ...ids(made), status: 'review' })).toContain('Moved.');
      await isAccepted(path, made, 'Name of a2');
    },
  );

  itLong(
    'brings a task from claim to merge as an API client: the answer to the claim says where the work is',
    async () => {
      const { path, made } = await ready('api');
      const secret = await scheduleRelay.secret('a2');
      const headers = { authorization: `Bearer ${secret}` };
      const claim = () => fetch(new URL(`${at(made)}/claim`, scheduleRelay.relay.url), { method: 'POST', headers });
      const client = new Client({ name: 'a-program', version: '1.0.0' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', scheduleRelay.relay.url), { requestInit: { headers } }),
      );
      const tool = async (name: string, input: Record<string, unknown>) =>
        JSON.stringify(await client.callTool({ name, arguments: input }));
      const answer = await claim();
      expect(answer.status).toBe(200);
      const claimed = claimedTaskSchema.parse(await answer.json());
      expect(claimed).toMatchObject({ columnId: 'in_progress', claim: { agentId: 'a2' } });
      expect(claimed.place).toContain('by tools of Roost’s MCP server (/mcp)');
      expect(claimed.place).toContain('The relay commits what you change there');
      const where = folderIn(claimed.place);
      // The same claim once more is answered as it is.
      const again = claimedTaskSchema.parse(await (await claim()).json());
      expect(folderIn(again.place)).toBe(where);
      expect(await tool('write_file', { path: `${where}/b.txt`, content: 'two\n' })).not.toContain('"isError":true');
      expect(await tool('transition_task', { ...ids(made), status: 'review' })).toContain('Moved.');
      await client.close();
      await isAccepted(path, made, 'Name of a2');
    },
  );

  itLong('has an executor whose work the relay commits', async () => {
    const { path, made } = await ready('executor');
    await scheduleRelay.tool('a2', 'claim_task', ids(made));
    const isExecutor = ({ system }: ScriptedRequest) => system.includes('You execute one task from a brief');
    let told = '';
    let step = 0;
    script = (request) => {
      if (!isExecutor(request)) return [{ say: 'Done.' }];
      told = request.system;
      const steps: Reply[] = [
        [{ call: 'write_file', input: { path: 'b.txt', content: 'two\n' } }],
        [{ call: 'complete', input: {} }],
      ];
      return steps[step++] ?? [{ say: 'Done.' }];
    };
    const answer = await fetch(new URL('/v1/internal/spawn-executor', scheduleRelay.relay.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${await scheduleRelay.secret('a2')}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ids(made), executionPrompt: 'Add b.txt with two.' }),
    });
    expect(executedSchema.parse(await answer.json())).toMatchObject({ outcome: 'complete', why: null });
    expect(told).toContain('You need not commit');
    expect(await scheduleRelay.tool('a2', 'transition_task', { ...ids(made), status: 'review' })).toContain('Moved.');
    await isAccepted(path, made, 'Name of a2');
  });

  itLong('is told what the relay does not commit: large files, copied content, and other repositories', async () => {
    const { made, path } = await ready('left');
    const where = folderIn(await scheduleRelay.tool('a2', 'claim_task', ids(made)));
    const write = (name: string, content: string) =>
      scheduleRelay.tool('a2', 'write_file', { path: `${where}/${name}`, content });
    const review = () => scheduleRelay.tool('a2', 'transition_task', { ...ids(made), status: 'review' });
    const commits = () => git(path, 'log', '--all', '--format=%s');
    await write('b.txt', 'two\n');
    await write('settings.txt', SECRET);
    expect(await review()).toMatch(/could not commit “settings\.txt”\. It commits files of at most 50 MB, no content/);
    await scheduleRelay.tool('a2', 'delete_file', { path: `${where}/settings.txt` });
    // As programs of an agent that has commands, or had them, leave them.
    const checkout = execFileSync('find', [scheduleRelay.relay.home, '-type', 'd', '-path', `*/${where}`], {
      encoding: 'utf8',
    });
    const place = checkout.trim();
    writeFileSync(join(place, 'large.bin'), '');
    truncateSync(join(place, 'large.bin'), 50_000_001);
    expect(await review()).toContain('could not commit “large.bin”.');
    truncateSync(join(place, 'large.bin'), 10);
    createRepository(join(place, 'nested'), { 'c.txt': 'three\n' });
    expect(await review()).toContain('could not commit “nested/”.');
    expect((await read(made)).columnId).toBe('in_progress');
    rmSync(join(place, 'nested'), { recursive: true });
    await scheduleRelay.tool('a2', 'delete_file', { path: `${where}/large.bin` });
    expect(await review()).toContain('Moved.');
    expect((await diffOf(made)).files.map(({ path: file }) => file)).toEqual(['b.txt']);
    expect(commits()).not.toContain(made.title);
  });
});

describe('an agent that could not do the work', () => {
  it('has an obstacle that names the setting, and no routine asks a model', async () => {
    const { of } = await ready('off');
    const obstacle = async () =>
      obstaclesSchema
        .parse(await good('GET', `/v1/projects/${of.projectId}/obstacles`))
        .agents.find(({ agentId }) => agentId === 'a1')?.obstacle;
    expect(await obstacle()).toBe(null);
    await config({ toolsets: { files: 'off' } });
    expect(await obstacle()).toMatchObject({ why: 'tools-off' });
    expect((await obstacle())?.detail).toContain('neither write files nor run commands');
    const { scheduleId } = scheduledSchema.parse(
      await good('POST', '/v1/pulse-routines', {
        ...{ kind: 'routine', agentId: 'a1', name: 'Pulse', instructions: 'Work.', when: 'something_waits' },
        timing: { kind: 'every', minutes: 30 },
      }),
    );
    await good('POST', `/v1/projects/${of.projectId}/agents/a1/routines`, { routineId: scheduleId });
    const asked = scheduleRelay.model.requests.length;
    const nextAt = (await scheduleRelay.scheduled('a1')).find((one) => one.scheduleId === scheduleId)?.nextAt ?? 0;
    await scheduleRelay.pass(nextAt - scheduleRelay.now() + 1_000);
    const newest = async () => (await scheduleRelay.history('a1')).find((one) => one.scheduleId === scheduleId);
    await expect.poll(async () => (await newest())?.reason, { timeout: 10_000 }).toBe('nothing-waits');
    expect(scheduleRelay.model.requests).toHaveLength(asked);
    await good('DELETE', `/v1/pulse-routines/${scheduleId}`);
    await config({ toolsets: { projects: 'off' } });
    expect((await obstacle())?.detail).toContain('claim_task');
    await config({ toolsets: { files: 'allow', projects: 'allow' } });
    expect(await obstacle()).toBe(null);
  });
});
