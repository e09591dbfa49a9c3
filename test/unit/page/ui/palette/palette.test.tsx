import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { keyNames } from '../../../../../src/page/ui/commands/command.ts';
import { commandsOf, KEY_SHEET } from '../../../../../src/page/ui/commands/table.ts';
import type { Around } from '../../../../../src/page/ui/commands/command.ts';
import { plainPassage } from '../../../../../src/page/ui/palette/plain-passage.ts';
import { project } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { NOW, runningSession, said, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

const DAY = 24 * 60 * 60 * 1_000;

const open = async (page: Awaited<ReturnType<typeof openPage>>) => {
  await page.user.keyboard('{Control>}k{/Control}');
  return await screen.findByRole('combobox', { name: /^Find anything/ });
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
        'Begin a thread',
        'Connect a model',
        'Schedule',
      ]),
    );
    // Wren sleeps: there is nothing to let sleep.
    expect(labels()).not.toContain('Let Wren sleep');
  });

  test.each([
    ['wr', 'Wren', '/agent/agent-2'],
    ['money', 'Costs', '/activity/costs'],
    ['blackout', 'Quiet hours', '/settings/agents'],
    ['permission', 'How far it may go', '/settings/agents'],
    ['model lead', 'Model of the lead', '/settings/models'],
    ['recov', 'Recovery phrase', '/settings/data'],
    ['key claude', 'Connect a model', '/connect'],
    ['rout', 'Lyra: Routines', '/schedule/agent-1'],
    ['reminders', 'Schedule', '/schedule'],
    ['lyra cost', 'Lyra: Costs', '/agent/agent-1/costs'],
    ['inbox wren', 'Wren: Inbox', '/agent/agent-2/inbox'],
  ])('“%s” finds %s, and Enter goes there', async (typed, label, path) => {
    const page = await openPage({ docs: team(2) });
    await page.user.type(await open(page), typed);
    expect(labels()[0]).toBe(label);
    await page.user.keyboard('{Enter}');
    expect(location.pathname).toBe(path);
    expect(screen.queryByRole('dialog', { name: 'Find anything' })).toBeNull();
  });

  test('says how many agents, actions and settings fit beside those that it lists', async () => {
    const page = await openPage({ docs: team(8) });
    await page.user.type(await open(page), 'co');
    expect(await screen.findByText(/^\d+ more matches\. Type more to find them\.$/)).toBeDefined();
    await page.user.type(screen.getByRole('combobox', { name: /^Find anything/ }), 'xyzzy');
    await waitFor(() => expect(screen.queryByText(/more matches/)).toBeNull());
  });

  test('moves by arrows, and says when nothing matches', async () => {
    const page = await openPage({ docs: team(2) });
    const field = await open(page);
    await page.user.keyboard('{ArrowDown}');
    expect(screen.getAllByRole('option')[1]?.getAttribute('aria-selected')).toBe('true');
    expect(field.getAttribute('aria-activedescendant')).toBe(screen.getAllByRole('option')[1]?.id);
    await page.user.type(field, 'xyzzy');
    expect(await screen.findByText(/^No results for “/)).toBeDefined();
  });

  test('receives letters that were typed before it opened, and the focused field receives none', async () => {
    const page = await openPage({ docs: team(2), path: '/agent/agent-1' });
    const draft = await screen.findByRole('textbox', { name: /^Write to/ });
    await page.user.click(draft);
    const press = (key: string, more: KeyboardEventInit = {}) =>
      draft.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
    // All in one turn of the page, before it can have drawn anything.
    press('k', { ctrlKey: true });
    const went = [...'her'].map((key) => press(key));
    expect(went).toEqual([false, false, false]);
    const field = await screen.findByRole('combobox', { name: /^Find anything/ });
    await waitFor(() => expect(field).toHaveProperty('value', 'her'));
    await page.user.keyboard('on');
    expect(field).toHaveProperty('value', 'heron');
    expect(draft).toHaveProperty('value', '');
  });

  test('finds a message with its context, and Enter opens it, also for fast typing', async () => {
    const docs = [
      ...team(2),
      said('agent-1', 'human', 'Do you remember the old mill by the river?', NOW - 3_000),
      said('agent-1', 'agent-1', 'I do. The heron stood there.', NOW - 2_000, { messageId: 'found-one' }),
      said('agent-2', 'agent-2', 'No river that I know of.', NOW - 1_000),
    ];
    const page = await openPage({ docs });
    await page.user.type(await open(page), 'the heron stood');
    const hit = await screen.findByRole('option', { name: /Lyra.*I do\./ });
    expect(hit.querySelector('.palette-passage')?.textContent).toBe('I do. The heron stood there.');
    expect([...hit.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['The', 'heron', 'stood']);
    expect(hit.getAttribute('aria-selected')).toBe('true');
    await page.user.keyboard('{Enter}');
    expect(location.pathname).toBe('/agent/agent-1/at/found-one');
    const row = await waitFor(() => {
      const found = document.querySelector<HTMLElement>('[data-found]');
      expect(found?.textContent).toContain('The heron stood there.');
      return found;
    });
    await waitFor(() => expect(document.activeElement).toBe(row));

    await page.user.type(await open(page), 'old mill{Enter}');
    await waitFor(() => expect(document.querySelector('[data-found]')?.textContent).toContain('Do you remember'));

    // A key goes from one to the next, and round.
    await page.user.keyboard('/');
    await page.user.type(await screen.findByRole('combobox', { name: /^Find anything/ }), 'river{Enter}');
    await waitFor(() => expect(location.pathname).toMatch(/^\/agent\/agent-2\/at/));
    const bar = () => within(screen.getByRole('group', { name: 'Results' }));
    expect(bar().getByRole('status').textContent).toBe('1 of 2');
    const seen = new Set<string>();
    for (let n = 0; n < 2; n++) {
      seen.add(location.pathname);
      await page.user.keyboard('n');
    }
    expect(seen.size).toBe(2);
    expect(seen).toContain(location.pathname);
    const here = location.pathname;
    await page.user.keyboard('p');
    expect(location.pathname).not.toBe(here);
    await page.user.click(bar().getByRole('button', { name: 'Next result' }));
    expect(location.pathname).toBe(here);
    expect(bar().getByRole('status').textContent).toBe('1 of 2');
    await page.user.click(bar().getByRole('button', { name: 'End search' }));
    expect(screen.queryByRole('group', { name: 'Results' })).toBeNull();
    // One goes on from the one that was chosen.
    await page.user.type(await open(page), 'river');
    await waitFor(() => expect(screen.getAllByRole('option', { name: /river/ })).toHaveLength(2));
    await page.user.keyboard('{ArrowDown}{Enter}');
    await waitFor(() => expect(bar().getByRole('status').textContent).toBe('2 of 2'));
  });

  test('filters messages by agent, author, kind, or time', async () => {
    const docs = [
      ...team(2),
      said('agent-1', 'human', 'herons by day', NOW - 3 * DAY),
      said('agent-1', 'agent-1', 'herons by night', NOW - 1_000),
      said('agent-2', 'human', 'herons again', NOW - 1_000),
    ];
    const page = await openPage({ docs });
    await page.user.type(await open(page), 'herons');
    const hits = () => screen.getAllByRole('option').filter((option) => option.dataset['kind'] === 'hit');
    await waitFor(() => expect(hits()).toHaveLength(3));
    await page.user.selectOptions(screen.getByRole('combobox', { name: 'With whom' }), 'Lyra');
    await waitFor(() => expect(hits()).toHaveLength(2));
    await page.user.selectOptions(screen.getByRole('combobox', { name: 'Said by' }), 'By you');
    await waitFor(() => expect(hits()).toHaveLength(1));
    const where = screen.getByRole('combobox', { name: 'Where' });
    await page.user.selectOptions(where, 'Threads');
    await waitFor(() => expect(hits()).toHaveLength(0));
    await page.user.selectOptions(where, 'Conversations');
    await waitFor(() => expect(hits()).toHaveLength(1));
    await page.user.selectOptions(screen.getByRole('combobox', { name: 'When' }), 'Since yesterday');
    expect(await screen.findByText(/^No results for “/)).toBeDefined();
  });

  test('finds in the conversation that is open alone, by a key and from its menu, until it is widened', async () => {
    const docs = [
      ...team(2),
      said('agent-1', 'agent-1', 'herons by night', NOW - 2_000),
      said('agent-2', 'human', 'herons again', NOW - 1_000),
    ];
    const page = await openPage({ docs, path: '/agent/agent-1' });
    const hits = () => screen.getAllByRole('option').filter((option) => option.dataset['kind'] === 'hit');
    await page.user.keyboard('f');
    const dialog = await screen.findByRole('dialog', { name: 'Find in the conversation with Lyra' });
    await page.user.type(
      within(dialog).getByRole('combobox', { name: 'Find in the conversation with Lyra' }),
      'herons',
    );
    await waitFor(() => expect(hits().map((hit) => hit.textContent)).toEqual([expect.stringContaining('by night')]));
    await page.user.selectOptions(screen.getByRole('combobox', { name: 'With whom' }), 'Everybody');
    await waitFor(() => expect(hits()).toHaveLength(2));
    await page.user.keyboard('{Escape}');
    await page.user.click(screen.getByRole('button', { name: 'More about Lyra' }));
    await page.user.click(screen.getByRole('menuitem', { name: 'Find in the conversation with Lyra' }));
    expect(await screen.findByRole('dialog', { name: 'Find in the conversation with Lyra' })).toBeDefined();
  });

  test('lists the last choice first', async () => {
    const page = await openPage({ docs: team(2) });
    await page.user.type(await open(page), 'files{Enter}');
    await open(page);
    expect(labels()[0]).toBe('Files');
  });
});

test('a number leads to a seat, and Escape back from a page', async () => {
  const page = await openPage({ docs: team(2), path: '/activity/costs' });
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
      route: { kind: 'inbox' },
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
    const { page, commands, done } = await table({ path: '/activity/costs' });
    await screen.findByRole('heading', { level: 1, name: 'Activity' });
    commands.find((command) => command.id === id)?.run();
    await page.user.keyboard(key);
    if (dialog !== null) expect(await screen.findByRole('dialog', { name: dialog })).toBeDefined();
    else expect(location.pathname).toBe(done[0] ?? '/activity/costs');
  });

  test("lists the commands of the header's menu, in its order", async () => {
    const { page, commands } = await table({ prepare: ({ reach }) => reach.on('GET /api/config', {}) });
    await page.user.click(screen.getByRole('button', { name: 'More places' }));
    const items = within(screen.getByRole('menu', { name: 'More places' })).getAllByRole('menuitem');
    expect(items.map((item) => item.querySelector('span')?.textContent)).toEqual(
      commands.flatMap(({ menu, label }) => (menu === true ? [label] : [])),
    );
  });

  test('lists for each seat the commands of its menu, by name', async () => {
    const page = await openPage({ docs: team(2), path: '/agent/agent-2' });
    await page.user.click(screen.getByRole('button', { name: 'More about Wren' }));
    const items = within(screen.getByRole('menu')).getAllByRole('menuitem').length;
    await page.user.keyboard('{Escape}');
    await page.user.type(await open(page), 'wren');
    // Its conversation and the tabs of its page stand there besides.
    expect(labels().filter((label) => label?.includes('Wren')).length).toBeGreaterThan(items);
  });

  test('leads from the palette into the field too: nothing else keeps the focus', async () => {
    const page = await openPage({ docs: team(2), path: '/activity/costs' });
    await page.user.type(await open(page), 'write{Enter}');
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: /^Write to/ }));
  });
});

describe('What is found in projects', () => {
  test('groups tasks by number, title and comment, and projects by name and files, each with its address', async () => {
    const page = await openPage({
      docs: team(2),
      prepare({ reach }) {
        reach.on('GET /v1/projects', { projects: [project()] });
        reach.on('GET /v1/find', ({ query }: AskedCall) =>
          json({
            tasks:
              query.get('q') === 'friday'
                ? [{ projectId: 'trip', taskId: 'task-4', number: 4, title: 'Ask the school', columnId: 'ready' }]
                : [],
            files:
              query.get('q') === 'friday'
                ? [
                    { of: 'project', projectId: 'trip', path: 'plans/friday.md' },
                    { of: 'agent', agentId: 'agent-1', path: 'notes/friday.txt' },
                  ]
                : [],
            more: false,
          }),
        );
      },
    });
    const field = await open(page);
    await page.user.type(field, 'friday');
    const task = await screen.findByRole('option', { name: /^#4 Ask the school/ });
    expect(task.textContent).toContain('Plan our trip · Ready');
    expect(task.textContent).toContain('Tasks');
    expect(screen.getByRole('option', { name: /notes\/friday\.txt/ }).textContent).toContain('Lyra');
    expect(screen.getByRole('option', { name: /plans\/friday\.md/ }).textContent).toContain('Files');
    await page.user.clear(field);
    await page.user.type(field, 'plan our');
    expect(await screen.findByRole('option', { name: /^Plan our trip/ })).toBeDefined();
    await page.user.clear(field);
    await page.user.type(field, 'farewell');
    expect(await screen.findByText('No results for “farewell”')).toBeDefined();
    await page.user.clear(field);
    await page.user.type(field, 'friday');
    await page.user.click(await screen.findByRole('option', { name: /^#4/ }));
    expect(location.pathname).toBe('/projects/trip/task/task-4');
  });

  test('says when the relay cannot search', async () => {
    const page = await openPage({
      docs: team(2),
      prepare: ({ reach }) => reach.on('GET /v1/find', () => refused('The disk is full.', 507, 'full')),
    });
    await page.user.type(await open(page), 'farewell');
    expect(await screen.findByText(/^The search failed\. The disk is full\./)).toBeDefined();
  });
});

test.each([
  ['**Bold** and _thin_ in `code`', 'Bold and thin in code'],
  ['see [the plan](https://plan.example/a_b) now', 'see the plan now'],
  ['## Places | a | |---|:-:| 2 * 3 = 6, snake_case', 'Places | a |  2 * 3 = 6, snake_case'],
  ['#12 is #1', '#12 is #1'],
])('a passage is shown without Markdown: %s', (text, plain) => {
  expect(plainPassage({ text, marks: [] }).text).toBe(plain);
});

test('the marks of a passage stay at their words', () => {
  const { text, marks } = plainPassage({
    text: '**Our** [plan](x) `herons`',
    marks: [
      [2, 5],
      [9, 13],
      [19, 25],
    ],
  });
  expect(marks.map(([from, to]) => text.slice(from, to))).toEqual(['Our', 'plan', 'herons']);
});
