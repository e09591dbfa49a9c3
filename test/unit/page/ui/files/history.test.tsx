import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Change, History, Point } from '../../../../../src/shared/protocol/endpoints/history.ts';
import { shownLines } from '../../../../../src/page/ui/files/history.tsx';
import { lineDiff } from '../../../../../src/shared/domain/line-diff.ts';
import { NOW, team } from '../../support/household.ts';
import { json, refused, type MemoryReach } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const API = '/api/workspaces/agent-1/history';
const point = (pointId: string, more: Partial<Point> = {}): Point => ({
  pointId,
  at: NOW - 3_600_000,
  work: { kind: 'run', runId: `r${pointId}`, cause: { kind: 'pulse', routine: 'Morning round' } },
  cutOff: false,
  counts: { added: 1, changed: 1, deleted: 0 },
  folders: ['files'],
  ...more,
});
const change = (path: string, more: Partial<Change> = {}): Change => ({
  folder: 'files',
  file: path,
  path,
  kind: 'file',
  change: 'changed',
  from: null,
  bytes: 10,
  executable: false,
  ...more,
});
const history = (points: readonly Point[], more: Partial<History> = {}): History => ({
  undo: 'on',
  leastGit: '2.34',
  points: [...points],
  more: false,
  gaps: [],
  bytes: 4_000_000,
  most: 1_000_000_000,
  keptDays: 30,
  fileBytes: 50_000_000,
  ...more,
});
const CHANGES = {
  changes: [
    change('plan.md'),
    change('new.md', { change: 'added' }),
    change('b', { change: 'renamed', from: { file: 'a', path: 'a' } }),
  ],
  more: 0,
  notRecorded: [{ folder: 'files', path: 'huge.iso', why: 'large' as const, bytes: 60_000_000 }],
  moreNotRecorded: 0,
};
const open = (
  answer: History,
  prepare: (reach: MemoryReach) => void = () => undefined,
  path = '/file-history/agent-1',
) =>
  openPage({
    docs: team(3),
    path,
    prepare({ reach }) {
      reach.on(`GET ${API}`, answer);
      reach.on(`GET ${API}/2`, CHANGES);
      reach.on(`GET ${API}/2/file`, {
        before: { kind: 'text', text: 'one\ntwo\n' },
        after: { kind: 'text', text: 'one\nthree\n' },
      });
      prepare(reach);
    },
  });

test('lists each change with its author, and opens its files and diffs', async () => {
  const works: readonly Point[] = [
    point('2'),
    point('1', { work: { kind: 'turn', messageId: 'm1' }, counts: { added: 0, changed: 0, deleted: 3 } }),
  ];
  const page = await open(history(works));
  const list = await screen.findByRole('list', { name: 'History' });
  expect(
    within(list)
      .getAllByRole('button')
      .map((button) => button.textContent),
  ).toEqual([
    expect.stringMatching(/^Routine “Morning round”1 new, 1 changedtoday/),
    expect.stringMatching(/^In a session3 deletedtoday/),
  ]);
  await page.user.click(within(list).getByRole('button', { name: /Morning round/ }));
  const files = await screen.findByRole('list', { name: 'Files' });
  expect(
    within(files)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual([
    expect.stringMatching(/^changedplan\.md/),
    expect.stringMatching(/^newnew\.md/),
    expect.stringMatching(/^movedbwas a/),
  ]);
  expect(screen.getByText(/huge\.iso/).closest('li')?.textContent).toBe('huge.iso: too large (60 MB)');
  await page.user.click(within(files).getByRole('button', { name: 'plan.md' }));
  const region = await screen.findByRole('region', { name: 'Change in plan.md' });
  expect([...region.children].map((line) => [line.getAttribute('data-kind'), line.textContent?.trim()])).toEqual([
    ['same', 'one'],
    ['gone', '− two'],
    ['new', '+ three'],
  ]);
});

test('says before restoring all what it does and what stays, and offers to undo it', async () => {
  const sent: unknown[] = [];
  const page = await open(history([point('2')]), (reach) => {
    for (const id of ['2', '3'])
      reach.on(`POST ${API}/${id}/restore`, ({ body }: { body: unknown }) => {
        sent.push([id, body]);
        return json({ pointId: '3', counts: { added: 0, changed: 1, deleted: 1 }, left: [] });
      });
  });
  await page.user.click(await screen.findByRole('button', { name: /Morning round/ }));
  await page.user.click(await screen.findByRole('button', { name: 'Restore all as before this…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Restore all as before this…' });
  await within(dialog).findByText('2 entries will be as it was and 1 entry will be deleted.');
  await within(dialog).findByText(/^Only files come back/);
  expect(sent).toEqual([]);
  await page.user.click(within(dialog).getByRole('button', { name: 'Restore' }));
  await screen.findByText('Lyra’s files are restored.');
  expect(screen.queryByRole('dialog')).toBeNull();
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  await waitFor(() =>
    expect(sent).toEqual([
      ['2', { to: 'before', files: null }],
      ['3', { to: 'before', files: null }],
    ]),
  );
});

test('restores one file, a moved one at both places, and shows refusals', async () => {
  const sent: unknown[] = [];
  let busy = false;
  const page = await open(history([point('2')]), (reach) =>
    reach.on(`POST ${API}/2/restore`, ({ body }: { body: unknown }) => {
      sent.push(body);
      return busy
        ? refused('The agent is at work.', 409, 'agent-busy')
        : json({ pointId: null, counts: { added: 0, changed: 0, deleted: 0 }, left: [] });
    }),
  );
  await page.user.click(await screen.findByRole('button', { name: /Morning round/ }));
  await page.user.click(await screen.findByRole('button', { name: 'More for b' }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Restore' }));
  await screen.findByText('Nothing was changed.');
  expect(sent).toEqual([
    {
      to: 'before',
      files: [
        { folder: 'files', file: 'b' },
        { folder: 'files', file: 'a' },
      ],
    },
  ]);
  busy = true;
  await page.user.click(screen.getByRole('button', { name: 'More for new.md' }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  await screen.findByText('The agent is at work.');
});

test('says why undo is limited and what to do: no git, old git, damaged history, gaps', async () => {
  const gap = { at: NOW, work: point('9').work, why: 'disk-full' as const };
  await open(history([], { undo: 'no-git', bytes: 0, gaps: [gap] }));
  await screen.findByText(
    /Git is not installed on the relay’s computer\. Install it \(Debian and Ubuntu: apt install git/,
  );
  await screen.findByText(/Routine “Morning round”, today .*: the disk was full/);
  await screen.findByText(/^Nothing was changed yet\. Here you can undo/);
  expect(screen.queryByRole('button', { name: 'Delete the history…' })).toBeNull();
});

test('a history that cannot be read can be deleted, after a question', async () => {
  let deleted = 0;
  const page = await open(history([], { undo: 'broken', bytes: 0 }), (reach) =>
    reach.on(`DELETE ${API}`, () => {
      deleted += 1;
      return new Response(null, { status: 204 });
    }),
  );
  await page.user.click(await screen.findByRole('button', { name: 'Delete the history…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Delete the history…' });
  expect(deleted).toBe(0);
  await page.user.click(within(dialog).getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(deleted).toBe(1));
});

test("opens a run's changes at its address, or says that there are none", async () => {
  await open(history([point('2')]), undefined, '/file-history/agent-1/run/r2');
  await screen.findByRole('list', { name: 'Files' });
});

test('says when a run has no changes', async () => {
  await open(history([point('2')]), undefined, '/file-history/agent-1/run/other');
  await screen.findByText('This run changed no files, or it was too long ago.');
});

test('shows only lines near a change, with the number of those between', () => {
  const old = Array.from({ length: 40 }, (_none, i) => `line ${i}`);
  const now = old.with(20, 'changed');
  expect(shownLines(lineDiff(old.join('\n'), now.join('\n'))).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'head … 17 more lines',
    ...['line 17', 'line 18', 'line 19'].map((text) => `same ${text}`),
    'gone line 20',
    'new changed',
    ...['line 21', 'line 22', 'line 23'].map((text) => `same ${text}`),
    'head … 16 more lines',
  ]);
});
