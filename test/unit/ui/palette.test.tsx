import { screen, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { runningSession, team } from './support/household.ts';
import { keyNames } from '../../../src/ui/commands/command.ts';
import { commandsOf, KEY_SHEET } from '../../../src/ui/commands/table.ts';
import type { Around } from '../../../src/ui/commands/command.ts';
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
    ['blackout', 'Quiet hours', '/settings/limits'],
    ['model lead', 'Model of the lead', '/settings/minds'],
    ['recov', 'A recovery phrase', '/settings/devices'],
    ['key claude', 'Connect a model', '/connect'],
    ['rout', 'Routines of Lyra', '/night/agent-1'],
    ['reminders', 'Night', '/night'],
    ['inbox wren', 'Inbox of Wren', '/agent/agent-2/inbox'],
  ])('“%s” finds %s, and Enter goes there', async (typed, label, path) => {
    const page = await openPage({ docs: team(2) });
    await page.user.type(await open(page), typed);
    expect(labels()[0]).toBe(label);
    await page.user.keyboard('{Enter}');
    expect(location.pathname).toBe(path);
    expect(screen.queryByRole('dialog', { name: 'Find anything' })).toBeNull();
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

describe('One table', () => {
  /** The commands of a page, with what they do written down instead of done. */
  const table = async (more: Partial<Parameters<typeof openPage>[0]> = {}) => {
    const page = await openPage({ docs: team(2), ...more });
    const done: string[] = [];
    const around: Around = {
      roost: page.state,
      route: { kind: 'costs' },
      go: (path) => done.push(path),
      open: (what) => done.push(what),
      focus: (place) => done.push(place),
    };
    return { page, done, commands: commandsOf(around) };
  };

  test('gives every key once, and the sheet and the palette draw each as it is', async () => {
    const { page, commands } = await table();
    const keys = commands.flatMap((command) => (command.keys ? [command.keys.join(' ')] : []));
    expect(keys.length).toBeGreaterThan(9);
    expect(new Set(keys).size).toBe(keys.length);
    await page.user.keyboard('?');
    const sheet = await screen.findByRole('dialog', { name: 'Keys' });
    for (const { keys: shown, does } of KEY_SHEET)
      expect(within(sheet).getByText(does).previousSibling?.textContent).toBe(keyNames(shown).join(''));
    const inSheet = KEY_SHEET.map(({ keys: shown }) => shown.join(' '));
    expect(inSheet).toEqual(expect.arrayContaining(keys.filter((each) => !/^[1-9]$/.test(each))));
    expect(keyNames(['Ctrl', 'K'], 'MacIntel')).toEqual(['⌘', 'K']);
  });

  test.each([
    ['?', 'keys', 'Keys'],
    ['[[', 'new before', null],
    ['1', 'agent agent-1', null],
    ['{Escape}', 'back', null],
  ])('%s does what the command %s does', async (key, id, dialog) => {
    const { page, commands, done } = await table({ path: '/costs' });
    await screen.findByRole('heading', { level: 1, name: 'Costs' });
    commands.find((command) => command.id === id)?.run();
    await page.user.keyboard(key);
    if (dialog !== null) expect(await screen.findByRole('dialog', { name: dialog })).toBeDefined();
    else expect(location.pathname).toBe(done[0] ?? '/costs');
  });

  test('is what the menu of the header lists, in its order', async () => {
    const { page, commands } = await table({ prepare: ({ reach }) => reach.on('GET /api/config', {}) });
    await page.user.click(screen.getByRole('button', { name: 'More places' }));
    const items = within(screen.getByRole('menu', { name: 'More places' })).getAllByRole('menuitem');
    expect(items.map((item) => item.querySelector('span')?.textContent)).toEqual(
      commands.flatMap(({ menu, label }) => (menu === true ? [label] : [])),
    );
  });

  test('has for each seat what its menu has, by name', async () => {
    const page = await openPage({ docs: team(2), path: '/agent/agent-2' });
    await page.user.click(screen.getByRole('button', { name: 'More about Wren' }));
    const items = within(screen.getByRole('menu')).getAllByRole('menuitem').length;
    await page.user.keyboard('{Escape}');
    await page.user.type(await open(page), 'wren');
    // Its conversation stands there besides.
    expect(labels().filter((label) => label?.includes('Wren'))).toHaveLength(items + 1);
  });

  test('leads from the palette into the field too: nothing else keeps the focus', async () => {
    const page = await openPage({ docs: team(2), path: '/costs' });
    await page.user.type(await open(page), 'write{Enter}');
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: /^Write to/ }));
  });
});
