import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import type { CallContent, PinnedFile, ToolCall } from '../../../../src/shared/protocol/approvals.ts';
import type { InboxMessage } from '../../../../src/shared/protocol/threads.ts';
import { NOW, runningSession, said, team } from '../support/household.ts';
import type { EffectiveConfig } from '../../../../src/shared/protocol/config.ts';
import { configAnswer, EFFECTIVE, json, refused, STATS, VERSION, wake, WAITING_CALL } from '../support/reach.ts';
import { answerSchedules, scheduled } from '../support/schedules.ts';
import { openPage } from '../support/render.tsx';

const MINUTE = 60_000;

const inboxMessage = (n: number, more: Partial<InboxMessage> = {}): InboxMessage => ({
  messageId: `m${n}`,
  to: 'agent-1',
  from: 'agent-2',
  text: `Letter ${n}`,
  time: NOW - n * MINUTE,
  priority: 'normal',
  threadId: null,
  read: null,
  ...more,
});

test('the page beside a conversation is that of one agent, however often another is chosen', async () => {
  const page = await openPage({ docs: team(2), path: '/agent/agent-1' });
  const beside = () => screen.getByRole('complementary', { name: /^About / });
  await within(beside()).findByRole('heading', { name: 'Wakes' });
  for (const name of [/^Wren, /, /^Lyra, /, /^Wren, /])
    await page.user.click(within(screen.getByRole('list', { name: 'The team' })).getByRole('button', { name }));
  await within(screen.getByRole('complementary', { name: 'About Wren' })).findByRole('heading', { name: 'Wakes' });
  for (const name of [/^Soul/, 'Wakes', 'All about Wren'])
    expect(within(beside()).getAllByRole('heading', { name })).toHaveLength(1);
  // What is empty does not stand there.
  for (const name of [/^Inbox/, 'Threads', 'Costs'])
    expect(within(beside()).queryByRole('heading', { name })).toBeNull();
  expect(document.title).toContain('Wren');
});

test('a question says how far its yes goes, as it is set, and shows what a program would do whole', async () => {
  const asks = (callId: string, agentId: string, tool: string, input: object) => ({
    ...WAITING_CALL,
    ...{ callId, agentId, tool, input: JSON.stringify(input) },
  });
  let answered = false;
  const page = await openPage({
    docs: team(2),
    path: '/inbox',
    prepare({ reach }) {
      reach.on('GET /api/approvals', () =>
        json({
          waiting: [
            ...(answered ? [] : [asks('c1', 'agent-1', 'run_command', { command: 'make\u202e' })]),
            asks('c2', 'agent-2', 'run_command', { command: 'ls' }),
            asks('c3', 'agent-1', 'mind__execute', { title: 'tidy', command: 'rm -rf x', sandbox: false }),
            asks('c4', 'agent-1', 'mind__edit', {
              title: 'change',
              diffs: [{ path: 'a.md', old_text: 'old line', new_text: 'new line' }],
            }),
          ],
          answered: [],
          sandbox: { available: true, why: null },
          reach: {
            'agent-1': { network: ['example.org'], sandboxed: true },
            'agent-2': { network: 'none', sandboxed: false },
          },
        }),
      );
    },
  });
  const cards = await screen.findAllByRole('article');
  const texts = cards.map(({ textContent }) => textContent);
  expect(texts[0]).toMatch(/make⟨U\+202E⟩.*Network: example\.org\./);
  expect(texts[1]).toMatch(/No sandbox: it can read.*any network\./);
  expect(texts[2]).toMatch(/rm -rf x[^]*"sandbox": false[^]*No sandbox\./);
  expect(texts[3]).toMatch(/a\.md[^]*− old line[^]*\+ new line/);
  for (const card of cards.slice(1)) expect(card.textContent).not.toContain('No network');
  // What moves under the hand takes no yes: the press may be meant for what stood there before.
  const yes = within(cards[1] ?? document.body).getByRole<HTMLButtonElement>('button', { name: 'Yes, once' });
  await waitFor(() => expect(yes.disabled).toBe(false));
  answered = true;
  await page.hear({ kind: 'changed', time: NOW, what: 'approvals', agentId: 'agent-1' });
  await waitFor(() => expect(cards[0]?.isConnected).toBe(false));
  fireEvent.click(yes);
  expect([yes.isConnected, yes.disabled]).toEqual([true, true]);
  expect(page.reach.times('POST /api/approvals/c2/answer')).toBe(0);
  await waitFor(() => expect(yes.disabled).toBe(false));
  const user = within(cards[2] ?? document.body);
  fireEvent.click(user.getByRole('button', { name: 'More answers' }));
  await screen.findByRole('menuitem', { name: /exactly this command/ });
});

test('shows a proposed reminder with its words, its times, and what it replaces', async () => {
  const before = {
    kind: 'reminder',
    agentId: 'agent-1',
    name: 'river',
    message: 'Look once.',
    context: 'none',
  } as const;
  const asks = (callId: string, input: object): ToolCall => ({
    ...WAITING_CALL,
    ...{ callId, agentId: 'agent-1', tool: 'wake_schedule', input: JSON.stringify(input) },
  });
  const waiting = [
    asks('c1', { name: 'river', message: 'Look twice.', cron: '0 9 * * 1-5', context: 'own_runs' }),
    asks('c2', { name: 'tea', message: 'Tea.', every: '90 minutes' }),
    asks('c3', { name: 'once', message: 'Now.', at: '2020-01-01T09:00:00Z' }),
  ];
  await openPage({
    docs: team(2),
    path: '/inbox',
    prepare({ reach }) {
      answerSchedules(reach, {
        schedules: [scheduled(1, { schedule: { ...before, timing: { kind: 'every', minutes: 60, offset: null } } })],
      });
      reach.on('GET /v1/config', configAnswer({}));
      reach.on('GET /api/approvals', () => json({ waiting, answered: [], sandbox: { available: true, why: null } }));
    },
  });
  const textOf = (nth: number) => screen.getAllByRole('article')[nth]?.textContent ?? '';
  await waitFor(() =>
    expect(textOf(0)).toMatch(
      /wants to set reminders[^]*Look twice\.[^]*As “river”, every weekday at 09:00\. Due next: Monday \d\d:00, then Tuesday \d\d:00, then Wednesday \d\d:00\. What it remembers: The last words[^]*Replaces the reminder with this name, every hour:[^]*− Look once\.[^]*\+ Look twice\./,
    ),
  );
  expect(textOf(1)).toMatch(/As “tea”, every 90 minutes\. Due within 90 minutes, and then every 90\./);
  expect(textOf(1)).not.toContain('Replaces');
  // What cannot be read is shown as it stands.
  expect(textOf(2)).toContain('"at": "2020-01-01T09:00:00Z"');
});

test('shows what the yes covers and what changed since, and sends what was shown', async () => {
  const file = (path: string, text: string | null, more: Partial<PinnedFile> = {}): PinnedFile => ({
    ...{
      path,
      leadsTo: null,
      kind: 'file',
      bytes: text?.length ?? 5_000_000,
      entries: 0,
      mark: `${text}`,
      inTurn: false,
      text,
    },
    ...more,
  });
  const none = (path: string) => file(path, null, { kind: 'none', bytes: 0 });
  const asks = (callId: string, tool: string, input: object, content: Partial<CallContent>): ToolCall => ({
    ...WAITING_CALL,
    ...{ callId, tool, input: JSON.stringify(input) },
    content: { pin: `pin of ${callId}`, files: [], rest: 0, isWhole: true, before: null, ...content },
  });
  const build = file('build.sh', '. ./lib.sh');
  const waiting = [
    asks(
      'c1',
      'run_command',
      { command: 'bash build.sh' },
      {
        files: [build, file('lib.sh', 'echo evil', { inTurn: true }), file('way', 'x', { leadsTo: 'far' })],
        before: [build, file('lib.sh', 'echo good', { inTurn: true }), file('way', 'x', { leadsTo: 'near' })],
        rest: 7,
      },
    ),
    asks('c2', 'run_command', { command: 'bash *' }, { isWhole: false, files: [file('huge', null)] }),
    asks('c3', 'write_file', { path: 'a.md', content: 'new words' }, { files: [file('a.md', 'old words')] }),
    asks('c4', 'write_file', { path: 'b.md', content: 'new words' }, { files: [none('b.md')] }),
    asks(
      'c5',
      'move_file',
      { from: 'a.md', to: 'b.md', replace: true },
      { files: [file('a.md', 'a'), file('b.md', 'lost')] },
    ),
    asks('c6', 'move_file', { from: 'a.md', to: 'b.md' }, { files: [file('a.md', 'a'), file('b.md', 'kept')] }),
    asks(
      'c7',
      'delete_file',
      { path: 'trip', recursive: true },
      {
        files: [file('trip', null, { kind: 'folder', entries: 3, bytes: 2_000 })],
        before: [file('trip', null, { kind: 'folder', entries: 1, bytes: 10, mark: 'before' })],
      },
    ),
    asks('c8', 'delete_file', { path: 'a.md' }, { files: [file('a.md', 'lost words')] }),
  ];
  const page = await openPage({
    docs: team(1),
    path: '/inbox',
    prepare({ reach }) {
      const sandbox = { available: false, why: null };
      reach.on('GET /api/approvals', () =>
        json({ waiting, answered: [], sandbox, reach: { 'agent-1': { network: 'none', sandboxed: false } } }),
      );
      reach.on('POST /api/approvals/c1/answer', () => refused('It has changed.', 409));
    },
  });
  const cards = await screen.findAllByRole('article');
  const texts = cards.map(({ textContent }) => textContent);
  expect(texts[0]).toMatch(
    /Changed since you were asked[^]*lib\.sh[^]*− echo good[^]*\+ echo evil[^]*It reads 10 files of its folder[^]*build\.sh[^]*\. \.\/lib\.sh[^]*named by another[^]*way, which leads to far[^]*and 7 more[^]*applies until one of these files changes/,
  );
  // What is the same is not told as changed.
  const changed = within(cards[0] ?? document.body).getByRole('region', { name: 'What has changed' });
  expect(changed.textContent).not.toContain('build.sh');
  expect(texts[1]).toMatch(/huge 5\.0 MB[^]*can be allowed only once/);
  expect(texts[2]).toMatch(/− old words[^]*\+ new words/);
  expect(texts[3]).not.toContain('−');
  expect(texts[4]).toMatch(/wants to move a\.md to b\.md[^]*b\.md would be replaced\.[^]*− lost/);
  expect(texts[5]).toMatch(/b\.md exists already, so nothing would be moved\./);
  expect(texts[6]).toMatch(
    /wants to delete trip, with all that is in it[^]*a folder with 1 file or folder, 10 B → a folder with 3 files or folders, 2 KB[^]*a folder with 3/,
  );
  expect(texts[7]).toMatch(/wants to delete a\.md[^]*− lost words/);
  const menuOf = async (nth: number) => {
    fireEvent.click(within(cards[nth] ?? document.body).getByRole('button', { name: 'More answers' }));
    const items = (await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent);
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByRole('menuitem')).toBeNull());
    return items.join();
  };
  expect(await menuOf(0)).toContain('Always allow exactly this command');
  expect(await menuOf(1)).not.toContain('Always allow exactly this command');
  const yes = within(cards[0] ?? document.body).getByRole<HTMLButtonElement>('button', { name: 'Yes, once' });
  await waitFor(() => expect(yes.disabled).toBe(false));
  fireEvent.click(yes);
  await waitFor(() => expect(page.reach.times('POST /api/approvals/c1/answer')).toBe(1));
  expect(page.reach.bodies('POST /api/approvals/c1/answer')).toEqual([
    { answer: 'once', words: '', seen: 'pin of c1' },
  ]);
  // What the yes is to changes under the hand: the next press may be meant for what stood there
  // before.
  const [first] = waiting;
  if (first?.content) waiting[0] = { ...first, content: { ...first.content, pin: 'another' } };
  await page.hear({ kind: 'changed', time: NOW, what: 'approvals', agentId: 'agent-1' });
  await waitFor(() => expect(yes.disabled).toBe(true));
});

test('pages back through the activity, and says when another device answered first', async () => {
  const all = Array.from({ length: 250 }, (_, n) => ({
    ...WAITING_CALL,
    callId: `c${n}`,
    state: 'done' as const,
    input: JSON.stringify({ command: `make ${n}` }),
  }));
  let waiting = [WAITING_CALL];
  const page = await openPage({
    docs: team(1),
    path: '/activity/calls',
    prepare({ reach }) {
      reach.on('GET /api/approvals', () => json({ waiting, answered: [], sandbox: { available: true, why: null } }));
      reach.on('GET /api/calls', ({ query }: { query: URLSearchParams }) => {
        const from = all.findIndex(({ callId }) => callId === query.get('before')) + 1;
        const calls = all.slice(from, from + Number(query.get('limit')));
        return json({ calls, more: from + calls.length < all.length });
      });
      reach.on('POST /api/approvals/call-1/answer', () => {
        waiting = [];
        return refused('You already answered no.', 409);
      });
    },
  });
  const lines = () => document.querySelectorAll('.call-list > li');
  await waitFor(() => expect(lines()).toHaveLength(100));
  for (const [label, count] of [
    ['Show more', 200],
    ['Show more', 250],
  ] as const) {
    fireEvent.click(await screen.findByText(label));
    await waitFor(() => expect(lines()).toHaveLength(count));
  }
  expect(screen.queryByText('Show more')).toBeNull();
  expect(lines()[249]?.textContent).toContain('make 249');
  act(() => history.pushState(null, '', '/inbox'));
  await screen.findByText('Yes, once');
  await waitFor(() => expect(screen.getByText<HTMLButtonElement>('Yes, once').disabled).toBe(false));
  fireEvent.click(screen.getByText('Yes, once'));
  expect(await screen.findByText(/You already answered no\./)).toBeTruthy();
  await waitFor(() => expect(screen.queryByText('Yes, once')).toBeNull());
  expect(page.reach.bodies('POST /api/approvals/call-1/answer')).toMatchObject([{ answer: 'once' }]);
});

describe('the inbox of an agent', () => {
  test('says from whom, how urgent, and whether it was read, and when', async () => {
    const letters = [
      inboxMessage(1, { priority: 'urgent' }),
      inboxMessage(2, { from: 'human', read: { time: NOW - MINUTE, run: 'answer-abcdef' } }),
      inboxMessage(3, { type: 'help_request' }),
      inboxMessage(4, { from: 'app:Tide watch', threadId: 't1' }),
    ];
    await openPage({
      docs: team(2),
      path: '/agent/agent-1/inbox',
      prepare: ({ reach }) => reach.on('GET /api/agents/agent-1/inbox', { messages: letters, more: false }),
    });
    const dialog = await screen.findByRole('dialog', { name: 'Inbox of Lyra' });
    const [first, second, third, fourth] = within(
      await within(dialog).findByRole('list', { name: 'Inbox of Lyra' }),
    ).getAllByRole('listitem');
    expect(first?.textContent).toMatch(/Wren.*Urgent.*Letter 1.*Unread/);
    expect(second?.textContent).toMatch(/You.*Letter 2.*Read 08:54/);
    expect(third?.textContent).toMatch(/Wren.*Asks for help.*Letter 3/);
    expect(fourth?.textContent).toMatch(/Tide watch \(application\).*in a thread/);
  });

  test('offers to wake an agent that sleeps while messages wait, and not when none do', async () => {
    const page = await openPage({
      docs: team(2),
      path: '/agent/agent-1/inbox',
      prepare({ reach }) {
        reach.on('GET /api/agents/agent-1/inbox', { messages: [inboxMessage(1)], more: false });
        reach.on('GET /api/inbox', { unread: { 'agent-1': 1 } });
      },
    });
    const dialog = within(await screen.findByRole('dialog', { name: 'Inbox of Lyra' }));
    await dialog.findByText('1 message waiting to be read');
    expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Wake Lyra' }).disabled).toBe(false);
    page.reach.on('GET /api/inbox', { unread: {} });
    await page.hear({ kind: 'changed', time: NOW, what: 'inbox', agentId: 'agent-1' });
    await waitFor(() => expect(dialog.queryByRole('button', { name: 'Wake Lyra' })).toBeNull());
  });

  test('pages back in time, and keeps its place when something new arrives', async () => {
    const all = Array.from({ length: 70 }, (_, n) => inboxMessage(n));
    const page = await openPage({
      docs: team(2),
      path: '/agent/agent-1/inbox',
      width: 500,
      prepare: ({ reach }) =>
        reach.on('GET /api/agents/agent-1/inbox', ({ query }: { query: URLSearchParams }) => {
          const from = all.findIndex(({ messageId }) => messageId === query.get('before')) + 1;
          const limit = Number(query.get('limit'));
          return json({ messages: all.slice(from, from + limit), more: from + limit < all.length });
        }),
    });
    const letters = () => within(screen.getByRole('list', { name: 'Inbox of Lyra' })).getAllByRole('listitem');
    await screen.findByRole('list', { name: 'Inbox of Lyra' });
    expect(letters()).toHaveLength(30);
    await page.user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(() => expect(letters()).toHaveLength(60));
    all.unshift(inboxMessage(-1, { messageId: 'new', text: 'Brand new' }));
    await page.hear({ kind: 'changed', time: NOW, what: 'inbox', agentId: 'agent-1' });
    await screen.findByText('Brand new');
    expect(letters()).toHaveLength(60);
  });

  test('says when the inbox is empty, and can retry when it cannot be read', async () => {
    const page = await openPage({
      docs: team(1),
      path: '/agent/agent-1/inbox',
      width: 500,
      prepare: ({ reach }) => reach.on('GET /api/agents/agent-1/inbox', () => refused('The store is locked.', 503)),
    });
    expect((await screen.findByText(/Could not load this/)).parentElement?.textContent).toContain(
      'The store is locked.',
    );
    page.reach.on('GET /api/agents/agent-1/inbox', { messages: [], more: false });
    await page.user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Messages to this agent appear here.')).toBeDefined();
  });
});

describe('the feed of wakes', () => {
  test('says of a stopped wake that messages still wait, and wakes the agent', async () => {
    const stopped = wake(1, { outcome: 'suppressed', check: 'daily', detail: 'No.' });
    const page = await openPage({
      docs: team(2),
      path: '/activity/wakes',
      prepare({ reach }) {
        reach.on('GET /api/wakes', { wakes: [stopped, wake(2, { target: 'agent-1' })], more: false });
        reach.on('GET /api/inbox', { unread: { 'agent-1': 1, 'agent-2': 2 } });
      },
    });
    const [first, second] = await screen.findAllByRole('button', { name: / asked for / });
    if (!first || !second) throw new Error('Two wakes are listed.');
    await page.user.click(second);
    expect(screen.queryByText(/unread messages?/)).toBeNull();
    await page.user.click(first);
    expect(screen.getByText(/2 unread messages/)).toBeDefined();
    await page.user.click(screen.getByRole('button', { name: 'Wake Wren' }));
    await waitFor(() => expect(page.relay.posted[0]?.text.match(/name="[^"]*"/g)).toEqual(['name="Wren"']));
  });

  test('tells each in a sentence, and shows the way through the checks to the one that stopped it', async () => {
    const wakes = [
      wake(1, {
        outcome: 'suppressed',
        check: 'cooldown',
        until: NOW + 2 * MINUTE,
        reason: null,
        detail: 'It was woken less than 300 s ago.',
      }),
      wake(2),
    ];
    const page = await openPage({
      docs: team(2),
      path: '/activity/wakes',
      prepare: ({ reach }) => reach.on('GET /api/wakes', { wakes, more: false }),
    });
    const row = await screen.findByRole('button', { name: /Lyra asked for Wren.*too soon: 3 min left/ });
    expect(screen.getByRole('button', { name: /Lyra asked for Wren.*blocked.*woken/ })).toBeDefined();
    await page.user.click(row);
    expect(screen.getByText('It was woken less than 300 s ago.')).toBeDefined();
  });

  test('goes on by itself when the relay says that another was asked for', async () => {
    const page = await openPage({ docs: team(2), path: '/activity/wakes/agent-2' });
    expect(await screen.findByText('What you and your agents do appears here.')).toBeDefined();
    page.reach.on('GET /api/wakes', { wakes: [wake(0)], more: false });
    await page.hear({ kind: 'changed', time: NOW, what: 'wakes', agentId: 'agent-2' });
    expect(await screen.findByRole('button', { name: /Lyra asked for Wren/ })).toBeDefined();
    expect(
      page.reach.asked
        .filter(({ path }) => path === '/api/wakes')
        .every(({ query }) => query.get('agent') === 'agent-2'),
    ).toBe(true);
  });

  test('tells what one click did in one line that unfolds; another click is another line', async () => {
    const byPerson = { source: { kind: 'person' }, way: 'person', reason: null, messageId: null } as const;
    // The relay decides them one after the other, and tells the newest first.
    const call = [1, 2, 3, 4].map((i) =>
      wake(10 + i, { ...byPerson, target: `agent-${5 - i}`, time: NOW - MINUTE - i * 40 }),
    );
    const before = wake(30, { ...byPerson, target: 'agent-2' });
    // Two who were called one by one, within a second.
    const single = (n: number, target: string) =>
      wake(n, { ...byPerson, target, callId: `call-${n}`, time: NOW - 2 * MINUTE - n });
    const one = [single(21, 'agent-1'), single(22, 'agent-3')];
    const both = [23, 24].map((n) => ({ ...single(n, `agent-${n - 22}`), callId: 'call-both' }));
    const page = await openPage({
      docs: team(4),
      path: '/activity/wakes',
      prepare: ({ reach }) =>
        reach.on('GET /api/wakes', { wakes: [wake(1), ...call, ...one, ...both, before], more: false }),
    });
    const line = await screen.findByRole('button', { name: /^You woke Lyra, Wren and 2 others.*woken/ });
    const told = () =>
      within(screen.getByRole('tabpanel'))
        .getAllByRole('button', { expanded: false })
        .map((row) => row.querySelector('.wake-asked')?.textContent);
    expect(told()).toEqual([
      'Lyra asked for Wren · blocked',
      'You woke Lyra, Wren and 2 others',
      'You woke Lyra',
      'You woke Sable',
      'You woke Wren and Lyra',
      'You woke Wren',
    ]);
    await page.user.click(line);
    expect(told().filter((text) => text?.startsWith('You woke'))).toHaveLength(8);
    const [lyra = document.body] = screen.getAllByRole('button', { name: /^You woke Lyra .*woken/ });
    await page.user.click(lyra);
    expect(screen.getByText('Cause')).toBeDefined();
  });
});

describe('what is left today', () => {
  test('names the wakes and minutes used, and what stops the next one until when', async () => {
    await openPage({
      docs: team(2),
      path: '/agent/agent-1',
      prepare: ({ reach }) =>
        reach.on('GET /v1/agents/agent-1/wake-stats', {
          ...STATS,
          wakesToday: 3,
          minutesToday: 14.6,
          bySource: { 'agent-2': 2, person: 1 },
          stoppedBy: 'cooldown',
          nextWakeTime: NOW + 3 * MINUTE,
        }),
    });
    expect(await screen.findByText('Cannot be woken now: too soon, 3 min left.')).toBeDefined();
    expect(screen.getByText('3 of 12')).toBeDefined();
    expect(screen.getByText('14 of 120 min')).toBeDefined();
    expect(screen.getByText('Woken today by Wren (2), you (1).')).toBeDefined();
  });

  test('says that a wake would pass', async () => {
    await openPage({ docs: team(2), path: '/agent/agent-1' });
    expect(await screen.findByText('Can be woken now.')).toBeDefined();
  });
});

const withBlackouts = (blackouts: EffectiveConfig['coordination']['blackouts']): EffectiveConfig => ({
  ...EFFECTIVE,
  coordination: { ...EFFECTIVE.coordination, blackouts },
});

describe('the switch that stops all wakes', () => {
  test('stops all wakes by one click in the header, keeps other settings, and is visible everywhere', async () => {
    const own = { coordination: { wakes_enabled: true }, time_zone: 'Europe/Berlin' };
    const page = await openPage({
      docs: team(2),
      prepare: ({ reach }) => reach.on('GET /v1/config', configAnswer(own)),
    });
    page.reach.on('PUT /v1/config', () => {
      const stopped = configAnswer({ ...own, wakes_enabled: false }, { ...EFFECTIVE, wakes_enabled: false });
      page.reach.on('GET /v1/config', stopped);
      return json(stopped);
    });
    await page.user.click(screen.getByRole('button', { name: 'More places' }));
    await page.user.click(screen.getByRole('menuitem', { name: /^Pause all/ }));
    expect(page.reach.bodies('PUT /v1/config')).toEqual([
      { ...own, wakes_enabled: false, version: VERSION, whole: true },
    ]);
    await page.user.click(await screen.findByRole('link', { name: 'Paused' }));
    expect((await screen.findByRole('switch', { name: 'Pause all' })).getAttribute('aria-checked')).toBe('true');
  });
});

describe('limits', () => {
  test('shows inherited limits, saves an own figure at once, and resets it', async () => {
    let own: object = {};
    const page = await openPage({
      docs: team(2),
      path: '/settings/advanced/of/agent-1',
      prepare: ({ reach }) => {
        reach.on('GET /v1/agents/agent-1/config', () => json(configAnswer(own)));
        reach.on('PUT /v1/agents/agent-1/config', ({ body }: { body: { coordination: object } }) => {
          own = { coordination: body.coordination };
          return json(configAnswer(own));
        });
      },
    });
    const field = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Wakes a day Lyra' });
    expect([field.value, field.placeholder]).toEqual(['', '12']);
    await page.user.type(field, '1001');
    expect(field.getAttribute('aria-invalid')).toBe('true');
    await page.user.clear(field);
    await page.user.type(field, '0{Enter}');
    await screen.findByText('Wakes a day saved. It applies now.');
    expect(own).toEqual({ coordination: { wake_guardrails: { max_wakes_per_day: 0 } } });
    await page.user.click(screen.getByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(own).toEqual({ coordination: {} }));
  });

  test.each([
    ['an agent', '/settings/advanced/of/agent-1', 'Lyra', '/v1/agents/agent-1/config'],
    ['the household', '/settings/advanced', 'Everybody', '/v1/config'],
  ])('the model requests of a run are set for %s', async (_whose, path, column, address) => {
    const page = await openPage({ docs: team(2), path });
    page.reach.on(`PUT ${address}`, ({ body }: { body: object }) => json(configAnswer(body)));
    const field = await screen.findByRole<HTMLInputElement>('textbox', {
      name: `Model requests in one run ${column}`,
    });
    expect(field.placeholder).toBe('25');
    await page.user.type(field, '7{Enter}');
    await waitFor(() => expect(page.reach.bodies(`PUT ${address}`)).toMatchObject([{ pulse_max_turns: 7 }]));
  });

  test('a preset sets both figures, and the household’s is one choice for an agent', async () => {
    const bodies: unknown[] = [];
    const page = await openPage({
      docs: team(2),
      path: '/settings/limits/agent-1',
      prepare: ({ reach }) =>
        reach.on('PUT /v1/agents/agent-1/config', ({ body }: { body: object }) => {
          bodies.push(body);
          return json(configAnswer(body));
        }),
    });
    expect((await screen.findByRole<HTMLInputElement>('radio', { name: /As everybody/ })).checked).toBe(true);
    await page.user.click(screen.getByRole('radio', { name: /Careful/ }));
    await waitFor(() =>
      expect(bodies).toMatchObject([
        { coordination: { wake_guardrails: { max_wakes_per_day: 4, cooldown_seconds: 900 } } },
      ]),
    );
  });

  test("sets an agent's reach by one choice, which revokes its standing grants and no others", async () => {
    let own: EffectiveConfig['coordination'] | object = {};
    const set = (coordination: Partial<EffectiveConfig['coordination']>) => {
      own = { coordination };
      const { tools = {}, toolsets = {} } = coordination;
      const { coordination: usual } = EFFECTIVE;
      return configAnswer(own, {
        ...EFFECTIVE,
        coordination: { ...usual, tools, toolsets: { ...usual.toolsets, ...toolsets } },
      });
    };
    let isKnown = true;
    let answer = set({ tools: { write_file: 'ask', run_command: 'allow', mcp__notes__echo: 'allow' } });
    const bodies: unknown[] = [];
    const page = await openPage({
      docs: team(2),
      path: '/settings/limits/agent-1',
      prepare({ reach }) {
        reach.on('GET /v1/agents/agent-1/config', () => json(answer));
        reach.on('PUT /v1/agents/agent-1/config', ({ body }: { body: { coordination: object } }) => {
          const isRefused = !isKnown;
          isKnown = true;
          if (isRefused) return refused('Something else was set.', 409, 'changed-elsewhere', { current: answer });
          bodies.push(body);
          answer = set(body.coordination);
          return json(answer);
        });
      },
    });
    const choices = within(await screen.findByRole('group', { name: 'How far it may go' }));
    const chosen = () => choices.getAllByRole<HTMLInputElement>('radio').findIndex(({ checked }) => checked);
    // Files are let, but one tool asks and one command line is let: none of the four is what holds.
    expect(chosen()).toBe(-1);
    const grants = [
      ['Talks only', 'off', 'off'],
      ['Works in its folder', 'allow', 'off'],
      ['Asks before commands', 'allow', 'ask'],
      ['Works freely in its sandbox', 'allow', 'allow'],
    ] as const;
    for (const [at, [name, files, shell]] of grants.entries()) {
      await page.user.click(choices.getByRole('radio', { name: new RegExp(name) }));
      const coordination = { tools: { mcp__notes__echo: 'allow' }, toolsets: { files, shell } };
      await waitFor(() => expect(bodies.at(-1)).toEqual({ coordination, version: VERSION, whole: true }));
      await waitFor(() => expect(chosen()).toBe(at));
    }
    // A set by itself does the same of what is in it; and what was let of a server can be taken
    // back by its name.
    await page.user.click(screen.getByRole('link', { name: 'Advanced' }));
    await page.user.selectOptions(await screen.findByRole('combobox', { name: 'Uses MCP servers Lyra' }), 'Off');
    await waitFor(() => expect(bodies.at(-1)).toMatchObject({ coordination: { toolsets: { attached: 'off' } } }));
    // What another device has set meanwhile stands, and is shown.
    answer = set({ tools: { mind__execute: 'allow' } });
    isKnown = false;
    await page.user.selectOptions(screen.getByRole('combobox', { name: 'Runs commands Lyra' }), 'Off');
    await page.user.click(screen.getByRole('button', { name: 'Tool by tool' }));
    await page.user.selectOptions(await screen.findByRole('combobox', { name: 'mind__execute Lyra' }), 'Asks you');
    await waitFor(() => expect(bodies.at(-1)).toMatchObject({ coordination: { tools: { mind__execute: 'ask' } } }));
  });

  test('says why a limit cannot be saved, and restores the field', async () => {
    const page = await openPage({
      docs: team(2),
      path: '/settings/advanced',
      prepare: ({ reach }) => reach.on('PUT /v1/config', () => refused('max_wakes_per_day is too large.')),
    });
    const choice = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'May be woken Everybody' });
    await page.user.selectOptions(choice, 'No');
    expect(await screen.findByText(/Could not save this. max_wakes_per_day is too large./)).toBeDefined();
    expect(choice.value).toBe('true');
  });

  test('goes out and comes in as YAML, which the relay writes and reads', async () => {
    let yaml = 'coordination:\n  wakes_enabled: false\n';
    const page = await openPage({
      docs: team(2),
      path: '/settings/data/exports',
      prepare: ({ reach }) => {
        reach.on('GET /v1/config', ({ accept }: { accept: string | null }) =>
          accept === 'application/yaml' ? new Response(yaml) : json(configAnswer({})),
        );
        reach.on('PUT /v1/config', ({ body, type }: { body: string; type: string | null }) => {
          if (type !== 'application/yaml') return refused('not YAML');
          yaml = body;
          return new Response(null, { status: 204 });
        });
      },
    });
    await page.user.click(await screen.findByRole('button', { name: 'Limits as YAML' }));
    const field = await screen.findByLabelText<HTMLTextAreaElement>('Limits as YAML', { selector: 'textarea' });
    expect(field.value).toBe(yaml);
    await page.user.clear(field);
    await page.user.type(field, 'time_zone: Asia/Tokyo');
    await page.user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(yaml).toBe('time_zone: Asia/Tokyo'));
  });

  test('quiet hours past midnight say so, and days are ticked', async () => {
    const blackouts = [{ label: 'Night', start_time: '22:00', end_time: '07:00', days: [] }];
    const page = await openPage({
      docs: team(2),
      path: '/settings/limits',
      prepare: ({ reach }) =>
        reach.on('GET /v1/config', configAnswer({ coordination: { blackouts } }, withBlackouts(blackouts))),
    });
    page.reach.on('PUT /v1/config', ({ body }: { body: object }) => json(configAnswer(body)));
    const row = await screen.findByRole('listitem', { name: 'Quiet hours 1' });
    expect(row.textContent).toContain('Ends on the next day.');
    await page.user.click(within(row).getByRole('button', { name: 'Sunday' }));
    await waitFor(() =>
      expect(page.reach.bodies('PUT /v1/config')).toMatchObject([
        { coordination: { blackouts: [{ ...blackouts[0], days: [1, 2, 3, 4, 5, 6] }] } },
      ]),
    );
  });
});

describe('a single time in which nobody is woken', () => {
  test('adds and moves a single blackout, and refuses a reversed one', async () => {
    const away = {
      type: 'one_off' as const,
      label: 'Away',
      start_time: '2026-12-24T18:00',
      end_time: '2026-12-27T08:00',
    };
    const page = await openPage({
      docs: team(2),
      path: '/settings/limits',
      prepare: ({ reach }) =>
        reach.on('GET /v1/config', configAnswer({ coordination: { blackouts: [away] } }, withBlackouts([away]))),
    });
    page.reach.on('PUT /v1/config', ({ body }: { body: object }) => json(configAnswer(body)));
    const row = await screen.findByRole('listitem', { name: 'Quiet hours 1' });
    expect(within(row).queryByRole('button', { name: 'Sunday' })).toBeNull();
    fireEvent.change(within(row).getByLabelText('Until'), { target: { value: '2026-12-24T17:00' } });
    expect(within(row).getByRole('alert').textContent).toContain('end after it begins');
    fireEvent.change(within(row).getByLabelText('Until'), { target: { value: '2026-12-28T08:00' } });
    await waitFor(() =>
      expect(page.reach.bodies('PUT /v1/config')).toMatchObject([
        { coordination: { blackouts: [{ ...away, end_time: '2026-12-28T08:00' }] } },
      ]),
    );
    await page.user.click(screen.getByRole('button', { name: 'Add a single time' }));
    await waitFor(() => expect(page.reach.bodies('PUT /v1/config')).toHaveLength(2));
  });
});

describe('a message from another agent in a conversation', () => {
  test("shows another agent's message under its sender’s name, and as nobody else's", async () => {
    const letter = said('agent-1', 'agent-2', 'The tide table is wrong.', NOW, { role: 'user' });
    await openPage({
      docs: [...team(2), letter],
      path: '/agent/agent-1',
      snapshot: runningSession({ awake: ['agent-1'] }),
    });
    const article = await screen.findByRole('article', { name: 'From Wren' });
    expect(article.textContent).toContain('The tide table is wrong.');
    expect(screen.queryByRole('article', { name: 'You' })).toBeNull();
  });
});
