/** The time of a run that waits for its executor, through a relay over HTTP. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attemptsSchema } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import type { Part, Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

/** Most that the planner's run may take. Its executor takes longer. */
const PLANNER_MS = 5_000;
let scheduleRelay: ScheduleRelay;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);

beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(['a1'], (request) => script(request));
});
afterAll(() => scheduleRelay.close());

it('a run whose time is shorter than its executor’s waits for it, and goes on', async () => {
  const { projectId } = projectSchema.parse(
    await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'], kind: 'folder' }),
  );
  const { taskId } = taskSchema.parse(
    await good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Add', columnId: 'ready' }),
  );
  const ids = { projectId, taskId };
  let said = '';
  const steps: readonly Part[] = [
    { call: 'claim_task', input: ids },
    { call: 'execute_task', input: ids },
    { call: 'transition_task', input: { ...ids, status: 'review' } },
  ];
  let step = 0;
  script = ({ system, results }) => {
    if (system.startsWith('You execute one task'))
      return results.length === 0
        ? [{ wait: PLANNER_MS + 1_000 }, { call: 'write_file', input: { path: 'plan.md', content: 'Bread.' } }]
        : [{ call: 'complete', input: {} }];
    said += results.join('\n');
    return [steps[step++] ?? { say: 'All is well.' }];
  };
  const { scheduleId } = scheduledSchema.parse(
    await good('POST', '/v1/pulse-routines', {
      ...{ kind: 'routine', agentId: 'a1', name: 'Bake', instructions: 'Bake.', timeoutMs: PLANNER_MS },
      timing: { kind: 'cron', cron: '0 0 1 1 *' },
    }),
  );
  await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
  await expect
    .poll(async () => (await scheduleRelay.history('a1')).find((each) => each.scheduleId === scheduleId)?.state, {
      timeout: 40_000,
    })
    .toBe('done');
  expect(said).toContain('Outcome: complete');
  const { attempts } = attemptsSchema.parse(await good('GET', `/v1/projects/${projectId}/tasks/${taskId}/attempts`));
  expect(attempts.map(({ kind, outcome }) => [kind, outcome])).toEqual([
    ['agent', 'review'],
    ['executor', 'done'],
  ]);
});
