/** The board of a project through a relay over HTTP: all cards, and what changed since. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  boardSchema,
  cardOf,
  projectSchema,
  type Project,
  type Task,
  taskSchema,
} from '../../../../src/shared/protocol/projects.ts';
import { eventSchema } from '../../../../src/shared/protocol/events.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { eventsOf } from '../../../support/homes.ts';

let scheduleRelay: ScheduleRelay;
beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(['a1', 'a2']);
});
afterAll(() => scheduleRelay.close());

async function ask(method: string, path: string, json?: unknown): Promise<unknown> {
  const answer = await scheduleRelay.call(method, path, json);
  const text = await answer.text();
  return text === '' ? null : (JSON.parse(text) as unknown);
}
const project = async (): Promise<Project> =>
  projectSchema.parse(await ask('POST', '/v1/projects', { name: 'Trip', agents: ['a1'] }));
const task = async ({ projectId }: Project, fields: object = {}): Promise<Task> =>
  taskSchema.parse(await ask('POST', `/v1/projects/${projectId}/tasks`, { title: 'Find a ferry', ...fields }));
const at = ({ projectId, taskId }: Pick<Task, 'projectId' | 'taskId'>) => `/v1/projects/${projectId}/tasks/${taskId}`;
const board = async ({ projectId }: Project, query = '') =>
  boardSchema.parse(await ask('GET', `/v1/projects/${projectId}/board?${query}`));
const whole = async (of: Task) => taskSchema.parse(await ask('GET', at(of)));
/** Changes reach back, so what is older than that is made older. */
const later = (asOf: number) => `since=${asOf + 30_001}`;

it('returns each task as a card without text and history, page by page', async () => {
  const made = await project();
  const first = await task(made, { description: 'Long.', criteria: [{ text: 'Cheap' }, { text: 'On time' }] });
  await ask('POST', `${at(first)}/criteria/${first.criteria[0]?.criterionId ?? ''}`, { met: true, evidence: 'x' });
  await ask('POST', `${at(first)}/move`, { columnId: 'blocked', note: 'No boat.' });
  const second = await task(made, { labels: ['sea'], priority: 'high' });
  const { cards, gone, next } = await board(made);
  expect(cards).toEqual([cardOf(await whole(first)), cardOf(second)]);
  expect(cards[0]).toMatchObject({ criteria: { met: 1, all: 2 }, note: 'No boat.', columnId: 'blocked' });
  expect(JSON.stringify(cards)).not.toContain('Long.');
  expect([gone, next]).toEqual([[], null]);
  expect(await board(made, 'limit=1')).toMatchObject({ cards: [{ number: 1 }], next: 1 });
  expect(await board(made, 'limit=1&after=1')).toMatchObject({ cards: [{ number: 2 }], next: null });
});

it('answers what changed since an earlier answer: edits, moves, claims, deletions, and nothing else', async () => {
  const made = await project();
  const [edited, claimed, removed] = [await task(made), await task(made, { columnId: 'ready' }), await task(made)];
  await task(made, { title: 'Untouched' });
  const { asOf } = await board(made);
  const since = later(asOf);
  expect(await board(made, since)).toMatchObject({ cards: [], gone: [] });
  await ask('PUT', at(edited), { title: 'Find a train' });
  await scheduleRelay.tool('a1', 'claim_task', { projectId: made.projectId, taskId: claimed.taskId });
  await ask('DELETE', at(removed));
  const added = await task(made, { title: 'New' });
  const changed = await board(made, since);
  expect(changed.cards.map(({ number, title, claim }) => [number, title, claim?.agentId])).toEqual([
    [edited.number, 'Find a train', undefined],
    [claimed.number, 'Find a ferry', 'a1'],
    [added.number, 'New', undefined],
  ]);
  expect(changed.gone).toEqual([removed.taskId]);
  expect(await board(made, `since=${changed.asOf}`)).toMatchObject({ cards: expect.arrayContaining(changed.cards) });
  await ask('POST', `${at(claimed)}/release`, {});
  expect((await board(made, later(changed.asOf))).cards).toMatchObject([{ number: claimed.number, claim: null }]);
  expect(await ask('GET', `/v1/projects/${made.projectId}/board?since=x`)).toMatchObject({ status: 400 });
  expect(await ask('GET', '/v1/projects/none/board')).toMatchObject({ status: 404 });
});

it('announces a change by an event that names the project', async () => {
  const [one, other] = [await project(), await project()];
  const made = [one.projectId, other.projectId];
  const seen = async () =>
    (await eventsOf(scheduleRelay.browser)).flatMap(({ event, data }) => {
      const changed = event === 'changed' ? eventSchema.parse(data) : null;
      // Changes of other projects may still be announced.
      return changed?.kind === 'changed' && changed.what === 'projects' && made.some((id) => id === changed.projectId)
        ? [changed.projectId]
        : [];
    });
  // Pages are notified a moment after the answer.
  await expect.poll(seen).toEqual(expect.arrayContaining(made));
  const before = (await seen()).length;
  await task(one);
  await expect.poll(async () => (await seen()).slice(before)).toEqual([one.projectId]);
  await ask('PUT', `/v1/projects/${other.projectId}`, { name: 'Sailing' });
  await expect.poll(async () => (await seen()).slice(before)).toEqual([one.projectId, other.projectId]);
});
