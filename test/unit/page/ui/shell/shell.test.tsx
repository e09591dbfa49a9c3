import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createDeferred } from '../../../../../src/shared/domain/platform/deferred.ts';
import type { LinkState, StorageProblem } from '../../../../../src/shared/protocol/worker.ts';
import { NO_SESSION_SNAPSHOT, NOW, runningSession, said, settingDoc, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

test.each([
  ['ended', 'everyone sleeps since today 08:55'],
  ['idle', 'nothing was said for a while'],
  ['shutdown', 'the relay was shut down'],
  ['crash', 'the relay crashed'],
] as const)('says in the header why everyone sleeps after a session ended as %s', async (reason, words) => {
  await openPage({
    docs: team(1),
    snapshot: { ...NO_SESSION_SNAPSHOT, lastEnd: { sessionId: 's', reason, endedAt: NOW } },
  });
  const said = screen.getByText('No session').parentElement?.textContent;
  expect(said).toContain(words);
  // When a relay crashed nobody knows: its end is written as it starts again.
  expect(said?.includes('08:55:')).toBe(reason === 'idle' || reason === 'shutdown');
});

test('shows the last known team, and wakes it once the ledger was read', async () => {
  const seats = () =>
    screen
      .queryAllByRole('button', { name: /^(?:Lyra|Wren), seat/ })
      .map((each) => each.getAttribute('aria-label')?.slice(0, 4));
  const lines = [settingDoc('wakeTimeoutMs', 90_000)];
  (await openPage({ docs: [...team(2), ...lines] })).unmount();
  const read = createDeferred();
  const page = await openPage({ docs: team(1), prepare: ({ owner }) => (owner.pause = () => read.promise) });
  expect(seats()).toEqual(['Lyra', 'Wren']);
  expect(page.state.household.store.getState().settings.wakeTimeoutMs).toBe(90_000);
  // The press counts, and nobody is called before it is known who is there.
  await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKING…' }).disabled).toBe(true);
  // What the relay says first is not the whole team.
  await page.say({ news: 'documents', docs: team(1) });
  expect(seats()).toEqual(['Lyra', 'Wren']);
  expect(page.relay.asked).toEqual([]);
  read.resolve();
  await waitFor(() => expect(seats()).toEqual(['Lyra']));
  expect(page.state.household.store.getState().settings.wakeTimeoutMs).not.toBe(90_000);
  await waitFor(() => expect(page.relay.posted).toHaveLength(1));
  expect(page.relay.posted[0]?.text.match(/<agent /g)).toHaveLength(1);
});

test.each<[LinkState, string]>([
  [{ kind: 'lost', reason: 'unreachable' }, 'npm start'],
  [{ kind: 'lost', reason: 'silent' }, 'stopped answering'],
  [{ kind: 'elsewhere' }, 'shares its sign-in with another household'],
  [{ kind: 'locked-out' }, 'Press Enter in the terminal where Roost runs, and open the link that it prints'],
])('a line that is %j says what to do', async (link, words) => {
  await openPage({ docs: team(1), link, snapshot: runningSession({ awake: ['agent-1'] }) });
  expect(screen.getByRole('alert').textContent).toContain(words);
  expect(screen.getByRole('button', { name: /^Lyra, seat 1, asleep/ })).toBeDefined();
});

test('reports a relay without its database, and keeps awake agents awake', async () => {
  const snapshot = runningSession({ awake: ['agent-1'] });
  const page = await openPage({ docs: team(1), link: { kind: 'live' }, snapshot });
  await page.say({ news: 'link', link: { kind: 'live', databaseAway: true }, snapshot });
  expect(screen.getByRole('alert').textContent).toContain('The relay cannot reach its database');
  expect(screen.getByRole('alert').textContent).toContain('The relay stores new messages');
  expect(screen.getByRole('button', { name: 'Lyra, seat 1, awake' })).toBeDefined();
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot });
  expect(screen.queryByRole('alert')).toBeNull();
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'database' }, snapshot: null });
  expect(screen.getByRole('alert').textContent).toContain('The relay cannot reach its database');
});

test("replaces a sign-in of another household by one of this browser's own, and starts as owner", async () => {
  const page = await openPage({ docs: team(1), link: { kind: 'elsewhere' }, snapshot: null });
  page.relay.status = { begun: true, lived: true, others: 0 };
  await page.user.click(screen.getByRole('button', { name: 'Get a separate sign-in' }));
  expect(page.relay.asked).toEqual(['begin anew']);
  expect(page.owner.calls).toContain('signInChanged');
});

test.each<[StorageProblem['kind'], string]>([
  ['quota', 'The disk is full'],
  ['blocked', 'not open yet'],
  ['no-owner', 'cannot reach the storage'],
])('a storage that is %s says what to do, and holds the button', async (kind, words) => {
  const page = await openPage({ docs: team(1) });
  await page.say({ news: 'problem', problem: { kind, detail: 'Do this and that.' } });
  expect(screen.getByRole('alert').textContent).toContain(words);
  expect(screen.getByRole('alert').textContent).toContain('Do this and that.');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKE' }).disabled).toBe(true);
  await page.say({ news: 'problem', problem: null });
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKE' }).disabled).toBe(false);
});

test('asks the browser once to keep data for good, after the first birth', async () => {
  const page = await openPage({ docs: [] });
  expect(page.device.askedToKeep()).toBe(0);
  await page.say({ news: 'documents', docs: team(1) });
  expect(page.device.askedToKeep()).toBe(1);
  await page.say({ news: 'documents', docs: team(3) });
  expect(page.device.askedToKeep()).toBe(1);
});

test('reports a fault, and still wakes agents', async () => {
  const page = await openPage({ docs: team(1) });
  await page.say({
    news: 'problem',
    problem: { kind: 'broken', detail: 'One volume did not pass its check; writing goes on in a new one.' },
  });
  expect(screen.getByRole('alert').textContent).toContain('writing goes on');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKE' }).disabled).toBe(false);
});

test('a demo says that it is one, and connects a model', async () => {
  const page = await openPage({ docs: team(1) });
  await page.user.click(screen.getAllByRole('link', { name: 'Connect a model' })[0] ?? document.body);
  expect(await screen.findByLabelText('Your key')).toBeDefined();
  expect(location.pathname).toBe('/connect');
});

test('the session that runs decides whether it is a rehearsal, not the relay’s next one', async () => {
  await openPage({
    docs: team(1),
    snapshot: runningSession({ mind: { kind: 'anthropic', leadModel: 'a', agentModel: 'b' } }),
  });
  expect(screen.queryByText(/no model connected/)).toBeNull();
});

test('the question mark lists the keys, but not while one writes', async () => {
  const page = await openPage({ docs: team(1) });
  await page.user.type(screen.getByRole('textbox', { name: /^Write to/ }), '?');
  expect(screen.queryByRole('dialog')).toBeNull();
  screen.getByRole('textbox', { name: /^Write to/ }).blur();
  await page.user.keyboard('?');
  expect(await screen.findByRole('dialog', { name: 'Keys' })).toBeDefined();
});

test('keys lead to the grid and to the field', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1' });
  await page.user.keyboard('g');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: /^Lyra, seat 1, asleep/ }));
  await page.user.keyboard('c');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: /^Write to/ }));
});

test('keys lead to the grid and to the field from a page of their own too, and Escape closes that', async () => {
  const page = await openPage({ docs: team(1), path: '/activity/wakes' });
  await screen.findByRole('heading', { level: 1, name: 'Activity' });
  await page.user.keyboard('g');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: /^Julian, lead/ }));
  act(() => history.pushState(null, '', '/inbox'));
  await screen.findByRole('heading', { level: 1, name: 'Inbox' });
  await page.user.keyboard('c');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: /^Write to/ }));
  act(() => history.pushState(null, '', '/activity/costs'));
  await screen.findByRole('heading', { level: 1, name: 'Activity' });
  await page.user.keyboard('{Escape}');
  expect(screen.getByRole('textbox', { name: /^Write to/ })).toBeDefined();
});

test('clears a notice about a lost connection when it is back', async () => {
  const page = await openPage({ docs: team(1) });
  page.state.notices.refused({ kind: 'unreachable', message: 'It did not answer this call.' });
  page.state.notices.refused({
    kind: 'refused',
    status: 409,
    problem: { type: 'x', title: 'x', status: 409, detail: 'No.' },
    message: 'No.',
  });
  expect(await screen.findByText('It did not answer this call.')).toBeDefined();
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(screen.getByText('It did not answer this call.')).toBeDefined();
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: NO_SESSION_SNAPSHOT });
  expect(screen.queryByText('It did not answer this call.')).toBeNull();
  expect(screen.getByText('No.')).toBeDefined();
});

test('shows the lead asleep without a session, and says so at its seat', async () => {
  const page = await openPage({ docs: team(1) });
  const cell = () => screen.getByRole('button', { name: /^Julian, lead/ }).closest('li');
  expect([cell()?.dataset['asleep'], cell()?.textContent]).toEqual([
    'true',
    expect.stringContaining('asleep since yesterday'),
  ]);
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: runningSession() });
  expect(cell()?.dataset['asleep']).toBe('false');
});

test('counts sleep from the end of the session, not from the last message', async () => {
  const docs = [...team(1), said('agent-1', 'agent-1', 'Good night.', NOW - 45 * 60_000)];
  await openPage({
    docs,
    snapshot: { ...NO_SESSION_SNAPSHOT, lastEnd: { sessionId: 'session-1', reason: 'ended', endedAt: NOW } },
  });
  // On the tile, and in what is read out of it.
  expect(await screen.findAllByText('asleep since 08:55')).toHaveLength(2);
});

test('a file that is pasted goes along with the message, and one that cannot is not passed over without a word', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1' });
  const field = screen.getByRole('textbox', { name: /^Write to/ });
  const paste = (file: File) => fireEvent.paste(field, { clipboardData: { files: [file], types: ['Files'] } });
  paste(new File(['A note.'], 'note.txt', { type: 'text/plain' }));
  await page.user.click(await screen.findByRole('button', { name: 'Remove note.txt' }));
  expect(screen.queryByRole('list', { name: 'Attached' })).toBeNull();
  paste(new File([new Uint8Array([0, 1, 2])], 'a.bin'));
  expect((await screen.findByRole('alert')).textContent).toContain('a.bin');
});

test('reads again what was missed on a new connection to the ledger’s owner', async () => {
  const page = await openPage({ docs: team(1) });
  page.owner.docs.push(...team(2).slice(-1));
  await page.say({
    news: 'welcome',
    link: { kind: 'live' },
    snapshot: NO_SESSION_SNAPSHOT,
    answers: [],
    problem: null,
  });
  expect(await screen.findByRole('button', { name: /^Wren, seat 2, asleep/ })).toBeDefined();
});

test.each([
  ['/inbox', 'Inbox', 'Inbox'],
  ['/activity/wakes', 'Wakes · Activity', 'Activity'],
  ['/activity/wakes/agent-1', 'Lyra · Activity', 'Activity'],
  ['/schedule/agent-1', 'Schedule: Lyra', 'Schedule'],
  ['/threads', 'Threads', 'Threads'],
  ['/activity/costs', 'Costs · Activity', 'Activity'],
  ['/settings/agents', 'What agents may do · Settings', 'Settings'],
])(
  '%s says in the browser’s title where one is, and has a heading that can take the focus',
  async (path, title, heading) => {
    await openPage({ docs: team(1), path });
    expect((await screen.findByRole('heading', { level: 1, name: heading })).tabIndex).toBe(-1);
    expect(document.title).toBe(`${title} · Roost`);
  },
);

test('tells a waiting person about a slow ledger, with a way out, until it is read', async () => {
  const read = createDeferred();
  const later: (() => void)[] = [];
  await openPage({
    docs: team(1),
    prepare({ owner, device }) {
      owner.pause = () => read.promise;
      device.after = (ms, task) => {
        if (ms === 8_000) later.push(task);
        return () => undefined;
      };
    },
  });
  const said = () => within(screen.getByRole('main')).getByRole('status').textContent;
  expect(said()).toBe('Opening your team…');
  expect(screen.queryByRole('button', { name: 'Reload' })).toBeNull();
  act(() => later.forEach((task) => task()));
  expect(said()).toMatch(/^Opening your team takes longer than usual/);
  expect(screen.getByRole('button', { name: 'Reload' })).toBeDefined();
  await act(async () => read.resolve());
  expect(await screen.findByRole('button', { name: /^Julian, lead/ })).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Reload' })).toBeNull();
});

test.each([
  ['/night', '/schedule', 'Schedule'],
  ['/night/agent-1', '/schedule/agent-1', 'Schedule'],
  ['/approvals/agent-1', '/inbox', 'Inbox'],
  ['/wakes/agent-1', '/activity/wakes/agent-1', 'Activity'],
  ['/costs', '/activity/costs', 'Activity'],
])('the old address %s leads to %s', async (old, path, heading) => {
  await openPage({ docs: team(1), path: old });
  await screen.findByRole('heading', { level: 1, name: heading });
  expect(location.pathname).toBe(path);
});

test.each([
  ['/agent/agent-1', 'Team'],
  ['/projects', 'Projects'],
  ['/threads', 'Inbox'],
  ['/schedule', 'Schedule'],
  ['/settings/about', null],
])("marks at %s the place %s, in the header and in a phone's bar", async (path, place) => {
  for (const width of [1440, 390]) {
    const page = await openPage({ docs: team(1), path, width });
    for (const nav of screen.getAllByRole('navigation', { name: 'Places' })) {
      const links = within(nav).getAllByRole('link');
      expect(links.map(({ textContent }) => textContent)).toEqual(['Team', 'Projects', 'Inbox', 'Schedule']);
      expect(links.find((link) => link.getAttribute('aria-current') === 'page')?.textContent ?? null).toBe(place);
    }
    page.unmount();
  }
});

test('End stands in the chip of the session, by its name, beside the moon', async () => {
  await openPage({ docs: team(1), path: '/inbox', snapshot: runningSession({ awake: ['agent-1'] }), width: 390 });
  expect(screen.getByRole('button', { name: 'End session' }).textContent).toBe('End');
});

test.each([
  ['a session that is no longer shown', runningSession(), true],
  ['nothing where no session was shown, as in a browser that has just joined', null, false],
])('tells a browser that moves to another household about %s', async (_what, snapshot, isTold) => {
  const page = await openPage({ docs: team(1), snapshot });
  await page.say({ news: 'moved' });
  expect(screen.queryByText(/has joined another household/) !== null).toBe(isTold);
});
