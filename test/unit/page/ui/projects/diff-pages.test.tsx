import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Diff } from '../../../../../src/shared/protocol/attempts.ts';
import { team } from '../../support/household.ts';
import { oneProject, TASKS } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';
import { attempt, diff, request } from '../../support/task-work.ts';

const ONE = '/v1/projects/trip/tasks/task-1';
const FILE = `GET ${ONE}/diff/file`;
const PAGE = `GET ${ONE}/diff`;

/** The changes in the review of a task, whose diff is answered by this. */
async function openReview(answer: (call: AskedCall) => Response) {
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, request: request() } : one));
  const page = await openPage({
    docs: team(3),
    path: '/projects/trip/1/review',
    prepare({ reach }) {
      oneProject(reach, tasks, { kind: 'git', repository: '/home/me/trip' });
      reach.on(`GET ${ONE}/attempts`, { attempts: [attempt(1)] });
      reach.on(PAGE, answer);
    },
  });
  const review = await screen.findByRole('region', { name: 'Review of #1 Find three places that fit' });
  // The list of files beside the changes has the same names.
  const changes = within(review).getByRole('region', { name: 'Changes' });
  await within(changes).findByRole('region', { name: /^\d+ files?$/ });
  return { page, changes };
}
const press = async (page: Page, where: HTMLElement, name: string) =>
  page.user.click(await within(where).findByRole('button', { name }));
const fileOf = (where: HTMLElement, name: string) => {
  const found = within(where).getByText(name).closest('details');
  if (!found) throw new Error(`${name} is not shown`);
  return found;
};
const file = (number: number, path: string, patch: string | null): Diff['files'][number] => ({
  ...{ number, path, status: 'added', added: 1, removed: 0, before: null, patch },
  ...{ reason: patch === null ? 'more' : null, content: { before: null, after: String(number).padStart(40, '0') } },
});
const added = (...lines: readonly string[]) =>
  `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;

test('loads a long file part by part on demand, and shows a refusal with a retry', async () => {
  const { page, changes } = await openReview(() => json(diff()));
  const prices = fileOf(changes, 'prices.csv');
  expect(prices.textContent).toContain('Not loaded yet');
  page.reach.on(FILE, () => refused('The relay had an error.', 500));
  await press(page, prices, 'Show more');
  expect((await within(prices).findByRole('alert')).textContent).toContain('The relay had an error');
  const text = added('ferry 30', 'train 40', 'hotel 90');
  const cut = text.indexOf('in 40');
  page.reach.on(FILE, ({ query }: AskedCall) =>
    json(
      query.get('from') === String(cut)
        ? { patch: text.slice(cut), reason: null, next: null }
        : { patch: text.slice(0, cut), reason: null, next: cut },
    ),
  );
  await press(page, prices, 'Try again');
  await within(prices).findByText('ferry 30');
  expect(document.activeElement).toBe(prices.querySelector('summary'));
  expect(page.reach.asked.at(-1)?.query.get('before')).toBe('4'.repeat(40));
  expect(page.reach.asked.at(-1)?.query.get('after')).toBe('5'.repeat(40));
  await press(page, prices, 'Show more');
  await within(prices).findByText('train 40');
  expect(within(prices).getByText('hotel 90')).toBeDefined();
  expect(within(prices).queryByRole('button', { name: 'Show more' })).toBeNull();
  // A file that was loaded takes comments.
  await press(page, prices, 'Comment on line 3');
  expect(within(prices).getByRole('textbox', { name: 'Comment on prices.csv:3' })).toBeDefined();
});

test('says in place that a file is binary or too large', async () => {
  const { page, changes } = await openReview(() => json(diff()));
  const prices = fileOf(changes, 'prices.csv');
  page.reach.on(FILE, { patch: null, reason: 'too-large', next: null });
  await press(page, prices, 'Show more');
  await within(prices).findByText(/cannot be compared here/);
  expect(within(prices).queryByRole('button')).toBeNull();
});

test('further files are loaded by a press, by number whatever their names are, and the first takes the focus', async () => {
  const first = [file(0, 'same', added('one')), file(1, 'same', added('two'))];
  const { page, changes } = await openReview(({ query }) =>
    json(
      query.get('from') === '2'
        ? diff({ files: [file(2, 'a\tb', added('three')), file(3, 'a\nb', null)], more: 0 })
        : diff({ files: first, more: 2 }),
    ),
  );
  expect(within(changes).getByRole('region', { name: '4 files' })).toBeDefined();
  within(changes).getByRole('button', { name: 'Show 2 more files' }).focus();
  await page.user.keyboard('{Enter}');
  const tab = await waitFor(() => fileOf(changes, 'a⟨U+0009⟩b'));
  expect(within(changes).getAllByText('same')).toHaveLength(2);
  expect(fileOf(changes, 'a⟨U+000A⟩b')).toBeDefined();
  await waitFor(() => expect(document.activeElement).toBe(tab.querySelector('summary')));
  expect(within(changes).queryByRole('button', { name: /^Show \d/ })).toBeNull();
});

test('replaces shown files by those of newer commits, and mixes none', async () => {
  const newest = 'c'.repeat(40);
  const { page, changes } = await openReview(() => json(diff({ files: [file(0, 'old', added('one'))], more: 1 })));
  page.reach.on(PAGE, ({ query }: AskedCall) => {
    const later = query.get('from') === '1';
    return json(
      diff({ head: newest, files: [file(later ? 1 : 0, later ? 'later.txt' : 'newer.txt', added('two'))], more: 0 }),
    );
  });
  await press(page, changes, 'Show 1 more file');
  await within(changes).findByText('newer.txt');
  expect(within(changes).queryByText('old')).toBeNull();
  expect(within(changes).queryByText('later.txt')).toBeNull();
  expect(within(changes).getByText(/^Newer commits/)).toBeDefined();
});
