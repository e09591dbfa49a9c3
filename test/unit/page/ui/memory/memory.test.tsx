import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Doc } from '../../../../../src/shared/protocol/documents.ts';
import type { Memory } from '../../../../../src/shared/protocol/memories.ts';
import { at, NOW, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';
import { type AskedCall, json, refused } from '../../support/reach.ts';

const file = (more: Partial<Memory> = {}): Memory => ({
  memoryId: 'm1',
  version: 3,
  agentId: 'agent-1',
  path: 'garden.md',
  text: '# Garden\n\nBeans in the north.',
  pinned: false,
  source: { by: 'agent', sessionId: 's1', runId: null, read: ['fetch_page'] },
  createdAt: NOW,
  changedAt: NOW,
  ...more,
});

/** The page of an agent, over these files. */
async function open(files: Memory[]) {
  const calls: AskedCall[] = [];
  const page = await openPage({
    docs: team(2),
    path: '/agent/agent-1/about',
    prepare({ reach }) {
      reach.on('GET /api/memories', () =>
        json({ memories: files, bytes: files.reduce((sum, { text }) => sum + text.length, 0) }),
      );
      reach.on('PUT /api/memories/m1', (call: AskedCall) => {
        calls.push(call);
        files[0] = { ...file(files[0]), ...(call.body as Partial<Memory>), version: 4 };
        return json(files[0]);
      });
      reach.on('DELETE /api/memories/m1', (call: AskedCall) => {
        calls.push(call);
        files.splice(0, 1);
        return new Response(null, { status: 204 });
      });
      reach.on('POST /api/memories', (call: AskedCall) => {
        calls.push(call);
        files.push({ ...file(), ...(call.body as Partial<Memory>) });
        return json(files.at(-1), 201);
      });
    },
  });
  const section = await screen.findByRole('region', { name: 'Memory' });
  return { page, section, calls };
}

test('a memory without files says how one comes about', async () => {
  const { section } = await open([]);
  await within(section).findByText(/Ask Lyra to remember something\.$/);
});

test('a file names who wrote it and that text of others was read before, and its text is corrected over its version', async () => {
  const { page, section, calls } = await open([file()]);
  const summary = (await within(section).findByText('garden.md')).closest('summary');
  expect(summary?.textContent).toContain('by Lyra');
  expect(summary?.textContent).toContain('after reading text of others');
  await page.user.click(await within(section).findByText('garden.md'));
  await within(section).findByText('Beans in the north.');
  await page.user.click(within(section).getByRole('button', { name: 'Edit' }));
  const field = within(section).getByRole('textbox', { name: 'Text of garden.md' });
  await page.user.clear(field);
  await page.user.type(field, 'Peas.');
  await page.user.click(within(section).getByRole('button', { name: 'Save' }));
  await within(section).findByText('Peas.');
  expect(calls[0]?.body).toEqual({ text: 'Peas.', version: 3 });
  await page.user.click(within(section).getByRole('button', { name: 'Pin' }));
  await within(section).findByText('pinned');
});

test('keeps the typed text of a refused change, and says why', async () => {
  const { page, section } = await open([file()]);
  page.reach.on('PUT /api/memories/m1', () => refused('The memory is full.', 413));
  await page.user.click(await within(section).findByText('garden.md'));
  await page.user.click(within(section).getByRole('button', { name: 'Edit' }));
  const field = within(section).getByRole<HTMLTextAreaElement>('textbox', { name: 'Text of garden.md' });
  await page.user.type(field, 'More.');
  await page.user.click(within(section).getByRole('button', { name: 'Save' }));
  expect((await within(section).findByRole('alert')).textContent).toContain('The memory is full.');
  expect(field.value).toContain('More.');
});

test('a deleted file comes back by Undo', async () => {
  const { page, section, calls } = await open([file()]);
  await page.user.click(await within(section).findByText('garden.md'));
  await page.user.click(within(section).getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(within(section).queryByText('garden.md')).toBeNull());
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await within(section).findByText('garden.md');
  expect(calls.at(-1)?.body).toEqual({
    agentId: 'agent-1',
    path: 'garden.md',
    text: '# Garden\n\nBeans in the north.',
    pinned: false,
  });
});

test('a file of the person’s own is added', async () => {
  const { page, section } = await open([]);
  await page.user.click(await within(section).findByRole('button', { name: 'Add a file' }));
  await page.user.type(within(section).getByRole('textbox', { name: 'File name' }), 'index.md');
  await page.user.type(within(section).getByRole('textbox', { name: 'Text of the file' }), 'Maya has a heron.');
  await page.user.click(within(section).getByRole('button', { name: 'Save' }));
  await within(section).findByText('index.md');
  await within(section).findByText(/by you|by Lyra/);
});

test('the versions of a file are shown as diffs with who wrote them, and an earlier one is restored', async () => {
  const version = (stamp: string, text: string, by: 'human' | 'agent' | 'dream') => ({
    _id: `record-${stamp}`,
    type: 'memory',
    schema: 1,
    at: stamp,
    recordId: 'm1',
    agentId: 'agent-1',
    value: {
      ...{ agentId: 'agent-1', path: 'garden.md', text, pinned: false, removed: false, createdAt: NOW, changedAt: NOW },
      source: { by, sessionId: null, runId: null, read: [] },
    },
  });
  const files = [file({ text: 'Peas.' })];
  const page = await openPage({
    docs: [...team(2), version(at(NOW), 'Beans.', 'agent') as Doc, version(at(NOW + 1), 'Peas.', 'dream') as Doc],
    path: '/agent/agent-1/about',
    prepare({ reach }) {
      reach.on('GET /api/memories', () => json({ memories: files, bytes: 5 }));
      reach.on('PUT /api/memories/m1', (call: AskedCall) => {
        files[0] = { ...file(files[0]), ...(call.body as Partial<Memory>), version: 4 };
        return json(files[0]);
      });
    },
  });
  const section = await screen.findByRole('region', { name: 'Memory' });
  await page.user.click(await within(section).findByText('garden.md'));
  await page.user.click(within(section).getByRole('button', { name: 'Versions' }));
  const list = await within(section).findByRole('list', { name: 'Versions of garden.md' });
  const [newest, oldest] = await within(list).findAllByRole('listitem');
  expect(newest?.textContent).toContain('in a dream of Lyra');
  expect(newest?.textContent).toContain('− Beans.');
  expect(newest?.textContent).toContain('+ Peas.');
  expect(oldest?.textContent).toContain('by Lyra');
  await page.user.click(within(list).getByRole('button', { name: 'Restore' }));
  await within(section).findByText('Beans.', { selector: 'p' });
  expect(page.reach.bodies('PUT /api/memories/m1')).toEqual([{ text: 'Beans.', version: 3 }]);
});
