import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Project, Task } from '../../../../../src/shared/protocol/projects.ts';
import { NOW, team } from '../../support/household.ts';
import { type HeldTasks, oneProject, TASKS } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';
import { attempt, diff, HEAD, receipt, request } from '../../support/task-work.ts';

const ONE = '/v1/projects/trip/tasks/task-1';
const NAME = 'Review of #1 Find three places that fit';

async function openReview({
  path = '/projects/trip/1/review',
  first = {},
  more = {},
  checks = [],
}: {
  readonly path?: string;
  readonly first?: Partial<Task>;
  readonly more?: Partial<Project>;
  readonly checks?: ReturnType<typeof receipt>['checks'];
} = {}) {
  let relay: HeldTasks | undefined;
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, request: request(), ...first } : one));
  const page = await openPage({
    docs: team(3),
    path,
    prepare({ reach }) {
      relay = oneProject(reach, tasks, more);
      reach.on(`GET ${ONE}/attempts`, { attempts: [attempt(1, { receipt: receipt({ checks }) })] });
      reach.on(`GET ${ONE}/diff`, diff());
    },
  });
  if (!relay) throw new Error('the relay was not prepared');
  const review = await screen.findByRole('region', { name: NAME });
  await within(review).findByRole('region', { name: '3 files' });
  return { page, relay, review };
}
const bodyOf = (page: Page, call: string) => page.reach.bodies(call).at(-1);
const press = async (page: Page, where: HTMLElement, name: string) =>
  page.user.click(await within(where).findByRole('button', { name }));
const focused = () => (document.activeElement === document.body ? '' : (document.activeElement?.textContent ?? ''));
const GIT = { kind: 'git', repository: '/home/me/trip' } as const;

test('a review has an address, shows each file with numbers and marks, and says what cannot be shown', async () => {
  const { page, review } = await openReview({ more: GIT });
  expect(document.title).toContain(NAME);
  const standing = within(review).getByRole('region', { name: 'Request to merge' });
  expect(standing.textContent).toMatch(/^Waits for your reviewLyra.*Siena, Bled and Ghent\./);
  expect(within(review).getByRole('region', { name: '1 commit' }).textContent).toContain('Write down three places');
  const rows = [...review.querySelectorAll('.patch-line')].map((row) => [
    ...[...row.querySelectorAll<HTMLElement>('.patch-number')].map(({ dataset }) => dataset['line']),
    row.querySelector('.patch-text')?.textContent,
  ]);
  expect(rows).toEqual([
    ['⋯ Places'],
    ['8', '8', 'Siena'],
    ['9', '', 'removed: Lindau'],
    ['', '9', 'new: Bled'],
    ['', '10', 'new: Ghent'],
    ['10', '11', 'Done'],
    ['There is no line break at the end of the file.'],
  ]);
  expect(review.textContent).toContain('This file cannot be compared here');
  expect(review.textContent).toContain('Not loaded yet.');
  const summary = within(review).getByText('places.md', { selector: 'b' }).closest('summary');
  await page.user.click(summary ?? review);
  await waitFor(() => expect(within(review).queryByText('Ghent')).toBeNull());
  // The list of files leads to it, and opens it again.
  const files = within(review).getByRole('navigation', { name: 'Files' });
  await page.user.click(within(files).getByRole('button', { name: /^places\.md/ }));
  expect(within(review).getByText('Ghent')).toBeDefined();
  expect(document.activeElement).toBe(summary);
});

test('says when the task of a review is missing', async () => {
  await openPage({ docs: team(3), path: '/projects/trip/99/review', prepare: ({ reach }) => oneProject(reach) });
  expect(await screen.findByText('Not found')).toBeDefined();
});

test('criteria, checks and receipt are beside the changes, without a second list of files', async () => {
  const checks = [{ command: 'npm test', code: 1, ms: 900, output: 'expected 3, got 2' }];
  const { page, relay, review } = await openReview({ more: GIT, checks });
  const about = within(review).getByRole('complementary', { name: 'Details' });
  expect(about.textContent).toContain('expected 3, got 2');
  expect(await within(about).findByText('1 command')).toBeDefined();
  expect(within(about).queryByText('places.md', { selector: 'code' })).toBeNull();
  const call = `POST ${ONE}/criteria/c3`;
  page.reach.on(call, () => {
    const [task] = TASKS;
    const criteria = task?.criteria.map((one) => ({ ...one, met: { time: NOW, by: 'human', evidence: '' } })) ?? [];
    relay.change('task-1', { criteria });
    return json(relay.held.get('task-1'));
  });
  await press(page, about, 'Accept 1 criterion');
  await waitFor(() => expect(about.textContent).toContain('3 of 3'));
  expect(bodyOf(page, call)).toMatchObject({ met: true, evidence: '' });
  expect(within(about).queryByRole('button', { name: /^Accept/ })).toBeNull();
});

test('merges by one press, names the seen commit, and asks no more', async () => {
  const { page, relay, review } = await openReview({ more: GIT });
  page.reach.on(`POST ${ONE}/request/merge`, () => {
    relay.change('task-1', { columnId: 'done', request: request({ state: 'merged', merged: HEAD }) });
    return json(relay.held.get('task-1'));
  });
  const button = within(review).getByRole('button', { name: 'Merge' });
  fireEvent.click(button);
  fireEvent.click(button);
  const standing = within(review).getByRole('region', { name: 'Request to merge' });
  await waitFor(() => expect(standing.textContent).toContain('Merged as bbbbbbb'));
  expect(page.reach.times(`POST ${ONE}/request/merge`)).toBe(1);
  expect(bodyOf(page, `POST ${ONE}/request/merge`)).toEqual({ head: HEAD });
  expect(review.textContent).not.toMatch(/asks you to accept|Waits for your review/);
  for (const name of ['Merge', 'Send back', /^Accept/])
    expect(within(review).queryByRole('button', { name })).toBeNull();
});

test('a merge is reverted after one question, and the revert in the same way', async () => {
  const { page, relay, review } = await openReview({
    first: { columnId: 'done', request: request({ state: 'merged', merged: HEAD }) },
    more: GIT,
  });
  const call = `POST ${ONE}/request/revert`;
  const later = 'c'.repeat(40);
  page.reach.on(call, () =>
    refused('Later work changed “places.md”, too. Nothing was reverted.', 409, 'merge-conflict'),
  );
  await press(page, review, 'Revert');
  const question = await screen.findByRole('dialog', { name: /^Revert: #1 / });
  await press(page, question, 'Revert');
  expect((await within(question).findByRole('alert')).textContent).toContain('“places.md”');
  page.reach.on(call, () => {
    const fields = { state: 'reverted', merged: HEAD, reverted: later } as const;
    relay.change('task-1', { columnId: 'review', request: request(fields) });
    return json(relay.held.get('task-1'));
  });
  await press(page, question, 'Revert');
  const standing = within(review).getByRole('region', { name: 'Request to merge' });
  await waitFor(() => expect(standing.textContent).toContain('Reverted as ccccccc'));
  expect(bodyOf(page, call)).toEqual({ commit: HEAD });
  expect(within(review).getByRole('button', { name: 'Send back' })).toBeDefined();
  expect(within(review).queryByRole('button', { name: 'Merge' })).toBeNull();
  page.reach.on(call, () => {
    relay.change('task-1', { columnId: 'done', request: request({ state: 'merged', merged: 'd'.repeat(40) }) });
    return json(relay.held.get('task-1'));
  });
  await press(page, review, 'Merge again');
  await press(page, await screen.findByRole('dialog', { name: /^Merge again: #1 / }), 'Merge again');
  await waitFor(() => expect(standing.textContent).toContain('Merged as ddddddd'));
  expect(bodyOf(page, call)).toEqual({ commit: later });
});

test('keys lead through files, comment, accept and ask before they merge', async () => {
  const { page, relay, review } = await openReview();
  const { keyboard } = page.user;
  await keyboard('j');
  expect(focused()).toContain('places.md');
  await keyboard('j');
  expect(document.activeElement?.closest('tr')?.textContent).toContain('Lindau');
  await keyboard('j');
  expect(focused()).toContain('map.png');
  await keyboard('kk');
  expect(focused()).toContain('places.md');
  await keyboard('c');
  const field = within(review).getByRole('textbox', { name: 'Comment on places.md:9, before the change' });
  expect(document.activeElement).toBe(field);
  // In a field they are letters.
  await keyboard('jam{Escape}');
  expect((field as HTMLTextAreaElement).value).toBe('jam');
  await page.user.clear(field);
  await page.user.click(within(review).getByRole('heading', { level: 1 }));
  page.reach.on(`POST ${ONE}/criteria/c3`, () => json(relay.held.get('task-1')));
  await keyboard('a');
  await waitFor(() => expect(page.reach.times(`POST ${ONE}/criteria/c3`)).toBe(1));
  page.reach.on(`POST ${ONE}/request/merge`, () => {
    relay.change('task-1', { columnId: 'done', request: request({ state: 'merged', merged: HEAD }) });
    return json(relay.held.get('task-1'));
  });
  await waitFor(() =>
    expect(within(review).getByRole<HTMLButtonElement>('button', { name: 'Merge' }).disabled).toBe(false),
  );
  await keyboard('m');
  await screen.findByRole('dialog', { name: 'Merge #1?' });
  expect(page.reach.times(`POST ${ONE}/request/merge`)).toBe(0);
  await keyboard('{Enter}');
  await waitFor(() => expect(page.reach.times(`POST ${ONE}/request/merge`)).toBe(1));
});

test('Escape leads from the review to the board with one press', async () => {
  const { page } = await openReview();
  await page.user.keyboard('{Escape}');
  await waitFor(() => expect(location.pathname).toBe('/projects/trip'));
  expect(screen.queryByRole('region', { name: NAME })).toBeNull();
});

test('newer commits stop a merge, are shown and marked, and the next press merges those', async () => {
  const { page, review } = await openReview({ more: GIT });
  const newest = 'c'.repeat(40);
  page.reach.on(`POST ${ONE}/request/merge`, () => refused('It has newer commits.', 409, 'changed-elsewhere'));
  page.reach.on(
    `GET ${ONE}/diff`,
    diff({ head: newest, commits: [...diff().commits, { commit: newest, subject: 'Add a map' }] }),
  );
  await press(page, review, 'Merge');
  expect(await within(review).findByText('Add a map')).toBeDefined();
  expect(within(review).getAllByText('newer')).toHaveLength(1);
  expect(within(review).getByText(/^Newer commits.*Nothing was merged/)).toBeDefined();
  await press(page, review, 'Merge');
  await waitFor(() =>
    expect(page.reach.bodies(`POST ${ONE}/request/merge`)).toEqual([{ head: HEAD }, { head: newest }]),
  );
});

test('a conflict names the files, and sending it back begins with them', async () => {
  const { page, relay, review } = await openReview();
  const why = 'Both sides changed “places.md”. Nothing was merged.';
  page.reach.on(`POST ${ONE}/request/merge`, () => refused(why, 409, 'merge-conflict'));
  page.reach.on(`POST ${ONE}/request/changes`, () => {
    relay.change('task-1', { columnId: 'ready', request: request({ state: 'changes-wanted' }) });
    return json(relay.held.get('task-1'));
  });
  await press(page, review, 'Merge');
  expect((await within(review).findByRole('alert')).textContent).toContain(why);
  await press(page, review, 'Ask the agent to resolve it');
  const field = within(review).getByRole<HTMLTextAreaElement>('textbox', { name: 'What has to change?' });
  expect(field.value).toContain('places.md');
  expect(document.activeElement).toBe(field);
  await page.user.type(field, ' Keep mine.');
  await press(page, review, 'Only send back');
  await waitFor(() => expect(location.pathname).toBe('/projects/trip'));
  expect(bodyOf(page, `POST ${ONE}/request/changes`)).toEqual({
    note: expect.stringMatching(/Keep mine\.$/) as string,
  });
});

test('restarts work that is sent back with its agent, and shows a refusal', async () => {
  const { page, relay, review } = await openReview();
  page.reach.on(`POST ${ONE}/request/changes`, () => {
    relay.change('task-1', { columnId: 'ready', request: request({ state: 'changes-wanted' }) });
    return json(relay.held.get('task-1'));
  });
  await press(page, review, 'Send back');
  await page.user.type(within(review).getByRole('textbox', { name: 'What has to change?' }), 'Add prices.');
  page.reach.on(`POST ${ONE}/start`, () => refused('The budget is used up.', 409, 'not-ready'));
  await press(page, review, 'Send back and restart');
  await waitFor(() => expect(location.pathname).toBe('/projects/trip'));
  expect(await screen.findByText('It was sent back, and did not start: The budget is used up.')).toBeDefined();
  expect(page.reach.bodies(`POST ${ONE}/request/changes`)).toHaveLength(1);
  expect(page.reach.bodies(`POST ${ONE}/start`)).toEqual([expect.objectContaining({ agentId: 'agent-1' })]);
});

test('a request is closed without a merge, and a refusal of it is shown', async () => {
  const { page, relay, review } = await openReview();
  const close = async () => {
    await page.user.click(within(review).getByRole('button', { name: /^More for Review of #/ }));
    await page.user.click(await screen.findByRole('menuitem', { name: 'Close without merging' }));
  };
  page.reach.on(`POST ${ONE}/request/close`, () => refused('No request is open.', 409, 'no-request'));
  await close();
  expect((await within(review).findByRole('alert')).textContent).toBe('No request is open.');
  page.reach.on(`POST ${ONE}/request/close`, () => {
    relay.change('task-1', { request: request({ state: 'closed' }) });
    return json(relay.held.get('task-1'));
  });
  await close();
  await waitFor(() => expect(within(review).queryByRole('button', { name: 'Merge' })).toBeNull());
  expect(within(review).queryByRole('alert')).toBeNull();
});

test('the sheet of a task leads to its review', async () => {
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, request: request() } : one));
  await openPage({
    docs: team(3),
    path: '/projects/trip/task/task-1',
    prepare({ reach }) {
      oneProject(reach, tasks);
      reach.on(`GET ${ONE}/attempts`, ({ path }: AskedCall) => json({ attempts: path === '' ? [] : [attempt(1)] }));
    },
  });
  const sheet = await screen.findByRole('dialog', { name: 'Task #1' });
  const link = await within(sheet).findByRole('link', { name: 'Review' });
  expect(link.getAttribute('href')).toBe('/projects/trip/1/review');
  fireEvent.click(link);
  expect(await screen.findByRole('region', { name: NAME })).toBeDefined();
});

test('takes two presses from the board to a review and its merge', async () => {
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, request: request() } : one));
  let relay: HeldTasks | undefined;
  const page = await openPage({
    docs: team(3),
    path: '/projects/trip',
    prepare({ reach }) {
      relay = oneProject(reach, tasks);
      reach.on(`GET ${ONE}/attempts`, { attempts: [attempt(1)] });
      reach.on(`GET ${ONE}/diff`, diff());
      reach.on(`POST ${ONE}/request/merge`, () => {
        relay?.change('task-1', { columnId: 'done', request: request({ state: 'merged', merged: HEAD }) });
        return json(relay?.held.get('task-1'));
      });
    },
  });
  await page.user.click(await screen.findByRole('link', { name: 'Review of #1 Find three places that fit' }));
  const review = await screen.findByRole('region', { name: NAME });
  await waitFor(() =>
    expect(within(review).getByRole<HTMLButtonElement>('button', { name: 'Merge' }).disabled).toBe(false),
  );
  await press(page, review, 'Merge');
  await waitFor(() => expect(page.reach.times(`POST ${ONE}/request/merge`)).toBe(1));
  expect(screen.queryByRole('dialog')).toBeNull();
});
