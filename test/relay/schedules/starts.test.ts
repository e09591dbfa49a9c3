/**
 * The person starts an agent on a task: in a run, or in the session. With real git and files. Only
 * the model is scripted.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWake } from '../../../src/shared/domain/wake-payload.ts';
import { attemptsSchema } from '../../../src/shared/protocol/attempts.ts';
import { obstaclesSchema } from '../../../src/shared/protocol/obstacles.ts';
import {
  boardSchema,
  projectSchema,
  taskSchema,
  type Project,
  type Task,
} from '../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../support/schedule-relay.ts';
import { createRepository } from '../../support/person-repository.ts';
import { teamScript, type Reply, type ScriptedRequest } from '../../support/scripted-model.ts';
import { payload } from '../../support/session.ts';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/schedules/starts.test.ts');

let scheduleRelay: ScheduleRelay;
let folder: string;
let work: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
const asleep = teamScript();
const wasStarted = ({ body }: ScriptedRequest) => JSON.stringify(body.messages).includes('The human starts you');
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-starts-'));
  scheduleRelay = await openScheduleRelay(['a1', 'a2'], (request) =>
    wasStarted(request) ? work(request) : asleep(request),
  );
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const read = async (of: Task): Promise<Task> => taskSchema.parse(await good('GET', at(of)));
const start = (of: Task, agentId = 'a1') => scheduleRelay.ask('POST', `${at(of)}/start`, { agentId });
const refusal = async (of: Task, agentId?: string) => (await start(of, agentId)).body as { detail: string };
const attempts = async (of: Task) => attemptsSchema.parse(await good('GET', `${at(of)}/attempts`)).attempts;
async function project(fields: object = {}): Promise<Project> {
  return projectSchema.parse(await good('POST', '/v1/projects', { name: 'Greeter', agents: ['a1', 'a2'], ...fields }));
}
const task = async ({ projectId }: Project, fields: object = {}): Promise<Task> =>
  taskSchema.parse(
    await good('POST', `/v1/projects/${projectId}/tasks`, {
      ...{ title: 'Greet by name', criteria: [{ text: 'It greets' }], columnId: 'ready', ...fields },
    }),
  );
const repository = (name: string) => createRepository(join(folder, name), { 'greet.txt': 'Hello\n' });
const messages = ({ body }: ScriptedRequest) => JSON.stringify(body.messages);

/** Writes one file, meets the criterion and moves the task to review, from what it was given. */
const toReview =
  (of: Task) =>
  (request: ScriptedRequest): Reply => {
    const ids = { projectId: of.projectId, taskId: of.taskId };
    const place = /in the folder “([^”]+)”/.exec(messages(request).replaceAll('\\"', '"'))?.[1] ?? '';
    const last = request.results.at(-1) ?? '';
    if (request.results.length === 0)
      return [{ call: 'write_file', input: { path: `${place}/greet.txt`, content: 'Hello, Ada\n' } }];
    if (last.includes('greet.txt'))
      return [{ call: 'meet_criterion', input: { ...ids, criterion: 1, evidence: 'greet.txt' } }];
    if (last.startsWith('Noted.'))
      return [{ call: 'transition_task', input: { ...ids, status: 'review', note: 'Done.' } }];
    return [{ say: 'It is in review.' }];
  };

describe('without a session', () => {
  it('a press starts one run that has the task from its beginning and brings it to review', async () => {
    const made = await task(await project({ kind: 'git', repository: repository('run') }), { columnId: 'backlog' });
    work = toReview(made);
    const presses = await Promise.all([start(made), start(made), start(made, 'a2')]);
    expect(presses.map(({ status }) => status).toSorted()).toEqual([200, 200, 409]);
    await expect.poll(async () => (await read(made)).columnId, { timeout: 15_000 }).toBe('review');
    const { history } = await read(made);
    const steps = history.map(({ by, what }) => `${by} ${what}`);
    expect(steps.slice(0, 5)).toEqual(['human created', 'human started', 'a1 claimed', 'a1 met', 'a1 moved']);
    expect(await attempts(made)).toHaveLength(1);
    expect(history.find(({ what }) => what === 'claimed')?.columnId).toBe('in_progress');
    // It has the task before the model is asked, and need not claim it.
    const runs = await scheduleRelay.history('a1');
    expect(runs.filter(({ kind }) => kind === 'wake')).toHaveLength(1);
    expect((await refusal(made)).detail).toBe('This task waits for your review. Send it back to have it changed.');
  });

  itLong(
    'a run that ends without a result leaves a task that says who stopped, and is continued by a press',
    async () => {
      const of = await project();
      const made = await task(of);
      work = () => [{ say: 'I do not know how.' }];
      expect((await start(made)).status).toBe(200);
      const card = async () => boardSchema.parse(await good('GET', `/v1/projects/${of.projectId}/board`)).cards[0];
      await expect.poll(async () => (await card())?.stopped?.agentId, { timeout: 15_000 }).toBe('a1');
      expect(await read(made)).toMatchObject({ columnId: 'ready', claim: null });
      work = toReview(made);
      expect((await start(made)).status).toBe(200);
      await expect.poll(async () => (await read(made)).columnId, { timeout: 15_000 }).toBe('review');
      expect((await card())?.stopped).toBe(undefined);
    },
  );

  it('a refusal says what is in the way and what helps, and nothing is claimed', async () => {
    const of = await project({ agents: ['a1'] });
    const made = await task(of);
    // The run before answers once more after its task has come to review.
    const isRunning = async () => (await scheduleRelay.history('a1')).some(({ state }) => state === 'running');
    await expect.poll(isRunning, { timeout: 15_000 }).toBe(false);
    work = () => [{ say: 'Never asked.' }];
    const asked = scheduleRelay.model.requests.length;
    expect((await refusal(made, 'a2')).detail).toBe(
      'Name of a2 may not work on this project. Allow it in the settings of the project.',
    );
    await good('PUT', '/v1/config', { daily_budget_usd: 0 });
    expect((await refusal(made)).detail).toContain('Raise the budget under Settings, What agents may do.');
    await good('PUT', '/v1/config', { daily_budget_usd: null });
    await good('PUT', `/v1/projects/${of.projectId}`, { dayMicroUsd: 0 });
    expect((await refusal(made)).detail).toContain('Raise that in its settings.');
    await good('PUT', `/v1/projects/${of.projectId}`, { dayMicroUsd: null });
    const later = await task(of, { blockedBy: [made.taskId] });
    expect((await refusal(later)).detail).toBe(
      `It waits for #${made.number}. Finish that task, or remove it under “Waits for”.`,
    );
    await good('DELETE', '/api/agent-snapshots/a1');
    const { status, body } = await start(made);
    expect({ status, body }).toMatchObject({
      status: 409,
      body: { type: expect.stringContaining('no-copy') as string },
    });
    expect(scheduleRelay.model.requests).toHaveLength(asked);
    expect((await read(made)).claim).toBe(null);
  });
});

describe('in a session', () => {
  it('an agent that is awake has no obstacle, gets the message, rests when its answer ends, and goes on', async () => {
    const lead = { name: 'Julian', soul: 'I am Julian.', transcript: null };
    await good('POST', '/api/sessions', { human: { name: 'Noa' }, lead });
    const of = await project();
    const [made, other] = [await task(of), await task(of)];
    const obstacle = async () =>
      obstaclesSchema.parse(await good('GET', `/v1/projects/${of.projectId}/obstacles`)).agents[0]?.obstacle;
    // It sleeps, and the relay has no copy of it.
    expect(await obstacle()).toMatchObject({ why: 'no-copy' });
    const text = writeWake([{ ...payload(0), id: 'a1' }]);
    await good('POST', '/api/messages', { text, clientId: 'wake' });
    await expect.poll(obstacle, { timeout: 15_000 }).toBe(null);
    await expect.poll(async () => (await scheduleRelay.wakes('a1')).length, { timeout: 15_000 }).toBeGreaterThan(0);

    work = () => [{ say: 'I look at it later.' }];
    const asked = () => scheduleRelay.model.requests.filter(wasStarted).length;
    const before = asked();
    expect((await Promise.all([start(made), start(made)])).map(({ status }) => status)).toEqual([200, 200]);
    await expect.poll(async () => (await read(made)).claim?.rests ?? 0, { timeout: 15_000 }).toBeGreaterThan(0);
    expect(asked() - before).toBe(1);
    expect(await read(made)).toMatchObject({ columnId: 'in_progress', claim: { agentId: 'a1' } });
    expect((await refusal(made, 'a2')).detail).toBe('Name of a1 has this task. Press “Release” first.');

    work = toReview(made);
    const continued = taskSchema.parse((await start(made)).body);
    expect(continued.claim?.agentId).toBe('a1');
    await expect.poll(async () => (await read(made)).columnId, { timeout: 15_000 }).toBe('review');
    expect((await read(other)).claim).toBe(null);
    await good('DELETE', '/api/sessions/current');
  });
});

describe('what a project grants of commands', () => {
  const offers = ({ body }: ScriptedRequest) => (body.tools ?? []).some(({ name }) => name === 'run_command');
  const copy = async () => {
    const { SNAPSHOT } = await import('../../support/schedules.ts');
    await good('PUT', '/api/agent-snapshots/a2', { version: 'v2', snapshot: { ...SNAPSHOT, name: 'Name of a2' } });
  };
  /** Starts a2 on a task of such a project. Resolves with what it was offered and answered. */
  async function tries(commands: string, name: string): Promise<{ offered: boolean; said: string }> {
    await copy();
    const made = await task(await project({ kind: 'git', repository: repository(name), commands }), { criteria: [] });
    let offered = false;
    let said = '';
    work = (request) => {
      if (request.results.length > 0) {
        said = request.results.join('\n');
        return [{ say: 'Done.' }];
      }
      offered = offers(request);
      return [{ call: 'run_command', input: { command: 'echo ran' } }];
    };
    expect((await start(made, 'a2')).status).toBe(200);
    await expect.poll(async () => (await read(made)).claim, { timeout: 15_000 }).toBe(null);
    return { offered, said };
  }

  itLong('holds while the agent has a task of it, and the agent’s own settings are not changed', async () => {
    const sandbox = await tries('sandbox', 'sandbox');
    expect(sandbox.offered).toBe(true);
    expect(sandbox.said).toContain('ran');
    expect((await tries('own', 'own')).offered).toBe(false);
    expect((await tries('none', 'none')).offered).toBe(false);
    const { effective } = (await good('GET', '/v1/agents/a2/config')) as {
      effective: { coordination: { toolsets: { shell: string } } };
    };
    expect(effective.coordination.toolsets.shell).toBe('off');
  });

  it('does not widen what was set for the agent itself, and may narrow what all may do', async () => {
    await good('PUT', '/v1/agents/a2/config', { coordination: { toolsets: { shell: 'off' } } });
    expect((await tries('sandbox', 'own-off')).offered).toBe(false);
    await good('PUT', '/v1/agents/a2/config', { coordination: {} });
    await good('PUT', '/v1/config', { coordination: { toolsets: { shell: 'allow' } } });
    expect((await tries('none', 'narrowed')).offered).toBe(false);
    await good('PUT', '/v1/config', { coordination: {} });
  });
});
