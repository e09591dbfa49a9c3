/** What the person was asked during an attempt stands in its receipt, with their answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { attemptsSchema, type Attempt } from '../../../../src/shared/protocol/attempts.ts';
import { toolCallSchema } from '../../../../src/shared/protocol/approvals.ts';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

let scheduleRelay: ScheduleRelay;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];

beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(['a1'], (request) => script(request));
  await good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'ask' } } });
});
afterAll(() => scheduleRelay.close());

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
async function newTask(title: string): Promise<Task> {
  const { projectId } = projectSchema.parse(await good('POST', '/v1/projects', { name: title, agents: ['a1'] }));
  return taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, { title, columnId: 'ready' }));
}
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const waiting = async () =>
  z.object({ waiting: z.array(toolCallSchema) }).parse(await good('GET', '/api/approvals')).waiting;
const answer = async (say: 'once' | 'no', command: string) => {
  let callId = '';
  await expect
    .poll(async () => (callId = (await waiting()).find(({ input }) => input.includes(command))?.callId ?? ''))
    .not.toBe('');
  await good('POST', `/api/approvals/${callId}/answer`, { answer: say });
};
async function ended(of: Task): Promise<Attempt> {
  let attempt: Attempt | undefined;
  await expect
    .poll(async () => {
      attempt = attemptsSchema.parse(await good('GET', `${at(of)}/attempts`)).attempts.at(-1);
      return attempt?.endedAt ?? null;
    })
    .not.toBeNull();
  return attempt as Attempt;
}
const folderIn = (text: string) => /in the folder “([^”]+)”/.exec(text)?.[1] ?? '';
const run = (command: string) => ({ call: 'run_command', input: { command } }) as const;

/** A run alone that claims the task, asks for these commands, and tries to move it to review. */
async function runAlone(of: Task, commands: readonly string[], answered: Promise<unknown>): Promise<string[]> {
  let results: readonly string[] = [];
  let step = 0;
  script = (request) => {
    ({ results } = request);
    const where = folderIn(request.results.find((text) => text.includes('The task is yours')) ?? '');
    const steps: Reply[] = [
      [{ call: 'claim_task', input: ids(of) }],
      [{ call: 'write_file', input: { path: `${where}/a.md`, content: 'Work.' } }],
      ...commands.map((command): Reply => [run(command)]),
      [{ until: answered }, { call: 'transition_task', input: { ...ids(of), status: 'review', note: 'All is well.' } }],
    ];
    return steps[step++] ?? [{ say: 'Done.' }];
  };
  const routine = { kind: 'routine', agentId: 'a1', name: of.title, instructions: 'Take it.' };
  const { scheduleId } = scheduledSchema.parse(
    await good('POST', '/v1/pulse-routines', { ...routine, timing: { kind: 'cron', cron: '0 0 1 1 *' } }),
  );
  await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
  await ended(of);
  return [...results];
}

describe('the receipt of an attempt', () => {
  it('lists what the person refused, and ends the attempt as blocked, never in review', async () => {
    const of = await newTask('Refused');
    let go: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (go = resolve));
    const over = runAlone(of, ['echo refused-one', 'echo waits-one'], answered);
    await answer('no', 'refused-one');
    await expect.poll(async () => (await waiting()).length).toBe(1);
    go();
    expect((await over).join('\n')).toContain('The human refused “run_command”. Move the task to blocked');
    const attempt = await ended(of);
    expect(attempt).toMatchObject({ outcome: 'blocked', note: expect.stringContaining('refused') as string });
    expect(attempt.receipt?.approvals).toEqual([
      { tool: 'run_command', allowed: false },
      { tool: 'run_command', allowed: null },
    ]);
    expect(taskSchema.parse(await good('GET', at(of)))).toMatchObject({ columnId: 'ready', request: null });
    await answer('no', 'waits-one');
  });

  it('lists what an API client was allowed, and nothing of earlier or other runs', async () => {
    script = () => [{ say: 'Done.' }];
    const of = await newTask('Allowed');
    await scheduleRelay.tool('a1', 'run_command', { command: 'echo earlier-one' });
    await answer('no', 'earlier-one');
    // The clock of the relay tells the two apart.
    await scheduleRelay.pass(1_000);
    const where = folderIn(await scheduleRelay.tool('a1', 'claim_task', ids(of)));
    await scheduleRelay.tool('a1', 'write_file', { path: `${where}/a.md`, content: 'Work.' });
    await scheduleRelay.tool('a1', 'run_command', { command: 'echo allowed-one' });
    await answer('once', 'allowed-one');
    expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids(of), status: 'review' })).toContain('Moved.');
    const attempt = await ended(of);
    expect(attempt.outcome).toBe('review');
    expect(attempt.receipt?.approvals).toEqual([{ tool: 'run_command', allowed: true }]);
  });

  it('lists no approvals when nobody was asked', async () => {
    const of = await newTask('Nobody');
    await runAlone(of, [], Promise.resolve());
    const attempt = await ended(of);
    expect([attempt.outcome, attempt.receipt?.approvals]).toEqual(['review', []]);
  });
});
