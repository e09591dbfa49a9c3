import { act, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../../../src/shared/protocol/events.ts';
import { NAMES, NOW, runningSession, SEATS, settingDoc, team } from '../../support/household.ts';
import { json, refused, type AskedCall } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const ids = (count: number) => NAMES.slice(0, count).map((_, i) => `agent-${i + 1}`);
const big = () => document.querySelector<HTMLButtonElement>('button.big-button');
const called = (call: 'wake' | 'summon', agentIds: readonly string[]) =>
  ({
    kind: 'call-started',
    time: NOW,
    sessionId: 'session-2',
    callId: 'w1',
    call,
    seats: agentIds.map((agentId, i) => ({ agentId, position: SEATS[i] ?? 0, name: null })),
  }) as const;

/** The relay measures each agent at 12,800 tokens, and the lead at 4,000. */
function measuring(page: Page): void {
  page.reach.on('POST /api/costs/wake', ({ body }: AskedCall) => {
    const called = [...JSON.stringify(body).matchAll(/ id=\\"(agent-\d)\\"/g)].map(([, agentId]) => agentId);
    const read = (agentId: string | undefined, tokens: number, requests: number) => ({
      ...{ agentId, tokens, requests, costMicroUsd: tokens * 2, estimated: false, program: false },
    });
    return json({ reads: [read('lead', 4_000, 2), ...called.map((agentId) => read(agentId, 12_800, 1))] });
  });
}

const table: readonly [string, number, Snapshot | undefined, string | null][] = [
  ['nobody was born', 0, undefined, 'SUMMON'],
  ['five were born and are awake', 5, runningSession({ awake: ids(5) }), 'SUMMON 3 MORE'],
  ['some sleep, and there are empty seats', 5, runningSession({ awake: ids(2) }), 'WAKE'],
  ['no session runs', 8, undefined, 'WAKE'],
  [
    'somebody is being woken',
    8,
    runningSession({ hatching: [{ agentId: 'agent-1', position: 0, call: 'wake', callId: 'w', name: 'Lyra' }] }),
    'WAKING…',
  ],
  [
    'somebody is being born',
    5,
    runningSession({
      awake: ids(5),
      hatching: [{ agentId: 'e', position: 8, call: 'summon', callId: 'w', name: null }],
    }),
    'SUMMONING…',
  ],
  ['all eight are awake', 8, runningSession({ awake: ids(8) }), null],
];

test.each(table)('says on the button when %s', async (_, count, snapshot, label) => {
  await openPage({ docs: team(count), ...(snapshot ? { snapshot } : {}) });
  expect(big()?.textContent ?? null).toBe(label);
  expect(big()?.disabled ?? false).toBe(label === 'WAKING…' || label === 'SUMMONING…');
  expect(big()?.getAttribute('aria-disabled') ?? 'false').toBe(String(label === 'WAKING…' || label === 'SUMMONING…'));
});

test('WAKE starts the session with the lead, then sends one message with everyone who sleeps', async () => {
  const page = await openPage({ docs: team(3) });
  await page.user.dblClick(screen.getByRole('button', { name: 'WAKE' }));
  expect(page.relay.started).toHaveLength(1);
  expect(page.relay.started[0]).toMatchObject({
    human: { name: 'Marcus' },
    lead: { name: 'Julian', soul: null, transcript: null },
  });
  expect(page.relay.posted).toHaveLength(1);
  expect(page.relay.posted[0]?.text.startsWith('[WAKE AGENTS]')).toBe(true);
  expect(page.relay.posted[0]?.text.match(/<agent /g)).toHaveLength(3);
  expect(big()?.textContent).toBe('WAKING…');
});

test('WAKE lets those who are only set to sleep go on where they were, and has the lead call the others', async () => {
  const page = await openPage({
    docs: team(3),
    snapshot: runningSession({ awake: ['agent-1', 'agent-2'], paused: ['agent-1'] }),
  });
  page.reach.on('PUT /api/v1/sessions/session-2/agent-1/sleeping', { sleeping: false });
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(page.reach.bodies('PUT /api/v1/sessions/session-2/agent-1/sleeping')).toEqual([{ sleeping: false }]);
  expect(page.relay.posted).toHaveLength(1);
  expect(page.relay.posted[0]?.text.match(/<agent name="[^"]*"/g)).toEqual(['<agent name="Sable"']);
});

test('disables the button until the relay starts, then shows progress', async () => {
  const page = await openPage({ docs: team(3), snapshot: runningSession() });
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(big()?.textContent).toBe('WAKING…');
  await page.hear(called('wake', ids(3)));
  expect(big()?.textContent).toBe('WAKING…');
  expect(screen.getByText('waking 0 of 3')).toBeDefined();
  await page.hear({ kind: 'agent-awake', time: NOW, agentId: 'agent-2', position: 1, sessionId: 'session-2' });
  expect(screen.getByText('waking 1 of 3').getAttribute('aria-live')).toBe('polite');
  await page.hear({
    kind: 'agent-asleep',
    time: NOW,
    agentId: 'agent-1',
    position: 0,
    sessionId: 'session-2',
    reason: { code: 'failed', message: 'It failed.' },
  });
  await page.hear({ kind: 'agent-awake', time: NOW, agentId: 'agent-3', position: 2, sessionId: 'session-2' });
  await page.hear({ kind: 'call-ended', time: NOW, sessionId: 'session-2', callId: 'w1', error: null });
  expect(big()?.textContent).toBe('WAKE');
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(page.relay.posted[1]?.text.match(/<agent /g)).toHaveLength(1);
});

test('a wake that the relay refuses gives the button back, with the reason', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession() });
  page.relay.refusal = { kind: 'unreachable', message: 'The relay cannot be reached.' };
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(big()?.textContent).toBe('WAKE');
  expect(screen.getByText('The relay cannot be reached.')).toBeDefined();
});

test('tells the second of two equal wakes quietly', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession() });
  const message = 'All of these agents are awake or waking already.';
  page.relay.refusal = {
    kind: 'refused',
    status: 409,
    message,
    problem: { type: 'about:roost/already-awake', title: 'x', status: 409, detail: message },
  };
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(screen.getByText(message).closest('.notice')?.getAttribute('data-tone')).toBe('info');
});

test('a call that fails as a whole says why, until it is dismissed', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession() });
  await page.hear(called('wake', ids(1)));
  await page.hear({
    kind: 'call-ended',
    time: NOW,
    sessionId: 'session-2',
    callId: 'w1',
    error: 'The lead did not call the team within 120 s.',
  });
  expect(screen.getByRole('alert').textContent).toContain('The lead did not call the team within 120 s.');
  await page.user.click(screen.getByRole('button', { name: 'Dismiss' }));
  expect(screen.queryByRole('alert')).toBeNull();
});

test('the small menu summons into empty seats while others sleep', async () => {
  const page = await openPage({ docs: team(6), snapshot: runningSession() });
  await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
  await page.user.click(screen.getByRole('menuitem', { name: /Summon into 2 empty seats/ }));
  expect(page.relay.posted[0]?.text.startsWith('[SUMMON AGENTS]')).toBe(true);
  expect(page.relay.posted[0]?.text.match(/<seat /g)).toHaveLength(2);
});

test('the small menu wakes only those who are ticked', async () => {
  const page = await openPage({ docs: team(3), snapshot: runningSession() });
  await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Wake only some…' }));
  await page.user.click(await screen.findByRole('checkbox', { name: 'Wren' }));
  await page.user.click(screen.getByRole('button', { name: 'Wake 1' }));
  expect(page.relay.posted[0]?.text.match(/name="[^"]*"/g)).toEqual(['name="Wren"']);
});

test('the small menu wakes those of a group who sleep', async () => {
  const docs = [
    ...team(4),
    settingDoc('group:g1', { name: 'Painters', agentIds: ['agent-1', 'agent-2', 'agent-3'] }),
    settingDoc('group:g2', { name: 'Up already', agentIds: ['agent-4'] }),
  ];
  const page = await openPage({ docs, snapshot: runningSession({ awake: ['agent-4', 'agent-3'] }) });
  await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
  expect(screen.getAllByRole('menuitem').map((item) => item.firstChild?.textContent)).toEqual([
    'Wake only some…',
    'Wake Painters · 2',
    'Summon into 4 empty seats',
  ]);
  await page.user.click(screen.getByRole('menuitem', { name: /^Wake Painters/ }));
  expect(page.relay.posted[0]?.text.match(/name="[^"]*"/g)).toEqual(['name="Lyra"', 'name="Wren"']);
});

test('saves marked agents as a group, wakes it by name, changes it, and removes it with an undo', async () => {
  const page = await openPage({ docs: team(4), snapshot: runningSession() });
  const open = async () => {
    await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
    await page.user.click(screen.getByRole('menuitem', { name: 'Wake only some…' }));
    await screen.findByRole('checkbox', { name: 'Wren' });
  };
  const press = async (name: string | RegExp) => page.user.click(await screen.findByRole('button', { name }));
  const mark = (name: string) => page.user.click(screen.getByRole('checkbox', { name }));
  const marked = () =>
    screen
      .getAllByRole<HTMLInputElement>('checkbox')
      .flatMap((box) => (box.checked ? [box.getAttribute('aria-label')] : []));
  const groups = () =>
    page.owner.docs.flatMap((doc) => (String(doc['key']).startsWith('group:') ? [doc['value']] : []));
  await open();
  await mark('Lyra');
  expect(screen.queryByRole('button', { name: /as a group/ })).toBeNull();
  await mark('Wren');
  await press('Keep these 2 as a group…');
  await press('Save');
  expect((await screen.findByText('It needs a name.')).getAttribute('role')).toBe('alert');
  await page.user.type(screen.getByRole('textbox', { name: 'Name' }), '  Night   crew {Enter}');
  await waitFor(() => expect(groups()).toEqual([{ name: 'Night crew', agentIds: ['agent-1', 'agent-2'] }]));
  // A name is taken once, however it is written.
  await press('Mark all');
  await press('Keep these 4 as a group…');
  await page.user.type(screen.getByRole('textbox', { name: 'Name' }), 'night CREW{Enter}');
  await screen.findByText('There is a group called “night CREW” already.');
  await press('Cancel');
  await press('Night crew 2');
  expect(marked()).toEqual(['Lyra', 'Wren']);
  expect(screen.getByRole('button', { name: 'Night crew 2' }).getAttribute('aria-pressed')).toBe('true');
  await mark('Wren');
  await mark(screen.getAllByRole('checkbox')[2]?.getAttribute('aria-label') ?? '');
  await press('“Night crew” is these 2 from now on');
  await waitFor(() => expect(groups().at(-1)).toEqual({ name: 'Night crew', agentIds: ['agent-1', 'agent-3'] }));
  await press('Rename “Night crew”…');
  await page.user.type(screen.getByRole('textbox', { name: 'Name' }), ' of old{Enter}');
  await press('Remove the group');
  expect(screen.queryByRole('list', { name: 'Your groups' })).toBeNull();
  await press('Undo');
  await press('Night crew of old 2');
  await press('Close');
  await page.user.keyboard('{Control>}k{/Control}');
  await page.user.type(await screen.findByRole('combobox'), 'wake night crew');
  await page.user.click(await screen.findByRole('option', { name: /^Wake Night crew of old/ }));
  expect(page.relay.posted[0]?.text.match(/name="[^"]*"/g)).toHaveLength(2);
});

test('under the button stands who sleeps and how much would be remembered', async () => {
  const page = await openPage({ docs: team(2) });
  expect(await screen.findByText(/^2 sleeping · 20 B to remember$/)).toBeDefined();
  // The preview says the same figure.
  await page.user.click(screen.getByRole('link', { name: 'Preview the wake' }));
  const preview = await screen.findByRole('dialog', { name: 'What a wake would carry' });
  expect(await within(preview).findByText('20 B to remember')).toBeDefined();
  expect(screen.getByRole('link', { name: 'Preview the wake' }).getAttribute('href')).toBe('/wake-preview');
});

test('shows no figure when the relay cannot estimate a wake, and says so', async () => {
  const page = await openPage({ docs: team(2), snapshot: runningSession() });
  page.reach.on('POST /api/costs/wake', () => refused('It is broken.', 500));
  await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Wake only some…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Who shall wake?' });
  await within(dialog).findByText(/^Cost unknown: It is broken\./);
  expect(dialog.textContent).not.toContain('tokens');
});

test('a press on a face wakes that one at once, and each says what reading costs', async () => {
  const page = await openPage({ docs: team(3), snapshot: runningSession() });
  measuring(page);
  await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Wake only some…' }));
  const wren = await screen.findByRole('checkbox', { name: 'Wren' });
  const noteOf = () => document.getElementById(wren.getAttribute('aria-describedby') ?? '')?.textContent;
  await waitFor(() => expect(noteOf()).toBe('about 12.8K tokens'));
  await page.user.click(screen.getByRole('button', { name: 'Mark all' }));
  expect(await screen.findByText(/^To read, with the lead: about 42\.4K tokens/)).toBeDefined();
  await page.user.click(wren);
  expect(await screen.findByText(/^To read, with the lead: about 29\.6K tokens/)).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Wake Lyra' }));
  expect(page.relay.posted[0]?.text.match(/name="[^"]*"/g)).toEqual(['name="Lyra"']);
});

test('undoes the end of a session, and stops no agent meanwhile', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }) });
  await page.user.click(screen.getByRole('button', { name: 'End session' }));
  expect(screen.getByText(/^The session ends in ten seconds/)).toBeDefined();
  expect(page.relay.asked).toEqual([]);
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  expect(screen.queryByText(/^The session ends in ten seconds/)).toBeNull();
  // Whoever leaves the page meanwhile has not taken it back.
  await page.user.click(screen.getByRole('button', { name: 'End session' }));
  act(() => void window.dispatchEvent(new Event('pagehide')));
  await waitFor(() => expect(page.relay.asked).toEqual(['end']));
});

test('undoes the end of a session in any tab of the browser', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }) });
  const note = () => screen.queryByText(/^The session ends in ten seconds/);
  const otherTab = (word: string) =>
    act(() => void window.dispatchEvent(new StorageEvent('storage', { key: 'roost-ending', newValue: `${word} 1` })));
  const said = () => localStorage.getItem('roost-ending')?.split(' ')[0];
  await page.user.click(screen.getByRole('button', { name: 'End session' }));
  expect([said(), note() === null]).toEqual(['begun', false]);
  otherTab('undo');
  expect([said(), note()]).toEqual(['over', null]);
  expect(screen.getByRole('button', { name: 'End session' })).toBeDefined();

  otherTab('begun');
  expect(note()).not.toBeNull();
  otherTab('over');
  expect(note()).toBeNull();
  otherTab('begun');
  // It is not this tab's, which is left without a word.
  act(() => void window.dispatchEvent(new Event('pagehide')));
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  expect(said()).toBe('undo');
  // Begun in both, it is undone in both.
  await page.user.click(screen.getByRole('button', { name: 'End session' }));
  otherTab('begun');
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  expect([said(), note()]).toEqual(['undo', null]);
  expect(screen.getByRole('button', { name: 'End session' })).toBeDefined();
  otherTab('begun');
  await page.hear({ kind: 'session-ended', time: NOW, sessionId: 'session-2', reason: 'ended' });
  expect([note(), page.relay.asked]).toEqual([null, []]);
});

test('ends a session, at once on a second press, and shows the button only during one', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }) });
  await page.user.click(screen.getByRole('button', { name: 'End session' }));
  await page.user.click(screen.getByRole('button', { name: 'End now' }));
  expect(page.relay.asked).toEqual(['end']);
  await page.hear({ kind: 'session-ended', time: NOW, sessionId: 'session-2', reason: 'ended' });
  expect(screen.queryByRole('button', { name: 'End session' })).toBeNull();
  expect(screen.getByText(/everyone sleeps since today/)).toBeDefined();
});
