import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Exam } from '../../../../../src/shared/protocol/exams.ts';
import { NOW, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';
import { json, refused } from '../../support/reach.ts';

const item = (question: string, after: string, isRight: boolean | null): Exam['items'][number] => ({
  ...{ topic: 'memory', question, expected: 'Ida' },
  before: { text: 'She is called Ida.', isRight: true },
  after: { text: after, isRight },
});
const exam = (more: Partial<Exam> = {}): Exam => ({
  ...{ examId: 'e1', agentId: 'agent-1', state: 'answered', cause: 'model', madeAt: NOW, changedAt: NOW },
  ...{ before: 'claude-opus-4-5', after: 'claude-haiku-4-5', detail: null, tokens: 9_000 },
  ...{ costMicroUsd: 61_000, mostMicroUsd: 450_000, estimated: false },
  items: [item('What is her daughter called?', 'I do not know.', false), item('And her son?', 'Ida', true)],
  ...more,
});

async function open(exams: Exam[]) {
  const asked: unknown[] = [];
  const page = await openPage({
    docs: team(2),
    path: '/agent/agent-1/about',
    prepare({ reach }) {
      reach.on('GET /api/exams', () => json({ exams }));
      reach.on('POST /api/exams/cost', () =>
        json({ microUsd: 61_000, mostMicroUsd: 450_000, estimated: false, demo: false }),
      );
      reach.on('POST /api/exams', ({ body }: { readonly body: unknown }) => {
        asked.push(body);
        exams.unshift(exam({ state: 'running', items: [], tokens: null }));
        return json(exams[0], 201);
      });
      reach.on('POST /api/exams/e1/answer', ({ body }: { readonly body: unknown }) => {
        asked.push(body);
        exams[0] = exam({ state: 'kept' });
        return json(exams[0]);
      });
    },
  });
  return { page, asked, section: await screen.findByRole('region', { name: 'Continuity' }) };
}

test('shows both answers of each question, the losses and the cost', async () => {
  const { section } = await open([exam()]);
  const card = await within(section).findByRole('article', { name: 'Opus 4.5 → Haiku 4.5' });
  expect(card.textContent).toContain('1 of 2 as before · 1 lost');
  expect(card.textContent).toContain('Opus 4.5 · rightShe is called Ida.');
  expect(card.textContent).toContain('Haiku 4.5 · wrongI do not know.');
  expect(card.textContent).toContain('It cost $0.061.');
  expect(within(section).queryByRole('button', { name: /^Let .* sit an exam first$/ })).toBeNull();
});

test('an exam that is kept sets the model of its agent, and stays as a dated certificate', async () => {
  const { page, asked, section } = await open([exam()]);
  await page.user.click(await within(section).findByRole('button', { name: 'Keep Haiku 4.5' }));
  await within(section).findByText(/Opus 4\.5 → Haiku 4\.5 · kept · 1 of 2 as before/);
  expect(asked).toEqual([{ keep: true }]);
  await waitFor(() =>
    expect(page.state.household.store.getState().roster.byId.get('agent-1')?.model).toBe('claude-haiku-4-5'),
  );
});

test('an exam that another page has answered leaves the model as it is, and says why', async () => {
  const { page, section } = await open([exam()]);
  page.reach.on('POST /api/exams/e1/answer', () => refused('The exam is over.', 409));
  await page.user.click(await within(section).findByRole('button', { name: 'Keep Haiku 4.5' }));
  await within(section).findByText('The exam is over.');
  expect(page.state.household.store.getState().roster.byId.get('agent-1')?.model).toBe('');
});

test('an exam that another tab has kept sets the same model here, and no other', async () => {
  const exams = [exam()];
  const { page, section } = await open(exams);
  page.reach.on('POST /api/exams/e1/answer', () => {
    exams[0] = exam({ state: 'kept' });
    return refused('The exam is over.', 409);
  });
  await page.user.click(await within(section).findByRole('button', { name: 'Keep Haiku 4.5' }));
  await within(section).findByText(/Opus 4\.5 → Haiku 4\.5 · kept/);
  await waitFor(() =>
    expect(page.state.household.store.getState().roster.byId.get('agent-1')?.model).toBe('claude-haiku-4-5'),
  );
});

test('an exam begins only after its price was shown, with a copy of the agent and that limit', async () => {
  const { page, asked, section } = await open([]);
  await page.user.click(await within(section).findByRole('button', { name: /^Let .* sit an exam first$/ }));
  expect(within(section).queryByRole('button', { name: 'Begin' })).toBeNull();
  await page.user.click(within(section).getByRole('button', { name: 'Show the price' }));
  await within(section).findByText('About $0.061, at most $0.45.');
  await page.user.click(within(section).getByRole('button', { name: 'Begin' }));
  await within(section).findByText(/the copy answers now/);
  expect(asked).toMatchObject([{ agentId: 'agent-1', cause: 'model', mostMicroUsd: 450_000 }]);
});

test('an exam that waits for the person stands in the inbox, and its link leads to both answers', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/inbox',
    prepare: ({ reach }) => reach.on('GET /api/exams', () => json({ exams: [exam()] })),
  });
  const row = within(await screen.findByRole('list', { name: '1 exam' }));
  row.getByText('An exam of Lyra waits for you');
  row.getByText('Opus 4.5 → Haiku 4.5: 1 of 2 as before · 1 lost');
  await page.user.click(row.getByRole('link', { name: 'Open' }));
  const section = await screen.findByRole('region', { name: 'Continuity' });
  await within(section).findByRole('button', { name: 'Keep Haiku 4.5' });
  await waitFor(() => expect(document.activeElement).toBe(section));
});

test('the place where a model is chosen leads to an exam that is ready to begin', async () => {
  const { page } = await open([]);
  await page.user.click(screen.getByRole('button', { name: 'Change' }));
  const dialog = await screen.findByRole('dialog', { name: 'Change Lyra' });
  await page.user.click(within(dialog).getByRole('link', { name: 'Let Lyra sit an exam first' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const section = screen.getByRole('region', { name: 'Continuity' });
  await within(section).findByRole('button', { name: 'Show the price' });
});
