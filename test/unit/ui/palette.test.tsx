import { screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { runningSession, team } from './support/household.ts';
import { openPage } from './support/render.tsx';

const open = async (page: Awaited<ReturnType<typeof openPage>>) => {
  await page.user.keyboard('{Control>}k{/Control}');
  return await screen.findByRole('combobox', { name: /^Find an agent/ });
};
const labels = () =>
  within(screen.getByRole('listbox', { name: 'Found' }))
    .getAllByRole('option')
    .map((option) => option.querySelector('.palette-label')?.textContent);

describe('One keystroke', () => {
  test('opens one list over agents, actions, pages and settings, from a field too', async () => {
    const page = await openPage({ docs: team(2), snapshot: runningSession({ awake: ['agent-1'] }) });
    await page.user.click(screen.getByRole('textbox', { name: /^Write to/ }));
    await open(page);
    expect(labels()).toEqual(
      expect.arrayContaining([
        'Julian',
        'Lyra',
        'Wren',
        'End session',
        'Let Lyra sleep',
        'New thread',
        'Connect a model',
        'Night',
      ]),
    );
    // Wren sleeps: there is nothing to let sleep.
    expect(labels()).not.toContain('Let Wren sleep');
  });

  test.each([
    ['wr', 'Wren', '/agent/agent-2'],
    ['money', 'Costs', '/costs'],
    ['blackout', 'Blackout hours', '/settings/limits'],
    ['model lead', 'Model of the lead', '/settings/minds'],
    ['recov', 'Recovery phrase', '/settings/devices'],
    ['key claude', 'Connect a model', '/connect'],
    ['rout', 'Night', '/night'],
  ])('“%s” finds %s, and Enter goes there', async (typed, label, path) => {
    const page = await openPage({ docs: team(2) });
    await page.user.type(await open(page), typed);
    expect(labels()[0]).toBe(label);
    await page.user.keyboard('{Enter}');
    expect(location.pathname).toBe(path);
    expect(screen.queryByRole('combobox')).toBeNull();
  });

  test('is gone through by arrows, and says when nothing is called so', async () => {
    const page = await openPage({ docs: team(2) });
    const field = await open(page);
    await page.user.keyboard('{ArrowDown}');
    expect(screen.getAllByRole('option')[1]?.getAttribute('aria-selected')).toBe('true');
    expect(field.getAttribute('aria-activedescendant')).toBe(screen.getAllByRole('option')[1]?.id);
    await page.user.type(field, 'xyzzy');
    expect(screen.getByText('Nothing here is called so.')).toBeDefined();
  });

  test('has what was chosen last first', async () => {
    const page = await openPage({ docs: team(2) });
    await page.user.type(await open(page), 'files{Enter}');
    await open(page);
    expect(labels()[0]).toBe('Files');
  });
});

test('a number leads to a seat, and Escape back from a page', async () => {
  const page = await openPage({ docs: team(2), path: '/costs' });
  await page.user.keyboard('2');
  expect(location.pathname).toBe('/agent/agent-2');
  await page.user.keyboard('5');
  expect(location.pathname).toBe('/lead');
});
