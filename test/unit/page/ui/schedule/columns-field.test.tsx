import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { team } from '../../support/household.ts';
import { answerSchedules, SCHEDULED } from '../../support/schedules.ts';
import { project } from '../../support/projects.ts';
import { json, refused } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const CODE = [
  { columnId: 'c1', name: 'Ready: code', kind: 'ready' as const },
  { columnId: 'c2', name: 'Doing', kind: 'in_progress' as const },
];
const PUT = 'PUT /v1/pulse-routines/schedule-1';

/** The form of a routine of Lyra, with these columns. */
async function openForm(pulse_columns: readonly string[] | null) {
  const [first] = SCHEDULED;
  if (first?.schedule.kind !== 'routine') throw new Error('It is no routine.');
  const own = { ...first, schedule: { ...first.schedule, pulse_columns: pulse_columns && [...pulse_columns] } };
  const page = await openPage({
    docs: team(3),
    path: '/schedule',
    prepare({ reach }) {
      answerSchedules(reach, { schedules: [own] });
      reach.on('GET /v1/projects', {
        projects: [
          project({ agents: ['agent-1'] }),
          project({ projectId: 'code', name: 'Code', agents: ['agent-1'], columns: CODE }),
          project({
            projectId: 'far',
            agents: ['agent-2'],
            columns: [{ columnId: 'x', name: 'Not hers', kind: 'ready' }],
          }),
        ],
      });
      reach.on(PUT, () => json(first));
    },
  });
  await page.user.click(await screen.findByRole('button', { name: 'More for Morning round' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  const dialog = await screen.findByRole('dialog', { name: 'Morning round' });
  const choice = () => within(dialog).getByRole<HTMLSelectElement>('combobox', { name: 'Columns it takes tasks from' });
  const box = (name: string | RegExp) => within(dialog).findByRole<HTMLInputElement>('checkbox', { name });
  async function save(): Promise<unknown> {
    const before = page.reach.times(PUT);
    await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(page.reach.times(PUT)).toBe(before + 1));
    return (page.reach.bodies(PUT).at(-1) as { readonly pulse_columns: unknown }).pulse_columns;
  }
  return { page, dialog, choice, box, save };
}

test('a routine takes from the columns that are ticked, by the names of its agent’s projects', async () => {
  const { page, dialog, choice, box, save } = await openForm(null);
  expect(choice().value).toBe('unset');
  await page.user.selectOptions(choice(), 'Only these…');
  await box('Ready: code');
  const names = within(within(dialog).getByRole('group', { name: 'Columns it takes tasks from' }))
    .getAllByRole('checkbox')
    .map((one) => one.closest('label')?.textContent);
  expect(names).toEqual(['Every column of the kind “Ready”', 'Ready', 'Ready: code']);
  await page.user.click(await box('Ready: code'));
  await page.user.click(await box('Every column of the kind “Ready”'));
  expect(await save()).toEqual(['Ready: code', 'ready']);
});

test('distinguishes none from not set, and keeps the setting', async () => {
  const none = await openForm([]);
  expect(none.choice().value).toBe('none');
  expect(await none.save()).toEqual([]);
  none.page.unmount();
  const unset = await openForm(['review']);
  await unset.page.user.selectOptions(unset.choice(), 'Every column of the kind “Ready”');
  expect(await unset.save()).toBe(null);
});

test('shows, keeps and removes columns by id, by kind and of deleted projects', async () => {
  const { page, choice, box, save } = await openForm(['c2', 'backlog', 'Long gone', 'ready: CODE']);
  expect(choice().value).toBe('some');
  expect((await box('Ready: code')).checked).toBe(true);
  for (const name of ['Doing', 'Every column of the kind “Backlog”', /^Long gone/])
    expect((await box(name)).checked, String(name)).toBe(true);
  await page.user.click(await box(/^Long gone/));
  await page.user.click(await box('Ready: code'));
  expect((await box('Ready: code')).checked).toBe(false);
  expect(await save()).toEqual(['c2', 'backlog']);
});

test("shows the relay's refusal at the field", async () => {
  const { page, choice, dialog } = await openForm(['ready']);
  page.reach.on(PUT, () =>
    refused('pulse_columns: too long', 400, 'misfit', {
      errors: [{ field: 'pulse_columns.0', message: 'It is too long.' }],
    }),
  );
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(choice().getAttribute('aria-invalid')).toBe('true'));
  expect(within(dialog).getByText('It is too long.')).toBeTruthy();
});
