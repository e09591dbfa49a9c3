/** Routines on projects, by HTTP: what the relay refuses, and what it gets back from a page. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventSchema } from '../../../src/shared/protocol/events.ts';
import { documentsOf } from '../../../src/shared/protocol/intake.ts';
import { type Project, projectSchema } from '../../../src/shared/protocol/projects.ts';
import { offeredRecordsSchema } from '../../../src/shared/protocol/records.ts';
import {
  type Mapping,
  mappingSchema,
  mappingsSchema,
  resolvedMappingsSchema,
} from '../../../src/shared/protocol/routine-mappings.ts';
import { type Scheduled, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { eventsOf } from '../../support/homes.ts';
import { type Browser, openTestRelay, type OpenRelay } from '../../support/open-relay.ts';
import { allowAll, askedOf, offered } from '../../support/records.ts';

const DEMO = { args: ['--rehearsal', '{"delayMs":0,"wordMs":0}', '--rate', '100000', '--burst', '1000000'] };
const HARD = 'x \u2028"\\ 🪺 \ud800';
const TEAM = ['a1', 'a2', 'a3'].map((agentId, position) => ({
  agentId,
  name: `Name ${agentId}`,
  position,
  retired: false,
}));

let relay: OpenRelay;
let page: Browser;
beforeAll(async () => {
  relay = await openTestRelay(DEMO);
  page = await relay.signIn();
  await ask('PUT', '/api/team', { agents: TEAM });
});
afterAll(() => relay.close());

async function ask(method: string, path: string, json?: unknown, by = page) {
  const answer = await by.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}
let made = 0;
const project = async (fields: object = {}, by = page): Promise<Project> =>
  projectSchema.parse((await ask('POST', '/v1/projects', { name: 'Trip', agents: ['a1', 'a2'], ...fields }, by)).body);
const routine = async (fields: object = {}, by = page): Promise<Scheduled> =>
  scheduledSchema.parse(
    (
      await ask(
        'POST',
        '/v1/pulse-routines',
        {
          ...{ kind: 'routine', agentId: 'a1', name: `R${(made += 1)}`, instructions: 'Work.' },
          ...{ timing: { kind: 'every', minutes: 30 }, ...fields },
        },
        by,
      )
    ).body,
  );
const at = ({ projectId }: { readonly projectId: string }, agentId = 'a1') =>
  `/v1/projects/${projectId}/agents/${agentId}/routines`;
const map = async (of: Project, { scheduleId }: Scheduled, fields: object = {}, by = page): Promise<Mapping> =>
  mappingSchema.parse((await ask('POST', at(of), { routineId: scheduleId, ...fields }, by)).body);
const list = async (of: Project, by = page) =>
  mappingsSchema.parse((await ask('GET', at(of), undefined, by)).body).mappings;

describe('the routines of an agent on a project', () => {
  it('sets, reads, removes and changes mappings from the version that was read', async () => {
    const [trip, pulse] = [await project(), await routine({ pulse_columns: ['Ready'] })];
    const mapping = await map(trip, pulse);
    expect(mapping).toMatchObject({
      ...{ projectId: trip.projectId, routineId: pulse.scheduleId, agentId: 'a1', name: pulse.schedule.name },
      ...{ columnIds: null, toolOverrides: null, separate: false, enabled: true, waits: false, version: 0 },
    });
    expect(await list(trip)).toEqual([mapping]);
    // An agent by its seat.
    expect(await ask('GET', at(trip, '1'))).toMatchObject({ status: 200, body: { mappings: [mapping] } });
    const path = `${at(trip)}/${mapping.mappingId}`;
    expect(await ask('PUT', path, { columnIds: ['review'], version: 0 })).toMatchObject({
      ...{ status: 200, body: { columnIds: ['review'], toolOverrides: null, version: 1 } },
    });
    expect(await ask('PUT', path, { separate: true, version: 0 })).toMatchObject({
      status: 409,
      body: { type: 'about:roost/changed-elsewhere', current: { columnIds: ['review'], separate: false, version: 1 } },
    });
    expect(await ask('PUT', path, { columnIds: null })).toMatchObject({ status: 200, body: { columnIds: null } });
    const { resolved } = resolvedMappingsSchema.parse((await ask('GET', `${at(trip)}/resolve`)).body);
    expect(resolved).toMatchObject([{ mappingId: mapping.mappingId, columns: ['ready'], planningModel: null }]);
    expect(resolved[0]?.tools).toContain('claim_task');
    expect(await ask('DELETE', path)).toMatchObject({ status: 204 });
    expect(await list(trip)).toEqual([]);
    expect(await ask('DELETE', path)).toMatchObject({ status: 404, body: { type: 'about:roost/no-mapping' } });
    // Set once more: the same mapping, with nothing of what was set before.
    expect(await map(trip, pulse)).toMatchObject({ mappingId: mapping.mappingId, columnIds: null });
  });

  it('refuses a mapping with the reason, and changes nothing', async () => {
    const [trip, other] = [await project(), await project({ columns: [...(await project()).columns, LATER] })];
    const [pulse, foreign] = [await routine(), await routine({ agentId: 'a2' })];
    const script = { agentId: 'a1', kind: 'reminder', name: 'Tea', message: 'x', timing: { kind: 'once', at: 9e12 } };
    const reminder = scheduledSchema.parse((await ask('POST', '/v1/pulse-routines', script)).body);
    const mapping = await map(trip, pulse);
    const own = `${at(trip)}/${mapping.mappingId}`;
    const routineId = pulse.scheduleId;
    const free = (await routine()).scheduleId;
    for (const [method, path, json, status, type, words] of [
      ['POST', at(trip), { routineId }, 409, 'mapped-already', 'already'],
      ['POST', at(other), { routineId, columnIds: [HARD] }, 400, 'misfit', 'no column'],
      ['POST', at(trip), { routineId: free, columnIds: ['later'] }, 400, 'misfit', 'no column “later”'],
      ['PUT', own, { columnIds: ['later'] }, 400, 'misfit', '"field":"columnIds"'],
      ['PUT', own, { toolOverrides: ['fly'] }, 400, 'misfit', 'no tool called “fly”'],
      ['PUT', own, { routineId: free }, 400, 'misfit', 'routineId'],
      ['POST', at(trip), { routineId: free, toolOverrides: 'all' }, 400, 'misfit', 'toolOverrides'],
      ['POST', at(trip), { routineId: foreign.scheduleId }, 400, 'misfit', 'of another agent'],
      ['POST', at(trip), { routineId: reminder.scheduleId }, 404, 'unknown-schedule', 'no such routine'],
      ['POST', at(trip), { routineId: 'none' }, 404, 'unknown-schedule', 'no such routine'],
      ['POST', at(trip), { routineId: 'a\0b' }, 400, 'misfit', 'routineId'],
      ['POST', at(trip, 'a3'), { routineId }, 404, 'not-assigned', 'does not work on this project'],
      ['GET', at(trip, 'a3'), undefined, 404, 'not-assigned', 'does not work on this project'],
      ['GET', `${at(trip, 'a3')}/resolve`, undefined, 404, 'not-assigned', 'Add it to the project'],
      ['GET', at(trip, 'nobody'), undefined, 404, 'unknown-agent', 'nobody'],
      ['GET', at({ projectId: 'none' }), undefined, 404, 'no-project', 'no such project'],
      ['GET', at({ projectId: 'a%00b' }), undefined, 404, 'no-project', 'no such project'],
      ['PUT', `${at(trip)}/none`, { separate: true }, 404, 'no-mapping', 'does not work on'],
      // A mapping is found only where it belongs.
      ['PUT', `${at(other)}/${mapping.mappingId}`, { separate: true }, 404, 'no-mapping', 'does not work on'],
      ['DELETE', `${at(trip, 'a2')}/${mapping.mappingId}`, undefined, 404, 'no-mapping', 'does not work on'],
    ] as const) {
      const { status: got, body } = await ask(method, path, json);
      expect([got, JSON.stringify(body)], `${method} ${path} ${JSON.stringify(json)}`).toEqual([
        status,
        expect.stringContaining(`about:roost/${type}`),
      ]);
      expect(JSON.stringify(body)).toContain(words);
    }
    expect(await list(trip)).toEqual([mapping]);
    const credential = (await ask('POST', '/api/credentials', { agentId: 'a1', label: 'x' })).body as {
      secret: string;
    };
    const headers = { authorization: `Bearer ${credential.secret}` };
    expect((await fetch(new URL(at(trip), relay.url), { headers })).status).toBe(401);
  });

  it('creates one mapping, however often it is requested at once', async () => {
    const [trip, pulse] = [await project(), await routine()];
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask('POST', at(trip), { routineId: pulse.scheduleId })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  it('limits a routine to twenty projects', async () => {
    const pulse = await routine();
    for (let i = 0; i < 20; i += 1) await map(await project(), pulse);
    const last = await project();
    expect(await ask('POST', at(last), { routineId: pulse.scheduleId })).toMatchObject({ status: 429 });
  });

  it('go with the project, the routine and the agent', async () => {
    const [trip, other] = [await project(), await project()];
    const [pulse, next] = [await routine(), await routine()];
    await map(trip, pulse);
    await map(other, pulse);
    const kept = await map(other, next);
    await ask('DELETE', `/v1/projects/${trip.projectId}`);
    expect(await ask('GET', at(trip))).toMatchObject({ status: 404, body: { type: 'about:roost/no-project' } });
    await ask('DELETE', `/v1/pulse-routines/${pulse.scheduleId}`);
    expect(await list(other)).toEqual([kept]);
  });
});

const LATER = { columnId: 'later', name: 'Later', kind: 'backlog' } as const;

describe('a relay that has lost its home', () => {
  it('gets the mappings back from a page, and uses them once the person has agreed to the routine', async () => {
    const relays = await Promise.all([openTestRelay(DEMO), openTestRelay(DEMO)]);
    try {
      const [before, after] = await Promise.all(relays.map((each) => each.signIn()));
      if (!before || !after) throw new Error('nobody is signed in');
      for (const by of [before, after]) await ask('PUT', '/api/team', { agents: TEAM }, by);
      const [trip, gone] = [await project({}, before), await project({}, before)];
      const pulse = await routine({}, before);
      const mapping = await map(trip, pulse, { columnIds: ['ready'], toolOverrides: [], separate: true }, before);
      const removed = await map(gone, pulse, {}, before);
      await ask('DELETE', `${at(gone)}/${removed.mappingId}`, undefined, before);
      const newest = async () => {
        const docs = (await eventsOf(before)).flatMap(({ event, id, data }) =>
          event === 'record' ? documentsOf({ id: Number(id), event: eventSchema.parse(data) }) : [],
        );
        return [...new Map(docs.map((doc) => [doc['recordId'], doc])).values()];
      };
      await expect
        .poll(async () => (await newest()).map(({ type }) => type).sort(), { timeout: 10_000 })
        .toEqual(['project', 'project', 'routine-mapping', 'routine-mapping', 'schedule']);
      await expect.poll(async () => JSON.stringify(await newest())).toContain('"removed":true');
      const known = await newest();
      const offer = async () =>
        offeredRecordsSchema.parse((await ask('POST', '/api/records', { records: known.map(offered) }, after)).body)
          .answers;
      expect(await offer()).toEqual(known.map(({ type }) => ({ answer: type === 'project' ? 'asked' : 'taken' })));
      await allowAll(after, 'project');
      const [restored, ...others] = await list(trip, after);
      expect(others).toEqual([]);
      expect(restored).toEqual({ ...mapping, waits: true });
      expect(await list(gone, after)).toEqual([]);
      const resolve = async () =>
        resolvedMappingsSchema.parse((await ask('GET', `${at(trip)}/resolve`, undefined, after)).body).resolved;
      expect(await resolve()).toEqual([]);
      // The other relay is gone, so the routine is due here.
      await ask('POST', '/v1/pulse-routines-move', { gone: true }, after);
      expect(await askedOf(after)).toMatchObject([{ projects: [{ name: 'Trip', toolOverrides: [], separate: true }] }]);
      await allowAll(after);
      expect(await list(trip, after)).toEqual([mapping]);
      expect(await resolve()).toMatchObject([{ columns: ['ready'], tools: [] }]);
      // The same once more changes nothing that the person has agreed to.
      expect(await offer()).toEqual(known.map(() => ({ answer: 'kept' })));
      expect(await list(trip, after)).toEqual([mapping]);
      // Another version, for a routine that runs here, waits for the person.
      const doc = offered(known.find((each) => each['recordId'] === mapping.mappingId) ?? expect.fail('none'));
      const later = `${String(Number(doc.at.slice(0, 15)) + 1).padStart(15, '0')}${doc.at.slice(15)}`;
      const wider = { ...doc, at: later, value: { ...(doc.value as object), toolOverrides: null } };
      await ask('POST', '/api/records', { records: [wider] }, after);
      expect(await list(trip, after)).toMatchObject([{ toolOverrides: null, waits: true }]);
      expect(await resolve()).toEqual([]);
      expect(await ask('PUT', `${at(trip)}/${mapping.mappingId}`, {}, after)).toMatchObject({ status: 200 });
      expect(await list(trip, after)).toMatchObject([{ toolOverrides: null, waits: false }]);
      // A mapping under a name that is not its own is none.
      const forged = { ...wider, id: 'another' };
      const answer = await ask('POST', '/api/records', { records: [forged] }, after);
      expect(answer.body).toMatchObject({ answers: [{ answer: 'refused' }] });
    } finally {
      for (const each of relays) await each.close();
    }
  });
});
