import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Diff } from '../../../../../src/shared/protocol/attempts.ts';
import type { ShownLineComment } from '../../../../../src/shared/protocol/line-comments.ts';
import type { Task } from '../../../../../src/shared/protocol/projects.ts';
import { NOW, team } from '../../support/household.ts';
import { type HeldTasks, oneProject, TASKS } from '../../support/projects.ts';
import { json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';
import { attempt, BASE, diff, HEAD, request } from '../../support/task-work.ts';

const ONE = '/v1/projects/trip/tasks/task-1';
const CHANGES = `POST ${ONE}/request/changes`;

async function openReview(shown: Diff = diff(), first: Partial<Task> = {}) {
  let relay: HeldTasks | undefined;
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, request: request(), ...first } : one));
  const page = await openPage({
    docs: team(3),
    path: '/projects/trip/1/review',
    prepare({ reach }) {
      relay = oneProject(reach, tasks, { kind: 'git', repository: '/home/me/trip' });
      reach.on(`GET ${ONE}/attempts`, { attempts: [attempt(1)] });
      reach.on(`GET ${ONE}/diff`, shown);
    },
  });
  const review = await screen.findByRole('region', { name: 'Review of #1 Find three places that fit' });
  await within(review).findByText('Ghent', { selector: '.patch-text span' });
  return { page, relay: relay as unknown as HeldTasks, review };
}
const press = async (page: Page, where: HTMLElement, name: string) =>
  page.user.click(await within(where).findByRole('button', { name }));
const field = (review: HTMLElement, line: string) =>
  within(review).getByRole<HTMLTextAreaElement>('textbox', { name: `Comment on places.md:${line}` });
const comment = (more: Partial<ShownLineComment>): ShownLineComment => ({
  ...{ commentId: 'c1', path: 'places.md', side: 'after', line: 9, commit: HEAD, quoted: 'Bled' },
  ...{ text: 'Too far.', time: NOW - 60_000, now: { path: 'places.md', line: 9 } },
  ...more,
});

test('comments on lines stay through a reload, and go to the agent together with the words', async () => {
  const { page, review } = await openReview();
  await press(page, review, 'Comment on line 10');
  expect(document.activeElement).toBe(field(review, '10'));
  await page.user.type(field(review, '10'), 'Ghent is dear.');
  // The deleted line has the number that it had before.
  const gone = within(review).getByText('Lindau').closest('tr');
  await page.user.click(within(gone ?? review).getByRole('button', { name: 'Comment on line 9' }));
  await page.user.type(field(review, '9, before the change'), 'Keep it.');
  // An empty one is no comment.
  await press(page, review, 'Comment on line 8');
  await page.user.click(within(review).getByText('Siena'));
  expect(within(review).getAllByText('Not sent yet')).toHaveLength(2);
  page.unmount();

  const later = await openReview();
  expect(field(later.review, '10').value).toBe('Ghent is dear.');
  expect(within(later.review).getByText('2 comments', { selector: 'summary *' })).toBeDefined();
  await press(later.page, later.review, 'Merge');
  const question = await screen.findByRole('dialog', { name: 'Merge #1?' });
  expect(question.textContent).toContain('A merge does not send your 2 comments on lines.');
  await press(later.page, question, 'Cancel');
  // A refusal loses none of them.
  later.page.reach.on(CHANGES, () => refused('The disk is full.', 507, 'full'));
  await press(later.page, later.review, 'Send back with 2 comments');
  expect(later.review.textContent).toContain('With 2 comments on lines');
  await press(later.page, later.review, 'Only send back');
  expect((await within(later.review).findByRole('alert')).textContent).toBe('The disk is full.');
  expect(field(later.review, '10').value).toBe('Ghent is dear.');
  later.page.reach.on(CHANGES, () => {
    later.relay.change('task-1', { columnId: 'ready', request: request({ state: 'changes-wanted' }) });
    return json(later.relay.held.get('task-1'));
  });
  await press(later.page, later.review, 'Only send back');
  await waitFor(() => expect(screen.queryByRole('region', { name: /^Review of/ })).toBeNull());
  const id = expect.any(String) as string;
  expect(later.page.reach.bodies(CHANGES).at(-1)).toEqual({
    note: '',
    comments: [
      { commentId: id, path: 'places.md', side: 'after', line: 10, commit: HEAD, text: 'Ghent is dear.' },
      { commentId: id, path: 'places.md', side: 'before', line: 9, commit: BASE, text: 'Keep it.' },
    ],
  });
  later.page.unmount();
  const afterwards = await openReview();
  expect(within(afterwards.review).queryByText('Not sent yet')).toBeNull();
});

test('enters a file by one tab stop, moves between lines by arrows, and leaves by Escape', async () => {
  const { page, review } = await openReview();
  const buttons = within(review).getAllByRole('button', { name: /^Comment on line/ });
  expect(buttons.map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1, -1, -1]);
  buttons[0]?.focus();
  await page.user.keyboard('{ArrowDown}{ArrowDown}');
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Comment on line 9');
  await page.user.keyboard('{Enter}Why Bled?{Escape}');
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Comment on line 9');
  expect(field(review, '9').value).toBe('Why Bled?');
  expect(screen.getByRole('region', { name: /^Review of/ })).toBeDefined();
  await page.user.keyboard('{ArrowDown}');
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Comment on line 10');
});

test('comments on a line by a tap, and not by a mouse click on its text', async () => {
  const { page, review } = await openReview();
  await page.user.click(within(review).getByText('Ghent'));
  expect(within(review).queryByRole('textbox', { name: /^Comment/ })).toBeNull();
  const tap = new MouseEvent('click', { bubbles: true });
  Object.defineProperty(tap, 'pointerType', { value: 'touch' });
  fireEvent(within(review).getByText('Ghent'), tap);
  expect(document.activeElement).toBe(field(review, '10'));
});

test('a sent comment is at its line, also where the diff leaves the line out or has no text', async () => {
  const { review } = await openReview(
    diff({
      comments: [
        comment({}),
        comment({ commentId: 'c2', text: 'And Ulm?', quoted: 'Ulm', line: 40, now: { path: 'places.md', line: 40 } }),
        comment({ commentId: 'c3', text: 'And this?', quoted: 'png', now: { path: 'map.png', line: 1 } }),
      ],
    }),
    { request: request({ state: 'changes-wanted' }) },
  );
  const notesBelow = (text: string) =>
    within(review).getByText(text, { selector: '.patch-text span' }).closest('tr')?.nextElementSibling?.textContent;
  expect(notesBelow('Bled')).toMatch(/^You .*Too far\.$/);
  // The last line before it, with its number and its text.
  expect(notesBelow('Done')).toMatch(/^places\.md:40 Ulm.*And Ulm\?$/);
  const picture = within(review).getByText('map.png', { selector: '.file-path b' }).closest('details');
  expect(picture?.textContent).toContain('And this?');
  expect(review.textContent).not.toMatch(/Outdated|other files/);
  // Nothing can be sent now.
  expect(within(review).queryByRole('button', { name: /^Comment on line/ })).toBeNull();
});

test('a comment whose line has changed is outdated, with the line as it was', async () => {
  const { review } = await openReview(
    diff({
      comments: [
        comment({ commentId: 'c2', text: 'Which lake?', quoted: 'The lake', line: 9, now: null }),
        comment({ commentId: 'c3', text: 'And this?', now: { path: 'gone.md', line: 1 } }),
      ],
    }),
  );
  const outdated = within(review).getByRole('region', { name: 'Outdated comments' });
  expect(outdated.textContent).toMatch(/places\.md:9.*The lake.*Which lake\?/);
  const others = within(review).getByRole('region', { name: 'Comments on other files' });
  expect(others.textContent).toContain('And this?');
});

test('a comment stays with its line when the agent has moved it', async () => {
  const { page, review } = await openReview();
  await press(page, review, 'Comment on line 10');
  await page.user.type(field(review, '10'), 'Ghent is dear.');
  page.unmount();
  const patch = ['@@ -8,2 +8,5 @@', ' Siena', '-Lindau', '+Ulm', '+Linz', '+Bled', '+Ghent', ''].join('\n');
  const [file, ...rest] = diff().files;
  if (!file) throw new Error('there is no file');
  const later = await openReview(diff({ head: 'c'.repeat(40), files: [{ ...file, patch }, ...rest] }));
  const row = within(later.review).getByText('Ghent', { selector: '.patch-text span' }).closest('tr');
  expect(row?.nextElementSibling?.querySelector('textarea')?.value).toBe('Ghent is dear.');
});
