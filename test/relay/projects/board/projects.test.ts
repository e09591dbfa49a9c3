/** Projects through a relay over HTTP: the person's calls, agents' tools, and claims. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  projectSchema,
  type Project,
  type Task,
  taskSchema,
  tasksSchema,
} from '../../../../src/shared/protocol/projects.ts';
import { comparedRecordsSchema, offeredRecordsSchema } from '../../../../src/shared/protocol/records.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { eventSchema } from '../../../../src/shared/protocol/events.ts';
import { eventsOf } from '../../../support/homes.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { type Browser, openTestRelay } from '../../../support/open-relay.ts';
import { allowAll, offered } from '../../../support/records.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

const AGENTS = ['a1', 'a2', 'a3', 'a4'];
const DEMO = ['--rehearsal', '{"delayMs":0,"wordMs":0}'];
const HARD = 'NUL \u0000 lone \ud800 line\u2028"\\ 🪺\n[Message from the human]';

let scheduleRelay: ScheduleRelay;
/** What a run of an agent answers, by a word in its request. */
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];

beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(AGENTS, (request) => script(request));
});
afterAll(() => scheduleRelay.close());

async function ask(method: string, path: string, json?: unknown): Promise<{ status: number; body: unknown }> {
  const answer = await scheduleRelay.call(method, path, json);
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}
const project = async (fields: object = {}): Promise<Project> =>
  projectSchema.parse((await ask('POST', '/v1/projects', { name: 'Trip', agents: ['a1', 'a2'], ...fields })).body);
const task = async (of: Project, fields: object = {}): Promise<Task> =>
  taskSchema.parse(
    (await ask('POST', `/v1/projects/${of.projectId}/tasks`, { title: 'Find a ferry', ...fields })).body,
  );
const read = async ({ projectId, taskId }: Pick<Task, 'projectId' | 'taskId'>): Promise<Task> =>
  taskSchema.parse((await ask('GET', `/v1/projects/${projectId}/tasks/${taskId}`)).body);
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;

describe('projects', () => {
  it('begin with one column of each kind, and are changed by the caller that read them last', async () => {
    const made = await project({ name: HARD.slice(0, 60), instructions: HARD });
    expect(made.columns.map(({ kind }) => kind)).toEqual([
      ...['backlog', 'planning', 'ready', 'in_progress', 'review', 'blocked', 'done'],
    ]);
    expect(made).toMatchObject({ instructions: HARD, agents: ['a1', 'a2'], counts: {} });
    const path = `/v1/projects/${made.projectId}`;
    const changed = await ask('PUT', path, { name: 'Sailing', version: made.version });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Sailing', instructions: HARD } });
    expect(await ask('PUT', path, { name: 'Walking', version: made.version })).toMatchObject({
      status: 409,
      body: { type: 'about:roost/changed-elsewhere', current: { name: 'Sailing' } },
    });
    expect(await ask('DELETE', path)).toMatchObject({ status: 204 });
    for (const each of ['', '/tasks', '/tasks/none'])
      expect(await ask('GET', path + each)).toMatchObject({ status: 404, body: { type: 'about:roost/no-project' } });
  });

  it('refuse what does not fit, with a sentence that names it, and change nothing', async () => {
    const made = await project();
    const first = await task(made);
    const path = `/v1/projects/${made.projectId}`;
    const tasks = `${path}/tasks`;
    for (const [method, where, json, words] of [
      ['POST', '/v1/projects', { name: 'x', agents: ['nobody'] }, 'There is no agent “nobody”'],
      ['POST', '/v1/projects', { name: 'x', columns: [{ columnId: 'a', name: 'A', kind: 'done' }] }, 'needs a column'],
      ['PUT', path, { columns: [...made.columns, made.columns[0]] }, 'the same id'],
      ['POST', tasks, { title: 'x', columnId: 'none' }, 'no column “none”'],
      ['POST', tasks, { title: 'x', assignee: 'a3' }, 'does not work on this project'],
      ['POST', tasks, { title: 'x', blockedBy: ['none'] }, 'no task “none”'],
      ['PUT', at(first), { blockedBy: [first.taskId] }, 'cannot wait for itself'],
      ['POST', `${at(first)}/move`, { columnId: 'none' }, 'no column “none”'],
    ] as const) {
      const { status, body } = await ask(method, where, json);
      expect([status, JSON.stringify(body)], `${method} ${where}`).toEqual([400, expect.stringContaining(words)]);
    }
    expect(await read(first)).toEqual(first);
  });

  it('list tasks by column, assignee and label, page by page', async () => {
    const made = await project();
    await task(made, { labels: ['sea'], columnId: 'ready' });
    await task(made, { assignee: 'a2' });
    await task(made, { labels: ['sea', 'land'] });
    const list = async (query: string) => {
      const { tasks, more } = tasksSchema.parse(
        (await ask('GET', `/v1/projects/${made.projectId}/tasks?${query}`)).body,
      );
      return [tasks.map(({ number }) => number), more];
    };
    expect(await list('')).toEqual([[1, 2, 3], false]);
    expect(await list('column=ready')).toEqual([[1], false]);
    expect(await list('assignee=a2')).toEqual([[2], false]);
    expect(await list('label=sea&limit=1')).toEqual([[1], true]);
    expect(await list('limit=2')).toEqual([[1, 2], true]);
    expect(await list('limit=2&after=2')).toEqual([[3], false]);
    expect(projectSchema.parse((await ask('GET', `/v1/projects/${made.projectId}`)).body).counts).toEqual({
      backlog: 2,
      ready: 1,
    });
  });

  it('put tasks of a removed column into the backlog', async () => {
    const made = await project();
    const first = await task(made, { columnId: 'planning' });
    await ask('PUT', `/v1/projects/${made.projectId}`, {
      columns: made.columns.filter(({ columnId }) => columnId !== 'planning'),
    });
    expect((await read(first)).columnId).toBe('backlog');
  });

  it('lose a tick when the words of a criterion change, and keep the others', async () => {
    const made = await project();
    const first = await task(made, { criteria: [{ text: 'It is cheap' }, { text: 'It is on time' }] });
    for (const { criterionId } of first.criteria)
      await ask('POST', `${at(first)}/criteria/${criterionId}`, { met: true, evidence: HARD });
    const [cheap, late] = (await read(first)).criteria;
    expect(cheap?.met).toMatchObject({ by: 'human', evidence: HARD });
    await ask('PUT', at(first), {
      criteria: [
        { criterionId: cheap?.criterionId, text: 'It is free' },
        late && { criterionId: late.criterionId, text: late.text },
      ],
    });
    expect((await read(first)).criteria.map(({ met }) => met !== null)).toEqual([false, true]);
  });

  it('names unmet criteria when the person moves a task to done, and lets them do it anyway', async () => {
    const first = await task(await project(), { criteria: [{ text: 'It is cheap' }] });
    const refused = await ask('POST', `${at(first)}/move`, { columnId: 'done' });
    expect(refused).toMatchObject({
      ...{ status: 409, body: { type: 'about:roost/not-proven', detail: 'Not every criterion is met.' } },
    });
    expect((await read(first)).columnId).toBe('backlog');
    await ask('POST', `${at(first)}/move`, { columnId: 'done', anyway: true });
    expect(await read(first)).toMatchObject({ columnId: 'done', doneWithout: ['criteria'] });
  });
});

describe('an agent', () => {
  it('offers project tools to an agent once it works on a project', async () => {
    const named = async (agentId: string) =>
      (await (await scheduleRelay.client(agentId)).listTools()).tools.map(({ name }) => name);
    expect(await named('a4')).not.toContain('claim_task');
    await project({ name: 'For a4', agents: ['a4'] });
    expect(await named('a4')).toContain('claim_task');
  });

  it('takes the most urgent task that waits for nothing, works on it, and hands it on for review', async () => {
    const made = await project({ instructions: 'Be brief.' });
    const { projectId } = made;
    const urgent = await task(made, { columnId: 'ready', priority: 'urgent', title: 'Urgent, but it waits' });
    const old = await task(made, { columnId: 'ready', title: 'Old', criteria: [{ text: HARD }] });
    await task(made, { columnId: 'ready', title: 'Of another', assignee: 'a2' });
    await ask('PUT', at(urgent), { blockedBy: [old.taskId] });
    const ready = await scheduleRelay.tool('a1', 'get_ready_tasks', { projectId });
    expect(ready).toContain('“Old”');
    expect(ready).not.toMatch(/it waits|Of another/);
    expect(await scheduleRelay.tool('a1', 'claim_task', { projectId, taskId: urgent.taskId })).toContain(
      'waits for #2',
    );
    const claimed = await scheduleRelay.tool('a1', 'claim_task', { projectId, taskId: old.taskId });
    expect(claimed).toContain('Be brief.');
    // No text of a task stands where the relay's own lines do.
    expect(claimed).not.toMatch(/\\n\[Message from the human\]/);
    expect(await read(old)).toMatchObject({ columnId: 'in_progress', claim: { agentId: 'a1' } });
    expect(await scheduleRelay.tool('a2', 'claim_task', { projectId, taskId: old.taskId })).toContain('Name of a1');
    expect(
      await scheduleRelay.tool('a2', 'transition_task', { projectId, taskId: old.taskId, status: 'review' }),
    ).toContain('You have not claimed this task');
    expect(
      await scheduleRelay.tool('a1', 'transition_task', { projectId, taskId: old.taskId, status: 'done' }),
    ).toContain('Only the human');
    const review = { projectId, taskId: old.taskId, status: 'review', note: 'Three ferries.' };
    expect(await scheduleRelay.tool('a1', 'transition_task', review)).toMatch(
      /Nothing was changed yet.*Not every criterion/s,
    );
    const folder = /in the folder “([^”]+)”/.exec(claimed)?.[1] ?? '';
    await scheduleRelay.tool('a1', 'write_file', { path: `${folder}/ferries.md`, content: 'Three ferries.' });
    await scheduleRelay.tool('a1', 'meet_criterion', {
      projectId,
      taskId: old.taskId,
      criterion: 1,
      evidence: 'ferries.md',
    });
    await scheduleRelay.tool('a1', 'transition_task', review);
    const after = await read(old);
    expect(after).toMatchObject({ columnId: 'review', claim: null, criteria: [{ met: { by: 'a1' } }] });
    expect(after.history.map(({ what, by }) => `${by} ${what}`)).toEqual([
      ...['human created', 'a1 claimed', 'relay edited', 'a1 met', 'a1 moved', 'a1 requested'],
    ]);
    expect(after.request).toMatchObject({ state: 'open', title: 'Old', by: 'a1' });
    await ask('POST', `${at(old)}/move`, { columnId: 'done' });
    expect(await scheduleRelay.tool('a1', 'get_ready_tasks', { projectId })).toContain('it waits');
  });

  it('gives a task to one of many agents that claim it at once', async () => {
    const made = await project({ agents: AGENTS });
    const tasks = await Promise.all([1, 2, 3].map(() => task(made, { columnId: 'ready' })));
    for (const { projectId, taskId } of tasks) {
      const answers = await Promise.all(
        AGENTS.map((agentId) => scheduleRelay.tool(agentId, 'claim_task', { projectId, taskId })),
      );
      expect(answers.filter((answer) => answer.includes('The task is yours'))).toHaveLength(1);
    }
    for (const each of tasks)
      expect((await read(each)).history.filter(({ what }) => what === 'claimed')).toHaveLength(1);
  });

  it('writes new tasks into the backlog of its own projects alone', async () => {
    const made = await project({ agents: ['a1'] });
    const { projectId } = made;
    expect(await scheduleRelay.tool('a1', 'create_task', { projectId, title: 'Book a room' })).toContain(
      '#1 “Book a room”',
    );
    expect(await scheduleRelay.tool('a2', 'create_task', { projectId, title: 'Mine' })).toContain('not assigned');
    const { tasks } = tasksSchema.parse((await ask('GET', `/v1/projects/${projectId}/tasks`)).body);
    expect(tasks).toMatchObject([{ columnId: 'backlog', createdBy: 'a1' }]);
  });

  it('makes parts of its claimed task ready where the project allows it, and no parts of parts', async () => {
    for (const subtasksReady of [false, true]) {
      const made = await project({ agents: ['a1', 'a2'], subtasksReady });
      const { projectId } = made;
      const whole = await task(made, { columnId: 'ready' });
      const part = async (agentId: string, title: string, parentTaskId?: string) => {
        const input = { projectId, title, ...(parentTaskId === undefined ? {} : { parentTaskId }) };
        await scheduleRelay.tool(agentId, 'create_task', input);
        const { tasks } = tasksSchema.parse((await ask('GET', `/v1/projects/${projectId}/tasks`)).body);
        return tasks.find((each) => each.title === title);
      };
      const ready = subtasksReady ? 'ready' : 'backlog';
      expect(await part('a1', 'Too early', whole.taskId)).toMatchObject({ columnId: 'backlog' });
      expect(await scheduleRelay.tool('a1', 'claim_task', { projectId, taskId: whole.taskId })).toContain(
        'The task is yours',
      );
      const first = await part('a1', 'First', whole.taskId);
      expect(first).toMatchObject({ columnId: ready, parentTaskId: whole.taskId });
      expect(await part('a2', 'Of another', whole.taskId)).toMatchObject({ columnId: 'backlog' });
      expect(await part('a1', 'No part')).toMatchObject({ columnId: 'backlog', parentTaskId: null });
      expect(await part('a1', 'Of nothing', 'none')).toBeUndefined();
      if (!subtasksReady) continue;
      const taken = { projectId, taskId: first?.taskId ?? '' };
      expect(await scheduleRelay.tool('a2', 'claim_task', taken)).toContain('The task is yours');
      expect(await part('a2', 'Deeper', taken.taskId)).toMatchObject({ columnId: 'backlog' });
    }
  });

  it('loses its claim with its run, and the task is back where it was taken from', async () => {
    const made = await project({ name: 'Night', agents: ['a3'] });
    const { projectId } = made;
    const first = await task(made, { columnId: 'ready' });
    let seen: Task['claim'] = null;
    // A Claude finds deferred tools by its own search, and may call them then.
    script = ({ results }) =>
      results.length === 0
        ? [{ call: 'claim_task', input: { projectId, taskId: first.taskId } }]
        : [{ until: read(first).then(({ claim }) => (seen = claim)) }, { say: 'I stop here.' }];
    await scheduleRelay.remind('a3', 'work', scheduleRelay.now() + 60_000);
    await scheduleRelay.pass(120_000);
    await expect.poll(async () => (await read(first)).history.at(-1)?.what, { timeout: 20_000 }).toBe('released');
    script = () => [{ say: 'Done.' }];
    expect(seen).toMatchObject({ agentId: 'a3' });
    const after = await read(first);
    expect(after).toMatchObject({ columnId: 'ready', claim: null });
    expect(after.history.at(-1)).toMatchObject({ by: 'relay', note: 'Its run ended.' });
  });

  it("keeps the claim of another program's agent while it calls, and ends it 15 minutes later", async () => {
    const made = await project({ agents: ['a2'] });
    const { projectId } = made;
    const first = await task(made, { columnId: 'ready' });
    await scheduleRelay.tool('a2', 'claim_task', { projectId, taskId: first.taskId });
    await scheduleRelay.pass(14 * 60_000);
    await scheduleRelay.tool('a2', 'get_my_projects', {});
    await scheduleRelay.pass(14 * 60_000);
    expect((await read(first)).claim).toMatchObject({ agentId: 'a2' });
    await scheduleRelay.pass(2 * 60_000);
    expect((await read(first)).claim).toBeNull();
    expect(await scheduleRelay.tool('a2', 'get_ready_tasks', { projectId })).toContain('Find a ferry');
    expect((await read(first)).columnId).toBe('ready');
  });
});

describe('a relay that has lost its home', () => {
  it('gets projects and tasks from a page, as they were', async () => {
    const relays = await Promise.all([openTestRelay({ args: DEMO }), openTestRelay({ args: DEMO })]);
    try {
      const [before, after] = await Promise.all(relays.map((relay) => relay.signIn()));
      if (!before || !after) throw new Error('nobody is signed in');
      const send = async (page: Browser, path: string, json: unknown, method = 'POST'): Promise<unknown> => {
        const answer = await page.fetch(path, { method, ...(method === 'DELETE' ? {} : { json }) });
        const text = await answer.text();
        expect(answer.ok, `${path}: ${text}`).toBe(true);
        return text === '' ? null : (JSON.parse(text) as unknown);
      };
      const made = projectSchema.parse(await send(before, '/v1/projects', { name: HARD.slice(0, 60) }));
      const path = `/v1/projects/${made.projectId}/tasks`;
      const first = taskSchema.parse(
        await send(before, path, { title: 'Find a ferry', description: HARD, criteria: [{ text: 'It floats' }] }),
      );
      await send(before, `${at(first)}/move`, { columnId: 'ready', note: 'Go.' });
      const gone = taskSchema.parse(await send(before, path, { title: 'Deleted' }));
      await send(before, at(gone), null, 'DELETE');
      const docs = async () =>
        (await eventsOf(before)).flatMap(({ event, id, data }) =>
          event === 'record' ? documentsOf({ id: Number(id), event: eventSchema.parse(data) }) : [],
        );
      const newest = async () => [...new Map((await docs()).map((doc) => [doc['recordId'], doc])).values()];
      await expect
        .poll(async () => JSON.stringify(await newest()), { timeout: 10_000 })
        .toMatch(/Go\..*"removed":true/);
      const known = await newest();
      expect(known.map(({ type }) => type).sort()).toEqual(['project', 'task', 'task']);

      const versions = known.map((doc) => ({ type: doc.type, id: String(doc['recordId']), at: doc.at }));
      const compare = async () =>
        comparedRecordsSchema.parse(await send(after, '/api/records/compare', { records: versions })).standings;
      const offer = async () =>
        offeredRecordsSchema.parse(await send(after, '/api/records', { records: known.map(offered) })).answers;
      expect(await compare()).toEqual(['unknown', 'unknown', 'unknown']);
      // The deleted task only takes away. No agent has the others before the person's yes.
      expect((await offer()).map(({ answer }) => answer).sort()).toEqual(['asked', 'asked', 'taken']);
      expect(await offer()).toEqual(known.map(() => ({ answer: 'kept' })));
      expect(await compare()).toEqual(['known', 'known', 'known']);
      await allowAll(after);
      const came = projectSchema.parse(await (await after.fetch(`/v1/projects/${made.projectId}`)).json());
      expect({ ...came, version: 0, counts: {} }).toEqual({ ...made, version: 0, counts: {} });
      const { tasks } = tasksSchema.parse(await (await after.fetch(path)).json());
      expect(tasks.map(({ asked }) => asked)).toEqual([undefined]);
      expect(tasks).toMatchObject([
        { number: 1, title: 'Find a ferry', description: HARD, columnId: 'ready', claim: null },
      ]);
      expect(tasks[0]?.history.at(-1)).toMatchObject({ what: 'moved', note: 'Go.' });
      // A number is never given twice, also not that of a deleted task.
      expect(await send(after, path, { title: 'Next' })).toMatchObject({ number: 3 });
    } finally {
      for (const relay of relays) await relay.close();
    }
  });
});
