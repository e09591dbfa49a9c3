import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { answeredText } from '../../../../../src/shared/domain/answered-call.ts';
import { reportText } from '../../../../../src/shared/domain/team-report.ts';
import { addedText } from '../../../../../src/shared/domain/threads.ts';
import { expect, test } from 'vitest';
import type { RoostEvent } from '../../../../../src/shared/protocol/events.ts';
import { LIMITS } from '../../../../../src/shared/protocol/limits.ts';
import { prepareFile } from '../../../../../src/page/ui/attachments/prepare.ts';
import { at, NOW, runningSession, said, sessionEnd, sessionStart, team } from '../../support/household.ts';
import { json } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const HOUR = 3_600_000;
const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: /^Write to/ });
const log = () => screen.getByRole('region', { name: /^Conversation with/ });
const awake = runningSession({ awake: ['agent-1'] });
const now = { sessionId: 'session-2' } as const;

type Said = Extract<RoostEvent, { kind: 'message' }>;

/** A whole message in the session’s conversation with the first agent. */
const hears = (page: Page, message: Pick<Said, 'messageId' | 'author' | 'role'> & Partial<Said>, text: string) =>
  page.hear({
    kind: 'message',
    time: NOW,
    sessionId: 'session-2',
    agentId: 'agent-1',
    blocks: [{ kind: 'text', text }],
    status: 'complete',
    error: null,
    usage: null,
    clientId: null,
    replaces: null,
    waiting: false,
    ...message,
  });

const answer = (
  page: Page,
  { text = 'There.', ...more }: Partial<Pick<Said, 'messageId' | 'status' | 'error'>> & { text?: string } = {},
) => hears(page, { messageId: 'answer', author: 'agent-1', role: 'assistant', ...more }, text);

test('Enter sends to the agent whose conversation it is, and the message is shown at once', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await page.user.type(field(), 'Good morning{Shift>}{Enter}{/Shift}you{Enter}');
  expect(page.relay.posted).toMatchObject([{ to: 'agent-1', text: 'Good morning\nyou' }]);
  expect(field().value).toBe('');
  expect(log().textContent).toContain('Sending…');
  const clientId = page.relay.posted[0]?.clientId ?? '';
  await page.hear({
    kind: 'message',
    time: NOW,
    messageId: 'm',
    sessionId: 'session-2',
    agentId: 'agent-1',
    author: 'human',
    role: 'user',
    blocks: [{ kind: 'text', text: 'Good morning\nyou' }],
    status: 'complete',
    error: null,
    usage: null,
    clientId,
    replaces: null,
    waiting: false,
  });
  expect(log().textContent).not.toContain('Sending…');
  expect(within(log()).getAllByRole('article', { name: 'You' })).toHaveLength(1);
});

test('the lead is written to without an address', async () => {
  const page = await openPage({ docs: team(1), path: '/lead', snapshot: awake });
  await page.user.type(field(), 'Hello{Enter}');
  expect(page.relay.posted[0]).not.toHaveProperty('to');
});

test('words stream into one bubble, and are announced once when they are whole', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await page.hear({
    kind: 'answer-started',
    time: NOW,
    messageId: 'answer',
    agentId: 'agent-1',
    sessionId: 'session-2',
  });
  await page.hear({ kind: 'text', messageId: 'answer', text: 'The second ' });
  await page.hear({ kind: 'text', messageId: 'answer', text: 'pier.' });
  await waitFor(() => expect(log().textContent).toContain('The second pier.'));
  expect(screen.queryByText('Lyra: The second pier.')).toBeNull();
  await answer(page, { text: 'The second pier.' });
  expect(within(log()).getAllByRole('article', { name: 'Lyra' })).toHaveLength(1);
  expect(screen.getByText('Lyra: The second pier.').parentElement?.getAttribute('aria-live')).toBe('polite');
});

const menuOf = async (page: Page, name: string) => {
  await page.user.click(await screen.findByRole('button', { name }));
  return within(screen.getByRole('menu', { name }));
};

test('copies messages as Markdown, and a link to them', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await answer(page, { text: '**Two** piers:\n\n- north\n- south' });
  const more = 'More for Lyra';
  await page.user.click((await menuOf(page, more)).getByRole('menuitem', { name: 'Copy' }));
  expect(await navigator.clipboard.readText()).toBe('**Two** piers:\n\n- north\n- south');
  await page.user.click((await menuOf(page, more)).getByRole('menuitem', { name: /^Copy link/ }));
  expect(await navigator.clipboard.readText()).toBe(`${location.origin}/agent/agent-1/at/answer`);
});

test('adds a quotation behind the draft, of the whole or of the selection, and continues after it', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await answer(page, { text: 'The second pier.\n\nAnd a third.' });
  const quote = async () =>
    page.user.click((await menuOf(page, 'More for Lyra')).getByRole('menuitem', { name: /^Quote/ }));
  await page.user.type(field(), 'Wait.');
  await quote();
  expect(field().value).toBe('Wait.\n\n> The second pier.\n>\n> And a third.\n\n');
  expect(document.activeElement).toBe(field());
  expect(field().selectionStart).toBe(field().value.length);
  await page.user.clear(field());
  const mark = document.getSelection();
  mark?.selectAllChildren(screen.getByText('And a third.'));
  await quote();
  expect(field().value).toBe('> And a third.\n\n');
  await page.user.clear(field());
  mark?.selectAllChildren(screen.getByRole('main'));
  await quote();
  expect(field().value).toContain('> The second pier.');
});

test('arrows go from the menu of one message to the next', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'human', 'First?', NOW - 2000, now),
    said('agent-1', 'agent-1', 'Second.', NOW - 1000, now),
  ];
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  const [mine, theirs] = [
    await screen.findByRole('button', { name: 'More for You' }),
    screen.getByRole('button', { name: 'More for Lyra' }),
  ];
  theirs.focus();
  await page.user.keyboard('{ArrowUp}');
  expect(document.activeElement).toBe(mine);
  await page.user.keyboard('{ArrowDown}');
  expect(document.activeElement).toBe(theirs);
});

test('shows the age for an hour, then the time of day, with the exact time at hand', async () => {
  const minutes = (count: number) => NOW - count * 60_000;
  const docs = [
    ...team(1),
    said('agent-1', 'human', 'Old.', minutes(61), now),
    said('agent-1', 'agent-1', 'Young.', minutes(59), now),
  ];
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  await screen.findByText('Young.');
  const times = () =>
    within(log())
      .getAllByRole('article')
      .map((said) => said.querySelector('time'));
  expect(times()[0]?.textContent).toMatch(/^\d\d:\d\d$/);
  expect(times()[1]?.textContent).toBe('59 min ago');
  const exact = times()[1]?.title ?? '';
  expect(exact).toMatch(/\d{4}, \d\d:\d\d$/);
  // Without a pointer that rests on it: by a press, and by the keyboard above what can be done with
  // the message.
  await page.user.click(screen.getByRole('button', { name: '59 min ago' }));
  expect(times()[1]?.textContent).toBe(exact);
  await page.user.click(screen.getByRole('button', { name: exact }));
  expect(times()[1]?.textContent).toBe('59 min ago');
  screen.getByRole('button', { name: 'More for Lyra' }).focus();
  await page.user.keyboard('{Enter}');
  expect(screen.getByRole('menu', { description: exact })).toBeDefined();
});

test('announces a very short answer too, and nothing that was there before', async () => {
  const page = await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', 'Earlier.', NOW - 1000, now)],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  await answer(page, { text: 'Yes.' });
  expect(await screen.findByText('Lyra: Yes.')).toBeTruthy();
  expect(screen.queryByText('Lyra: Earlier.')).toBeNull();
});

test('words that stream change their own bubble and nothing else of the page', async () => {
  const page = await openPage({
    docs: [...team(3), said('agent-1', 'agent-1', 'Earlier.', NOW - 1000, now)],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  await page.hear({
    kind: 'answer-started',
    time: NOW,
    messageId: 'answer',
    agentId: 'agent-1',
    sessionId: 'session-2',
  });
  await page.hear({ kind: 'text', messageId: 'answer', text: 'One' });
  // A row is out of sight, and so no article to anybody, until it has been measured.
  await waitFor(() => expect(within(log()).getAllByRole('article', { name: 'Lyra' })).toHaveLength(2));
  const bubble = within(log()).getAllByRole('article', { name: 'Lyra' }).at(-1);
  await waitFor(() => expect(bubble?.textContent).toContain('One'));
  // What was plain while Markdown was fetched is set once, whoever is speaking.
  await waitFor(() => expect(log().querySelectorAll('.md')).toHaveLength(2));
  const touched: Node[] = [];
  const watch = new MutationObserver((changes) => touched.push(...changes.map((change) => change.target)));
  watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  for (let i = 0; i < 20; i++) await page.hear({ kind: 'text', messageId: 'answer', text: ` word${i}` });
  await waitFor(() => expect(bubble?.textContent).toContain('word19'));
  watch.disconnect();
  expect(touched.length).toBeGreaterThan(0);
  // A node that is no longer in the page was taken out of one that was touched too.
  // A mouth and the lines under the grid move by the clock.
  const byClock = [...document.querySelectorAll('.face, .now')];
  const isOther = (node: Node) => !bubble?.contains(node) && !byClock.some((part) => part.contains(node));
  expect(touched.filter((node) => node.isConnected && isOther(node))).toEqual([]);
});

const begins = (page: Page) =>
  page.hear({
    kind: 'answer-started',
    time: NOW - 12_000,
    messageId: 'answer',
    agentId: 'agent-1',
    sessionId: 'session-2',
  });

test('shows current work under the name with its start, expands to steps, and ends with the answer', async () => {
  const page = await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  await begins(page);
  const line = () => screen.findByRole('button', { name: /^(thinking|writing|waits|running)/ });
  expect((await line()).textContent).toBe('thinking · 12 s');
  const tool = { kind: 'tool' as const, toolUseId: 't1', name: 'list_files', input: {}, isError: false };
  const block = { ...tool, result: null, startedAt: NOW - 9_000 };
  await page.hear({ kind: 'tool', messageId: 'answer', block });
  await page.hear({ kind: 'tool', messageId: 'answer', block: { ...block, result: 'a.txt', endedAt: NOW - 5_000 } });
  const waits = { ...tool, toolUseId: 't2', name: 'wait_for_agent', input: { agent: 'agent-2' } };
  await page.hear({ kind: 'tool', messageId: 'answer', block: { ...waits, result: null, startedAt: NOW - 4_000 } });
  expect((await line()).textContent).toBe('waits for Wren · 4 s');
  await page.user.click(await line());
  const list = within(screen.getByRole('region', { name: 'What Lyra does' }));
  expect(list.getAllByRole('listitem').map((step) => step.textContent)).toEqual([
    '✓looked through its folder, done08:54 · 4 s',
    '•waits for Wren, Under way08:54 · 4 s',
  ]);
  // The field keeps what it has: the key is the list's alone.
  field().focus();
  await page.user.keyboard('{Escape}');
  expect(screen.queryByRole('region', { name: 'What Lyra does' })).toBeNull();
  expect(document.activeElement).toBe(field());
  await answer(page);
  expect(screen.queryByRole('button', { name: /^waits/ })).toBeNull();
});

test('shows a message written during an answer below it, with its files, editable until it is read', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await begins(page);
  const file = { attachmentId: 'f', name: 'notes.txt', mediaType: 'text/plain', bytes: 5 };
  page.owner.docs.push({
    ...{ _id: 'attachment:f:0', type: 'attachment', schema: 1, at: at(9), agentId: 'agent-1' },
    ...{ attachmentId: 'f', sha256: '', bytes: 5, index: 0, data: btoa('green') },
  });
  const says = (text: string) =>
    hears(page, { messageId: `h-${text}`, clientId: text, author: 'human', role: 'user', attachments: [file] }, text);
  for (const text of ['one', 'two', 'three']) await says(text);
  const waiting = () => screen.queryByRole('region', { name: 'Written meanwhile' });
  const rows = () => within(waiting() ?? document.body).getAllByRole('listitem');
  expect(rows().map((row) => row.textContent)).toEqual(['onenotes.txt', 'twonotes.txt', 'threenotes.txt']);
  expect(within(log()).queryByText('two')).toBeNull();
  const press = async (text: string, name: string) => {
    const row = rows().find((each) => each.textContent?.startsWith(text));
    await page.user.click(within(row ?? document.body).getByRole('button', { name }));
  };
  await press('two', 'Withdraw');
  await waitFor(() => expect(rows()).toHaveLength(2));
  await press('one', 'Edit');
  await waitFor(() => expect(field().value).toBe('one'));
  expect(await screen.findByRole('button', { name: 'Remove notes.txt' })).toBeDefined();
  expect(page.relay.asked).toEqual(['take back h-two', 'take back h-one']);
  // It was read as one pressed: it stays, and that is said.
  page.relay.refusal = {
    kind: 'refused',
    status: 409,
    message: 'This has been read already.',
    problem: { type: 'about:roost/read-already', title: 'x', status: 409, detail: 'x' },
  };
  await press('three', 'Withdraw');
  await screen.findByText('This has been read already.');
  expect(rows()).toHaveLength(1);
  await answer(page);
  expect(waiting()).toBeNull();
  expect(within(log()).getByText('three')).toBeDefined();
  page.relay.refusal = null;
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(page.relay.posted).toMatchObject([{ text: 'two', attachments: [{ name: 'notes.txt' }] }]));
  page.unmount();
  await openPage({ docs: page.owner.docs, path: '/agent/agent-1', snapshot: awake });
});

test('withdraws a message that waits on this device for a sleeping agent, and sends nothing', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1' });
  await page.user.type(field(), 'For later{Enter}');
  await page.user.click(await within(log()).findByRole('button', { name: 'Withdraw' }));
  await waitFor(() => expect(field().value).toBe('For later'));
  expect(page.owner.docs.at(-1)).toMatchObject({ type: 'message-withdrawn', agentId: 'agent-1' });
  expect(page.relay.asked).toEqual([]);
  expect(log().textContent).not.toContain('Kept on this device');
});

test('accepts a file of exactly the maximum size, and refuses one more byte', async () => {
  const prepared = (size: number) => {
    const paper = new Uint8Array(size);
    paper.set(new TextEncoder().encode('%PDF-1.7'));
    return prepareFile(new File([paper], 'plan.pdf'), () => 'file-1');
  };
  expect(await prepared(20_000_000)).toMatchObject({
    ok: true,
    file: { name: 'plan.pdf', mediaType: 'application/pdf', bytes: 20_000_000 },
  });
  expect(await prepared(20_000_001)).toEqual({
    ok: false,
    reason: 'plan.pdf is 20 MB large; a file must be smaller than 20 MB.',
  });
});

test('an answer can be stopped while it is written', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull();
  await page.hear({
    kind: 'answer-started',
    time: NOW,
    messageId: 'answer',
    agentId: 'agent-1',
    sessionId: 'session-2',
  });
  await page.user.click(screen.getByRole('button', { name: 'Stop' }));
  expect(page.relay.asked).toEqual(['stop agent-1']);
  await answer(page, { status: 'stopped' });
  expect(log().textContent).toContain('You stopped this answer here.');
});

test('restarts from an earlier message, and shows the earlier versions by a press', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'human', 'First', NOW - 3000, { ...now, messageId: 'q1' }),
    said('agent-1', 'agent-1', 'One', NOW - 2000, now),
    said('agent-1', 'human', 'Second', NOW - 1000, { ...now, messageId: 'q2', replaces: 'q0' }),
    said('agent-1', 'agent-1', 'Two', NOW - 500, now),
  ];
  const page = await openPage({
    docs,
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ owner }) => {
      owner.replaced = [
        said('agent-1', 'human', 'Once upon', NOW - 9000, { ...now, messageId: 'q00' }),
        said('agent-1', 'agent-1', 'a time', NOW - 8500, now),
        said('agent-1', 'human', 'Long ago', NOW - 8000, { ...now, messageId: 'q0', replaces: 'q00' }),
      ];
    },
  });
  await page.user.click(screen.getByRole('button', { name: 'Earlier versions' }));
  const before = await screen.findByRole('dialog', { name: 'Earlier versions' });
  const versions = await within(before).findAllByRole('heading', { level: 3 });
  expect(versions.map((version) => version.parentElement?.textContent)).toMatchObject([
    expect.stringMatching(/^Version 1.*YouOnce upon.*Lyraa time/s),
    expect.stringMatching(/^Version 2.*YouLong ago/s),
  ]);
  await page.user.keyboard('{Escape}');
  const [first] = screen.getAllByRole('button', { name: 'More for You' });
  if (first) await page.user.click(first);
  await page.user.click(screen.getByRole('menuitem', { name: /^Edit from here/ }));
  expect(field().value).toBe('First');
  expect(screen.getByText(/^Editing what you wrote before/)).toBeTruthy();
  await page.user.clear(field());
  await page.user.type(field(), 'Another first{Enter}');
  expect(page.relay.posted).toMatchObject([{ text: 'Another first', replaces: 'q1' }]);
  expect(log().textContent).not.toContain('Two');
});

test('a failed answer says why, and “Try again” asks the last question again in its place', async () => {
  const page = await openPage({
    docs: [...team(1), said('agent-1', 'human', 'Why?', NOW - 1000, { ...now, messageId: 'q' })],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  await answer(page, { status: 'failed', error: 'overloaded' });
  expect(log().textContent).toContain('Lyra could not answer: overloaded');
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(page.relay.posted).toMatchObject([{ to: 'agent-1', text: 'Why?', replaces: 'q' }]);
  expect(log().textContent).not.toContain('overloaded');
});

test('an answer that broke off says why, and Continue asks the agent to continue it, once', async () => {
  const page = await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', 'Long ago', NOW - HOUR, { status: 'interrupted' })],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  // Also of an earlier session: it has that conversation before it.
  expect(await screen.findByRole('button', { name: 'Continue' })).toBeDefined();
  await answer(page, { status: 'interrupted', error: 'Stopped after 25 steps (limit).' });
  expect(log().textContent).toContain('Stopped after 25 steps (limit).');
  await page.user.click(screen.getByRole('button', { name: 'Continue' }));
  expect(page.relay.posted).toMatchObject([{ to: 'agent-1', text: 'Continue.' }]);
  expect(page.relay.posted[0]).not.toHaveProperty('replaces');
  expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
});

test('the last question can be edited and sent again, in its place', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'human', 'First', NOW - 3000, { ...now, messageId: 'q1' }),
    said('agent-1', 'agent-1', 'One', NOW - 2000, now),
    said('agent-1', 'human', 'Secnod', NOW - 1000, { ...now, messageId: 'q2' }),
  ];
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  await page.user.type(field(), 'a draft');
  await page.user.click(screen.getByRole('button', { name: 'Edit and send again' }));
  expect(field().value).toBe('Secnod');
  await page.user.clear(field());
  await page.user.type(field(), 'Second{Enter}');
  expect(page.relay.posted).toMatchObject([{ text: 'Second', replaces: 'q2' }]);
  expect(log().textContent).not.toContain('Secnod');
  expect(field().value).toBe('a draft');
});

test('edits the last question of a session by arrow up, and restores older ones', async () => {
  const docs = [
    ...team(2),
    said('agent-1', 'human', 'Secnod', NOW - 1000, { ...now, messageId: 'q' }),
    said('agent-2', 'human', 'Long ago', NOW - 90_000_000),
  ];
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  await page.user.type(field(), 'a{ArrowUp}');
  expect(field().value).toBe('a');
  await page.user.type(field(), '{Backspace}{ArrowUp}');
  expect(field().value).toBe('Secnod');
  expect(screen.getByText(/^Editing your last message/)).toBeDefined();
  await page.user.keyboard('{Escape}');
  expect(field().value).toBe('');
  await page.user.click(screen.getByRole('button', { name: /^Wren, seat 2, asleep/ }));
  await page.user.click(field());
  await page.user.keyboard('{ArrowUp}');
  expect(field().value).toBe('Long ago');
  expect(screen.getByText(/^Your last message\. Escape/)).toBeDefined();
  await page.user.keyboard('{Escape}');
  expect(field().value).toBe('');
  expect(document.activeElement).toBe(field());
  await page.user.keyboard('{Escape}');
  expect(document.activeElement).not.toBe(field());
});

test('says when the relay interrupted an answer', async () => {
  await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', 'The river', NOW - 1000, { status: 'interrupted' })],
    path: '/agent/agent-1',
  });
  expect(log().textContent).toContain('The relay was cut off here.');
});

test('keeps a message to a sleeping agent on this device until a session can take it', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1' });
  expect(screen.getByText('Lyra sleeps, and will read this on waking.')).toBeDefined();
  await page.user.type(field(), 'For later{Enter}');
  expect(page.relay.posted).toEqual([]);
  expect(page.owner.docs.at(-1)).toMatchObject({ type: 'queued-message', agentId: 'agent-1', text: 'For later' });
  expect(log().textContent).toContain('Kept on this device: Lyra sleeps, and will read this on waking.');
});

test('a queued message that the relay refuses shows why, and can be withdrawn', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1' });
  await page.user.type(field(), 'For later{Enter}');
  const [queued] = page.owner.docs.slice(-1);
  const refusal = { clientId: String(queued?.['clientId']), message: 'It is too large.', type: 'about:roost/unknown' };
  await page.say({ news: 'undelivered', refusals: [refusal] });
  expect(within(log()).getByRole('alert').textContent).toContain('Not sent: It is too large.');
  await page.say({ news: 'undelivered', refusals: [] });
  expect(log().textContent).toContain('Kept on this device');
});

test('a message that finds no relay is kept too, under the same id, so that it cannot be there twice', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  page.relay.refusal = { kind: 'unreachable', message: 'x' };
  await page.user.type(field(), 'Hello{Enter}');
  expect(page.owner.docs.at(-1)).toMatchObject({ type: 'queued-message', clientId: page.relay.posted[0]?.clientId });
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(log().textContent).toContain('It is sent when the relay is back.');
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: awake });
  expect(log().textContent).toContain('Lyra reads this next.');
});

test('keeps a message that the relay refuses, to be sent again or withdrawn', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  page.relay.refusal = {
    kind: 'refused',
    status: 409,
    message: 'Lyra is not in this session.',
    problem: { type: 'about:roost/unknown-agent', title: 'x', status: 409, detail: 'x' },
  };
  await page.user.type(field(), 'Hello{Enter}');
  expect(within(log()).getByRole('alert').textContent).toContain('Lyra is not in this session.');
  await page.user.click(screen.getByRole('button', { name: 'Withdraw' }));
  expect(field().value).toBe('Hello');
  expect(within(log()).queryByRole('alert')).toBeNull();
});

test("shows a message in a sleeping agent's inbox as waiting until it is read", async () => {
  const page = await openPage({
    docs: [...team(1), said('agent-1', 'human', 'Later', NOW - 1000, { ...now, messageId: 'w', waiting: true })],
    path: '/agent/agent-1',
    snapshot: runningSession(),
  });
  expect(log().textContent).toContain('Waits: Lyra sleeps');
  await page.hear({ kind: 'message-read', time: NOW, messageId: 'w', agentId: 'agent-1', sessionId: 'session-2' });
  expect(log().textContent).not.toContain('Waits');
});

test('between two sessions stands how long the agent slept, and why the last one ended', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'agent-1', 'Good night.', NOW - 10 * HOUR, { sessionId: 'session-1' }),
    sessionEnd('session-1', NOW - 9.5 * HOUR, 'crash'),
    sessionStart('session-2', NOW - 0.5 * HOUR),
    said('agent-1', 'agent-1', 'Good morning.', NOW - 0.4 * HOUR, now),
  ];
  await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  expect(screen.getByText(/^Yesterday 22:55 · Lyra slept 10 hours · the relay crashed$/)).toBeDefined();
});

test('says since when and why an agent sleeps', async () => {
  await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', 'x', NOW - HOUR), sessionEnd('session-1', NOW - HOUR / 2, 'idle')],
    path: '/agent/agent-1',
  });
  expect(screen.getByText('Lyra sleeps since today 08:25 · nothing was said for a while')).toBeDefined();
});

test('few tool calls are steps, many fold into one quiet line, and each opens', async () => {
  const blocks = [
    {
      kind: 'tool' as const,
      toolUseId: 't1',
      name: 'choose_name',
      input: { name: 'Fen' },
      result: 'Kept.',
      isError: false,
    },
    {
      kind: 'tool' as const,
      toolUseId: 't2',
      name: 'write_soul',
      input: { text: 'I am Fen.' },
      result: 'Kept.',
      isError: false,
    },
    {
      kind: 'tool' as const,
      toolUseId: 't3',
      name: 'message_agent',
      input: { to: 'Wren', message: 'Hello.' },
      result: 'Delivered.',
      isError: false,
    },
    { kind: 'text' as const, text: 'So.' },
    ...[1, 2, 3, 4, 5, 6, 7].flatMap((n) =>
      ['list_files', 'list_files', 'read_output'].map((name, i) => ({
        kind: 'tool' as const,
        toolUseId: `m${n}-${i}`,
        name,
        input: {},
        result: '',
        isError: false,
      })),
    ),
    { kind: 'text' as const, text: 'It asked.' },
    // The first says so itself; the second was written before calls did.
    ...[
      { asks: true as const, result: 'Anything at all.' },
      { result: 'This waits for the human: it has not run.' },
    ].map((answer, n) => ({
      ...{ kind: 'tool' as const, toolUseId: `q${n}`, name: 'write_file', isError: false },
      ...{ input: { path: `${n}.md` }, ...answer },
    })),
    { kind: 'text' as const, text: 'By a program.' },
    // As a program that is its mind tells of what it does by itself.
    ...[
      ['mind__think', {}],
      ['mind__edit', { title: 'Edit notes.md', file: 'notes.md' }],
      ['mind__execute', { title: 'Builds it', command: 'make all' }],
      ['mind__read', {}],
      ['mcp__notes__find_all', {}],
    ].map(([name, input], n) => ({
      ...{ kind: 'tool' as const, toolUseId: `p${n}`, name: String(name), input, isError: false },
      result: name === 'mind__think' ? 'The tide is low.' : '',
    })),
  ];
  const { user } = await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', '', NOW - 1000, { ...now, blocks })],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  // A few are listed, and many are folded into one line.
  const step = screen.getByText('wrote to Wren');
  expect(step.closest('details')?.open).toBe(false);
  expect(screen.getByText('asked you: write 0.md')).toBeDefined();
  expect(screen.getByText('asked you: write 1.md')).toBeDefined();
  expect(screen.getByText('worked 21 steps')).toBeDefined();
  // The same again is said once, and of very many the first.
  const again = 'looked through its folder, 2 times · read the output of a command · ';
  expect(screen.getByText(`${again}${again}looked through its folder, 2 times · and 13 more`)).toBeDefined();
  expect(screen.getByText('Edit notes.md · ran `make all` · opened a file · used find_all of notes')).toBeDefined();
  // Its thought is folded.
  expect(screen.queryByText('The tide is low.')).toBeNull();
  await user.click(screen.getByText('What it thought'));
  expect(screen.getByText('The tide is low.')).toBeDefined();
  // A press opens what it was asked for, without ids and without the tool's name.
  await user.click(step);
  expect(screen.getByText('Hello.')).toBeDefined();
  expect(screen.queryByText(/message_agent/)).toBeNull();
});

const tool = (name: string, input: object, result: string, more: { isError?: boolean } = {}) => ({
  ...{ kind: 'tool' as const, toolUseId: `${name}-${JSON.stringify(input)}`, name, input, result },
  ...{ isError: false, ...more },
});

test('a command shows how it ended and its output, a long output by a press, and a failure its first line', async () => {
  const long = Array.from({ length: 30 }, (_, line) => `line ${line}`);
  const blocks = [
    tool('run_command', { command: 'npm test' }, '[Exit status 0 after 0.1 s.]\n> 3 tests passed'),
    tool(
      'run_command',
      { command: 'seq 30' },
      `[Exit status 1 after 2.0 s.]\n${long.map((line) => `> ${line}`).join('\n')}`,
    ),
    tool('read_file', { path: 'gone.md' }, 'There is no such file.', { isError: true }),
  ];
  const { user } = await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', '', NOW - 1000, { ...now, blocks })],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  expect(screen.getByText('exit 0 · 0.1 s')).toBeDefined();
  expect(screen.getByText('3 tests passed')).toBeDefined();
  expect(screen.queryByText(/line 29/)).toBeNull();
  await user.click(screen.getByText('ran `seq 30`'));
  expect(screen.getByText(/line 29/)).toBeDefined();
  expect(screen.getByText('There is no such file.')).toBeDefined();
});

test('a written file is a card as it was left, and one press opens it', async () => {
  const content = ['one', 'two', 'three', 'four', 'five'].join('\n');
  const blocks = [
    tool('write_file', { path: 'notes/draft.md', content: 'draft' }, 'Written.'),
    tool('write_file', { path: 'notes/plan.md', content: 'first' }, 'Written.'),
    tool('write_file', { path: 'notes/plan.md', content }, 'Written.'),
    tool('delete_file', { path: 'notes/draft.md' }, 'Deleted.'),
    tool('write_file', { path: 'refused.md', content }, 'The folder is full.', { isError: true }),
  ];
  const { user } = await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', '', NOW - 1000, { ...now, blocks })],
    path: '/agent/agent-1',
    snapshot: awake,
    prepare({ reach }) {
      reach.on('GET /api/files/agent-1', () =>
        json({
          ...{ entries: [{ name: 'plan.md', kind: 'file', bytes: 23, changedAt: NOW }], more: 0 },
          used: { bytes: 23, entries: 1, most: 1_000 },
        }),
      );
    },
  });
  expect(screen.getByText('worked 5 steps, 1 failed')).toBeDefined();
  const cards = screen.getAllByRole('article', { name: /\.md$/ });
  expect(cards.map((card) => card.getAttribute('aria-label'))).toEqual(['plan.md']);
  expect(cards[0]?.textContent).toContain('one\ntwo\nthree\nfour');
  expect(cards[0]?.textContent).not.toContain('five');
  await user.click(screen.getByRole('button', { name: 'Open plan.md' }));
  expect(await screen.findByRole('dialog', { name: 'plan.md' })).toBeDefined();
});

test('a file that was opened while the answer goes on stays open when it is complete', async () => {
  const page = await openPage({
    docs: team(1),
    path: '/agent/agent-1',
    snapshot: awake,
    prepare({ reach }) {
      reach.on('GET /api/files/agent-1', () =>
        json({
          ...{ entries: [{ name: 'plan.md', kind: 'file', bytes: 3, changedAt: NOW }], more: 0 },
          used: { bytes: 3, entries: 1, most: 1_000 },
        }),
      );
    },
  });
  const block = {
    ...tool('write_file', { path: 'plan.md', content: 'one' }, 'Written.'),
    startedAt: NOW,
    endedAt: NOW,
  };
  const of = { messageId: 'answer', agentId: 'agent-1', sessionId: 'session-2' };
  await page.hear({ kind: 'answer-started', time: NOW, ...of });
  await page.hear({ kind: 'tool', messageId: 'answer', block });
  await page.user.click(await screen.findByRole('button', { name: 'Open plan.md' }));
  expect(await screen.findByRole('dialog', { name: 'plan.md' })).toBeDefined();
  await hears(
    page,
    { ...of, author: 'agent-1', role: 'assistant', blocks: [block, { kind: 'text', text: 'Done.' }] },
    '',
  );
  expect(await screen.findByText('Done.')).toBeDefined();
  expect(screen.getByRole('dialog', { name: 'plan.md' })).toBeDefined();
});

test('the person’s answer to a question is a step with its result, and a report on the team is a line', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  const tells = (messageId: string, text: string) => hears(page, { messageId, author: 'relay', role: 'user' }, text);
  const call = { tool: 'run_command', input: JSON.stringify({ command: 'npm test' }) };
  await tells('call-c1', answeredText({ ...call, end: 'done', text: '[Exit status 0 after 0.1 s.]\n> fine' }));
  await tells('call-c2', answeredText({ ...call, end: 'declined', text: 'Not today.' }));
  const here = { seat: 1, name: 'Wren', outcome: { here: true as const } };
  const gone = { seat: 2, name: 'Orrin', outcome: { here: false as const, why: 'No model.' } };
  await tells('report', reportText([here, gone]));
  await within(log()).findByText('You said yes · exit 0 · 0.1 s');
  expect(log().textContent).toContain('fine');
  expect(log().textContent).toContain('You said no');
  expect(log().textContent).toContain('You said no');
  expect(log().textContent).toContain('Wren came · Orrin did not come: No model.');
  expect(log().textContent).not.toMatch(/TEAM REPORT|seat 1|run_command|You asked to call/);
});

test('the newest reply is copied and asked for again by one press each', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'human', 'Does it hold?', NOW - 2000, now),
    said('agent-1', 'agent-1', 'It **holds**.', NOW - 1000, now),
  ];
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  await page.user.click(await screen.findByRole('button', { name: 'Copy' }));
  expect(await navigator.clipboard.readText()).toBe('It **holds**.');
  await page.user.click(screen.getByRole('button', { name: 'Answer again' }));
  await waitFor(() => expect(page.relay.posted).toMatchObject([{ text: 'Does it hold?' }]));
});

test('a wake is a line across the lead’s conversation', async () => {
  const blocks = [
    {
      kind: 'call' as const,
      call: 'wake' as const,
      callId: 'w',
      seats: [
        { agentId: 'agent-1', position: 0, name: 'Lyra' },
        { agentId: 'agent-2', position: 1, name: 'Wren' },
      ],
    },
  ];
  await openPage({
    docs: [...team(2), said('lead', 'human', '', NOW - 1000, { ...now, blocks })],
    path: '/lead',
    snapshot: awake,
  });
  expect(screen.getByText('You woke Lyra and Wren')).toBeDefined();
});

test('earlier messages are read when they are asked for', async () => {
  const docs = Array.from({ length: 7 }, (_, i) => said('agent-1', 'agent-1', `Message ${i}`, NOW - 10_000 + i, now));
  const page = await openPage({
    docs: [...team(1), ...docs],
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ owner }) => (owner.pageSize = 3),
  });
  const shown = () => within(log()).getAllByRole('article').length;
  expect(shown()).toBe(3);
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  expect(shown()).toBe(6);
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  expect(shown()).toBe(7);
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
});

test('too long a message is counted and not sent, and nothing of it is lost', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  const text = 'x'.repeat(LIMITS.messageText + 345);
  fireEvent.input(field(), { target: { value: text } });
  expect(screen.getByRole('alert').textContent).toBe(
    'This is 345 characters too long. Shorten it, or send it in parts.',
  );
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(page.relay.posted).toEqual([]);
  expect(field().value).toHaveLength(text.length);
});

test('Enter while a script is being composed chooses a candidate and does not send', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  fireEvent.input(field(), { target: { value: 'に' } });
  fireEvent.keyDown(field(), { key: 'Enter', isComposing: true });
  expect(page.relay.posted).toEqual([]);
});

test('keeps a draft per conversation after a reload', async () => {
  const page = await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  await page.user.type(field(), 'half a thou');
  await page.user.click(screen.getByRole('button', { name: /^Wren, seat 2, asleep/ }));
  expect(field().value).toBe('');
  page.unmount();
  await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  expect(field().value).toBe('half a thou');
});

test("keeps a draft's attachments after a reload, and out of other conversations", async () => {
  const page = await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  const chips = () =>
    screen.queryAllByRole('button', { name: /^Remove/ }).map((chip) => chip.getAttribute('aria-label'));
  const drop = (...files: File[]) => fireEvent.drop(log(), { dataTransfer: { types: ['Files'], files } });
  drop(new File(['green'], 'green.txt'), new File(['red'], 'red.txt'));
  await waitFor(() => expect(chips()).toHaveLength(2));
  await page.user.click(screen.getByRole('button', { name: 'Remove red.txt' }));
  await page.user.click(screen.getByRole('button', { name: /^Wren, seat 2, asleep/ }));
  expect(chips()).toEqual([]);
  page.unmount();
  const again = await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  await waitFor(() => expect(chips()).toEqual(['Remove green.txt']));
  await again.user.type(field(), 'Look{Enter}');
  await waitFor(() =>
    expect(again.relay.posted).toMatchObject([{ text: 'Look', attachments: [{ data: btoa('green') }] }]),
  );
  expect(chips()).toEqual([]);
  again.unmount();
  await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  expect(chips()).toEqual([]);
});

test('sends a message with its files once that was under way when the page closed', async () => {
  const never = new Promise<never>(() => undefined);
  const page = await openPage({
    docs: team(1),
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ relay }) => void Object.assign(relay, { postMessage: () => never }),
  });
  // The ledger is busy: what is attached is not in it yet.
  page.owner.pause = () => never;
  fireEvent.drop(log(), { dataTransfer: { types: ['Files'], files: [new File(['green'], 'green.txt')] } });
  await screen.findByRole('button', { name: 'Remove green.txt' });
  await page.user.type(field(), 'Look{Enter}');
  expect(log().textContent).toContain('Sending…');
  page.unmount();
  const again = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await waitFor(() =>
    expect(again.relay.posted).toMatchObject([
      { text: 'Look', attachments: [{ name: 'green.txt', data: btoa('green') }] },
    ]),
  );
  const { clientId = '' } = again.relay.posted[0] ?? {};
  await hears(again, { messageId: 'm', author: 'human', role: 'user', clientId }, 'Look');
  expect(Object.keys(localStorage).filter((key) => key.startsWith('roost-unsent'))).toEqual([]);
  again.unmount();
  const last = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  expect(last.relay.posted).toEqual([]);
});

test('keeps an edit without a relay in its place, and sends it when the relay is back', async () => {
  const docs = [...team(1), said('agent-1', 'human', 'Secnod', NOW - 1000, { ...now, messageId: 'q' })];
  const page = await openPage({ docs, path: '/agent/agent-1', snapshot: awake });
  await page.user.click(screen.getByRole('button', { name: 'Edit and send again' }));
  page.relay.refusal = { kind: 'unreachable', message: 'x' };
  await page.user.clear(field());
  await page.user.type(field(), 'Second{Enter}');
  expect(log().textContent).toContain('Not sent yet. It is sent when the relay is back.');
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  page.relay.refusal = null;
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: awake });
  expect(page.relay.posted).toMatchObject([
    { text: 'Second', replaces: 'q' },
    { text: 'Second', replaces: 'q' },
  ]);
  expect(log().textContent).not.toContain('Not sent yet');
  expect(new Set(page.relay.posted.map(({ clientId }) => clientId)).size).toBe(1);
});

test('a draft is the device’s, not the tab’s: a new tab has it, and what another tab sent stands nowhere to be sent again', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await page.user.type(field(), 'half a thou');
  act(() => field().blur());
  page.unmount();
  sessionStorage.clear();
  await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  expect(field().value).toBe('half a thou');
  const elsewhere = (newValue: string | null) =>
    fireEvent(window, new StorageEvent('storage', { key: 'roost-draft:agent-1', newValue }));
  elsewhere('half a thought');
  expect(field().value).toBe('half a thought');
  // Who writes here goes on undisturbed.
  act(() => field().focus());
  elsewhere('another');
  expect(field().value).toBe('half a thought');
  act(() => field().blur());
  elsewhere(null);
  expect(field().value).toBe('');
});

test('an egg shows its words while it is being born, and cannot be spoken to', async () => {
  const egg = { agentId: 'egg', position: 0, call: 'summon' as const, callId: 'w', name: null };
  const page = await openPage({ docs: team(0), path: '/agent/egg', snapshot: runningSession({ hatching: [egg] }) });
  await page.hear({ kind: 'answer-started', time: NOW, messageId: 'a', agentId: 'egg', sessionId: 'session-2' });
  await page.hear({ kind: 'text', messageId: 'a', text: 'Who might I be?' });
  await waitFor(() => expect(log().textContent).toContain('Who might I be?'));
  expect(screen.getByRole<HTMLTextAreaElement>('textbox').disabled).toBe(true);
  await page.user.click(screen.getByRole('button', { name: 'Give up this egg' }));
  expect(page.relay.asked).toEqual(['sleep egg']);
});

test('offers a first message to an awake agent without a conversation', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await page.user.click(screen.getByRole('button', { name: 'How did you come to your name?' }));
  expect(field().value).toBe('How did you come to your name?');
  expect(page.relay.posted).toEqual([]);
});

test('says when no agent has the address', async () => {
  await openPage({ docs: team(1), path: '/agent/nobody' });
  expect(screen.getByRole('heading', { name: 'Not found' })).toBeDefined();
});

test('says when a conversation cannot be read, and can try again', async () => {
  const page = await openPage({ docs: team(2), path: '/agent/agent-1' });
  page.owner.broken = 'disk error';
  await page.user.click(screen.getByRole('button', { name: /^Wren, seat 2, asleep/ }));
  const alert = screen.getByRole('alert');
  expect(alert.textContent).toContain('disk error');
  page.owner.broken = null;
  await page.user.click(within(alert).getByRole('button', { name: 'Try again' }));
  expect(screen.getByRole('heading', { name: 'Wren sleeps' })).toBeDefined();
});

test('shows hearth and conversation as two views on a phone', async () => {
  const page = await openPage({ docs: team(1), width: 360 });
  expect(screen.queryByRole('region', { name: /Conversation/ })).toBeNull();
  await page.user.click(screen.getByRole('button', { name: /^Lyra, seat 1, asleep/ }));
  expect(screen.queryByRole('list', { name: 'The team' })).toBeNull();
  // The header has the places too, out of sight on a phone.
  const [place] = screen.getAllByRole('link', { name: 'Team' });
  if (place) await page.user.click(place);
  expect(screen.getByRole('list', { name: 'The team' })).toBeDefined();
});

test('a note of the relay to an agent opens; a line of the relay’s stands as it is', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  const tells = (messageId: string, text: string) => hears(page, { messageId, author: 'relay', role: 'user' }, text);
  await tells('note', 'One line.');
  await tells('long', 'For you alone.\nMore of it.');
  await within(log()).findByText('One line.');
  const summary = await within(log()).findByText(/^Note from Roost to .+$/);
  expect(screen.queryByText(/More of it/)).toBeNull();
  await page.user.click(summary);
  await screen.findByText(/More of it/);
});

test("links an agent's thread in the person’s words, whoever added the agent", async () => {
  const page = await openPage({ docs: team(2), path: '/agent/agent-1', snapshot: awake });
  const added = { threadId: 'thread-1', title: 'Tides “of” March' };
  await hears(page, { messageId: 'n1', author: 'relay', role: 'user' }, addedText({ ...added, byHuman: true }));
  await hears(page, { messageId: 'n2', author: 'agent-2', role: 'user' }, addedText({ ...added, byHuman: false }));
  const links = await within(log()).findAllByRole('link', { name: 'Tides ’of’ March' });
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/threads/thread-1', '/threads/thread-1']);
  expect(log().textContent).toMatch(/You took Lyra into the thread .*Wren took Lyra into the thread /);
  expect(log().textContent).not.toContain('read_thread');
});

test('takes files dropped anywhere on the conversation, and stays when they are refused', async () => {
  await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  const chat = screen.getByRole('region', { name: 'Conversation' });
  const dataTransfer = { types: ['Files'], files: [new File(['the pier is green'], 'notes.txt')] };
  fireEvent.dragEnter(chat, { dataTransfer });
  fireEvent.dragEnter(log(), { dataTransfer });
  fireEvent.dragLeave(chat, { dataTransfer });
  expect(chat.dataset['drops']).toBe('true');
  // False: the browser does not do what it would.
  expect(fireEvent.dragOver(log(), { dataTransfer })).toBe(false);
  expect(fireEvent.drop(log(), { dataTransfer })).toBe(false);
  expect(chat.dataset['drops']).toBeUndefined();
  expect(await screen.findByRole('button', { name: 'Remove notes.txt' })).toBeDefined();
  const more = { types: ['Files'], files: [new File(['the pier is red'], 'more.txt')] };
  expect(fireEvent.drop(field(), { dataTransfer: more })).toBe(false);
  expect(await screen.findByRole('button', { name: 'Remove more.txt' })).toBeDefined();
  expect(fireEvent.drop(log(), { dataTransfer: { types: ['text/plain'], files: [] } })).toBe(true);
});

test('sends files once stored: refuses unreadable ones, restores removed ones, and stores each once', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  const input =
    document.querySelector<HTMLInputElement>('.compose input[type=file]') ?? document.createElement('input');
  const notes = new File(['the pier is green'], 'notes.txt');
  const kept = () => page.owner.docs.filter(({ type }) => type === 'attachment');
  const chips = () => screen.queryAllByRole('button', { name: /^Remove/ });
  await page.user.upload(input, [notes, new File([new Uint8Array([1, 0, 2])], 'a\u202e.bin'), notes]);
  await waitFor(() =>
    expect(document.querySelector('.compose-note')?.textContent).toBe(
      'a.bin is no picture, PDF or text: models read nothing else.',
    ),
  );
  await page.user.click(await screen.findByRole('button', { name: 'Remove notes.txt' }));
  expect(chips()).toHaveLength(0);
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  expect(chips()).toHaveLength(1);
  expect(kept()).toHaveLength(0);
  await page.user.type(field(), '{Enter}');
  await waitFor(() => expect(page.relay.posted).toHaveLength(1));
  await page.user.upload(input, notes);
  await screen.findByRole('button', { name: 'Remove notes.txt' });
  await page.user.type(field(), 'again{Enter}');
  await waitFor(() => expect(page.relay.posted).toHaveLength(2));
  const file = { name: 'notes.txt', mediaType: 'text/plain', bytes: 17, data: btoa('the pier is green') };
  expect(page.relay.posted).toMatchObject([
    { text: '', attachments: [file] },
    { text: 'again', attachments: [{ ...file, attachmentId: kept()[0]?.['attachmentId'] }] },
  ]);
  expect(kept()).toHaveLength(1);
  // A full disk: nothing is sent, it is said, and goes out when there is room.
  await page.user.upload(input, new File(['other'], 'other.txt'));
  await screen.findByRole('button', { name: 'Remove other.txt' });
  page.owner.broken = 'The disk is full.';
  await page.user.type(field(), 'Look{Enter}');
  const full = () => screen.findByText(/Could not save this\. The disk is full\./);
  // Taken back, it comes with its file.
  await page.user.click(within(await full()).getByRole('button', { name: 'Withdraw' }));
  expect(field().value).toBe('Look');
  await screen.findByRole('button', { name: 'Remove other.txt' });
  await page.user.type(field(), '{Enter}');
  const failed = await full();
  expect(page.relay.posted).toHaveLength(2);
  page.owner.broken = null;
  await page.user.click(within(failed).getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(page.relay.posted[2]).toMatchObject({ attachments: [{ name: 'other.txt' }] }));
});

test('keeps a place for a file on another device until it arrives, and shows a page as text when opened', async () => {
  const file = { attachmentId: 'f', name: 'page.html', mediaType: 'text/html', bytes: 6 };
  const beach = { attachmentId: 'b', name: 'beach.png', mediaType: 'image/png', bytes: 6 };
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  const message = { ...said('agent-1', 'human', 'Look', NOW), attachments: [file, beach] };
  await page.say({ news: 'documents', docs: [message] });
  await screen.findAllByText(/^This file is not here yet/);
  const asked = page.owner.calls.filter((name) => name === 'attachment').length;
  const piece = {
    ...{ _id: 'attachment:f:0', type: 'attachment', schema: 1, at: at(9), agentId: 'agent-1' },
    ...{ attachmentId: 'f', sha256: '', bytes: 6, index: 0, data: btoa('<b>x</') },
  };
  URL.createObjectURL = (blob) => `blob:${blob instanceof Blob ? blob.type : ''}`;
  URL.revokeObjectURL = () => undefined;
  const [open] = await screen.findAllByRole('button', { name: 'Open page.html, 6 B' });
  expect(page.owner.calls.filter((name) => name === 'attachment')).toHaveLength(asked);
  await page.user.click(open ?? document.body);
  const dialog = within(screen.getByRole('dialog', { name: 'page.html' }));
  await dialog.findByText(/^This file is not here yet/);
  page.owner.docs.push(piece);
  await page.say({ news: 'documents', docs: [piece] });
  const save = await dialog.findByRole('link', { name: 'Download' });
  expect(save.getAttribute('href')).toBe('blob:text/plain;charset=utf-8');
});

test('opens a summary where it was written, and edits it there', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await hears(page, { messageId: 'q', author: 'human', role: 'user' }, 'Paint the blue door.');
  const compaction = { messages: 41, from: null, tokensBefore: 25_000, tokensAfter: 6_100 };
  await hears(page, { messageId: 's', author: 'relay', role: 'user', compaction }, 'I promised the **red** door.');
  await page.user.click(await within(log()).findByText('Lyra summarised 41 earlier messages to go on'));
  expect(await within(log()).findByText('red')).toBeDefined();
  expect(log().textContent).toContain('6.1K of 25K tokens');
  await page.user.click(within(log()).getByRole('button', { name: 'Edit' }));
  const text = within(log()).getByRole('textbox', { name: 'Text of the summary' });
  await page.user.clear(text);
  await page.user.type(text, 'I promised the blue door.');
  await page.user.click(within(log()).getByRole('button', { name: 'Save' }));
  await within(log()).findByText('I promised the blue door.');
  expect(within(log()).getAllByText('Lyra summarised 41 earlier messages to go on')).toHaveLength(1);
  expect(page.relay.asked).toEqual(['correct s: I promised the blue door.']);
  // The summary as it was written stays: the correction is a message of its own.
  const written = page.owner.docs.at(-1);
  expect(written).toMatchObject({ type: 'message', compaction: { ...compaction, corrects: 's' } });
  expect(written?._id).not.toBe('message:s');
  page.unmount();
});
