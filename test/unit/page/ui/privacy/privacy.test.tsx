import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { localText } from '../../../../../src/page/ui/text/time.ts';
import type { ForgetDoc } from '../../../../../src/shared/protocol/documents.ts';
import { at, NOW, said, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

const docs = [
  ...team(2),
  said('agent-1', 'human', 'A secret of old.', NOW - 50_000_000),
  said('agent-2', 'human', 'Something else.', NOW - 5_000),
];
const section = (name: string) => screen.findByRole('region', { name });

test('a span of time is forgotten after a list of what goes', async () => {
  const page = await openPage({ docs, path: '/settings/privacy' });
  const form = await section('Forget a span of time');
  const show = within(form).getByRole<HTMLButtonElement>('button', { name: 'Show what will be forgotten…' });
  expect(show.disabled).toBe(true);
  fireEvent.change(within(form).getByLabelText('From'), { target: { value: localText(NOW - 100_000_000) } });
  fireEvent.change(within(form).getByLabelText('Until'), { target: { value: localText(NOW - 10_000_000) } });
  await page.user.click(show);
  const dialog = await screen.findByRole('dialog', { name: 'Forget all of this?' });
  expect((await within(dialog).findByText(/1 message/)).textContent).toBe('1 message · 0 summaries · 0 notes');
  await page.user.click(within(dialog).getByRole('button', { name: 'Forget' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const forgets = page.owner.docs.flatMap((doc) => (doc.type === 'forget' ? [doc] : []));
  expect(forgets).toMatchObject([{ target: { kind: 'span', agentId: null }, finalAt: NOW + 10_000 }]);
  expect(screen.getByRole('button', { name: 'Keep after all' })).toBeDefined();
});

test('forgets nothing by name while the relay cannot be searched', async () => {
  const page = await openPage({ docs, path: '/settings/privacy' });
  const form = await section('Forget a person, a page or a tool’s answers');
  await page.user.type(within(form).getByRole('textbox'), 'secret of old');
  await page.user.click(within(form).getByRole('button', { name: 'Show what will be forgotten…' }));
  // The relay of this page has no such call. Nothing is forgotten of which a part would be left.
  expect((await within(form).findByRole('alert')).textContent).toContain('The search failed.');
  expect(page.owner.docs.some((doc) => doc.type === 'forget')).toBe(false);
});

test('logs what was forgotten, without its content', async () => {
  const forgotten: ForgetDoc = {
    ...{ _id: 'forget:1', type: 'forget', schema: 1, at: at(NOW - 2_000), askedAt: NOW - 2_000, finalAt: NOW - 1_000 },
    target: { kind: 'conversation', agentId: 'agent-1' },
  };
  const page = await openPage({ docs, path: '/settings/privacy' });
  const log = await section('What was forgotten');
  expect(log.textContent).toBe('What was forgottenNothing');
  await page.say({ news: 'forgotten', forgets: [forgotten] });
  await waitFor(() => expect(log.textContent).toContain('Conversation with Lyra'));
  expect(log.textContent).not.toContain('secret');
});

test('a sentence is searched for in everything, and each place is named', async () => {
  const page = await openPage({ docs, path: '/settings/privacy' });
  const search = await section('Search everything for a sentence');
  await page.user.type(
    within(search).getByRole('textbox', { name: 'Search everything for a sentence' }),
    'A secret of old.',
  );
  await page.user.click(within(search).getByRole('button', { name: 'Find' }));
  const places = await within(search).findByRole('list', { name: 'Results' });
  expect(places.textContent).toContain('This browser, message: 1');
});
