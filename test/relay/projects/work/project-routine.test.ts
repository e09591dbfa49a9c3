/**
 * A night on a project, as its person sees it: a routine takes what is ready, two requests wait in
 * the morning, one is merged, and the agent takes up the changes that were asked for on the other.
 * Through a relay over HTTP, with real git and a real sandbox.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROJECT_INSTRUCTIONS } from '../../../../src/shared/domain/schedule/default-routine.ts';
import { attemptsSchema, diffSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, tasksSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

const AGENTS = ['a1', 'a2'];
let scheduleRelay: ScheduleRelay;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-night-'));
  scheduleRelay = await openScheduleRelay(AGENTS, work);
  await good('PUT', '/v1/agents/a1/config', {
    coordination: {
      toolsets: { shell: 'allow' },
      wake_guardrails: { cooldown_seconds: 0, max_daily_session_minutes: 1_440 },
    },
  });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);

/** What its calls in this run have answered. */
let heard: string[] = [];

/** An agent that follows the routine: it takes the first task that is ready, and does it. */
function work({ first, results }: ScriptedRequest): Reply {
  heard = results.length === 0 ? [] : [...heard, ...results];
  const last = heard.at(-1) ?? '';
  const projectId = /, id ([\w-]+)\. Columns/.exec(first)?.[1] ?? '';
  const claim = heard.find((text) => text.includes('in the folder')) ?? '';
  const taskId = /^#\d+ .*, id ([\w-]+),/m.exec(claim)?.[1] ?? '';
  const number = /^#(\d+) /m.exec(claim)?.[1] ?? '';
  const where = /in the folder “([^”]+)”/.exec(claim)?.[1] ?? '';
  const ids = { projectId, taskId };
  const line = claim.includes('Write it in capitals.') ? `TASK ${number}` : `task ${number}`;
  const steps: { call: string; input: object }[] = [
    { call: 'get_ready_tasks', input: { projectId } },
    { call: 'claim_task', input: { projectId, taskId: /^#\d+ .*, id ([\w-]+),/m.exec(last)?.[1] ?? '' } },
    {
      call: 'run_command',
      input: { command: `cd ${where} && echo ${line} > ${number}.txt && git add -A && git commit -qm "Do ${line}"` },
    },
    { call: 'meet_criterion', input: { ...ids, criterion: 1, evidence: `${number}.txt` } },
    { call: 'open_pull_request', input: { ...ids, title: `Task ${number}`, body: 'Look at the file.' } },
    { call: 'transition_task', input: { ...ids, status: 'review' } },
  ];
  const next = steps[heard.length];
  if (!next || (heard.length === 1 && !/^#\d/m.test(last))) return [{ say: 'That was all.' }];
  return [next];
}

it('a night ends with requests that wait for the person, and goes on with what the person asks for', async () => {
  const path = createRepository(join(folder, 'repository'), { 'README.md': 'A list.\n' });
  const { projectId } = projectSchema.parse(
    await good('POST', '/v1/projects', {
      ...{ name: 'Lists', kind: 'git', repository: path, agents: AGENTS },
      checks: ['test -s README.md && ls [0-9].txt'],
    }),
  );
  const tasks = `/v1/projects/${projectId}/tasks`;
  const create = async (title: string, fields: object = {}) =>
    taskSchema.parse(
      await good('POST', tasks, { title, columnId: 'ready', criteria: [{ text: 'A file' }], ...fields }),
    );
  const one = await create('One');
  const [two, three] = [await create('Two'), await create('Three', { blockedBy: [one.taskId] })];
  const { scheduleId } = (await good('POST', '/v1/pulse-routines', {
    ...{ kind: 'routine', agentId: 'a1', name: 'Pulse', instructions: PROJECT_INSTRUCTIONS },
    ...{ timing: { kind: 'every', minutes: 30 }, when: 'something_waits' },
  })) as { scheduleId: string };
  await good('POST', `/v1/projects/${projectId}/agents/a1/routines`, { routineId: scheduleId });

  const at = ({ taskId }: Task) => `${tasks}/${taskId}`;
  const columns = async () =>
    tasksSchema
      .parse(await good('GET', tasks))
      .tasks.toSorted((a, b) => a.number - b.number)
      .map(({ columnId }) => columnId);
  /** The next run of the routine begins and ends. Resolves with the requests it made. */
  async function pass(): Promise<number> {
    const [before, runs] = [scheduleRelay.model.requests.length, (await scheduleRelay.history('a1')).length];
    const [due] = await scheduleRelay.scheduled('a1');
    await scheduleRelay.pass((due?.nextAt ?? 0) - scheduleRelay.now());
    await expect
      .poll(async () => (await scheduleRelay.history('a1')).slice(0, -runs || undefined).map(({ state }) => state), {
        timeout: 30_000,
      })
      .toEqual([expect.stringMatching(/^(done|skipped)$/)]);
    return scheduleRelay.model.requests.length - before;
  }
  await pass();
  await pass();
  expect(await columns()).toEqual(['review', 'review', 'ready']);
  // The third waits for the first: the night costs nothing more.
  expect(await pass()).toBe(0);

  for (const task of [one, two]) {
    const [attempt] = attemptsSchema.parse(await good('GET', `${at(task)}/attempts`)).attempts;
    expect(attempt).toMatchObject({
      ...{ agentId: 'a1', outcome: 'review' },
      receipt: {
        commits: [{ subject: `Do task ${task.number}` }],
        files: [{ path: `${task.number}.txt`, status: 'added', added: 1 }],
        checks: [{ code: 0 }],
      },
    });
    expect(attempt?.receipt?.costMicroUsd).toBeGreaterThan(0);
    expect(diffSchema.parse(await good('GET', `${at(task)}/diff`)).files).toHaveLength(1);
  }
  await good('POST', `${at(one)}/request/merge`, {});
  await good('POST', `${at(two)}/request/changes`, { note: 'Write it in capitals.' });
  expect(await columns()).toEqual(['done', 'ready', 'ready']);
  await pass();
  await pass();
  expect(await columns()).toEqual(['done', 'review', 'review']);
  for (const task of [two, three]) await good('POST', `${at(task)}/request/merge`, {});
  expect(await columns()).toEqual(['done', 'done', 'done']);
  expect([1, 2, 3].map((number) => readFileSync(join(path, `${number}.txt`), 'utf8'))).toEqual([
    'task 1\n',
    'TASK 2\n',
    'task 3\n',
  ]);
  expect(git(path, 'status', '--porcelain')).toBe('');
});
