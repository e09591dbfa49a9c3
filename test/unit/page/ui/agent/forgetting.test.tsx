import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ForgetDoc } from '../../../../../src/shared/protocol/documents.ts';
import { at, NOW, NO_SESSION_SNAPSHOT, runningSession, said, team } from '../../support/household.ts';
import { openPage, type Page } from '../../support/render.tsx';

const DAY = 86_400_000;
const asked = (target: ForgetDoc['target'], askedAt = NOW - 2 * DAY, finalAt = askedAt + 30 * DAY): ForgetDoc => ({
  _id: `forget:${target.kind}-${target.agentId}`,
  type: 'forget',
  schema: 1,
  at: at(askedAt),
  target,
  askedAt,
  finalAt,
});
const forgets = (page: Page) =>
  page.owner.docs.flatMap((doc) => (doc.type === 'forget' && 'target' in doc ? [doc] : []));
const seats = () =>
  within(screen.getByRole('list', { name: 'The team' }))
    .getAllByRole('button')
    .map((button) => button.getAttribute('aria-label'));
const docs = [
  ...team(2),
  said('agent-1', 'human', 'A secret of old.', NOW - 5000),
  said('agent-1', 'agent-1', 'Kept well.', NOW - 4000),
];
/** From the agent's own page, which its conversation leads to. */
const ask = async (page: Page, name: string) => {
  if (!screen.queryByRole('button', { name })) await page.user.click(await screen.findByRole('link', { name: 'More' }));
  await page.user.click(await screen.findByRole('button', { name }));
  return screen.findByRole('dialog');
};

test('an agent is forgotten only when its name is typed, and is out of sight at once', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  const dialog = await ask(page, 'Forget Lyra…');
  expect(dialog.textContent).toContain('Until 21 December 2026, 08:55 you can undo it');
  expect(dialog.textContent).toContain('what others remember and have said of Lyra');
  await page.user.click(within(dialog).getByRole('button', { name: 'Continue…' }));
  const sure = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Forget Lyra' });
  expect(sure.disabled).toBe(true);
  await page.user.type(within(dialog).getByRole('textbox'), 'Lyr');
  expect(sure.disabled).toBe(true);
  await page.user.type(within(dialog).getByRole('textbox'), 'a{Enter}');
  await waitFor(() => expect(location.pathname).toBe('/'));
  expect(forgets(page)).toMatchObject([
    { target: { kind: 'agent', agentId: 'agent-1' }, askedAt: NOW, finalAt: NOW + 30 * DAY },
  ]);
  expect(seats()).toContain('seat 1, empty');
  expect(seats().join()).not.toContain('Lyra');
  // What the next visit would paint first has neither name nor soul of hers any more.
  expect(JSON.stringify({ ...localStorage })).toContain('Wren');
  expect(JSON.stringify({ ...localStorage })).not.toContain('Lyra');
});

test('the notice right after takes it back', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  const dialog = await ask(page, 'Forget Lyra…');
  await page.user.click(within(dialog).getByRole('button', { name: 'Continue…' }));
  await page.user.type(within(dialog).getByRole('textbox'), 'lyra{Enter}');
  await page.user.click(await screen.findByRole('button', { name: 'Keep after all' }));
  await waitFor(() => expect(seats().some((name) => name?.startsWith('Lyra, seat 1, asleep'))).toBe(true));
});

test('the first time of asking can be left without a trace', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  const dialog = await ask(page, 'Forget Lyra…');
  await page.user.click(within(dialog).getByRole('button', { name: 'Cancel' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(forgets(page)).toEqual([]);
});

test('a conversation is asked about twice, and its words are out of sight while its agent stays', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  await screen.findByText('A secret of old.');
  const dialog = await ask(page, 'Forget this conversation…');
  await page.user.click(within(dialog).getByRole('button', { name: 'Continue…' }));
  expect(forgets(page)).toEqual([]);
  await page.user.click(within(dialog).getByRole('button', { name: 'Forget' }));
  await page.user.click(await screen.findByRole('button', { name: 'Close' }));
  await waitFor(() => expect(screen.queryByText('A secret of old.')).toBeNull());
  expect(screen.queryByText('Kept well.')).toBeNull();
  expect(seats().some((name) => name?.startsWith('Lyra, seat 1, asleep'))).toBe(true);
  await page.user.click(screen.getByRole('button', { name: 'Keep after all' }));
  expect(await screen.findByText('A secret of old.')).toBeDefined();
});

test('shows messages after a conversation was forgotten, and none from before', async () => {
  const forgotten = asked({ kind: 'conversation', agentId: 'agent-1' }, NOW - 3000);
  await openPage({
    docs: [...docs, forgotten, said('agent-1', 'human', 'A new beginning.', NOW - 1000)],
    path: '/agent/agent-1',
  });
  expect(await screen.findByText('A new beginning.')).toBeDefined();
  expect(screen.queryByText('A secret of old.')).toBeNull();
});

test('puts an awake agent to sleep before it is forgotten', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: runningSession({ awake: ['agent-1'] }) });
  const dialog = await ask(page, 'Forget Lyra…');
  expect(dialog.textContent).toContain('Lyra takes part in the running session, and must leave it first.');
  expect(within(dialog).queryByRole('button', { name: 'Continue…' })).toBeNull();
  await page.user.click(within(dialog).getByRole('button', { name: 'Let Lyra sleep' }));
  expect(page.relay.asked).toEqual(['sleep agent-1']);
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: NO_SESSION_SNAPSHOT });
  expect(within(dialog).getByRole('button', { name: 'Continue…' })).toBeDefined();
});

test('the lead’s conversation can be forgotten, the lead cannot', async () => {
  const page = await openPage({ docs, path: '/lead/more' });
  expect(await screen.findByRole('button', { name: 'Forget this conversation…' })).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Forget Julian…' })).toBeNull();
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: runningSession() });
  expect((await ask(page, 'Forget this conversation…')).textContent).toContain(
    'Julian takes part in the running session, and must leave it first.',
  );
});

test('does not show as forgotten what could not be stored', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  const dialog = await ask(page, 'Forget this conversation…');
  await page.user.click(within(dialog).getByRole('button', { name: 'Continue…' }));
  page.owner.broken = 'the disk is full.';
  await page.user.click(within(dialog).getByRole('button', { name: 'Forget' }));
  expect((await within(dialog).findByRole('alert')).textContent).toContain('the disk is full.');
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  await page.user.click(screen.getByRole('button', { name: 'Close' }));
  expect(await screen.findByText('A secret of old.')).toBeDefined();
});

test('lists pending deletions with their days left, and can cancel them', async () => {
  const page = await openPage({
    docs: [...docs, asked({ kind: 'agent', agentId: 'agent-2' })],
    path: '/settings/storage',
  });
  const list = await screen.findByRole('region', { name: 'Being forgotten' });
  expect(list.textContent).toContain('Wren28 days left');
  await page.user.click(within(list).getByRole('button', { name: 'Keep after all: Wren' }));
  await waitFor(() => expect(page.state.household.store.getState().roster.seats.get(1)?.name).toBe('Wren'));
  expect(screen.queryByRole('region', { name: 'Being forgotten' })).toBeNull();
});

test("shows at an agent's address that it is being forgotten, and can cancel that", async () => {
  const page = await openPage({
    docs: [...docs, asked({ kind: 'agent', agentId: 'agent-2' })],
    path: '/agent/agent-2',
  });
  expect(await screen.findByText('This agent is being forgotten')).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Keep after all' }));
  expect(await screen.findByRole('heading', { name: 'Wren' })).toBeDefined();
});

test('hides what another tab forgets', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  await screen.findByText('A secret of old.');
  await page.say({ news: 'documents', docs: [asked({ kind: 'agent', agentId: 'agent-1' }, NOW)] });
  await waitFor(() => expect(screen.queryByText('A secret of old.')).toBeNull());
  expect(seats()).toContain('seat 1, empty');
});

test('leaves nothing of a final deletion in any store', async () => {
  const page = await openPage({ docs, path: '/agent/agent-1' });
  await screen.findByText('A secret of old.');
  await page.say({ news: 'forgotten', forgets: [asked({ kind: 'agent', agentId: 'agent-1' }, NOW - 40 * DAY)] });
  const { household, conversations } = page.state;
  expect([...household.store.getState().identities.values()].map((doc) => doc.agentId)).toEqual(['lead', 'agent-2']);
  expect(conversations.store.getState().byAgent.get('agent-1')?.messages ?? []).toEqual([]);
  expect(screen.queryByText('A secret of old.')).toBeNull();
});
