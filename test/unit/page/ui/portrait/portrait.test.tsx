import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ToolCall } from '../../../../../src/shared/protocol/approvals.ts';
import { at, NOW, said, team } from '../../support/household.ts';
import { WAITING_CALL } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const tab = (name: string) => screen.getByRole('tab', { name });
const panel = () => screen.getByRole('tabpanel');
const soulChange = (n: number, text: string) => ({
  _id: `c${n}`,
  type: 'agent-change' as const,
  schema: 1,
  at: at(NOW - n * HOUR),
  agentId: 'agent-1',
  change: { kind: 'soul' as const, individuationArtifact: text },
});
const talk = (n: number, sessionId: string) => [
  said('agent-1', 'agent-1', 'I am here.', NOW - n * DAY, { sessionId, messageId: `greeting-${n}` }),
  said('agent-1', 'human', `What of day ${n}?`, NOW - n * DAY + HOUR, { sessionId, messageId: `question-${n}` }),
];
const TALKS = [...talk(40, 's40'), ...talk(3, 's3'), ...talk(2, 's2')];
const portrait = (path: string, docs: Parameters<typeof openPage>[0]['docs'] = [], more = {}): Promise<Page> =>
  openPage({ docs: [...team(2), ...docs], path: `/agent/agent-1${path}`, ...more });

test('an agent’s page has tabs, each with an address, that the arrows, Home and End go through', async () => {
  const page = await portrait('/about', [], { width: 360 });
  expect(screen.getByRole('heading', { level: 1, name: 'Lyra' })).toBeDefined();
  expect(panel().textContent).toContain('I am Lyra.');
  expect(panel().textContent).toContain('Violet Heaven');
  expect(document.title).toContain('Lyra: About');
  tab('About').focus();
  await page.user.keyboard('{ArrowRight}');
  expect(document.activeElement).toBe(tab('Conversations'));
  expect(location.pathname).toBe('/agent/agent-1/conversations');
  expect(panel().getAttribute('aria-labelledby')).toBe(tab('Conversations').id);
  await page.user.keyboard('{End}');
  expect(location.pathname).toBe('/agent/agent-1/more');
  await page.user.keyboard('{ArrowRight}');
  expect(tab('About').getAttribute('aria-selected')).toBe('true');
  await page.user.keyboard('{ArrowLeft}{Home}');
  expect(screen.getAllByRole('tab').map(({ tabIndex }) => tabIndex)).toEqual([0, -1, -1, -1, -1]);
  await page.user.click(screen.getByRole('button', { name: 'Change' }));
  expect(await screen.findByRole('dialog', { name: 'Change Lyra' })).toBeDefined();
});

test('shows earlier souls as changes line by line, with ids only under Advanced', async () => {
  const souls = ['I am Lyra.\nI keep the bridge.', 'I am Lyra.\nI keep the new bridge.'] as const;
  const page = await portrait('/about', [soulChange(2, souls[0]), soulChange(1, souls[1])]);
  await page.user.click(await screen.findByText('1 line new, 1 gone · Now'));
  const lines = () => [...document.querySelectorAll('.diff span')].map((line) => line.textContent.trim());
  expect(lines()).toEqual(['I am Lyra.', '− I keep the bridge.', '+ I keep the new bridge.']);
  await page.user.click(screen.getByText('1 line new, 0 gone'));
  expect(lines().slice(3)).toEqual(['I am Lyra.', '+ I keep the bridge.']);
  expect(screen.getByText('First words')).toBeDefined();
  const ids = [...document.querySelectorAll('.portrait dd code')];
  expect(ids.length).toBeGreaterThan(0);
  expect(ids.every((each) => each.closest('details')?.querySelector('summary')?.textContent === 'Advanced')).toBe(true);
});

test('its conversations stand by day and lead to their place; a day in the address is where they begin', async () => {
  const page = await portrait('/conversations', TALKS, {
    prepare: ({ owner }: { owner: Page['owner'] }) => {
      owner.wakingsPage = 2;
    },
  });
  const days = () =>
    within(panel())
      .getAllByRole('heading', { level: 3 })
      .map(({ textContent }) => textContent);
  const first = await within(panel()).findByRole('link', { name: /day 2/ });
  expect(first.getAttribute('href')).toBe('/agent/agent-1/at/greeting-2');
  expect(first.textContent).toContain('You: What of day 2?');
  expect(first.textContent).toContain('2 messages');
  expect(days()).toEqual(['Thursday', 'Wednesday']);
  await page.user.click(screen.getByRole('button', { name: 'Show more' }));
  await waitFor(() => expect(days()).toEqual(['Thursday', 'Wednesday', 'Monday 12 October']));
  expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull();
  // What is said meanwhile stands on top without being asked for, and what was read of older ones
  // stays.
  const said2 = said('agent-1', 'human', 'And now?', NOW - 1_000, { sessionId: 'session-9' });
  page.owner.docs.push(said2);
  await page.say({ news: 'documents', docs: [said2] });
  await within(panel()).findByRole('link', { name: /And now\?/ });
  expect(days()).toEqual(['Today', 'Thursday', 'Wednesday', 'Monday 12 October']);
  const day = screen.getByLabelText<HTMLInputElement>('Go to a day');
  await page.user.type(day, '2026-11-10');
  await waitFor(() => expect(location.pathname).toBe('/agent/agent-1/conversations/2026-11-10'));
  await waitFor(() => expect(days()).toEqual(['Monday 12 October']));
  expect(panel().textContent).toContain('None on that day.');
  await page.user.click(screen.getByRole('link', { name: 'To the newest' }));
  await page.user.click(await within(panel()).findByRole('link', { name: /day 2/ }));
  expect(location.pathname).toBe('/agent/agent-1/at/greeting-2');
});

test('says when conversations cannot be read, can try again, and says what comes when there are none', async () => {
  const page = await portrait('/about');
  page.owner.broken = 'disk error';
  await page.user.click(tab('Conversations'));
  expect((await screen.findByRole('alert')).textContent).toContain('disk error');
  page.owner.broken = null;
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText(/No conversation with Lyra yet/)).toBeDefined();
});

test('lists tool activity by day, and costs in a tab of their own', async () => {
  const done = (n: number): ToolCall => ({
    ...WAITING_CALL,
    agentId: 'agent-1',
    callId: `c${n}`,
    state: 'done',
    askedAt: NOW - n * DAY,
    input: JSON.stringify({ command: `make ${n}` }),
  });
  const page = await portrait('/deeds', [], {
    prepare: ({ reach }: { reach: Page['reach'] }) =>
      reach.on('GET /api/calls', { calls: [done(0), done(1)], more: false }),
  });
  const yesterday = await screen.findByRole('region', { name: 'Yesterday' });
  expect(yesterday.textContent).toContain('make 1');
  expect(screen.getByRole('region', { name: 'Today' }).textContent).toContain('make 0');
  await page.user.click(tab('Costs'));
  expect(await screen.findByRole('checkbox', { name: 'Show what each reply cost' })).toBeDefined();
});

test('says in the conversation when no agent has this address', async () => {
  await openPage({ docs: team(1), path: '/agent/nobody/costs' });
  expect(screen.getByRole('heading', { name: 'Not found' })).toBeDefined();
});
