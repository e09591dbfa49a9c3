/** The demo mind takes a folder task from ready to review. A newcomer sees that without a key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_INSTRUCTIONS } from '../../../../src/shared/domain/schedule/default-routine.ts';
import { projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { diffSchema } from '../../../../src/shared/protocol/attempts.ts';
import { type Browser, openTestRelay, type OpenRelay } from '../../../support/open-relay.ts';
import { SNAPSHOT } from '../../../support/schedules.ts';

let relay: OpenRelay;
let browser: Browser;
beforeAll(async () => {
  relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
  browser = await relay.signIn();
  const agents = [
    { agentId: 'lead', name: 'Julian', position: 4, retired: false },
    { agentId: 'a1', name: 'Wren', position: 0, retired: false },
  ];
  await good('PUT', '/api/team', { agents });
  await good('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: { ...SNAPSHOT, name: 'Wren' } });
});
afterAll(() => relay.close());

async function good(method: string, path: string, json?: unknown): Promise<unknown> {
  const answer = await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  const text = await answer.text();
  expect(answer.ok, `${method} ${path}: ${text}`).toBe(true);
  return text === '' ? null : JSON.parse(text);
}

describe('the demo mind', () => {
  it('takes a task from ready to review in the nine steps of the default routine, and its diff is there', async () => {
    const project = projectSchema.parse(await good('POST', '/v1/projects', { name: 'Trip', agents: ['a1'] }));
    const tasks = `/v1/projects/${project.projectId}/tasks`;
    const task = taskSchema.parse(
      await good('POST', tasks, {
        ...{ title: 'Find a ferry', columnId: 'ready' },
        criteria: [{ text: 'Three ferries' }, { text: 'Their prices' }],
      }),
    );
    const routine = {
      ...{ kind: 'routine', agentId: 'a1', name: 'Work' },
      instructions: PROJECT_INSTRUCTIONS,
      timing: { kind: 'weekly', days: [1], time: '07:30' },
    };
    const { scheduleId } = (await good('POST', '/v1/pulse-routines', routine)) as { scheduleId: string };
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    const read = async () => taskSchema.parse(await good('GET', `${tasks}/${task.taskId}`));
    await expect.poll(read, { timeout: 15_000 }).toMatchObject({ columnId: 'review', claim: null });
    const calls = async () =>
      ((await good('GET', '/api/calls')) as { calls: { tool: string }[] }).calls.map(({ tool }) => tool).toReversed();
    await expect
      .poll(calls, { timeout: 15_000 })
      .toEqual([
        ...['read_inbox', 'search_conversations', 'get_my_projects', 'get_ready_tasks', 'claim_task'],
        ...['get_task_context', 'write_file', 'meet_criterion', 'meet_criterion', 'open_pull_request'],
        'transition_task',
      ]);
    expect((await read()).criteria.every(({ met }) => met?.by === 'a1')).toBe(true);
    const diff = diffSchema.parse(await good('GET', `${tasks}/${task.taskId}/diff`));
    expect(diff.files).toMatchObject([{ path: 'result.md', status: 'added' }]);
    expect(diff.files[0]?.patch).toContain('+# Find a ferry');
  });
});
