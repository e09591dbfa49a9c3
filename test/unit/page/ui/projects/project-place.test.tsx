import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { team } from '../../support/household.ts';
import { oneProject, type project, TASKS } from '../../support/projects.ts';
import { json, refused } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

async function openSettings(more: Parameters<typeof project>[0]) {
  const page = await openPage({
    docs: team(3),
    path: '/projects/trip/settings',
    prepare: ({ reach }) => void oneProject(reach, TASKS, more),
  });
  return { page, dialog: await screen.findByRole('dialog', { name: 'Settings of Plan our trip' }) };
}

test('the files of a folder project are listed, and one is deleted after a question', async () => {
  const { page, dialog } = await openSettings({});
  let files = [
    { path: 'ferries.md', bytes: 1_200 },
    { path: 'notes/hotels.md', bytes: 40 },
  ];
  page.reach.on('GET /v1/projects/trip/files', () => json({ files, more: 3 }));
  page.reach.on('DELETE /v1/projects/trip/file', ({ query }: { query: URLSearchParams }) => {
    files = files.filter(({ path }) => path !== query.get('path'));
    return new Response(null, { status: 204 });
  });
  await page.user.click(within(dialog).getByText('Files'));
  await within(dialog).findByRole('button', { name: 'notes/hotels.md' });
  expect(dialog.textContent).toContain('and 3 more');
  await page.user.click(within(dialog).getByRole('button', { name: 'Delete ferries.md' }));
  const question = await screen.findByRole('dialog', { name: 'Delete ferries.md' });
  await page.user.click(within(question).getByRole('button', { name: 'Delete' }));
  await expect.poll(() => within(dialog).queryByRole('button', { name: 'ferries.md' })).toBeNull();
  expect(within(dialog).getByRole('button', { name: 'Add files…' })).toBeDefined();
});

test('a token is set by Enter without saving the settings, and a refusal is shown', async () => {
  const { page, dialog } = await openSettings({ kind: 'git', repository: 'https://forge.test/o/r.git' });
  let isSet = false;
  page.reach.on('GET /v1/projects/trip/token', () => json({ isSet, forge: null }));
  page.reach.on('PUT /v1/projects/trip/token', () => refused('The disk is full.', 507, 'disk-full'));
  await page.user.click(within(dialog).getByText('Token'));
  const field = await within(dialog).findByLabelText('Token');
  await page.user.type(field, 'abc{Enter}');
  expect((await within(dialog).findByRole('alert')).textContent).not.toBe('');
  page.reach.on('PUT /v1/projects/trip/token', () => {
    isSet = true;
    return json({ isSet, forge: 'github' });
  });
  await page.user.selectOptions(within(dialog).getByLabelText('Requests to merge are opened'), 'GitHub');
  await page.user.type(field, '{Enter}');
  await within(dialog).findByPlaceholderText('Saved');
  expect(page.reach.bodies('PUT /v1/projects/trip/token').at(-1)).toEqual({ token: 'abc', forge: 'github' });
  expect(page.reach.times('PUT /v1/projects/trip')).toBe(0);
});
