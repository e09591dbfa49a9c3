import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { LinkState, StorageProblem } from '../../../src/protocol/worker.ts';
import { NO_SESSION_SNAPSHOT, NOW, runningSession, team } from './support/household.ts';
import { openPage } from './support/render.tsx';

test.each([
  ['ended', 'you ended the session'],
  ['idle', 'nothing was said for a while'],
  ['shutdown', 'the relay was shut down'],
  ['crash', 'the relay crashed'],
] as const)('after a session that ended as %s, the header says why everyone sleeps', async (reason, words) => {
  await openPage({ docs: team(1), snapshot: { ...NO_SESSION_SNAPSHOT, lastEnd: { sessionId: 's', reason, endedAt: NOW } } });
  expect(screen.getByText('No session').parentElement?.textContent).toContain(words);
});

test.each<[LinkState, string]>([
  [{ kind: 'lost', reason: 'unreachable' }, 'npm start'],
  [{ kind: 'lost', reason: 'silent' }, 'fell silent'],
  [{ kind: 'locked-out' }, 'Open the link that the relay printed'],
])('a line that is %j says what to do', async (link, words) => {
  await openPage({ docs: team(1), link, snapshot: runningSession({ awake: ['agent-1'] }) });
  expect(screen.getByRole('alert').textContent).toContain(words);
  expect(screen.getByRole('button', { name: 'Lyra, seat 1, sleeping' })).toBeDefined();
});

test.each<[StorageProblem['kind'], string]>([
  ['quota', 'The disk is full'],
  ['blocked', 'not open yet'],
  ['no-owner', 'cannot reach its ledger'],
])('a storage that is %s says what to do, and holds the button', async (kind, words) => {
  const page = await openPage({ docs: team(1) });
  await page.say({ news: 'problem', problem: { kind, detail: 'Do this and that.' } });
  expect(screen.getByRole('alert').textContent).toContain(words);
  expect(screen.getByRole('alert').textContent).toContain('Do this and that.');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKE' }).disabled).toBe(true);
  await page.say({ news: 'problem', problem: null });
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKE' }).disabled).toBe(false);
});

test('what is broken is said, and does not keep anybody from being woken', async () => {
  const page = await openPage({ docs: team(1) });
  await page.say({ news: 'problem', problem: { kind: 'broken', detail: 'One volume did not pass its check; writing goes on in a new one.' } });
  expect(screen.getByRole('alert').textContent).toContain('writing goes on');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'WAKE' }).disabled).toBe(false);
});

test('a rehearsal says that it is one, and how to connect a model', async () => {
  const page = await openPage({ docs: team(1) });
  await page.user.click(screen.getAllByRole('link', { name: 'Connect a model' })[0] ?? document.body);
  expect(screen.getByRole('dialog', { name: 'Connect a model' }).textContent).toContain('ANTHROPIC_API_KEY');
  expect(location.pathname).toBe('/connect');
});

test('the session that runs decides whether it is a rehearsal, not the relay’s next one', async () => {
  await openPage({ docs: team(1), snapshot: runningSession({ mind: { kind: 'anthropic', leadModel: 'a', agentModel: 'b' } }) });
  expect(screen.queryByText(/nobody is thinking/)).toBeNull();
});

test('the question mark lists the keys, but not while one writes', async () => {
  const page = await openPage({ docs: team(1) });
  await page.user.type(screen.getByRole('textbox', { name: /^Write to/ }), '?');
  expect(screen.queryByRole('dialog')).toBeNull();
  screen.getByRole('textbox', { name: /^Write to/ }).blur();
  await page.user.keyboard('?');
  expect(screen.getByRole('dialog', { name: 'Keys' })).toBeDefined();
});

test('keys lead to the grid and to the field', async () => {
  const page = await openPage({ docs: team(1), path: '/agent/agent-1' });
  await page.user.keyboard('g');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Lyra, seat 1, sleeping' }));
  await page.user.keyboard('c');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: /^Write to/ }));
});

test('a new line to the ledger’s owner reads again what was missed', async () => {
  const page = await openPage({ docs: team(1) });
  page.owner.docs.push(...team(2).slice(-1));
  await page.say({ news: 'welcome', link: { kind: 'live' }, snapshot: NO_SESSION_SNAPSHOT, answers: [], problem: null });
  expect(await screen.findByRole('button', { name: 'Wren, seat 2, sleeping' })).toBeDefined();
});

test.each([
  ['/wakes', 'Wakes', 'Wakes'],
  ['/wakes/agent-1', 'Wakes of Lyra', 'Wakes'],
  ['/threads', 'Threads', 'Threads'],
  ['/costs', 'Costs', 'Costs'],
  ['/settings/limits', 'Limits · Settings', 'Settings'],
])('%s says in the browser’s title where one is, and has a heading that can take the focus', async (path, title, heading) => {
  await openPage({ docs: team(1), path });
  expect((await screen.findByRole('heading', { level: 1, name: heading })).tabIndex).toBe(-1);
  expect(document.title).toBe(`${title} · Roost`);
});
