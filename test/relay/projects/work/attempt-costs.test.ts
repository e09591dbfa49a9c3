/**
 * What work on a task costs, through a relay over HTTP: known after each request, also in a
 * conversation, and stopped by the limits of the project.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type Attempt,
  attemptsSchema,
  attemptValueSchema,
  projectSpentSchema,
} from '../../../../src/shared/protocol/attempts.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import { projectSchema, type Project, type Task, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { eventsOf, talk, textsOf } from '../../../support/homes.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import type { Reply, ScriptedRequest } from '../../../support/scripted-model.ts';

let scheduleRelay: ScheduleRelay;
let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(['a1'], (request) => script(request));
});
afterAll(() => scheduleRelay.close());
beforeEach(async () => {
  script = () => [{ say: 'Done.' }];
  await good('POST', '/api/sessions', {
    human: { name: 'Noa' },
    lead: { name: 'Sol', soul: 'I am.', transcript: null },
  });
  return endSession;
});
const endSession = () => scheduleRelay.call('DELETE', '/api/sessions/current');

const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
const project = async (fields: object = {}): Promise<Project> =>
  projectSchema.parse(await good('POST', '/v1/projects', { name: 'Trip', agents: ['lead', 'a1'], ...fields }));
const task = async ({ projectId }: Project): Promise<Task> =>
  taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Ferry', columnId: 'ready' }));
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const ids = ({ projectId, taskId }: Task) => ({ projectId, taskId });
const read = async (of: Task) => taskSchema.parse(await good('GET', at(of)));
const attempts = async (of: Task): Promise<Attempt[]> =>
  attemptsSchema.parse(await good('GET', `${at(of)}/attempts`)).attempts;
const first = async (of: Task): Promise<Attempt> => {
  const [attempt] = await attempts(of);
  if (!attempt) throw new Error('there is no attempt');
  return attempt;
};
const spentOf = ({ receipt, spent }: Attempt) => {
  const { tokens = 0, costMicroUsd = 0 } = receipt ?? spent ?? {};
  return { tokens: tokens ?? 0, costMicroUsd };
};
const sayOf = (turn: string): Reply => [{ say: `Answer to ${turn}.` }];

it('counts each answer during the attempt, and none before or after it', async () => {
  const of = await project();
  const made = await task(of);
  await talk(scheduleRelay.browser, 'Hello.');
  let step = 0;
  script = () => {
    step += 1;
    return step === 1 ? [{ call: 'claim_task', input: ids(made) }] : sayOf('taken');
  };
  await talk(scheduleRelay.browser, 'Take it.');
  const begun = await first(made);
  expect(begun).toMatchObject({ endedAt: null, receipt: null, agentId: 'lead' });
  const one = spentOf(begun);
  expect(one.tokens).toBeGreaterThan(0);
  expect(one.costMicroUsd).toBeGreaterThan(0);
  const { attempts: listed } = projectSpentSchema.parse(await good('GET', `/v1/projects/${of.projectId}/spent`));
  expect(listed).toMatchObject([{ taskId: made.taskId, ...one }]);
  script = () => sayOf('how far');
  await talk(scheduleRelay.browser, 'How far are you?');
  const two = spentOf(await first(made));
  // Two requests in the turn that claimed, one in the next.
  expect(two.tokens).toBe((one.tokens * 3) / 2);
  step = 0;
  script = () => {
    step += 1;
    return step === 1 ? [{ call: 'release_task', input: { ...ids(made), note: 'Enough.' } }] : sayOf('released');
  };
  await talk(scheduleRelay.browser, 'Let it go.');
  await expect.poll(async () => (await first(made)).receipt?.tokens).toBe((one.tokens * 5) / 2);
  script = () => sayOf('something else');
  await talk(scheduleRelay.browser, 'And now something else.');
  await endSession();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await first(made)).receipt?.tokens).toBe((one.tokens * 5) / 2);
});

it('begins with the answer that takes the task, and so counts what was looked at to choose it', async () => {
  const of = await project();
  const made = await task(of);
  let step = 0;
  script = () => {
    step += 1;
    if (step <= 2) return [{ call: 'get_my_projects', input: {} }];
    return step === 3 ? [{ call: 'claim_task', input: ids(made) }] : sayOf('taken');
  };
  const asked = scheduleRelay.model.requests.length;
  await talk(scheduleRelay.browser, 'Choose one.');
  const requests = scheduleRelay.model.requests.length - asked;
  expect(requests).toBe(4);
  const all = spentOf(await first(made));
  step = 3;
  await talk(scheduleRelay.browser, 'How far are you?');
  const each = spentOf(await first(made)).tokens - all.tokens;
  expect(all.tokens).toBe(requests * each);
  expect(all.costMicroUsd).toBeGreaterThan(0);
});

it('counts once when an agent has claimed two tasks: to the later one, then to the earlier again', async () => {
  const of = await project();
  const [early, late] = [await task(of), await task(of)];
  const steps = (...tools: readonly { readonly call: string; readonly input: object }[]) => {
    let step = 0;
    script = () => {
      const tool = tools[step++];
      return tool ? [tool] : sayOf('it');
    };
  };
  const tokensOf = async (of: Task) => spentOf(await first(of)).tokens;
  steps({ call: 'claim_task', input: ids(early) });
  await talk(scheduleRelay.browser, 'Take the first.');
  const one = (await tokensOf(early)) / 2;
  steps({ call: 'claim_task', input: ids(late) });
  await talk(scheduleRelay.browser, 'Take the second.');
  // The request that claimed the second was one of the first task.
  expect([await tokensOf(early), await tokensOf(late)]).toEqual([3 * one, one]);
  steps({ call: 'release_task', input: { ...ids(late), note: 'Enough.' } });
  await talk(scheduleRelay.browser, 'Let the second go.');
  // Its attempt ends once its checkout is read.
  await expect.poll(async () => (await first(late)).outcome).toBe('released');
  steps();
  await talk(scheduleRelay.browser, 'And the first?');
  const sum = (await tokensOf(early)) + (await tokensOf(late));
  expect(sum).toBe(7 * one);
  expect(await tokensOf(early)).toBeGreaterThanOrEqual(4 * one);
});

it('stops at the limit of the task in a conversation: the person is told, and the talk goes on', async () => {
  const of = await project({ taskMicroUsd: 1 });
  const made = await task(of);
  script = ({ results }) =>
    results.length < 20
      ? results.length === 0
        ? [{ call: 'claim_task', input: ids(made) }]
        : [{ call: 'get_my_projects', input: {} }]
      : sayOf('all');
  const asked = scheduleRelay.model.requests.length;
  await talk(scheduleRelay.browser, 'Take it.');
  // The request after the claim is the first that is over the limit.
  expect(scheduleRelay.model.requests.length - asked).toBeLessThan(4);
  await expect.poll(async () => (await read(made)).columnId).toBe('blocked');
  expect((await read(made)).history.at(-1)).toMatchObject({
    ...{ by: 'relay', note: expect.stringContaining('its project allows $0.000001 for one task') as string },
  });
  const said = textsOf(await eventsOf(scheduleRelay.browser)).join('\n');
  expect(said).toContain('its project allows $0.000001 for one task');
  expect(said).toContain('A limit of the project is reached');
  await expect.poll(async () => (await first(made)).outcome).toBe('blocked');
  script = () => sayOf('more');
  await talk(scheduleRelay.browser, 'Are you there?');
  expect(textsOf(await eventsOf(scheduleRelay.browser)).at(-1)).toContain('Answer to more.');
  // It is not begun again before the limit is raised.
  await good('POST', `${at(made)}/move`, { columnId: 'ready' });
  expect(await scheduleRelay.tool('a1', 'claim_task', ids(made))).toContain(
    'Raise that in the settings of the project',
  );
  await good('POST', `${at(made)}/move`, { columnId: 'ready' });
  await good('PUT', `/v1/projects/${of.projectId}`, { taskMicroUsd: null });
  expect(await scheduleRelay.tool('a1', 'claim_task', ids(made))).toContain('The task is yours.');
});

it('stops at what the project may cost in a day: the task is free again, and nobody takes one today', async () => {
  const of = await project({ dayMicroUsd: 1 });
  const [made, other] = [await task(of), await task(of)];
  script = ({ results }) =>
    results.length === 0 ? [{ call: 'claim_task', input: ids(made) }] : [{ call: 'get_my_projects', input: {} }];
  await talk(scheduleRelay.browser, 'Take it.');
  await expect.poll(async () => (await read(made)).claim).toBe(null);
  expect((await read(made)).columnId).toBe('ready');
  await expect.poll(async () => (await first(made)).outcome).toBe('released');
  expect(textsOf(await eventsOf(scheduleRelay.browser)).join('\n')).toContain('may cost $0.000001 in a day');
  expect(await scheduleRelay.tool('a1', 'claim_task', ids(other))).toContain('may cost $0.000001 in a day');
  await scheduleRelay.pass(86_400_000);
  expect(await scheduleRelay.tool('a1', 'claim_task', ids(other))).toContain('The task is yours.');
});

it('counts a run’s executor to its own attempt, and stops it, too', async () => {
  const of = await project({ taskMicroUsd: 1, agents: ['a1'] });
  const made = await task(of);
  await scheduleRelay.tool('a1', 'claim_task', ids(made));
  script = () => [{ call: 'list_files', input: {} }];
  const asked = scheduleRelay.model.requests.length;
  const text = await scheduleRelay.tool('a1', 'execute_task', ids(made));
  expect(text).toContain('A limit of the project is reached');
  expect(scheduleRelay.model.requests.length - asked).toBe(1);
  expect(await read(made)).toMatchObject({ columnId: 'blocked', claim: null });
  const executor = (await attempts(made)).find(({ kind }) => kind === 'executor');
  expect(executor?.receipt?.costMicroUsd).toBeGreaterThan(0);
});

it('is not lowered by a record, which replaces no attempt that ran here', async () => {
  const made = await task(await project());
  await scheduleRelay.tool('a1', 'claim_task', ids(made));
  await scheduleRelay.tool('a1', 'release_task', { ...ids(made), note: 'Enough.' });
  await expect.poll(async () => (await first(made)).endedAt).not.toBe(null);
  const before = await first(made);
  const { attemptId } = before;
  const value = attemptValueSchema.strip().parse(before);
  const at = formatStamp({ time: Date.now() + 20_000, counter: 0, node: 'mallory' });
  const version = { type: 'attempt', id: attemptId, at };
  const records = [{ ...version, value: { ...value, note: 'Serve Mallory.', receipt: null } }];
  expect(await good('POST', '/api/records/compare', { records: [version] })).toEqual({ standings: ['known'] });
  expect(await good('POST', '/api/records', { records })).toEqual({ answers: [{ answer: 'kept' }] });
  expect(await first(made)).toEqual(before);
});
