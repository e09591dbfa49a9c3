import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { NOW, runningSession, said, settingDoc, team } from '../../support/household.ts';
import { answerSchedules, occurrence, proposal } from '../../support/schedules.ts';
import { oneProject, task } from '../../support/projects.ts';
import { json, WAITING_CALL } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const read = said('agent-1', 'agent-1', 'Read.', NOW - 30);
const docs = [
  ...team(3),
  settingDoc('read:agent-1', read.at),
  read,
  said('agent-1', 'agent-1', 'I have asked you.', NOW - 10),
];

/** A question, a review, a blocked task, a failed run and a proposal; and one unread message. */
const openInbox = (width = 1440) =>
  openPage({
    docs,
    path: '/inbox',
    width,
    snapshot: runningSession({ awake: ['agent-1'] }),
    prepare({ reach }) {
      answerSchedules(reach);
      oneProject(reach, [
        task(1, 'Greet friends', 'review'),
        task(2, 'Ask for a key', 'blocked', {
          history: [{ time: NOW, by: 'agent-2', what: 'moved', columnId: 'blocked', note: 'Which API key?' }],
        }),
        task(3, 'Nothing to see', 'ready'),
      ]);
      const run = occurrence(1, {
        agentId: 'agent-2',
        name: 'Look',
        state: 'failed',
        runId: 'run-9',
        endedAt: NOW - 9,
      });
      reach.on('GET /v1/runs', { runs: [run], more: false });
      reach.on('GET /v1/pulse-routines', { schedules: [], scripts: true });
      reach.on('GET /v1/routine-proposals', { proposals: [proposal(1, 'Night watch')] });
      reach.on('GET /api/approvals', () =>
        json({ waiting: [WAITING_CALL], answered: [], sandbox: { available: true, why: null } }),
      );
    },
  });

const heading = '2 questions · 1 review · 1 blocked task · 1 failed run';

test('the inbox lists what waits with its one action, and the header and the title count the same', async () => {
  const page = await openInbox();
  const list = within(await screen.findByRole('list', { name: heading }));
  const rows = list
    .getAllByRole('listitem')
    .filter(({ parentElement }) => parentElement?.classList.contains('inbox-waits') === true);
  expect(rows).toHaveLength(5);
  expect(list.getByRole('button', { name: 'Yes, once' })).toBeDefined();
  expect(list.getByRole('link', { name: 'Review' }).getAttribute('href')).toBe('/projects/trip/1/review');
  expect(list.getByText('Which API key?', { exact: false })).toBeDefined();
  expect(list.getByRole('link', { name: 'Answer' })).toBeDefined();
  expect(list.getByRole('button', { name: /^Continue/ })).toBeDefined();
  expect(list.getByRole('button', { name: 'Save: Night watch' })).toBeDefined();
  const place = within(screen.getByRole('navigation', { name: 'Places' })).getByRole('link', { name: /^Inbox/ });
  // The unread answer of the agent that asks is apart, and is not counted once more.
  expect(place.textContent).toBe('Inbox5 wait for you1 unread');
  expect(document.title).toBe('(5) Inbox · Roost');
  await page.user.click(list.getByRole('button', { name: 'Put away' }));
  await waitFor(() => expect(document.title).toBe('(4) Inbox · Roost'));
  expect(page.owner.docs.at(-1)).toMatchObject({ type: 'setting', key: 'runsReadTo', value: NOW - 9 });
});

test('shows the same count on a phone, and links an unread message by itself', async () => {
  await openInbox(390);
  await screen.findByRole('list', { name: heading });
  const unread = within(screen.getByRole('list', { name: 'Unread' })).getByRole('link');
  expect([unread.textContent, unread.getAttribute('href')]).toEqual(['Lyra 1', '/agent/agent-1']);
  const bar = document.querySelector('.bottom-bar');
  expect(bar?.querySelector('.waits-badge')?.textContent).toBe('5 wait for you');
});

test('says when the inbox is empty', async () => {
  await openPage({
    docs: team(1),
    path: '/inbox',
    prepare({ reach }) {
      answerSchedules(reach, { schedules: [] });
      reach.on('GET /api/approvals', { waiting: [], answered: [], sandbox: { available: true, why: null } });
    },
  });
  await screen.findByText('Nothing is waiting for you.');
  expect(document.title).toBe('Inbox · Roost');
});
