import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { NOW, team } from '../../support/household.ts';
import { oneProject, task } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const SEARCH = 'GET /v1/projects/trip/search';
type Answer = (q: string) => Response | Promise<Response>;

async function open(first: Answer, path = '/projects/trip') {
  const relay = { answer: first };
  const page = await openPage({
    docs: team(3),
    path,
    width: 1440,
    prepare({ reach }) {
      oneProject(reach, [
        task(1, 'Book the ferry', 'backlog'),
        task(2, 'Pack', 'backlog', { assignee: 'agent-1' }),
        task(3, 'Wash', 'backlog'),
      ]);
      reach.on(SEARCH, ({ query }: AskedCall) => relay.answer(query.get('q') ?? ''));
    },
  });
  const box = await screen.findByRole('searchbox', { name: 'Find a task' });
  return { page, relay, box };
}
const found = (taskIds: readonly string[], more = false) => json({ taskIds, more });
const titles = async () =>
  within(await screen.findByRole('region', { name: /^Backlog: / }))
    .queryAllByRole('link')
    .map(({ textContent }) => textContent);
const status = () => screen.getByRole('search', { name: 'Filter' }).querySelector('[role=status]')?.textContent;

test('titles are searched at once, and what the relay finds in texts and comments is added', async () => {
  let answer: (response: Response) => void = () => undefined;
  const { page, box } = await open(() => new Promise((resolve) => (answer = resolve)));
  await page.user.type(box, 'ferry');
  await waitFor(async () => expect(await titles()).toEqual(['Book the ferry']));
  expect(status()).toBe('Loading…');
  await waitFor(() => expect(page.reach.times(SEARCH)).toBe(1));
  answer(found(['task-1', 'task-2']));
  await waitFor(async () => expect(await titles()).toEqual(['Book the ferry', 'Pack']));
  expect(status()).toBe('');
  // What the relay finds is filtered like everything else.
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'For' }), 'Lyra');
  await waitFor(async () => expect(await titles()).toEqual(['Pack']));
});

test('a quickly typed word is one request, and an answer to an earlier text is dropped', async () => {
  const answers = new Map<string, (response: Response) => void>();
  const { page, box } = await open((q) => new Promise((resolve) => answers.set(q, resolve)));
  await page.user.type(box, 'fer');
  await waitFor(() => expect([...answers.keys()]).toEqual(['fer']));
  await page.user.clear(box);
  await page.user.type(box, 'warm');
  await waitFor(() => expect([...answers.keys()]).toEqual(['fer', 'warm']));
  answers.get('warm')?.(found(['task-3']));
  await waitFor(async () => expect(await titles()).toEqual(['Wash']));
  answers.get('fer')?.(found(['task-1', 'task-2']));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await titles()).toEqual(['Wash']);
});

test('a search that failed says why, and is made again on demand', async () => {
  const { page, relay, box } = await open(() => refused('The database does not answer.', 503), '/projects/trip/list');
  await page.user.type(box, 'warm');
  await waitFor(() => expect(status()).toContain('The search failed. The database does not answer.'));
  relay.answer = () => found(['task-3']);
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('link', { name: 'Wash' });
  expect(status()).toBe('');
});

test('searches again when a task changes, and not without a search', async () => {
  const { page, relay, box } = await open(() => found([], true));
  await page.user.type(box, 'warm');
  await waitFor(() => expect(status()).toMatch(/^More than 1,000 tasks match/));
  expect(await titles()).toEqual([]);
  relay.answer = () => found(['task-3']);
  await page.hear({ kind: 'changed', time: NOW, what: 'projects', agentId: null, projectId: 'trip' });
  await waitFor(async () => expect(await titles()).toEqual(['Wash']));
  const asked = page.reach.times(SEARCH);
  await page.user.clear(box);
  await waitFor(async () => expect(await titles()).toHaveLength(3));
  await page.hear({ kind: 'changed', time: NOW, what: 'projects', agentId: null, projectId: 'trip' });
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(page.reach.times(SEARCH)).toBe(asked);
});
