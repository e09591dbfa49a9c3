/** The card of an MCP server's question: read, filled in and sent by the keyboard alone. */
import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { FormField } from '../../../../../src/shared/domain/question-form.ts';
import type { ToolCall } from '../../../../../src/shared/protocol/approvals.ts';
import { NOW, team } from '../../support/household.ts';
import { json, refused, WAITING_CALL } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const about = (name: string, more: object = {}) => ({ name, title: name, description: '', isRequired: false, ...more });
const FIELDS: readonly FormField[] = [
  {
    ...about('name', { title: 'Your name', description: 'As it stands on the list.', isRequired: true }),
    ...{ kind: 'text', format: null, least: 2, most: null, preset: null },
  },
  { ...about('guests'), kind: 'number', isWhole: true, least: 1, most: 8, preset: 2 },
  { ...about('mail'), kind: 'text', format: 'email', least: null, most: null, preset: null },
  {
    ...about('seat'),
    kind: 'one',
    options: [
      { value: 'in', title: 'Inside' },
      { value: 'out', title: 'Outside' },
    ],
    preset: 'out',
  },
  {
    ...about('wishes'),
    ...{ kind: 'many', least: null, most: 1, preset: ['quiet'] },
    options: [
      { value: 'quiet', title: 'Quiet' },
      { value: 'window', title: 'A window' },
    ],
  },
  { ...about('news'), kind: 'yes-no', preset: false },
  { ...about('at'), kind: 'text', format: 'date-time', least: null, most: null, preset: null },
];
const asked = (message: string, fields: readonly FormField[] = FIELDS, others: readonly string[] = []): ToolCall => ({
  ...WAITING_CALL,
  ...{ tool: 'mcp__tables__book', input: '{}' },
  question: { server: 'tables', message, fields, others, until: NOW + 1_800_000 },
});

async function open(call: ToolCall, answer: unknown = json({ ...call, state: 'done' })) {
  let answered = false;
  const page = await openPage({
    docs: team(2),
    path: '/inbox',
    prepare({ reach }) {
      reach.on('GET /api/approvals', () =>
        json({ waiting: answered ? [] : [call], answered: [], sandbox: { available: true, why: null } }),
      );
      reach.on('POST /api/approvals/call-1/answer', () => {
        answered = (answer as Response).ok;
        return answer;
      });
    },
  });
  const card = within(await screen.findByRole('article', { name: 'tables asks you something' }));
  const send = card.getByRole<HTMLButtonElement>('button', { name: 'Send' });
  await waitFor(() => expect(send.disabled).toBe(false));
  return { page, card, send, bodies: () => page.reach.bodies('POST /api/approvals/call-1/answer') };
}

test('is filled in and sent by keyboard: each field has its name, and an empty one is not sent', async () => {
  const { page, card, bodies } = await open(asked('For whom is the table?\nSay it.', FIELDS, ['agent-2']));
  expect(card.getByText(/For whom is the table\?\s+Say it\./).tagName).toBe('BLOCKQUOTE');
  card.getByText(/uses its tool book, which waits/);
  card.getByText(/may also ask for Wren/);
  const name = card.getByRole<HTMLInputElement>('textbox', { name: 'Your name' });
  expect(name.getAttribute('aria-describedby')).not.toBeNull();
  expect(card.getByRole<HTMLInputElement>('textbox', { name: 'guests' }).value).toBe('2');
  expect(card.getByRole<HTMLSelectElement>('combobox', { name: 'seat' }).value).toBe('=out');
  expect(card.getByRole<HTMLInputElement>('checkbox', { name: 'Quiet' }).checked).toBe(true);
  name.focus();
  await page.user.keyboard('Noa{Tab}{Tab}{Tab}');
  expect(document.activeElement).toBe(card.getByRole('combobox', { name: 'seat' }));
  await page.user.selectOptions(card.getByRole('combobox', { name: 'seat' }), '');
  await page.user.click(card.getByRole('checkbox', { name: 'Quiet' }));
  await page.user.click(card.getByRole('checkbox', { name: 'A window' }));
  await page.user.selectOptions(card.getByRole('combobox', { name: 'news' }), 'Yes');
  const at = card.getByLabelText('at');
  await page.user.type(at, '2026-12-24T18:30');
  card.getByRole('textbox', { name: 'mail' }).focus();
  await page.user.keyboard('noa@example.org{Enter}');
  await waitFor(() =>
    expect(bodies()).toEqual([
      {
        answer: 'send',
        words: '',
        content: {
          ...{ name: 'Noa', mail: 'noa@example.org', seat: null, wishes: ['window'], news: true },
          at: new Date('2026-12-24T18:30').toISOString(),
        },
      },
    ]),
  );
  await screen.findByText('Nothing is waiting for you.');
});

test('shows an error at its field, focuses it, and sends nothing', async () => {
  const { page, card, send, bodies } = await open(asked('Well?'));
  const guests = card.getByRole('textbox', { name: 'guests' });
  await page.user.clear(guests);
  await page.user.type(guests, '1.5');
  await page.user.type(card.getByRole('textbox', { name: 'mail' }), 'nobody');
  await page.user.click(send);
  const name = card.getByRole('textbox', { name: 'Your name' });
  expect(document.activeElement).toBe(name);
  expect(name.getAttribute('aria-invalid')).toBe('true');
  const noted = (name.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent);
  expect(noted).toEqual(['As it stands on the list.', 'Fill this in.']);
  card.getByText('Write a whole number.');
  card.getByText('Write an e-mail address.');
  expect(bodies()).toEqual([]);
});

test('a message that asks for a secret is warned of, shown by its letters, and declined with one press', async () => {
  const { page, card, bodies } = await open(
    asked('Roost needs your pass\u200bword.', [
      { ...about('code'), kind: 'text', format: null, least: null, most: null, preset: null },
    ]),
  );
  card.getByRole('note');
  card.getByText('Roost needs your pass⟨U+200B⟩word.');
  card.getByText('In the words of tables:');
  await page.user.click(card.getByRole('button', { name: 'Decline' }));
  await waitFor(() => expect(bodies()).toEqual([{ answer: 'no', words: '' }]));
});

test('says when another device has answered, and keeps the typed text until then', async () => {
  const { page, card, send } = await open(asked('Well?'), refused('You already sent this form.', 409, 'over'));
  expect(card.queryByRole('note')).toBeNull();
  const name = card.getByRole<HTMLInputElement>('textbox', { name: 'Your name' });
  await page.user.type(name, 'Noa');
  await page.user.click(send);
  await screen.findByText(/You already sent this form/);
  expect(name.value).toBe('Noa');
});
