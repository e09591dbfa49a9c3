/** The card of a script that an agent registers, and of one whose file has changed. */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { PinnedFile, ToolCall } from '../../../../../src/shared/protocol/approvals.ts';
import { NOW, team } from '../../support/household.ts';
import { SCHEDULED } from '../../support/schedules.ts';
import { json, type MemoryReach } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const file = (text: string | null, more: Partial<PinnedFile> = {}): PinnedFile => ({
  ...{ path: 'checks/site.sh', leadsTo: null, kind: 'file', bytes: 20, entries: 0, mark: `sha256:${text}` },
  ...{ inTurn: false, text },
  ...more,
});
const content = (text: string | null, before: string | null = null) => ({
  ...{ pin: `pin of ${text}`, files: [file(text)], rest: 0, isWhole: true },
  before: before === null ? null : [file(before)],
});
const REGISTERS: ToolCall = {
  ...{ callId: 'c1', agentId: 'agent-1', tool: 'wake_script', state: 'asked', where: 'run', askedAt: NOW - 60_000 },
  ...{ answeredAt: null, endedAt: null, allowedBy: null, words: null, outcome: null, isError: false, bytes: null },
  later: false,
  input: JSON.stringify({
    ...{ name: 'Is the site up', script_path: 'checks/site.sh', cron: '30 7 * * *', on_failure: 'wake_agent' },
    hosts: ['example.org', 'example.net:8443'],
  }),
  content: content('curl https://example.org\necho fine'),
};
const CHANGED: ToolCall = {
  ...REGISTERS,
  ...{ tool: 'accept_script', where: 'relay' },
  input: JSON.stringify({ schedule: 's1', name: 'Is the site up', script_path: 'checks/site.sh' }),
  content: content('curl https://example.org\nrm -r everything', 'curl https://example.org\necho fine'),
};
const open = async (call: ToolCall, more: object = {}, prepare: (reach: MemoryReach) => void = () => undefined) => {
  const page = await openPage({
    docs: team(1),
    path: '/inbox',
    prepare({ reach }) {
      reach.on('GET /api/approvals', () =>
        json({ waiting: [call], answered: [], sandbox: { available: true, why: null }, ownHosts: true, ...more }),
      );
      reach.on('POST /api/approvals/c1/answer', () => json({ ...call, state: 'running' }));
      prepare(reach);
    },
  });
  const card = await screen.findByRole('article');
  await waitFor(() => expect(within(card).getByText<HTMLButtonElement>('Yes, once').disabled).toBe(false));
  return { page, card, bodies: () => page.reach.bodies('POST /api/approvals/c1/answer') };
};

test('shows a registered script whole, with its times, its failure action and its reach', async () => {
  const { card } = await open(REGISTERS);
  expect(card.textContent).toContain('Lyra wants to schedule its script “Is the site up”');
  await waitFor(() => expect(card.textContent).toContain('Next'));
  const all = Object.fromEntries(
    [...card.querySelectorAll('dt')].map((what) => [what.textContent, what.nextElementSibling?.textContent]),
  );
  expect(all).toMatchObject({
    File: 'checks/site.sh',
    'Where it fails': 'Wake the agent with its output',
    Reaches: 'example.org and example.net:8443',
  });
  expect(all['When']).toContain('every day at 07:30');
  expect(all['Next']?.match(/\d\d:30/g)).toHaveLength(3);
  // Scrolls by itself, by keyboard too.
  const text = within(card).getByRole('region', { name: 'The whole script' });
  expect(text.textContent).toBe('curl https://example.org\necho fine');
  expect(text.tabIndex).toBe(0);
});

test('shows what a script replaces, with the reach of that', async () => {
  const { card } = await open(REGISTERS, {}, (reach) => {
    const found = SCHEDULED.find(({ schedule }) => schedule.kind === 'script');
    const own = { agentId: 'agent-1', name: 'Is the site up', script: 'old.sh', own_hosts: ['localhost:8080'] };
    const one = { ...found, schedule: { ...found?.schedule, ...own } };
    reach.on('GET /v1/pulse-routines', () => json({ schedules: [one], scripts: true }));
  });
  expect(
    await within(card).findByText(
      'Replaces the script with this name: old.sh, every 10 minutes. Reaches: localhost:8080',
    ),
  ).toBeTruthy();
});

test('no character of a script is hidden, and none turns it round', async () => {
  const { card } = await open({
    ...REGISTERS,
    input: JSON.stringify({ name: 'Up\u202e', script_path: 'a\u200b.sh', every: '10 minutes', hosts: [] }),
    content: { ...content(null), files: [file('echo a\u200b \u202eb\u2066 #\u00a0c\r', { path: 'a\u200b.sh' })] },
  });
  expect(within(card).getByRole('region', { name: 'The whole script' }).textContent).toBe(
    'echo a⟨U+200B⟩ ⟨U+202E⟩b⟨U+2066⟩ #⟨U+00A0⟩c⟨U+000D⟩',
  );
  expect(card.textContent).toContain('“Up⟨U+202E⟩”');
  expect(card.textContent).toContain('a⟨U+200B⟩.sh');
  expect(card.textContent).toContain('No network.');
});

test('asks each time, with inner hosts that the person names, and blocks the yes on an invalid host', async () => {
  const { page, card, bodies } = await open(REGISTERS);
  await page.user.click(within(card).getByRole('button', { name: 'More answers' }));
  expect((await screen.findAllByRole('menuitem')).map(({ textContent }) => textContent)).toEqual([
    'No, and say why…',
    expect.stringContaining('Not now'),
  ]);
  await page.user.keyboard('{Escape}');
  const field = within(card).getByLabelText(/^Hosts on the relay’s own computer/);
  for (const odd of ['*.x.org', 'a@b', '[::1]', 'http://localhost']) {
    fireEvent.change(field, { target: { value: odd } });
    expect(within(card).getByText(/is no host/)).toBeTruthy();
    expect(within(card).getByText<HTMLButtonElement>('Yes, once').disabled).toBe(true);
  }
  fireEvent.change(field, { target: { value: 'Localhost:8080, 192.168.1.20' } });
  // By keyboard alone.
  within(card).getByText('Yes, once').focus();
  await page.user.keyboard('{Enter}');
  await waitFor(() =>
    expect(bodies()).toEqual([
      {
        ...{ answer: 'once', words: '', seen: 'pin of curl https://example.org\necho fine' },
        own_hosts: ['localhost:8080', '192.168.1.20'],
      },
    ]),
  );
});

test('has no field for inner hosts where they are forbidden, and says the reach without a sandbox', async () => {
  const first = await open(REGISTERS, { ownHosts: false });
  expect(within(first.card).queryByLabelText(/^Hosts on the relay’s own computer/)).toBeNull();
  first.page.unmount();
  const { card } = await open(REGISTERS, { sandbox: { available: false, why: 'Nothing yet.' } });
  expect(card.textContent).toContain('No sandbox: it can read, change and delete everything that the relay’s user can');
});

test('shows a changed script by its changes and whole, and sends words with a refusal', async () => {
  const { page, card, bodies } = await open(CHANGED);
  expect(card.textContent).toContain('Lyra wants to run the new text of its script “Is the site up”');
  expect(card.textContent).toContain('Until you say yes, the text that you accepted runs.');
  const lines = [...card.querySelectorAll('.diff [data-kind]')].map((line) => line.textContent);
  expect(lines).toEqual(['  curl https://example.org\n', '− echo fine\n', '+ rm -r everything\n']);
  await page.user.click(within(card).getByText('The whole script'));
  expect(within(card).getByRole('region', { name: 'The whole script' }).textContent).toContain('rm -r everything');
  await page.user.click(within(card).getByRole('button', { name: 'More answers' }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'No, and say why…' }));
  await page.user.type(within(card).getByRole('textbox'), 'Not that.');
  await page.user.click(within(card).getByRole('button', { name: 'No' }));
  await waitFor(() => expect(bodies()).toEqual([{ answer: 'no', words: 'Not that.' }]));
});

test('a script of which no accepted text is known is shown whole', async () => {
  const { card } = await open({ ...CHANGED, content: content('echo anything') });
  expect(card.textContent).toContain('was not accepted at this relay');
  expect(within(card).getByRole('region', { name: 'The whole script' }).textContent).toBe('echo anything');
});

test('a script whose text cannot be shown takes no yes', async () => {
  await openPage({
    docs: team(1),
    path: '/inbox',
    prepare({ reach }) {
      const waiting = [{ ...REGISTERS, content: content(null) }];
      reach.on('GET /api/approvals', () => json({ waiting, answered: [], sandbox: { available: true, why: null } }));
    },
  });
  const card = await screen.findByRole('article');
  await within(card).findByText(/Its text cannot be shown/);
  await new Promise((over) => setTimeout(over, 700));
  expect(within(card).getByText<HTMLButtonElement>('Yes, once').disabled).toBe(true);
  expect(within(card).getByText<HTMLButtonElement>('No').disabled).toBe(false);
});
