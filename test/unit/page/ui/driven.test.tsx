import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { runningSession, said, NOW, team } from '../support/household.ts';
import { openPage } from '../support/render.tsx';

const claude = { agentId: 'agent-1', credentialId: 'c1', client: 'Claude Code', readsInbox: false };
const reader = { ...claude, readsInbox: true };

test('an agent that only a client drives is shown as driven, is called by WAKE, and can be woken or put to sleep alone', async () => {
  const page = await openPage({
    docs: team(2),
    snapshot: runningSession({ awake: ['agent-2'], clients: [claude] }),
    path: '/agent/agent-1',
  });
  expect(screen.getByRole('button', { name: 'Lyra, seat 1, driven by Claude Code' })).toBeDefined();
  expect(screen.getByText('1 driven by programs', { exact: false })).toBeDefined();
  expect(
    screen.getByText('Claude Code drives Lyra without looking into the inbox. Woken here, Lyra reads this.', {
      selector: '.compose *',
    }),
  ).toBeDefined();
  expect(screen.getByRole('button', { name: 'Wake Lyra' })).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Menu of Lyra' }));
  const menu = within(screen.getByRole('menu'));
  expect(menu.getByRole('menuitem', { name: /^Let Lyra sleep/ })).toBeDefined();
  await page.user.keyboard('{Escape}');
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(page.relay.posted[0]?.text.match(/<agent name="[^"]*"/g)).toEqual(['<agent name="Lyra"']);
});

test('holds messages for the client, and for the mind once that is awake', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'human', 'Are you there?', NOW - 1_000, { sessionId: 'session-2', waiting: true }),
  ];
  const page = await openPage({ docs, snapshot: runningSession({ clients: [reader] }), path: '/agent/agent-1' });
  expect(
    screen.getByText('Waits: Claude Code drives Lyra, and finds this when it looks into the inbox.'),
  ).toBeDefined();
  await page.hear({ kind: 'agent-awake', time: NOW, agentId: 'agent-1', position: 0, sessionId: 'session-2' });
  expect(screen.getByRole('button', { name: 'Lyra, seat 1, awake' })).toBeDefined();
  expect(screen.getByText('Waits: Lyra reads this next.')).toBeDefined();
  await page.hear({ kind: 'client-left', time: NOW, agentId: 'agent-1', sessionId: 'session-2', credentialId: 'c1' });
  await page.hear({
    kind: 'agent-asleep',
    time: NOW,
    agentId: 'agent-1',
    position: 0,
    sessionId: 'session-2',
    reason: { code: 'put-to-sleep', message: 'You put it to sleep.' },
  });
  expect(screen.getByText('Waits: Lyra sleeps, and will read this on waking.')).toBeDefined();
});
