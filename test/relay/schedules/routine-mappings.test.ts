/** Routines on projects, through a relay over HTTP: what each run is told, and what it may take. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Project, projectSchema, type Task, taskSchema } from '../../../src/shared/protocol/projects.ts';
import {
  type Mapping,
  mappingSchema,
  mappingsSchema,
  resolvedMappingsSchema,
} from '../../../src/shared/protocol/routine-mappings.ts';
import { type Scheduled, scheduledSchema, scheduleSchema } from '../../../src/shared/protocol/schedules.ts';
import { openNightRelay, type NightRelay } from '../../support/night-relay.ts';
import type { Reply, ScriptedRequest } from '../../support/scripted-model.ts';

const AGENTS = ['a1', 'a2', 'a3'];

let night: NightRelay;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
beforeAll(async () => {
  night = await openNightRelay(AGENTS, (request) => script(request));
});
afterAll(() => night.close());
beforeEach(() => (script = () => [{ say: 'Done.' }]));

async function ask(method: string, path: string, json?: unknown): Promise<{ status: number; body: unknown }> {
  const answer = await night.call(method, path, json);
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}
let names = 0;
const project = async (fields: object = {}): Promise<Project> =>
  projectSchema.parse(
    (await ask('POST', '/v1/projects', { name: `Project ${++names}`, agents: ['a1', 'a2'], ...fields })).body,
  );
const ready = async ({ projectId }: Project, fields: object = {}): Promise<Task> =>
  taskSchema.parse(
    (await ask('POST', `/v1/projects/${projectId}/tasks`, { title: 'Find a ferry', columnId: 'ready', ...fields }))
      .body,
  );
const routine = async (fields: object = {}): Promise<Scheduled> =>
  scheduledSchema.parse(
    (
      await ask(
        'POST',
        '/v1/pulse-routines',
        scheduleSchema.parse({
          kind: 'routine',
          agentId: 'a1',
          name: `Routine ${++names}`,
          instructions: '## Work\n\nTake *one* task.',
          timing: { kind: 'cron', cron: '0 0 1 1 *' },
          ...fields,
        }),
      )
    ).body,
  );
const at = ({ projectId }: Pick<Project, 'projectId'>, agentId = 'a1') =>
  `/v1/projects/${projectId}/agents/${agentId}/routines`;
const map = async (of: Project, { scheduleId, schedule }: Scheduled, fields: object = {}): Promise<Mapping> =>
  mappingSchema.parse((await ask('POST', at(of, schedule.agentId), { routineId: scheduleId, ...fields })).body);
const resolved = async (of: Project, agentId = 'a1') =>
  resolvedMappingsSchema.parse((await ask('GET', `${at(of, agentId)}/resolve`)).body).resolved;
/** Has the routine be due, and resolves with the requests of the runs that come of it. */
async function due({ scheduleId }: Scheduled, runs = 1): Promise<readonly ScriptedRequest[]> {
  const before = night.model.requests.length;
  const ended = async () => {
    const { body } = await ask('GET', `/v1/pulse-routines/${scheduleId}/history`);
    return (body as { occurrences: { endedAt: number | null }[] }).occurrences.filter(({ endedAt }) => endedAt !== null)
      .length;
  };
  const had = await ended();
  expect(await ask('POST', `/v1/pulse-routines/${scheduleId}/trigger`)).toMatchObject({ status: 202 });
  await expect.poll(ended, { timeout: 20_000 }).toBe(had + runs);
  return night.model.requests.slice(before);
}

describe('a routine on a project', () => {
  it('is one run that is told the project, its columns and how many tasks are ready', async () => {
    const made = await project({ name: 'Trip' });
    await ready(made);
    await ready(made);
    await ready(made, { assignee: 'a2' });
    const pulse = await routine();
    const mapping = await map(made, pulse, { columnIds: ['ready'] });
    expect(mapping).toMatchObject({ columnIds: ['ready'], toolOverrides: null, separate: false, waits: false });
    const [request, ...others] = await due(pulse);
    expect(others).toEqual([]);
    expect(request?.system).toContain('## Work\n\nTake *one* task.');
    expect(request?.first).toContain(`“Trip”, id ${made.projectId}. Columns: “Ready”, id ready (ready), ready: 2`);
    const { mappings } = mappingsSchema.parse((await ask('GET', at(made))).body);
    expect(mappings).toEqual([mapping]);
    expect(await resolved(made)).toMatchObject([{ columns: ['ready'], projectIds: [made.projectId] }]);
  });
});
