import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { NOW, runningSession, said, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

const awake = runningSession({ awake: ['agent-1'] });
const now = { sessionId: 'session-2' } as const;
const log = () => screen.getByRole('region', { name: /^Conversation with/ });
const rows = () => within(log()).getAllByRole('listitem');
const talk = (count: number) =>
  Array.from({ length: count }, (_none, i) =>
    said('agent-1', i % 2 ? 'agent-1' : 'human', `Message ${i}`, NOW - 100_000 + i, now),
  );
/** Lets somebody press a key between two pages. */
const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 20));
const sentence = 'The second pier stands in the river like a tooth. ';

test('every row says which one of how many it is, and that nobody knows while earlier ones were not read', async () => {
  const page = await openPage({
    docs: [...team(1), ...talk(7)],
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ owner }) => (owner.pageSize = 3),
  });
  expect(rows().map((row) => row.getAttribute('aria-posinset'))).toEqual(['1', '2', '3', '4']);
  expect(rows()[0]?.getAttribute('aria-setsize')).toBe('-1');
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  expect(rows().map((row) => `${row.getAttribute('aria-posinset')} of ${row.getAttribute('aria-setsize')}`)).toEqual(
    Array.from({ length: 8 }, (_none, i) => `${i + 1} of 8`),
  );
  expect(screen.getByText('Conversation with Lyra begins here.')).toBeDefined();
});

test('a short conversation has nothing above it', async () => {
  await openPage({ docs: [...team(1), ...talk(3)], path: '/agent/agent-1', snapshot: awake });
  expect(screen.queryByText(/begins here/)).toBeNull();
  expect(rows()).toHaveLength(4);
});

test('Home reads everything up to the very beginning, and End stops that', async () => {
  const page = await openPage({
    docs: [...team(1), ...talk(30)],
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ owner }) => (owner.pageSize = 3),
  });
  page.owner.pause = slowly;
  fireEvent.keyDown(log(), { key: 'Home' });
  expect(await screen.findByText('Loading…')).toBeDefined();
  fireEvent.keyDown(log(), { key: 'End' });
  await waitFor(() => expect(screen.queryByText('Loading…')).toBeNull());
  expect(within(log()).queryByText('Message 0')).toBeNull();
  fireEvent.keyDown(log(), { key: 'Home' });
  expect(await within(log()).findByText('Message 0')).toBeDefined();
  await waitFor(() => expect(screen.queryByText('Loading…')).toBeNull());
  expect(within(log()).getAllByRole('article')).toHaveLength(30);
  expect(page.owner.calls.filter((call) => call === 'conversation').length).toBeGreaterThanOrEqual(10);
});

test('stops on the way to the beginning', async () => {
  const page = await openPage({
    docs: [...team(1), ...talk(60)],
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ owner }) => (owner.pageSize = 2),
  });
  page.owner.pause = slowly;
  fireEvent.keyDown(log(), { key: 'Home' });
  fireEvent.click(await screen.findByRole('button', { name: 'Stop' }));
  await waitFor(() => expect(log().getAttribute('aria-busy')).toBe('false'));
  expect(screen.getByRole('button', { name: 'Show more' })).toBeDefined();
  expect(within(log()).queryByText('Message 0')).toBeNull();
});

test('Home within a block of code is the block’s own', async () => {
  const page = await openPage({
    docs: [...team(1), ...talk(9), said('agent-1', 'agent-1', '```\ncode\n```', NOW, now)],
    path: '/agent/agent-1',
    snapshot: awake,
    prepare: ({ owner }) => (owner.pageSize = 3),
  });
  const code = await waitFor(() => within(log()).getByText('code'));
  fireEvent.keyDown(code, { key: 'Home' });
  await act(() => Promise.resolve());
  expect(page.owner.calls.filter((call) => call === 'conversation')).toHaveLength(1);
});

test('a long answer lies over several rows, says once whose it is, and nothing of it is missing', async () => {
  const text = Array.from({ length: 40 }, (_none, i) => `Paragraph ${i}. ${sentence.repeat(6)}`).join('\n\n');
  await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', text, NOW - 1000, now)],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  const articles = within(log()).getAllByRole('article');
  expect(articles.length).toBeGreaterThan(3);
  expect(articles.map((article) => article.getAttribute('aria-label'))).toEqual([
    'Lyra',
    ...articles.slice(1).map(() => 'Lyra, continued'),
  ]);
  expect(within(log()).getAllByText('Lyra')).toHaveLength(1);
  await waitFor(() => expect(log().querySelectorAll('.md > p')).toHaveLength(40));
  expect([...log().querySelectorAll('.md > p')].map((p) => /^Paragraph \d+/.exec(p.textContent ?? '')?.[0])).toEqual(
    Array.from({ length: 40 }, (_none, i) => `Paragraph ${i}`),
  );
});

test('a person’s long message is folded, opens whole, and folds again', async () => {
  const text = `${sentence.repeat(400)}The last word.`;
  const page = await openPage({
    docs: [...team(1), said('agent-1', 'human', text, NOW - 1000, now)],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  expect(log().textContent).not.toContain('The last word.');
  await page.user.click(screen.getByRole('button', { name: 'Show all' }));
  const words = [...log().querySelectorAll('.plain')].map((p) => p.textContent).join('');
  expect(words).toBe(text);
  await page.user.click(screen.getByRole('button', { name: 'Show less' }));
  expect(log().textContent).not.toContain('The last word.');
  expect(within(log()).getAllByRole('article')).toHaveLength(1);
});

test("shows a tool's result when its line is opened, a long one in steps", async () => {
  const result = 'x'.repeat(45_000);
  const blocks = [
    { kind: 'tool' as const, toolUseId: 't1', name: 'look', input: { at: 'it' }, result, isError: false },
  ];
  const page = await openPage({
    docs: [...team(1), said('agent-1', 'agent-1', '', NOW - 1000, { ...now, blocks })],
    path: '/agent/agent-1',
    snapshot: awake,
  });
  const line = screen.getByText('used look');
  const details = line.closest('details');
  expect(details?.querySelector('pre')).toBeNull();
  await page.user.click(line);
  const shown = () => [...(details?.querySelectorAll('pre') ?? [])].at(-1)?.textContent?.length;
  await waitFor(() => expect(shown()).toBe(20_000));
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  expect(shown()).toBe(45_000);
  expect(screen.queryByRole('button', { name: /Show more/ })).toBeNull();
});

test('a long answer that is being written shows all its words, and when it is done they are the same', async () => {
  const text = Array.from({ length: 30 }, (_none, i) => `Paragraph ${i}. ${sentence.repeat(6)}`).join('\n\n');
  const page = await openPage({ docs: team(1), path: '/agent/agent-1', snapshot: awake });
  await page.hear({
    kind: 'answer-started',
    time: NOW,
    messageId: 'answer',
    agentId: 'agent-1',
    sessionId: 'session-2',
  });
  for (let at = 0; at < text.length; at += 1000)
    await page.hear({ kind: 'text', messageId: 'answer', text: text.slice(at, at + 1000) });
  await waitFor(() => expect(log().querySelectorAll('.md > p')).toHaveLength(30));
  const written = [...log().querySelectorAll('.md > p')].map((p) => p.textContent);
  await page.hear({
    kind: 'message',
    time: NOW,
    messageId: 'answer',
    sessionId: 'session-2',
    agentId: 'agent-1',
    author: 'agent-1',
    role: 'assistant',
    blocks: [{ kind: 'text', text }],
    status: 'complete',
    error: null,
    usage: null,
    clientId: null,
    replaces: null,
    waiting: false,
  });
  await waitFor(() => expect([...log().querySelectorAll('.md > p')].map((p) => p.textContent)).toEqual(written));
});
