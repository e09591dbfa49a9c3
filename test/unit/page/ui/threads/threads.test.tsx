import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Doc } from '../../../../../src/shared/protocol/documents.ts';
import type { RaisedNotification } from '../../../../../src/shared/protocol/notifications.ts';
import type { Thread, ThreadMessage } from '../../../../../src/shared/protocol/threads.ts';
import { at, NOW, settingDoc, team } from '../../support/household.ts';
import { refused, json, wake } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const MINUTE = 60_000;

const message = (sequence: number, from: string, text: string, mentions: string[] = []): ThreadMessage => ({
  messageId: `t${sequence}`,
  sequence,
  from,
  text,
  mentions,
  time: NOW - (100 - sequence) * MINUTE,
});

const thread = (threadId: string, title: string, change: Partial<Thread> = {}): Thread => ({
  threadId,
  version: 0,
  title,
  createdBy: 'agent-1',
  createdAt: NOW - 3 * 3_600_000,
  participants: ['agent-1', 'agent-2'],
  messages: 0,
  lastTime: NOW - MINUTE,
  closed: null,
  ...change,
});

const BRIDGE = [
  message(1, 'agent-1', 'Where does the **weight** go?'),
  message(2, 'agent-2', 'To the second pier, @Lyra.', ['agent-1']),
];

interface Open {
  readonly path?: string;
  readonly threads?: readonly Thread[];
  readonly messages?: readonly ThreadMessage[];
  readonly change?: Partial<Thread>;
  /** Beside the team. */
  readonly docs?: readonly Doc[];
}

/** The page with one thread of two messages, unless told otherwise. */
async function openThreads({
  path = '/threads/bridge',
  messages = BRIDGE,
  change = {},
  threads,
  docs = [],
}: Open = {}): Promise<Page> {
  const bridge = thread('bridge', 'The bridge', { messages: messages.length, ...change });
  return openPage({
    docs: [...team(3), ...docs],
    path,
    prepare({ reach }) {
      reach.on('GET /api/threads', { threads: threads ?? [bridge], more: false });
      reach.on('GET /api/threads/bridge/messages', { thread: bridge, messages, more: false });
    },
  });
}
const changed = (page: Page) => page.hear({ kind: 'changed', time: NOW, what: 'threads', agentId: null });
const field = () => screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Write in The bridge' });
const log = () => screen.findByRole('region', { name: 'Messages in The bridge' });

test('a thread that mentions the person is listed in the inbox until it is read, and no other', async () => {
  const page = await openThreads({
    path: '/inbox',
    docs: [settingDoc('read-since', at(NOW - 24 * 60 * MINUTE))],
    threads: [thread('new', 'Newest', { lastTime: NOW, messages: 5 }), thread('old', 'Older', { messages: 2 })],
  });
  const notify = async (...open: RaisedNotification[]) => {
    page.reach.on('GET /api/notifications', {
      ...{ publicKey: 'key', contact: { subject: null, mail: null, fixed: false }, open, devices: [] },
    });
    await act(async () => page.state.changes.tell({ what: 'notifications', agentId: null }));
  };
  const unread = () => within(screen.getByRole('list', { name: 'Unread' })).getAllByRole('link');
  await notify({
    ...{ key: 'mention:t5', kind: 'mention', agentId: 'agent-1', path: '/threads/new/at/t5' },
    ...{ title: 'As the relay has it', name: 'Lyra', raisedAt: NOW },
  });
  const link = await screen.findByRole('link', { name: 'Newest mentions you 1' });
  expect(link.getAttribute('href')).toBe('/threads/new');
  expect(unread()).toEqual([link]);
  await notify();
  await waitFor(() => expect(screen.queryByRole('list', { name: 'Unread' })).toBeNull());
});

test('lists open threads first, newest at the top, with unread counts', async () => {
  await openThreads({
    path: '/threads',
    // Messages are new since before any of them was said.
    docs: [settingDoc('read-since', at(NOW - 24 * 60 * MINUTE))],
    threads: [
      thread('old', 'An old one', { lastTime: NOW - 9 * MINUTE, messages: 2 }),
      thread('done', 'A closed one', { closed: { time: NOW, by: 'human', summary: '' } }),
      thread('new', 'A new one', { messages: 0 }),
    ],
  });
  const list = await screen.findByRole('navigation', { name: 'Threads' });
  const links = await within(list).findAllByRole('link', { name: /one/ });
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/threads/new', '/threads/old', '/threads/done']);
  expect(links[1]?.textContent).toContain('2 not read yet');
  expect(links[0]?.textContent).not.toContain('not read');
});

test('a thread that was open before opens where new begins, too', async () => {
  const page = await openThreads();
  await log();
  await page.user.click(screen.getByRole('link', { name: 'All threads' }));
  await screen.findByRole('link', { name: /The bridge/ });
  const messages = [...BRIDGE, message(3, 'agent-2', 'And the third?')];
  const bridge = thread('bridge', 'The bridge', { messages: 3, lastTime: NOW });
  page.reach.on('GET /api/threads', { threads: [bridge], more: false });
  page.reach.on('GET /api/threads/bridge/messages', { thread: bridge, messages, more: false });
  await changed(page);
  const line = () => screen.getByRole('link', { name: /The bridge/ });
  await waitFor(() => expect(line().textContent).toContain('1 not read yet'));
  await page.user.click(line());
  const begins = await within(await log()).findByRole('separator', { name: 'New messages' });
  const last = within(await log()).getByText('And the third?');
  expect(begins.compareDocumentPosition(last)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

test('marks seen messages as read on every device, and opens at new ones', async () => {
  const page = await openThreads();
  await log();
  expect(screen.queryByRole('separator', { name: 'New messages' })).toBeNull();
  await page.user.click(screen.getByRole('link', { name: 'All threads' }));
  const line = await screen.findByRole('link', { name: /The bridge/ });
  expect(line.textContent).not.toContain('not read');
  const marks = page.owner.docs.filter((doc) => doc.type === 'setting' && doc['key'] === 'read-thread:bridge');
  expect(marks.map((doc) => doc['value'])).toEqual([2]);
  page.unmount();
  // Another browser, with the same documents.
  localStorage.clear();
  const later = await openThreads({
    docs: marks,
    path: '/threads',
    threads: [thread('bridge', 'The bridge', { messages: 4 })],
    messages: [...BRIDGE, message(3, 'human', 'Mine.'), message(4, 'agent-1', 'And theirs.')],
  });
  const link = await screen.findByRole('link', { name: /The bridge/ });
  expect(link.textContent).toContain('2 not read yet');
  await later.user.click(link);
  const rows = [...(await log()).querySelectorAll('li')].map((row) => row.textContent);
  expect(rows.findIndex((row) => row === 'New')).toBe(rows.findIndex((row) => row.includes('And theirs.')) - 1);
});

test('a message shows whose it is, is set as Markdown, and carries its mentions as links to whom they mean', async () => {
  await openThreads();
  const articles = within(await log()).getAllByRole('article');
  expect(articles.map((article) => article.getAttribute('aria-label'))).toEqual(['Lyra', 'Wren']);
  expect(screen.getByText('weight').tagName).toBe('STRONG');
  expect(
    within(articles[1] ?? document.body)
      .getByRole('link', { name: '@Lyra' })
      .getAttribute('href'),
  ).toBe('/agent/agent-1');
});

test('names the mentioned members of a message also when its words do not', async () => {
  await openThreads({ messages: [message(1, 'agent-2', 'Look at this.', ['agent-1'])] });
  const [article] = within(await log()).getAllByRole('article');
  expect(article?.textContent).toContain('For @Lyra');
});

test('an @ offers those who take part; arrows choose, Enter puts the name in, and the next Enter sends', async () => {
  const page = await openThreads();
  page.reach.on('POST /api/threads/bridge/messages', () => json(message(3, 'human', 'Thank you @Wren', ['agent-2'])));
  const box = await field();
  await page.user.type(box, 'Thank you @');
  const offered = screen.getAllByRole('option').map((option) => option.textContent);
  expect(offered).toEqual(['Lyra', 'Wren']);
  await page.user.keyboard('{ArrowDown}');
  expect(screen.getByRole('option', { selected: true }).textContent).toBe('Wren');
  expect(box.getAttribute('aria-activedescendant')).toBe(screen.getByRole('option', { selected: true }).id);
  await page.user.keyboard('{Enter}');
  expect(box.value).toBe('Thank you @Wren ');
  expect(screen.queryByRole('option')).toBeNull();
  expect(screen.getByText('Notified, and may wake: Wren')).toBeDefined();
  await page.user.keyboard('{Enter}');
  await waitFor(() =>
    expect(page.reach.bodies('POST /api/threads/bridge/messages')).toMatchObject([
      { text: 'Thank you @Wren ', mentions: ['agent-2'] },
    ]),
  );
  expect(box.value).toBe('');
});

test('closes the suggestions by Escape, and keeps the typed text', async () => {
  const page = await openThreads();
  const box = await field();
  await page.user.type(box, '@L{Escape}');
  expect(screen.queryByRole('option')).toBeNull();
  expect(box.value).toBe('@L');
  await page.user.type(box, 'y');
  expect(screen.queryByRole('option')).toBeNull();
});

test('shows arriving messages at once, and sent ones once', async () => {
  const page = await openThreads();
  const bridge = thread('bridge', 'The bridge', { messages: 3 });
  page.reach.on('POST /api/threads/bridge/messages', () => {
    page.reach.on('GET /api/threads/bridge/messages', {
      thread: bridge,
      messages: [...BRIDGE, message(3, 'human', 'I see.')],
      more: false,
    });
    return json(message(3, 'human', 'I see.'));
  });
  await page.user.type(await field(), 'I see.{Enter}');
  await waitFor(() => expect(screen.queryByText('Sending…')).toBeNull());
  expect(within(await log()).getAllByText('I see.')).toHaveLength(1);
  page.reach.on('GET /api/threads/bridge/messages', {
    thread: { ...bridge, messages: 4 },
    messages: [...BRIDGE, message(3, 'human', 'I see.'), message(4, 'agent-1', 'Good.')],
    more: false,
  });
  await changed(page);
  expect(await screen.findByText('Good.')).toBeDefined();
});

test('keeps an unsent message with the reason, and sends it again as the same message', async () => {
  const page = await openThreads();
  page.reach.on('POST /api/threads/bridge/messages', () => refused('The thread was closed meanwhile.', 409));
  await page.user.type(await field(), 'Too late?{Enter}');
  const note = await screen.findByText(/Not sent: The thread was closed meanwhile\./);
  await page.user.click(within(note).getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(page.reach.times('POST /api/threads/bridge/messages')).toBe(2));
  const [first, second] = page.reach.bodies('POST /api/threads/bridge/messages');
  expect(second).toEqual(first);
  await page.user.click(await screen.findByRole('button', { name: 'Withdraw' }));
  expect((await field()).value).toBe('Too late?');
  expect(screen.queryByText(/Not sent/)).toBeNull();
});

test('keeps a message without a relay, also over a reload, and sends it as the same message when back', async () => {
  const page = await openThreads();
  page.reach.on('POST /api/threads/bridge/messages', () => {
    throw new TypeError('no answer');
  });
  await page.user.type(await field(), 'Anybody there?{Enter}');
  await screen.findByText(/Not sent yet. It is sent when/);
  const [first] = page.reach.bodies('POST /api/threads/bridge/messages');
  // A page that is gone tries no more.
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  page.unmount();
  const again = await openThreads({ path: '/' });
  again.reach.on('POST /api/threads/bridge/messages', () => json(message(3, 'human', 'Anybody there?')));
  await again.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  await again.say({ news: 'link', link: { kind: 'live' }, snapshot: null });
  await waitFor(() => expect(again.reach.bodies('POST /api/threads/bridge/messages')).toEqual([first]));
});

test('a mention says whom it woke, or why it woke nobody', async () => {
  const messages = [...BRIDGE, message(3, 'human', 'And now, @Wren?', ['agent-2'])];
  const page = await openThreads({ messages });
  const by = { way: 'thread_mention' as const, target: 'agent-2', messageId: 't3-agent-2' };
  page.reach.on('GET /api/wakes', { wakes: [wake(1, by)], more: false });
  await page.hear({ kind: 'changed', time: NOW, what: 'wakes', agentId: null });
  const region = await log();
  await waitFor(() => expect(region.textContent).toContain('Wren was woken by this mention'));
  const refusal = { outcome: 'suppressed' as const, detail: 'Quiet hours.' };
  page.reach.on('GET /api/wakes', { wakes: [wake(1, { ...by, ...refusal })], more: false });
  await page.hear({ kind: 'changed', time: NOW, what: 'wakes', agentId: null });
  await waitFor(() => expect(region.textContent).toContain('Wren was not woken: Quiet hours.'));
});

test("shows agents at work under the title, and readers below one's message", async () => {
  const messages = [...BRIDGE, { ...message(3, 'human', 'And now, @Wren?', ['agent-2']), time: NOW - 1_000 }];
  const page = await openThreads({ messages });
  const region = await log();
  expect(region.textContent).toContain('Not read yet');
  const bridge = thread('bridge', 'The bridge', { messages: 3 });
  page.reach.on('GET /api/threads/bridge/messages', {
    ...{ thread: bridge, messages, more: false },
    read: { 'agent-1': 2, 'agent-2': 3 },
  });
  await changed(page);
  await waitFor(() => expect(region.textContent).toContain('Read by Wren'));
  const begins = (agentId: string) =>
    page.hear({ kind: 'answer-started', time: NOW, messageId: agentId, agentId, sessionId: 'session-2' });
  // Wren was asked here; Lyra is at work on something else, until she waits here.
  await begins('agent-2');
  await begins('agent-1');
  const line = () => screen.findByRole('button', { name: /^(Lyra|Wren): / });
  expect((await line()).textContent).toBe('Wren: thinking');
  const waits = { kind: 'tool' as const, toolUseId: 't', name: 'wait_for_agent', result: null, isError: false };
  const input = { agent: 'agent-2', threadId: 'bridge' };
  await page.hear({ kind: 'tool', messageId: 'agent-1', block: { ...waits, input, startedAt: NOW } });
  expect((await line()).textContent).toBe('Lyra: waits for WrenWren: thinking');
  await page.user.click(await line());
  const list = within(screen.getByRole('region', { name: 'Activity in The bridge' }));
  expect(list.getByRole('region', { name: 'Lyra' }).textContent).toContain('waits for Wren');
});

test('an agent that answers a mention has read it', async () => {
  const messages = [...BRIDGE, { ...message(3, 'human', 'And now, @Wren?', ['agent-2']), time: NOW - 1_000 }];
  const page = await openThreads({ messages });
  const region = await log();
  expect(region.textContent).toContain('Not read yet');
  const answer = { messageId: 'agent-2', agentId: 'agent-2', sessionId: 'session-2' };
  await page.hear({ kind: 'answer-started', time: NOW, ...answer });
  await waitFor(() => expect(region.textContent).toContain('Read by Wren'));
});

test('fills a gap between shown and newest messages', async () => {
  const page = await openThreads();
  await log();
  const bridge = thread('bridge', 'The bridge', { messages: 5 });
  page.reach.on('GET /api/threads/bridge/messages', ({ query }: { query: URLSearchParams }) =>
    json(
      query.get('before') === '5'
        ? {
            thread: bridge,
            messages: [message(2, 'agent-2', 'two'), message(3, 'agent-1', 'three'), message(4, 'agent-2', 'four')],
            more: true,
          }
        : { thread: bridge, messages: [message(5, 'agent-1', 'five')], more: true },
    ),
  );
  await changed(page);
  expect(await screen.findByText('four')).toBeDefined();
  expect(within(await log()).getAllByRole('article')).toHaveLength(5);
});

test('earlier messages come when they are asked for', async () => {
  const page = await openThreads();
  const bridge = thread('bridge', 'The bridge', { messages: 4 });
  page.reach.on('GET /api/threads/bridge/messages', ({ query }: { query: URLSearchParams }) =>
    json(
      query.get('before') === '3'
        ? { thread: bridge, messages: BRIDGE, more: false }
        : { thread: bridge, messages: [message(3, 'agent-1', 'three'), message(4, 'agent-2', 'four')], more: true },
    ),
  );
  await page.user.click(screen.getByRole('link', { name: 'All threads' }));
  page.unmount();
  const again = await openPage({
    docs: team(2),
    path: '/threads/bridge',
    prepare: ({ reach }) => {
      reach.on('GET /api/threads', { threads: [bridge], more: false });
      reach.on('GET /api/threads/bridge/messages', ({ query }: { query: URLSearchParams }) =>
        json(
          query.get('before') === '3'
            ? { thread: bridge, messages: BRIDGE, more: false }
            : { thread: bridge, messages: [message(3, 'agent-1', 'three'), message(4, 'agent-2', 'four')], more: true },
        ),
      );
    },
  });
  await again.user.click(await screen.findByRole('button', { name: 'Show more' }));
  await waitFor(async () => expect(within(await log()).getAllByRole('article')).toHaveLength(4));
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
});

/** A thread of many messages, which the relay gives three at a time. */
async function openLong(count: number, text = (sequence: number) => `word ${sequence}`): Promise<Page> {
  const all = Array.from({ length: count }, (_none, i) => message(i + 1, i % 2 ? 'agent-2' : 'human', text(i + 1)));
  const bridge = thread('bridge', 'The bridge', { messages: count });
  return openPage({
    docs: team(2),
    path: '/threads/bridge',
    prepare: ({ reach }) => {
      reach.on('GET /api/threads', { threads: [bridge], more: false });
      reach.on('GET /api/threads/bridge/messages', ({ query }: { query: URLSearchParams }) => {
        const before = all.slice(0, Number(query.get('before') ?? count + 1) - 1);
        return json({ thread: bridge, messages: before.slice(-3), more: before.length > 3 });
      });
    },
  });
}

test('Home reads a thread to its very beginning, and every row says which one of how many it is', async () => {
  await openLong(20);
  const region = await log();
  expect(within(region).getAllByRole('listitem')[0]?.getAttribute('aria-setsize')).toBe('-1');
  fireEvent.keyDown(region, { key: 'Home' });
  expect(await within(region).findByText('word 1')).toBeDefined();
  expect(await screen.findByText('The bridge begins here.')).toBeDefined();
  const rows = within(region).getAllByRole('listitem');
  expect(within(region).getAllByRole('article')).toHaveLength(20);
  expect(rows.map((row) => row.getAttribute('aria-posinset'))).toEqual(rows.map((_row, i) => `${i + 1}`));
});

test('reports once that earlier messages cannot be read, and can try again', async () => {
  const page = await openLong(20);
  const region = await log();
  page.reach.on('GET /api/threads/bridge/messages', () => refused('The store is closed.', 503));
  const asked = page.reach.times('GET /api/threads/bridge/messages');
  fireEvent.scroll(region);
  expect(await screen.findByText(/The store is closed/)).toBeDefined();
  fireEvent.scroll(region);
  await act(() => Promise.resolve());
  expect(page.reach.times('GET /api/threads/bridge/messages')).toBe(asked + 1);
  expect(within(region).getAllByRole('article')).toHaveLength(3);
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  await waitFor(() => expect(page.reach.times('GET /api/threads/bridge/messages')).toBe(asked + 2));
});

test("announces others' messages once to screen readers, and folds one’s own long message", async () => {
  const page = await openLong(3, (sequence) =>
    sequence === 3 ? `${'A long thought. '.repeat(600)}The end.` : `word ${sequence}`,
  );
  const region = await log();
  expect(region.textContent).not.toContain('The end.');
  await page.user.click(within(region).getByRole('button', { name: /^Show all/ }));
  expect(region.textContent).toContain('The end.');
  const said = () => [...document.querySelectorAll('.log-frame [role=status]')].map((one) => one.textContent).join('');
  expect(said()).toBe('');
  page.reach.on('GET /api/threads/bridge/messages', {
    thread: thread('bridge', 'The bridge', { messages: 5 }),
    messages: [message(3, 'human', 'x'), message(4, 'agent-2', 'It holds.'), message(5, 'human', 'Good.')],
    more: true,
  });
  await changed(page);
  await waitFor(() => expect(said()).toBe('Wren: It holds.'));
});

test('a thread is begun with a title and those who take part, and is open at once', async () => {
  const page = await openThreads({ path: '/threads/new/agent-2' });
  page.reach.on('POST /api/threads', () => json(thread('bridge', 'The bridge'), 201));
  const dialog = await screen.findByRole('dialog', { name: 'Begin a thread' });
  await page.user.click(within(dialog).getByRole('button', { name: 'Begin' }));
  expect(within(dialog).getByRole('alert').textContent).toBe('It needs a name.');
  await page.user.type(within(dialog).getByLabelText('Title'), 'The bridge');
  await page.user.click(within(dialog).getByRole('checkbox', { name: 'Lyra' }));
  await page.user.click(within(dialog).getByRole('button', { name: 'Begin' }));
  await waitFor(() => expect(location.pathname).toBe('/threads/bridge'));
  expect(page.reach.bodies('POST /api/threads')).toEqual([
    { title: 'The bridge', participants: ['agent-1', 'agent-2'] },
  ]);
});

test('adds and removes a member, with an undo', async () => {
  const page = await openThreads();
  const bridge = thread('bridge', 'The bridge', { messages: 2, participants: ['agent-1', 'agent-2', 'agent-3'] });
  page.reach.on('POST /api/threads/bridge/participants', () => {
    page.reach.on('GET /api/threads/bridge/messages', { thread: bridge, messages: BRIDGE, more: false });
    return json(bridge);
  });
  page.reach.on('DELETE /api/threads/bridge/participants/agent-3', bridge);
  await page.user.click(await screen.findByRole('button', { name: /^Members/ }));
  const dialog = screen.getByRole('dialog', { name: 'Members' });
  await page.user.click(within(dialog).getByRole('button', { name: 'Add Sable' }));
  expect(await within(dialog).findByRole('button', { name: 'Remove Sable' })).toBeDefined();
  expect(page.reach.bodies('POST /api/threads/bridge/participants')).toEqual([{ agentId: 'agent-3' }]);
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(page.reach.times('DELETE /api/threads/bridge/participants/agent-3')).toBe(1));
});

test('a thread is closed with a summary, which then stands where one wrote', async () => {
  const page = await openThreads();
  page.reach.on('POST /api/threads/bridge/close', () => {
    const closed = thread('bridge', 'The bridge', {
      messages: 2,
      closed: { time: NOW, by: 'human', summary: 'The second pier.' },
    });
    page.reach.on('GET /api/threads/bridge/messages', { thread: closed, messages: BRIDGE, more: false });
    return json(closed);
  });
  await log();
  await page.user.click(screen.getByRole('button', { name: 'More about The bridge' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Close the thread…' }));
  await page.user.type(screen.getByLabelText(/^Summary/), 'The second pier.');
  await page.user.click(screen.getByRole('button', { name: 'Close the thread' }));
  expect(await screen.findByText(/Closed by you/)).toBeDefined();
  expect(screen.getByText('The second pier.')).toBeDefined();
  expect(screen.queryByRole('textbox', { name: 'Write in The bridge' })).toBeNull();
  expect(page.reach.bodies('POST /api/threads/bridge/close')).toEqual([{ summary: 'The second pier.' }]);
});

test('says when a thread cannot be read, with a retry, or does not exist', async () => {
  const page = await openPage({
    docs: team(1),
    path: '/threads/bridge',
    prepare: ({ reach }) => {
      reach.on('GET /api/threads', () => refused('The store is closed.', 503));
      reach.on('GET /api/threads/bridge/messages', () => refused('The store is closed.', 503));
    },
  });
  expect((await screen.findAllByText(/Could not load this/))[0]?.parentElement?.textContent).toContain(
    'The store is closed.',
  );
  const bridge = thread('bridge', 'The bridge', { messages: 2 });
  page.reach.on('GET /api/threads/bridge/messages', { thread: bridge, messages: BRIDGE, more: false });
  await page.user.click(
    within(screen.getByRole('region', { name: 'Thread' })).getByRole('button', { name: 'Try again' }),
  );
  expect(await log()).toBeDefined();
  page.unmount();
  await openThreads({ path: '/threads/nowhere' });
  expect(await screen.findByText('Not found')).toBeDefined();
});

test('explains threads when there are none', async () => {
  await openThreads({ path: '/threads', threads: [] });
  expect(await screen.findByRole('heading', { name: 'No threads yet' })).toBeDefined();
  expect(screen.getByRole('link', { name: 'Begin a thread' }).getAttribute('href')).toBe('/threads/new');
});

test('a draft outlives leaving the thread', async () => {
  const page = await openThreads();
  const box = await field();
  fireEvent.input(box, { target: { value: 'Half a thought' } });
  fireEvent.blur(box);
  await page.user.click(screen.getByRole('link', { name: 'All threads' }));
  await page.user.click(await screen.findByRole('link', { name: /The bridge/ }));
  expect((await field()).value).toBe('Half a thought');
});

test('beside its conversation stand an agent’s threads', async () => {
  const page = await openThreads({ path: '/agent/agent-1' });
  await page.user.click(await screen.findByRole('link', { name: 'The bridge' }));
  expect(location.pathname).toBe('/threads/bridge');
  await act(() => Promise.resolve());
});

test('a key finds in the thread that is open alone, and a line says which of how many is shown', async () => {
  const said = (threadId: string, sequence: number, text: string): Doc => ({
    _id: `thread-message:${threadId}:${sequence}`,
    type: 'thread-message',
    schema: 1,
    at: at(NOW - 1_000 + sequence),
    recordId: `${threadId}:${sequence}`,
    agentId: 'agent-1',
    value: { threadId, sequence, time: NOW, messageId: `t${sequence}`, text },
  });
  const page = await openThreads({
    docs: [
      said('bridge', 1, 'Where does the weight go?'),
      said('bridge', 2, 'A weight, to the second pier.'),
      said('other', 3, 'Another weight.'),
    ],
  });
  await screen.findByText(/To the second pier/);
  await page.user.keyboard('f');
  const dialog = await screen.findByRole('dialog', { name: 'Find in this thread' });
  await page.user.type(within(dialog).getByRole('combobox', { name: 'Find in this thread' }), 'weight');
  const hits = () => screen.getAllByRole('option').filter((option) => option.dataset['kind'] === 'hit');
  await waitFor(() => expect(hits()).toHaveLength(2));
  await page.user.selectOptions(within(dialog).getByRole('combobox', { name: 'With whom' }), 'Everybody');
  await waitFor(() => expect(hits()).toHaveLength(3));
  fireEvent(dialog, new Event('cancel', { cancelable: true }));
  await page.user.click(screen.getByRole('button', { name: 'More about The bridge' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Find in this thread' }));
  await page.user.type(await screen.findByRole('combobox', { name: 'Find in this thread' }), 'weight');
  await waitFor(() => expect(hits()).toHaveLength(2));
  await page.user.keyboard('{Enter}');
  const bar = await screen.findByRole('group', { name: 'Results' });
  expect(within(bar).getByRole('status').textContent).toBe('1 of 2');
});
