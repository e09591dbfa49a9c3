import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { formatStamp } from '../../../../../src/shared/domain/stamp.ts';
import { seatColor } from '../../../../../src/shared/domain/seat.ts';
import { DEFAULT_PRICES } from '../../../../../src/shared/domain/prices.ts';
import type { AgentChangeDoc, Doc } from '../../../../../src/shared/protocol/documents.ts';
import { groupsIn, storeGroup } from '../../../../../src/page/state/groups.ts';
import { programsOf } from '../../../../../src/page/state/programs.ts';
import { agentDoc, at, NOW, runningSession, said, settingDoc, team } from '../../support/household.ts';
import { NAMED_SETTINGS, PAGES } from '../../../../../src/page/ui/settings/named.ts';
import { json, type AskedCall } from '../../support/reach.ts';
import { sharedStatus } from '../../support/devices.ts';
import { openPage } from '../../support/render.tsx';

const settings = (section: string, more: Partial<Parameters<typeof openPage>[0]> = {}) =>
  openPage({ docs: team(2), path: `/settings/${section}`, ...more });
const box = (label: string) => screen.findByLabelText<HTMLInputElement>(label);
const saved = (page: Awaited<ReturnType<typeof openPage>>) =>
  page.owner.docs.flatMap((doc) => (doc.type === 'setting' && 'key' in doc ? [[doc.key, doc.value]] : [])).slice(1);

/** Sections that need no answer of a relay. */
const OFFLINE: readonly string[] = [
  ...['people', 'team', 'changes', 'about', 'minds', 'devices', 'storage', 'copies', 'prompt'],
];
/** The field of a setting in the advanced table, in the column of everybody. */
const cell = (label: string) => screen.findByRole<HTMLInputElement>('textbox', { name: `${label} Everybody` });

test('saves a name by itself, says so, and can undo it', async () => {
  const page = await settings('people');
  const name = await box('Your name');
  await page.user.clear(name);
  await page.user.type(name, 'Maria{Enter}');
  expect(saved(page)).toEqual([['humanName', 'Maria']]);
  expect(await screen.findByText('Your name saved. It applies now.')).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(name.value).toBe('Marcus'));
  expect(page.state.household.store.getState().settings.humanName).toBe('Marcus');
});

test('saves a changed name on leaving the page, with an undo there', async () => {
  const page = await settings('people');
  const name = await box('Your name');
  await page.user.clear(name);
  await page.user.type(name, 'Maria');
  await page.user.click(screen.getByRole('link', { name: /^Models and money/ }));
  await waitFor(() => expect(saved(page)).toEqual([['humanName', 'Maria']]));
  cleanup();
  const other = await settings('people');
  const lead = await box("Lead's name");
  await other.user.type(lead, ' II');
  await act(async () => {
    history.pushState(null, '', '/');
    await Promise.resolve();
  });
  expect(await screen.findByText("Lead's name saved. It applies now.")).toBeDefined();
  await other.user.click(screen.getByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(saved(other).map(([, value]) => value)).toEqual(['Julian II', 'Julian']));
});

test('Escape gives up a change, then the field, then the page', async () => {
  const page = await settings('people');
  const name = await box('Your name');
  await page.user.type(name, '!{Escape}');
  expect(name.value).toBe('Marcus');
  await page.user.keyboard('{Escape}');
  expect(document.activeElement).not.toBe(name);
  await page.user.keyboard('{Escape}');
  expect(screen.queryByRole('heading', { level: 1, name: 'Settings' })).toBeNull();
  expect(saved(page)).toEqual([]);
});

test('the lead’s name changes where the lead is shown', async () => {
  const page = await settings('people');
  const name = await box("Lead's name");
  await page.user.clear(name);
  await page.user.type(name, 'Odile{Enter}');
  await page.user.click(screen.getByRole('button', { name: 'Close' }));
  expect(screen.getByRole('button', { name: /^Odile, lead/ })).toBeDefined();
});

test('dates a change made before the ledger was read after all its documents', async () => {
  const far = formatStamp({ time: NOW + 365 * 86_400_000, counter: 0, node: 'zzzz' });
  let read: () => void = () => undefined;
  const page = await openPage({
    docs: [...team(2), { ...settingDoc('humanName', 'Mallory'), at: far }],
    prepare({ owner }) {
      const { call } = owner;
      const held = new Promise<void>((resolve) => (read = resolve));
      owner.call = async (name, ...args) => {
        if (name === 'household') await held;
        return call(name, ...args);
      };
    },
  });
  const done = page.state.actions.saveSetting('humanName', 'Grace');
  const grouped = storeGroup(page.state, { name: 'Night', agentIds: ['agent-1'] });
  expect(saved(page)).not.toContainEqual(['humanName', 'Grace']);
  await act(async () => {
    read();
    expect(await done).toEqual({ ok: true });
    expect(await grouped).toEqual({ ok: true });
  });
  const group = page.owner.docs.find((doc) => JSON.stringify(doc).includes('Night'));
  expect(groupsIn(page.state.household.store.getState())).toMatchObject([{ name: 'Night' }]);
  expect(group?.at.localeCompare(far)).toBe(1);
  expect(page.state.household.store.getState().settings.humanName).toBe('Grace');
  expect(screen.getByText(/^Something here is dated 365 days ahead/)).toBeDefined();
});

test('an empty name cannot be saved, and says why', async () => {
  const page = await settings('people');
  const name = await box('Your name');
  await page.user.clear(name);
  expect(name.getAttribute('aria-invalid')).toBe('true');
  await page.user.type(name, '{Enter}');
  expect(saved(page)).toEqual([]);
});

test('does not show as saved what could not be stored', async () => {
  const page = await settings('people');
  const name = await box('Your name');
  page.owner.broken = 'the disk is full';
  await page.user.type(name, '!{Enter}');
  expect(await screen.findByText(/Could not save this. the disk is full/)).toBeDefined();
  expect(screen.queryByText(/^Your name saved/)).toBeNull();
  await waitFor(() => expect(name.value).toBe('Marcus'));
});

test.each([
  ['Give up on an agent that does not answer within', '90', 'wakeTimeoutMs', 90_000],
  ['End a quiet session after', '2.5', 'idleMs', 150_000],
  ['Remembered of the last conversation', '12000', 'transcriptCap', 12_000],
])('shows %s in units that people use', async (label, text, key, value) => {
  const page = await settings('advanced');
  await page.user.type(await cell(label), `${text}{Enter}`);
  await waitFor(() => expect(saved(page)).toEqual([[key, value]]));
});

test.each(['0', '-5', 'soon', '1e9'])('a time of %j is refused with the bounds', async (text) => {
  const page = await settings('advanced');
  const field = await cell('Give up on an agent that does not answer within');
  fireEvent.change(field, { target: { value: text } });
  expect(screen.getByText('From 1 seconds to 900 seconds.')).toBeDefined();
  fireEvent.blur(field);
  expect(saved(page)).toEqual([]);
});

test('an empty field of the advanced settings shows the default, and sets it again', async () => {
  const page = await settings('advanced', { docs: [...team(2), settingDoc('wakeTimeoutMs', 90_000)] });
  const field = await cell('Give up on an agent that does not answer within');
  expect([field.value, field.placeholder]).toEqual(['90', '120']);
  await page.user.clear(field);
  await page.user.keyboard('{Enter}');
  await waitFor(() => expect(page.state.household.store.getState().settings.wakeTimeoutMs).toBe(120_000));
  expect(field.value).toBe('');
});

test('says during a session that a setting is read at its next start', async () => {
  const page = await settings('advanced', { snapshot: runningSession() });
  await page.user.type(await cell('Remembered of the last conversation'), '4096{Enter}');
  const text = 'Remembered of the last conversation saved. It applies from the next session.';
  expect(await screen.findByText(text)).toBeDefined();
});

test('the wake prompt begins as the original, and is checked while one types', async () => {
  const page = await settings('prompt');
  const field = await box('Template');
  expect(field.value).toContain('You are waking.');
  expect(screen.getByText('the original')).toBeDefined();
  fireEvent.change(field, { target: { value: 'Hello {{nmae}}' } });
  expect(screen.getByText(/Line 1: unknown placeholder \{\{nmae\}\}/)).toBeDefined();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  fireEvent.change(field, { target: { value: 'Hello {{name}}' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  expect(saved(page)).toEqual([['wakeTemplate', 'Hello {{name}}']]);
  await page.user.click(screen.getByRole('button', { name: 'Restore the original' }));
  expect(saved(page).at(-1)).toEqual(['wakeTemplate', '']);
  expect(field.value).toContain('You are waking.');
});

test('the preview shows what a real agent would read', async () => {
  const docs = [...team(1), said('agent-1', 'agent-1', 'We left the bridge half drawn.', NOW - 1000)];
  await settings('prompt', { docs });
  fireEvent.change(await box('Template'), {
    target: { value: '{{name}} of {{human}}: {{soul}} / {{transcript}} / {{seat}}' },
  });
  await waitFor(() =>
    expect(screen.getByLabelText('Preview').textContent).toMatch(
      /^Lyra of Marcus: > I am Lyra\. \/ === [-\d]+ ===\n\nLyra \([^)]+\):\n> We left the bridge half drawn\. \/ 1$/,
    ),
  );
});

test('a placeholder is put in where the caret stands', async () => {
  const page = await settings('prompt');
  const field = await box('Template');
  fireEvent.change(field, { target: { value: 'ab' } });
  field.setSelectionRange(1, 1);
  await page.user.click(screen.getByRole('button', { name: '{{name}}' }));
  expect(field.value).toBe('a{{name}}b');
});

test('says what is stored, and can ask the browser to keep it', async () => {
  const page = await settings('storage');
  expect((await screen.findByRole('region', { name: 'Space used' })).textContent).toContain('2.4 MB of 10 GB');
  await page.user.click(screen.getByRole('button', { name: 'Ask the browser to keep it' }));
  expect(screen.getByText('The browser keeps it until you clear it.')).toBeDefined();
});

test('an agent can retire, leaves the seat, and comes back', async () => {
  const page = await settings('team');
  await page.user.click((await screen.findAllByRole('button', { name: 'Retire' }))[0] ?? document.body);
  expect(page.state.household.store.getState().roster.retired.map((agent) => agent.name)).toEqual(['Lyra']);
  await page.user.selectOptions(screen.getByLabelText('Seat of Lyra'), '8');
  await page.user.click(screen.getByRole('button', { name: 'Give a seat' }));
  expect(page.state.household.store.getState().roster.seats.get(8)?.name).toBe('Lyra');
});

test('shows an agent born into a taken seat as waiting, and gives it an empty one', async () => {
  const page = await settings('team', { docs: [...team(1), agentDoc('late', 'Orla', 0, 'x', NOW)] });
  await page.user.selectOptions(await screen.findByLabelText('Seat of Orla'), '5');
  await page.user.click(screen.getByRole('button', { name: 'Give a seat' }));
  expect(page.state.household.store.getState().roster.seats.get(5)?.name).toBe('Orla');
});

test('a part has its own address, and an unknown address leads to the first page', async () => {
  const page = await settings('nonsense');
  expect(await screen.findByRole('heading', { level: 2, name: 'You' })).toBeDefined();
  await page.user.click(screen.getByRole('link', { name: /^About/ }));
  expect(location.pathname).toBe('/settings/you/about');
  expect(screen.getByRole('link', { name: 'About' }).getAttribute('aria-expanded')).toBe('true');
});

test('the wake preview shows each agent’s sizes and the very text it will read', async () => {
  const docs = [
    ...team(2),
    settingDoc('transcriptCap', 160),
    ...[4000, 3000].map((ago) => said('agent-1', 'human', `An early word. ${'And more. '.repeat(8)}`, NOW - ago)),
    said('agent-1', 'agent-1', 'A late one.', NOW - 1000),
  ];
  const page = await openPage({ docs, path: '/' });
  page.relay.mind = 'anthropic';
  const read = (agentId: string, tokens: number, requests: number) => ({
    ...{ agentId, tokens, requests, costMicroUsd: tokens * 2, estimated: false, program: false },
  });
  page.reach.on('POST /api/costs/wake', {
    reads: [read('lead', 15_400, 2), read('agent-1', 12_800, 1), read('agent-2', 12_800, 1)],
  });
  await page.user.click(screen.getByRole('link', { name: 'Preview the wake' }));
  const dialog = await screen.findByRole('dialog', { name: 'What a wake would carry' });
  await within(dialog).findByText('2 agents');
  // As the relay measures them: tools, system prompts and the lead too.
  await within(dialog).findByText('about 41,000 tokens');
  expect(within(dialog).getAllByText('about 12,800 tokens')).toHaveLength(2);
  expect(dialog.textContent).toContain('2 earlier messages left out');
  expect(dialog.textContent).toContain('no conversation');
  const prompt = within(dialog).getByLabelText('What Lyra will read').textContent;
  expect(prompt).toContain('<your-soul>\n> I am Lyra.\n</your-soul>');
  expect(prompt).toContain('A late one.');
  expect(prompt).not.toContain('An early word.');
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  expect(location.pathname).toBe('/');
});

test('lists agents’ files, tool calls and snapshots as visible to the relay, and folders as not exported', async () => {
  const page = await settings('about');
  const text = document.body.textContent;
  for (const what of [
    'files in your agents’ folders',
    'Tool calls and approvals',
    'Soul and last conversation of each agent',
    'Routines, reminders',
    'only as a hash',
  ])
    expect(text).toContain(what);
  page.unmount();
  await settings('exports');
  expect(await screen.findByText(/The agents’ files on the relay are not in it/)).toBeDefined();
});

test('every setting that is looked for by name stands on its section under that name, and is gone to', async () => {
  for (const { section, name } of NAMED_SETTINGS.filter(({ section: each }) => OFFLINE.includes(each))) {
    const page = await openPage({ docs: team(2), path: `/settings/${section}#${encodeURIComponent(name)}` });
    await waitFor(() => expect(document.activeElement).not.toBe(document.body));
    const { activeElement } = document;
    const told =
      activeElement && 'labels' in activeElement ? (activeElement as HTMLInputElement).labels?.[0] : activeElement;
    expect(told?.textContent, `${section}: ${name}`).toMatch(new RegExp(`^${name}`));
    page.unmount();
  }
});

test.each([
  ['limits', '/settings/agents'],
  ['limits/agent-1', '/settings/agents/agent-1'],
  ['waking', '/settings/advanced'],
  ['mcp', '/settings/models/mcp'],
  ['inside', '/settings/data/storage'],
])('the earlier address /settings/%s leads to %s', async (old, path) => {
  await settings(old);
  await screen.findByRole('heading', { level: 1, name: 'Settings' });
  await waitFor(() => expect(location.pathname).toBe(path));
});

test('settings are found by their names and by other words for them', async () => {
  const page = await settings('people');
  const nav = within(screen.getByRole('navigation', { name: 'Settings' }));
  expect(nav.getAllByRole('link').map((link) => link.firstChild?.textContent)).toEqual(
    Object.values(PAGES).map(({ title }) => title),
  );
  const field = nav.getByRole('searchbox', { name: 'Find a setting' });
  await page.user.type(field, 'shell');
  expect(nav.getAllByRole('link').map((link) => link.firstChild?.textContent)).toEqual([
    'How far it may go',
    'Time of a command',
    'Runs commands',
  ]);
  await page.user.click(nav.getByRole('link', { name: /^Time of a command/ }));
  await waitFor(async () => expect(document.activeElement).toBe(await cell('Time of a command')));
  await page.user.type(field, 'xyzzy');
  expect(nav.getByText('No results for “xyzzy”')).toBeDefined();
  await page.user.keyboard('{Escape}');
  expect(nav.getByRole('link', { name: /^Team/ })).toBeDefined();
});

test('chooses notifications for this device, stores them at the relay, and says why a browser cannot push', async () => {
  const put: unknown[] = [];
  const page = await openPage({
    docs: team(1),
    path: '/settings/notifications',
    prepare({ reach }) {
      reach.on('GET /api/notifications', {
        publicKey: 'key',
        contact: { subject: null, mail: null, fixed: false },
        open: [],
        devices: [
          {
            deviceId: 'd1',
            name: 'Safari on iPhone',
            here: false,
            pushed: true,
            endpoint: null,
            kinds: [],
            quiet: null,
            usedAt: NOW,
            refused: 403,
          },
        ],
      });
      reach.on('PUT /api/notifications/contact', () => new Response(null, { status: 204 }));
      reach.on('PUT /api/notifications/device', ({ body }: AskedCall) => {
        put.push(body);
        return new Response(null, { status: 204 });
      });
      reach.on('DELETE /api/notifications/devices/d1', () => new Response(null, { status: 204 }));
    },
  });
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: /^Tell me on this device/ }).disabled).toBe(true);
  expect(screen.getByText(/does this only for a page under https/)).toBeTruthy();
  await page.user.click(screen.getByRole('checkbox', { name: /^Long answers/ }));
  await screen.findByText('Saved');
  await page.user.click(screen.getByRole('checkbox', { name: /^In these hours/ }));
  await waitFor(() => expect(put).toHaveLength(2));
  expect(put[1]).toMatchObject({
    kinds: ['approval', 'failure', 'mention', 'night', 'review'],
    quiet: { from: 1_320, to: 420 },
    subscription: null,
  });
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(put).toHaveLength(3));
  expect(put[2]).toMatchObject({ kinds: ['approval', 'failure', 'mention', 'night', 'review'], quiet: null });
  await page.user.click(await screen.findByRole('button', { name: 'Turn off: Safari on iPhone' }));
  await waitFor(() => expect(page.reach.times('DELETE /api/notifications/devices/d1')).toBe(1));
  // Its push service did not take the last one: what to do stands there, and can be done.
  expect(screen.getByRole('alert').textContent).toMatch(
    /^Safari on iPhone gets no notifications.*\(403\).*Give your mail address/,
  );
  await page.user.type(screen.getByRole('textbox', { name: 'Mail address' }), 'noa@example.org{Enter}');
  await waitFor(() =>
    expect(page.reach.bodies('PUT /api/notifications/contact')).toEqual([{ mail: 'noa@example.org' }]),
  );
  // A day that is quiet from one hour to the same is a day without quiet hours.
  await page.user.click(screen.getByRole('checkbox', { name: /^In these hours/ }));
  expect(screen.queryByText(/^Give two different times/)).toBeNull();
  fireEvent.change(await screen.findByLabelText(/^Until/), { target: { value: '22:00' } });
  expect(await screen.findByText(/^Give two different times/)).toBeDefined();
});

const PROGRAM = {
  programId: 'p1',
  name: 'Claude Code',
  where: 'claude-agent-acp',
  variables: [],
  throughRelay: false,
  state: { kind: 'untried' },
  running: [],
};
/** The page of ACP agents over these; the answer can be another afterwards. */
async function agentPrograms(first: { programs: readonly object[]; found?: readonly object[]; allowed?: boolean }) {
  let now = first;
  const page = await settings('programs', {
    prepare: ({ reach }) => reach.on('GET /api/agent-programs', () => json({ found: [], allowed: true, ...now })),
  });
  await screen.findByRole('heading', { name: /^Connect (a|another) program$/ });
  return {
    ...page,
    async become(next: typeof first) {
      now = next;
      await act(() => programsOf(page.state).list.again());
    },
  };
}
/** What is read out beside a button. */
const described = (button: HTMLElement) =>
  (button.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent)
    .join(': ');

test('says what to do without an ACP agent, and fills the form with one that was found', async () => {
  const page = await agentPrograms({ programs: [] });
  expect(screen.getByText(/^None found\. Install one on the relay’s machine/)).toBeDefined();
  const add = screen.getByRole('button', { name: 'Connect' });
  expect(described(add)).toBe('It needs a name and a command.');
  await page.user.click(add);
  expect(page.reach.times('POST /api/agent-programs')).toBe(0);
  await page.become({ programs: [], found: [{ name: 'Goose', command: 'goose', args: ['acp'] }] });
  expect(screen.queryByText(/^None found\. Install/)).toBeNull();
  await page.user.click(screen.getByRole('button', { name: 'Goose' }));
  expect(described(add)).toMatch(/^It starts once/);
  await page.user.click(add);
  expect(page.reach.bodies('POST /api/agent-programs')).toMatchObject([
    { name: 'Goose', command: 'goose', args: ['acp'] },
  ]);
  expect((await screen.findByRole('alert')).textContent).toContain('There is nothing here.');
  await page.become({ programs: [], allowed: false });
  expect(screen.getByText(/This relay runs no programs for its pages/)).toBeDefined();
});

test('an ACP agent says whether it is being tested, answers, is signed out or does not answer, and who thinks with it', async () => {
  const page = await agentPrograms({ programs: [PROGRAM] });
  const card = within(screen.getByRole('article', { name: 'Claude Code' }));
  const button = card.getByRole('button', { name: 'Try it' });
  expect(described(button)).toBe('Claude Code: not tested');
  const stands = (state: object, running: readonly object[] = []) =>
    page.become({ programs: [{ ...PROGRAM, state, running }] });
  await stands({ kind: 'trying', since: NOW });
  expect(described(button)).toBe('Claude Code: starting (a first download takes minutes)');
  for (const each of card.getAllByRole('button')) {
    expect(each.getAttribute('aria-disabled')).toBe('true');
    await page.user.click(each);
  }
  expect(page.reach.times('POST /api/agent-programs/p1/try')).toBe(0);
  expect(screen.queryByRole('dialog', { name: 'Remove Claude Code?' })).toBeNull();
  await stands({ kind: 'fails', at: NOW, why: 'not-signed-in', message: 'Sign in there.' });
  expect(described(button)).toBe('Claude Code: signed out');
  expect(card.getByText('Sign in there.')).toBeDefined();
  await stands({ kind: 'fails', at: NOW, why: 'hangs', message: 'It said no word.' });
  expect(described(button)).toBe('Claude Code: does not answer');
  const mode = { name: 'Auto', asks: true };
  const running = [{ agentId: 'agent-1', pid: 4_321, state: 'working', since: NOW, mode, tools: null }];
  await stands({ kind: 'answers', at: NOW, ms: 900, is: 'claude 1.0', tools: false }, running);
  expect(described(button)).toBe('Claude Code: answers, claude 1.0');
  expect(card.getByText(/It has none of Roost’s tools/)).toBeDefined();
  await stands({ kind: 'answers', at: NOW, ms: 900, is: 'claude 1.0', tools: true }, running);
  expect(card.queryByText(/Roost’s tools/)).toBeNull();
  const at = card.getByRole('list', { name: 'Agents with Claude Code now' });
  expect(at.textContent).toBe('Lyra: at work · mode “Auto”: you are asked');
  await page.user.click(button);
  expect(page.reach.times('POST /api/agent-programs/p1/try')).toBe(1);
  expect((await card.findByRole('alert')).textContent).toContain('There is nothing here.');
});

test('sandboxes a program unless the person says otherwise, and reports errors at once', async () => {
  const server = {
    ...{
      serverId: 's1',
      version: 1,
      name: 'notes',
      where: 'node notes.js',
      kind: 'program',
      secrets: [],
      signIn: null,
    },
    ...{ state: 'connected', problem: null, agents: null, tools: [] },
    box: { folder: '/home/me/notes', reads: [], network: 'none' },
  };
  const page = await settings('mcp', {
    prepare: ({ reach }) => {
      reach.on('GET /api/mcp-servers', { programs: true, folders: true, sandbox: true, servers: [server] });
      reach.on('POST /api/mcp-servers', () => json(server, 201));
      reach.on('PUT /api/mcp-servers/s1', () => json(server));
    },
  });
  await screen.findByText('in the sandbox: /home/me/notes · no network');
  await page.user.click(screen.getByRole('button', { name: 'Change: notes' }));
  const form = await screen.findByRole('form', { name: 'Where it runs: notes' });
  await page.user.type(within(form).getByLabelText(/^Hosts that it reaches/), 'not a host');
  await page.user.click(within(form).getByRole('button', { name: 'Save' }));
  expect(within(form).getByRole('alert').textContent).toContain('not a host is no host.');
  await page.user.click(within(form).getByRole('radio', { name: 'Free on this machine' }));
  expect(form.textContent).toContain('No sandbox: it can read, change and delete everything');
  await page.user.click(within(form).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies('PUT /api/mcp-servers/s1')).toEqual([{ box: null, version: 1 }]));
  await page.user.click(screen.getByRole('radio', { name: 'Program' }));
  await page.user.type(screen.getByLabelText('Name'), 'files');
  await page.user.type(screen.getByLabelText('Program', { selector: 'input:not([type=radio])' }), 'files-server');
  await page.user.type(screen.getByLabelText(/^Folder it may change/), '/srv/files');
  await page.user.type(screen.getByLabelText(/^Hosts that it reaches/), 'api.example.org');
  await page.user.click(screen.getByRole('button', { name: 'Connect' }));
  const box = { folder: '/srv/files', reads: [], network: ['api.example.org'] };
  await waitFor(() =>
    expect(page.reach.bodies('POST /api/mcp-servers')).toEqual([
      { name: 'files', attachment: { kind: 'program', command: 'files-server', args: [], env: {}, box } },
    ]),
  );
});

const RUNNER = {
  command: 'npx',
  hosts: ['registry.example.org'],
  reads: ['/opt/node'],
  env: { npm_config_registry: 'https://registry.example.org/' },
};
/** The form that connects an MCP server, on a relay that knows `npx` and has a sandbox. */
async function attachForm(more: object = {}) {
  const page = await settings('mcp', {
    prepare: ({ reach }) => {
      reach.on('GET /api/mcp-servers', { programs: true, folders: true, sandbox: true, servers: [], ...more });
      reach.on('GET /api/mcp-runners', { runners: [RUNNER] });
    },
  });
  await screen.findByRole('radio', { name: 'Program' });
  return { ...page, connected: () => page.reach.bodies('POST /api/mcp-servers') };
}
const paste = (text: object) =>
  fireEvent.change(screen.getByLabelText(/^Settings of another program/), { target: { value: JSON.stringify(text) } });
const FILES = {
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/notes', '/srv/books'],
};

test("offers a fetched program its registry's host and its arguments' folders", async () => {
  const page = await attachForm();
  await page.user.click(screen.getByRole('radio', { name: 'Program' }));
  await page.user.type(screen.getByLabelText('Name'), 'files');
  await page.user.type(screen.getByLabelText('Program', { selector: 'input:not([type=radio])' }), 'npx');
  fireEvent.change(screen.getByLabelText(/^Arguments/), { target: { value: FILES.args.join('\n') } });
  const given = await screen.findByRole('checkbox', { name: /^Required/ });
  for (const words of [
    'files fetches its program from registry.example.org.',
    'files reads and writes /home/me/notes.',
    'files reads /srv/books.',
    'files reads /opt/node.',
  ])
    expect(given.closest('label')?.textContent).toContain(words);
  await page.user.click(screen.getByRole('button', { name: 'Connect' }));
  const box = { folder: '/home/me/notes', reads: ['/srv/books', '/opt/node'], network: ['registry.example.org'] };
  await waitFor(() =>
    expect(page.connected()).toEqual([
      { name: 'files', attachment: { kind: 'program', ...FILES, env: RUNNER.env, box } },
    ]),
  );
  await page.user.click(given);
  await page.user.click(screen.getByRole('button', { name: 'Connect' }));
  const closed = { folder: null, reads: [], network: 'none' };
  await waitFor(() => expect(page.connected()).toHaveLength(2));
  expect(page.connected()[1]).toMatchObject({ attachment: { env: {}, box: closed } });
});

test('values of pasted settings that another machine knows are asked for, and none is connected as it was written', async () => {
  const page = await attachForm();
  await page.user.click(screen.getByRole('radio', { name: 'Paste settings' }));
  paste({
    inputs: [{ id: 'key', type: 'promptString', description: 'Key of the calendar', password: true }],
    servers: {
      files: { ...FILES, args: [...FILES.args.slice(0, 2), '${env:NOTES}'] },
      calendar: { url: 'https://calendar.example.org/mcp', headers: { Authorization: 'Bearer ${input:key}' } },
    },
  });
  const connect = screen.getByRole('button', { name: 'Connect 2' });
  expect(connect.hasAttribute('disabled'), 'nothing is given yet').toBe(true);
  const key = screen.getByLabelText('Key of the calendar');
  expect(key.getAttribute('type')).toBe('password');
  await page.user.type(key, 'secret-1');
  await page.user.type(screen.getByLabelText(/^NOTES/), '/home/me/notes');
  expect((await screen.findByRole('checkbox', { name: /^Required/ })).closest('label')?.textContent).toContain(
    'files reads and writes /home/me/notes.',
  );
  await page.user.click(connect);
  await waitFor(() => expect(page.connected()).toHaveLength(2));
  expect(page.connected()).toMatchObject([
    {
      name: 'files',
      attachment: { args: [...FILES.args.slice(0, 2), '/home/me/notes'], box: { folder: '/home/me/notes' } },
    },
    { name: 'calendar', attachment: { headers: { Authorization: 'Bearer secret-1' } } },
  ]);
});

test('signs in with a client that the person registered when the server registers none', async () => {
  const page = await attachForm();
  await page.user.type(screen.getByLabelText('Name'), 'hub');
  await page.user.type(screen.getByRole('textbox', { name: 'Address' }), 'https://hub.example.org/mcp');
  await page.user.click(screen.getByText('It needs a registered client'));
  await page.user.type(screen.getByLabelText(/^Client ID/), 'roost-of-mine');
  await page.user.type(screen.getByLabelText('Client secret (optional)'), 'hush');
  await page.user.click(screen.getByRole('button', { name: 'Connect' }));
  const client = { id: 'roost-of-mine', secret: 'hush' };
  await waitFor(() =>
    expect(page.connected()).toEqual([
      { name: 'hub', attachment: { kind: 'address', url: 'https://hub.example.org/mcp', headers: {}, client } },
    ]),
  );
});

/** A record of the relay's, as a document of `time`. */
const record = (type: string, recordId: string, time: number, value: Record<string, unknown>): Doc => ({
  ...settingDoc(type, null),
  _id: `${type}:${recordId}:${time}`,
  at: at(time),
  type,
  recordId,
  value,
});
const budget = (time: number, usd: number) =>
  record('limits', 'agent:agent-1', time, {
    agentId: 'agent-1',
    config: { coordination: { daily_budget_usd: usd, may_propose_routines: true } },
  });
const changed = (time: number, agentId: string, change: AgentChangeDoc['change']): Doc => ({
  ...settingDoc('', null),
  _id: `agent-change:${agentId}:${time}`,
  type: 'agent-change',
  at: at(time),
  agentId,
  change,
});

test("lists the person's changes by day, newest first, in plain words", async () => {
  const DAY = 86_400_000;
  const set = (key: string, value: unknown, time: number, device?: string) => ({
    ...settingDoc(key, value),
    at: at(time),
    ...(device === undefined ? {} : { device }),
  });
  await settings('changes', {
    docs: [
      ...team(2),
      budget(NOW - 3 * DAY, 2),
      set('wakeTimeoutMs', 60_000, NOW - 2 * DAY, 'device-gone'),
      changed(NOW - 9_000, 'agent-1', { kind: 'rename', name: 'Lyra the Second' }),
      changed(NOW - 8_000, 'agent-2', { kind: 'retire' }),
      changed(NOW - 7_000, 'agent-2', { kind: 'soul', individuationArtifact: 'Mine.' }),
      set('group:g1', { name: 'Night watch', agentIds: ['agent-1', 'agent-2'] }, NOW - 6_000, 'device-laptop'),
      set('color:agent-1', '#4fb286', NOW - 5_000),
      set('read:agent-1', 'm1', NOW - 4_000),
      budget(NOW - 3_000, 5),
      record('attached-server', 's1', NOW - 2_000, {
        name: 'notes',
        removed: true,
        where: null,
        secrets: [],
        agents: null,
        tools: {},
      }),
      record('prices', 'prices', NOW - 1_000, { prices: [{ ...DEFAULT_PRICES[0], model: 'mine' }] }),
    ],
    prepare: ({ owner }) => {
      owner.sync.syncStatus = () => sharedStatus();
    },
  });
  await screen.findByRole('heading', { name: 'Today' });
  const days = [...document.querySelectorAll('.settings-part section')].map((day) => [
    day.querySelector('h3')?.textContent,
    ...[...day.querySelectorAll('.change-line')].map((line) =>
      [...line.querySelectorAll('.change-what > p, li, small')].map((each) => each.textContent).join(' | '),
    ),
  ]);
  expect(days).toEqual([
    [
      'Today',
      expect.stringMatching(/^You changed “Prices”\. \| .*“mine”: from none to \$10 in, /),
      'You changed “Budget a day (Lyra the Second)” from $2.00 to $5.00.',
      'You changed “Colour (Lyra the Second)” from the default to Jade.',
      'You made the group “Night watch”. | on this device',
      'You retired Wren.',
      'You renamed “Lyra” to “Lyra the Second”.',
    ],
    [
      'Thursday',
      'You changed “Give up on an agent that does not answer within” from 120 seconds to 60 seconds. | on a device that was removed',
    ],
    [
      'Wednesday',
      'You changed “Limits (Lyra the Second)”. | May propose routines: from the default to Yes | Budget a day: from the default to $2.00 | Changed again since.',
    ],
    ['1 January 1970', 'You changed “Your name” from the default to “Marcus”. | There was nothing before it.'],
  ]);
});

test('undoes a change as a change of its own, and asks when it was changed again since', async () => {
  const page = await settings('changes');
  await act(async () => {
    await page.state.actions.saveSetting('wakeTimeoutMs', 60_000);
    await page.state.actions.saveSetting('wakeTimeoutMs', 90_000);
    await page.state.actions.choose('agent-1', { color: '#4fb286' });
  });
  const line = (text: string) => screen.getByText(text).closest('li') ?? document.body;
  const undo = (text: string) => within(line(text)).getByRole('button', { name: `Undo: ${text}` });
  const colour = 'You changed “Colour (Lyra)” from the default to Jade.';
  await screen.findByText(colour);
  await page.user.click(undo(colour));
  await within(line(colour)).findByText('There is nothing to undo: the earlier value is back.');
  expect(document.activeElement).toBe(line(colour));
  expect(page.state.household.store.getState().roster.byId.get('agent-1')?.color).toBe(seatColor(0).color);
  const back = 'You changed “Colour (Lyra)” from Jade to the default.';
  expect(undo(back)).toBeDefined();

  const first = 'You changed “Give up on an agent that does not answer within” from 120 seconds to 60 seconds.';
  within(line(first)).getByText('Changed again since.');
  await page.user.click(undo(first));
  expect(page.state.household.store.getState().settings.wakeTimeoutMs).toBe(90_000);
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  await within(line(first)).findByText('There is nothing to undo: the earlier value is back.');
  expect(page.state.household.store.getState().settings.wakeTimeoutMs).toBe(120_000);
});
