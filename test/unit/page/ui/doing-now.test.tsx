/**
 * What the tiles say of what is done, whoever does it: in a session or alone, by a model, an ACP
 * agent or an API client.
 */
import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { NOW, runningSession, team } from '../support/household.ts';
import { oneProject, task } from '../support/projects.ts';
import { json, WAITING_CALL } from '../support/reach.ts';
import { openPage } from '../support/render.tsx';

type Page = Awaited<ReturnType<typeof openPage>>;
const button = (name: string) =>
  within(screen.getByRole('list', { name: 'The team' })).getByRole('button', { name: new RegExp(`^${name}, seat`) });
/** The second line of a tile, with what its tooltip and its accessible name say of it. */
function tileOf(name: string) {
  const seat = button(name);
  const label = seat.getAttribute('aria-label')?.replace(/^.*?, seat \d, /, '');
  return { line: seat.closest('li')?.querySelector('.seat-sub')?.textContent, title: seat.title, label };
}
const begins = (page: Page, sessionId: string | null, agentId = 'agent-1') =>
  page.hear({
    kind: 'answer-started',
    time: NOW - 12_000,
    messageId: `answer-${agentId}`,
    agentId,
    sessionId,
    runId: 'r1',
  });
const calls = (page: Page, name: string, input: object) =>
  page.hear({
    kind: 'tool',
    messageId: 'answer-agent-1',
    block: { kind: 'tool', toolUseId: name, name, input, result: null, isError: false, startedAt: NOW - 40_000 },
  });

test.each([
  ['run_command', { command: 'npm  test' }, 'running `npm test`'],
  ['read_file', { path: 'plan.md' }, 'reading plan.md'],
  ['write_file', { path: 'notes/plan.md', content: 'x' }, 'writing notes/plan.md'],
  ['wait_for_agent', { agent: 'agent-2' }, 'waits for Wren'],
  ['web_search', { query: 'x' }, 'searching the web'],
  // Of an ACP agent, as its own program calls it.
  ['mind__execute', { title: 'Test', command: 'npm test' }, 'running `npm test`'],
  ['mind__read', { title: 'Read plan.md' }, 'Read plan.md'],
])('a tile says %s as a verb with since when; so do tooltip and accessible name', async (name, input, verb) => {
  const page = await openPage({ docs: team(2), snapshot: runningSession({ awake: ['agent-1', 'agent-2'] }) });
  expect(tileOf('Lyra')).toEqual({ line: 'awake', title: 'awake', label: 'awake' });
  await begins(page, 'session-2');
  expect(tileOf('Lyra').line).toBe('thinking · 12 s');
  await calls(page, name, input);
  const { line, title, label } = tileOf('Lyra');
  expect(line).toBe(`${verb} · 40 s`);
  expect(title).toMatch(/ since \d\d:\d\d$/);
  expect(title.startsWith(verb)).toBe(true);
  expect(label).toBe(title);
});

test("shows an agent's work alone on its sleeping tile, and sleep again afterwards", async () => {
  const page = await openPage({ docs: team(2) });
  await page.hear({
    kind: 'run-started',
    time: NOW - 3_000,
    runId: 'r1',
    agentId: 'agent-1',
    sessionId: null,
    cause: { kind: 'reminder', name: 'tea' },
  });
  expect(tileOf('Lyra').line).toBe('at work · 3 s');
  await begins(page, null);
  await calls(page, 'run_command', { command: 'ls' });
  expect(tileOf('Lyra').line).toBe('running `ls` · 40 s');
  expect(button('Lyra').closest('li')?.dataset['state']).toBe('working');
});

const ENDED = { outcome: 'done', reason: null, usage: null, costMicroUsd: 0, estimated: false } as const;
test('a tile says asleep since the end of the last run, also where an earlier end is known', async () => {
  const page = await openPage({ docs: team(1) });
  const run = { runId: 'r1', agentId: 'agent-1', sessionId: null } as const;
  await page.hear({ kind: 'run-started', time: NOW - 3_000, ...run, cause: { kind: 'reminder', name: 'tea' } });
  await page.hear({ kind: 'run-ended', time: NOW, ...run, ...ENDED });
  expect(tileOf('Lyra')).toEqual({
    line: 'asleep since 08:55',
    title: 'asleep since 08:55',
    label: 'asleep since 08:55',
  });
});

test('a tile names the task of an agent that thinks, and its current step while it uses a tool', async () => {
  const page = await openPage({
    docs: team(1),
    snapshot: runningSession({ awake: ['agent-1'] }),
    prepare: ({ reach }) => {
      const claim = { agentId: 'agent-1', since: NOW, until: NOW + 60_000 };
      const tasks = [task(6, 'Fix login', 'in_progress', { claim })];
      oneProject(reach, tasks);
      reach.on('GET /v1/projects/trip/tasks', { tasks, more: false });
    },
  });
  await begins(page, 'session-2');
  await waitFor(() => expect(tileOf('Lyra').line).toBe('working on Fix login · 12 s'));
  await calls(page, 'read_file', { path: 'plan.md' });
  expect(tileOf('Lyra').line).toBe('reading plan.md · 40 s');
});

test('shows a task on its tile as on its card: stopped after the answer, working during work', async () => {
  const page = await openPage({
    docs: team(1),
    snapshot: runningSession({ awake: ['agent-1'] }),
    prepare: ({ reach }) => {
      const claim = { agentId: 'agent-1', since: NOW - 60_000, rests: NOW - 30_000 };
      const tasks = [task(6, 'Fix login', 'in_progress', { claim })];
      oneProject(reach, tasks);
      reach.on('GET /v1/projects/trip/tasks', { tasks, more: false });
    },
  });
  await screen.findByRole('link', { name: 'Stopped, unfinished: #6 Fix login' });
  await begins(page, 'session-2');
  await screen.findByRole('link', { name: 'Works on #6 Fix login' });
});

test('a tile that asks has a raised hand and an amber ring, and no other tile has', async () => {
  const call = { ...WAITING_CALL, callId: 'c1', agentId: 'agent-1', tool: 'run_command', input: '{"command":"make"}' };
  await openPage({
    docs: team(2),
    snapshot: runningSession({ awake: ['agent-1', 'agent-2'] }),
    prepare: ({ reach }) => {
      reach.on('GET /api/approvals', { waiting: [call], answered: [], sandbox: { available: true, why: null } });
    },
  });
  await waitFor(() => expect(tileOf('Lyra').line).toContain('asks you'));
  const asking = [...document.querySelectorAll('.seat')].filter((seat) => seat.querySelector('.seat-hand'));
  expect(asking).toEqual([button('Lyra').closest('li')]);
  expect(document.querySelectorAll('.seat[data-line="asks"]')).toHaveLength(1);
});

test('the summary of the team counts the agents that ask, while another writes', async () => {
  const asks = (n: number) => ({
    ...WAITING_CALL,
    ...{ callId: `c${n}`, agentId: `agent-${n}`, tool: 'run_command', input: '{"command":"make"}' },
  });
  const awake = ['agent-1', 'agent-2', 'agent-3', 'agent-4'];
  const page = await openPage({
    docs: team(4),
    snapshot: runningSession({ awake }),
    prepare: ({ reach }) => {
      const waiting = [asks(1), asks(2), asks(3)];
      reach.on('GET /api/approvals', { waiting, answered: [], sandbox: { available: true, why: null } });
    },
  });
  await page.hear({ kind: 'text', messageId: 'answer-agent-4', text: 'Three salads' });
  expect(await screen.findByRole('link', { name: '3 agents ask you' })).toBeTruthy();
  expect(screen.queryByText(/everyone is/i)).toBeNull();
});

test('the mouth of an agent moves while its words arrive, and rests before and after', async () => {
  const page = await openPage({ docs: team(1), snapshot: runningSession({ awake: ['agent-1'] }) });
  const mouth = () => button('Lyra').closest('li')?.querySelector<SVGElement>('.face')?.dataset['mouth'];
  await begins(page, 'session-2');
  expect(mouth()).toBeUndefined();
  await page.hear({ kind: 'text', messageId: 'answer-agent-1', text: 'Three salads and one big pot' });
  await waitFor(() => expect(mouth()).toBe('open'));
  await waitFor(() => expect(mouth()).toBe('closed'));
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(mouth()).toBeUndefined();
});

test('Now has a line for each agent that works, with words, cost and stop, and goes when nobody does', async () => {
  const page = await openPage({
    docs: team(2),
    snapshot: runningSession({ awake: ['agent-1', 'agent-2'] }),
    prepare: ({ reach }) => {
      reach.on('GET /api/costs/replies', { replies: { 'answer-agent-1': { costMicroUsd: 50_000, estimated: false } } });
    },
  });
  expect(screen.queryByRole('region', { name: 'Now' })).toBeNull();
  await begins(page, 'session-2');
  await page.hear({ kind: 'text', messageId: 'answer-agent-1', text: 'Three salads and **one big pot**' });
  const now = await screen.findByRole('region', { name: 'Now' });
  const lines = within(now).getAllByRole('listitem');
  expect(lines).toHaveLength(1);
  await waitFor(() => expect(lines[0]?.textContent).toContain('LyraThree salads and one big pot'));
  await waitFor(() => expect(lines[0]?.textContent).toContain('$0.05'));
  await page.user.click(within(now).getByRole('button', { name: 'Stop Lyra' }));
  expect(page.relay.asked).toContain('stop agent-1');
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(screen.queryByRole('region', { name: 'Now' })).toBeNull();
});

test("shows an API client's work until it ends, and not while the relay is silent", async () => {
  const page = await openPage({ docs: team(2) });
  const client = { agentId: 'agent-1', since: NOW - 5_000 };
  await page.say({
    news: 'waiting',
    waiting: { waiting: [], clients: [{ ...client, tool: 'read_file', input: { path: 'plan.md' } }] },
  });
  expect(tileOf('Lyra').line).toBe('reading plan.md · 5 s');
  await page.say({ news: 'waiting', waiting: { waiting: [], clients: [{ ...client, tool: null, input: {} }] } });
  expect(tileOf('Lyra').line).toBe('thinking · 5 s');
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(tileOf('Lyra').line).not.toContain('thinking');
});

test('the question of an agent is in a bar on any page, answered by one press, and counted in the title', async () => {
  const call = { ...WAITING_CALL, agentId: 'agent-1', tool: 'run_command', input: '{"command":"make"}' };
  let waiting = [1, 2].map((n) => ({ ...call, callId: `c${n}` }));
  const page = await openPage({
    docs: team(2),
    path: '/activity/costs',
    snapshot: runningSession({ awake: ['agent-1'] }),
    prepare({ reach }) {
      reach.on('GET /api/approvals', () => json({ waiting, answered: [], sandbox: { available: true, why: null } }));
      reach.on('POST /api/approvals/c1/answer', () => {
        waiting = waiting.slice(1);
        return json({ call: waiting[0] });
      });
    },
  });
  const bar = within(await screen.findByRole('region', { name: 'A question for you' }));
  expect(bar.getByText('make')).toBeDefined();
  expect(document.title).toMatch(/^\(2\) /);
  // It takes no focus.
  expect(document.activeElement).toBe(document.body);
  await page.user.click(bar.getByRole('button', { name: 'No' }));
  await waitFor(() => expect(document.title).toMatch(/^\(1\) /));
  expect(page.reach.times('POST /api/approvals/c1/answer')).toBe(1);
  await page.user.click(screen.getByRole('button', { name: 'Put away' }));
  expect(screen.queryByRole('region', { name: 'A question for you' })).toBeNull();
  // It still waits in the inbox.
  await page.user.keyboard('y');
  expect(await screen.findByRole('heading', { level: 1, name: 'Inbox' })).toBeDefined();
  expect(screen.getByRole('button', { name: 'Yes, once' })).toBeDefined();
});

test('a request that does not fit into one line is answered on its card, which the bar unfolds', async () => {
  const call = { ...WAITING_CALL, callId: 'c1', tool: 'run_command', input: '{"command":"echo a\\nrm b"}' };
  const page = await openPage({
    docs: team(2),
    path: '/settings/about',
    prepare: ({ reach }) =>
      reach.on('GET /api/approvals', () =>
        json({ waiting: [call], answered: [], sandbox: { available: true, why: null } }),
      ),
  });
  const bar = within(await screen.findByRole('region', { name: 'A question for you' }));
  expect(bar.queryByRole('button', { name: 'Yes, once' })).toBeNull();
  await page.user.click(bar.getByRole('button', { name: 'Details' }));
  expect(bar.getByText(/rm b/)).toBeDefined();
  expect(bar.getByRole('button', { name: 'Yes, once' })).toBeDefined();
});
