import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { NOW, runningSession, said, settingDoc, team } from './support/household.ts';
import { json, WAITING_CALL } from './support/reach.ts';
import { openPage } from './support/render.tsx';

const log = () => screen.getByRole('region', { name: /^Conversation with/ });
const read = said('agent-1', 'agent-1', 'Read.', NOW - 30);
const docs = [
  ...team(1),
  settingDoc('read:agent-1', read.at),
  read,
  said('agent-1', 'human', 'My own.', NOW - 20),
  said('agent-1', 'agent-1', 'First new.', NOW - 10),
  said('agent-1', 'agent-1', 'Second new.', NOW - 5),
];
const snapshot = runningSession({ awake: ['agent-1'] });

test('the title and the seat say how much is new, and a line where it begins; what is looked at is read', async () => {
  const page = await openPage({ docs, path: '/', snapshot });
  await waitFor(() => expect(document.title).toMatch(/^\(2\) /));
  expect(page.container.querySelector('.seat-badge[data-kind="unread"]')?.textContent).toBe('2');
  await page.user.click(screen.getByRole('button', { name: /^Lyra/ }));
  const line = await within(log()).findByRole('separator', { name: 'New messages' });
  const words = log().textContent;
  expect(words.indexOf('My own.')).toBeLessThan(words.indexOf('New'));
  expect(line.compareDocumentPosition(screen.getByText('First new.')) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  await waitFor(() => expect(document.title).not.toMatch(/^\(/));
  expect(page.container.querySelector('.seat-badge[data-kind="unread"]')).toBeNull();
});

test('what agents ask for waits with it: in the title, as a dot on the icon, and gone with the answer', async () => {
  const icon = document.createElement('link');
  Object.assign(icon, { rel: 'icon', href: '/plain.svg' });
  document.head.append(icon);
  let waiting = [1, 2].map((n) => ({ ...WAITING_CALL, callId: `call-${n}` }));
  const page = await openPage({
    docs,
    path: '/settings/about',
    snapshot,
    prepare: ({ reach }) =>
      reach.on('GET /api/approvals', () => json({ waiting, answered: [], sandbox: { available: true, why: null } })),
  });
  await waitFor(() => expect(document.title).toMatch(/^\(4\) /));
  expect(decodeURIComponent(icon.href)).toMatch(/^data:image\/svg\+xml,<svg.*<circle/);
  waiting = [];
  page.state.changes.tell({ what: 'approvals', agentId: null });
  await waitFor(() => expect(document.title).toMatch(/^\(2\) /));
  await page.user.click(screen.getByRole('link', { name: 'Roost' }));
  await page.user.click(await screen.findByRole('button', { name: /^Lyra/ }));
  await waitFor(() => expect(icon.href).toMatch(/plain\.svg$/));
  icon.remove();
});

test('where new begins before what was read of a conversation, earlier messages are read until the line has its place', async () => {
  await openPage({ docs, path: '/agent/agent-1', snapshot, prepare: ({ owner }) => (owner.pageSize = 1) });
  await within(log()).findByRole('separator', { name: 'New messages' });
  expect(log().textContent).toContain('Read.');
});

test('a conversation in which nothing is new has no line', async () => {
  await openPage({ docs: docs.slice(0, -2), path: '/agent/agent-1', snapshot });
  expect(log().textContent).toContain('My own.');
  expect(screen.queryByRole('separator', { name: 'New messages' })).toBeNull();
});
