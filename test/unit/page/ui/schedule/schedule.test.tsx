import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Doc } from '../../../../../src/shared/protocol/documents.ts';
import { mcpServersOf } from '../../../../../src/page/state/mcp-servers.ts';
import type { Occurrence, Schedule, Scheduled } from '../../../../../src/shared/protocol/schedules.ts';
import { routine } from '../../../../support/schedules.ts';
import { at, NO_SESSION_SNAPSHOT, NOW, team } from '../../support/household.ts';
import {
  answerSchedules,
  occurrence,
  OCCURRENCES,
  proposal,
  SCHEDULED,
  scheduled,
  timeline,
} from '../../support/schedules.ts';
import { configAnswer, EFFECTIVE, json, refused, type MemoryReach } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const open = (prepare: (reach: MemoryReach) => void = answerSchedules, path = '/schedule'): Promise<Page> =>
  openPage({ docs: team(3), path, prepare: ({ reach }) => prepare(reach) });
const routines = (name: string) => screen.findByRole('region', { name: `Routines of ${name}` });
const NOTHING = timeline({
  moments: [],
  occurrences: [],
  blackouts: [],
  clashes: [],
  most: { runs: 0, microUsd: 0 },
});
/** What tells a page that something is scheduled. */
const RECORD: Doc = {
  _id: 'schedule:1',
  type: 'schedule',
  schema: 1,
  at: at(NOW - 48 * 3_600_000),
  recordId: 'schedule-1',
  value: { homeRelay: 'h', removed: false, schedule: SCHEDULED[0]?.schedule },
};
const none = (reach: MemoryReach) => answerSchedules(reach, { schedules: [], line: NOTHING });

test('says which agent does what by itself, when next, and what is wrong', async () => {
  await open();
  const lyra = await routines('Lyra');
  expect(lyra.textContent).toMatch(/Morning roundevery weekday at 07:30 · next Monday 07:30/);
  expect(lyra.textContent).toMatch(/Mailevery hour · at work/);
  const wren = await routines('Wren');
  expect(within(wren).getByRole('switch', { name: 'Look at the river' }).getAttribute('aria-checked')).toBe('false');
  expect(wren.textContent).toContain('Paused. It failed 5 times in a row. Switch it on to continue.');
  const third = screen.getAllByRole('region', { name: /^Routines of / })[2];
  expect(third?.textContent).toMatch(/Reminder.*dentist.*once, tomorrow 09:00.*“Remind Marcus of the dentist\.”/);
  expect(third?.textContent).toMatch(/site up.*Script · every 10 minutes · off.*checks\/site\.sh/);
});

test("says on page and form that the household's time zone differs from the device's", async () => {
  const page = await open((reach) => {
    answerSchedules(reach);
    reach.on('GET /v1/config', configAnswer({}));
    reach.on('PUT /v1/config', configAnswer({ time_zone: 'UTC' }, { ...EFFECTIVE, time_zone: 'UTC' }));
  });
  const said =
    /^The household’s clock is that of Europe\/Berlin, where it is \d\d:\d\d\. This device is in UTC, where it is \d\d:\d\d\./;
  await screen.findByText(said);
  await page.user.click(screen.getByRole('button', { name: 'A new routine' }));
  const form = await screen.findByRole('dialog');
  expect(within(form).getByText(said)).toBeDefined();
  await page.user.click(within(form).getByRole('button', { name: 'Take UTC' }));
  expect(page.reach.bodies('PUT /v1/config')).toMatchObject([{ time_zone: 'UTC' }]);
  await waitFor(() => expect(screen.queryByText(said)).toBeNull());
});

test('a clock of another name that shows the same time is no difference', async () => {
  await open((reach) => {
    answerSchedules(reach);
    reach.on('GET /v1/config', configAnswer({}, { ...EFFECTIVE, time_zone: 'Africa/Abidjan' }));
  });
  await routines('Lyra');
  expect(screen.queryByText(/^The household’s clock is that of/)).toBeNull();
});

test('states in words what the timeline draws: outcomes, coming runs, clashes, highest cost', async () => {
  await open();
  const facts = await screen.findByRole('region', { name: 'Runs' });
  expect(within(facts).getByRole('row', { name: /Mail/ }).textContent).toMatch(
    /skipped: nothing waited for it24 ×, next today 09:00.*7 × skipped: quiet hours/,
  );
  expect(within(facts).getByRole('row', { name: /river/ }).textContent).toMatch(/failed.*skipped: quiet hours/);
  expect(screen.getByText('At most 17 runs in the next 24 h · ≈ $0.2091')).toBeTruthy();
  expect(screen.getByText(/tomorrow 08:00: Lyra and /)).toBeTruthy();
});

test('explains every mark in the key, and counts four agents at once as such', async () => {
  const tone = (n: number, more: Partial<Occurrence>) => occurrence(n, { scheduleId: 'schedule-2', ...more });
  const line = timeline();
  const [clash] = line.clashes;
  if (!clash) throw new Error('Nobody clashes.');
  const occurrences = [
    ...[...OCCURRENCES, tone(0, { state: 'running', endedAt: null }), tone(8, { state: 'stopped' })],
    ...[tone(9, { state: 'missed' }), tone(10, { state: 'timed-out' }), tone(11, { state: 'crashed' })],
  ];
  const four = {
    ...clash,
    from: clash.from - 3_600_000,
    agentIds: [1, 2, 3, 4].map((n) => `agent-${n}`),
    critical: true,
  };
  await openPage({
    docs: team(4),
    path: '/schedule',
    prepare: ({ reach }) => answerSchedules(reach, { line: timeline({ occurrences, clashes: [clash, four] }) }),
  });
  const many = await screen.findByText(/^tomorrow 07:00: .*,.* and /);
  expect(many.getAttribute('data-critical')).toBe('true');
  expect(screen.getByText(/^tomorrow 08:00: /).getAttribute('data-critical')).toBe('false');
  const looks = (root: ParentNode) =>
    [...root.querySelectorAll<HTMLElement>('b, .lane-dark, .lane-clash, .lane-now')].map(
      (mark) => mark.dataset['kind'] ?? `${mark.classList[0]} ${mark.dataset['critical'] ?? ''}`,
    );
  const key = document.querySelector('.lane-key') ?? document;
  const drawn = new Set([...document.querySelectorAll('.lane')].flatMap((lane) => looks(lane)));
  expect([...new Set(looks(key))].sort()).toEqual([...drawn].sort());
  expect(drawn.size).toBe(11);
  expect(key.textContent).toBe(
    ' done failed skipped, stopped or missed nothing waited for it at work To come skipped: quiet hours quiet hours several at once Now',
  );
});

test('explains routines when there are none, and takes an example as it is', async () => {
  const page = await open(none);
  await page.user.click(await screen.findByRole('button', { name: /^Morning round: / }));
  const dialog = await screen.findByRole('dialog', { name: 'A new routine' });
  expect(within(dialog).getByText('Due next: Monday 07:30, then Tuesday 07:30, then Wednesday 07:30.')).toBeTruthy();
  page.reach.on('POST /v1/pulse-routines', () => json(scheduled(1), 201));
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(page.reach.bodies('POST /v1/pulse-routines')).toMatchObject([
    {
      kind: 'routine',
      agentId: 'agent-1',
      name: 'Morning round',
      timing: { kind: 'weekly', days: [1, 2, 3, 4, 5], time: '07:30', zone: null },
      when: 'always',
      timeoutMs: null,
    },
  ]);
});

test('edits a script, and keeps the form when a field or the relay refuses', async () => {
  const page = await open((reach) => {
    answerSchedules(reach);
    reach.on('GET /api/workspaces/agent-1', {
      entries: [{ name: 'site.sh', kind: 'file', bytes: 80, changedAt: NOW }],
      more: 0,
      used: { bytes: 80, entries: 1, most: 1_000_000 },
    });
  });
  await page.user.click(await screen.findByRole('button', { name: 'A new script' }));
  const dialog = await screen.findByRole('dialog', { name: 'A new script' });
  const field = (name: string) => within(dialog).getByLabelText(name);
  // Whoever sets one is to hear of it where it fails.
  expect(field('Where it fails')).toHaveProperty('value', 'wake_agent');
  await page.user.clear(field('Seconds it may take'));
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  for (const said of ['It needs a name.', 'Fill this in.', 'From 1 to 600.'])
    expect(within(dialog).getByText(said)).toBeTruthy();
  expect(page.reach.times('POST /v1/pulse-routines')).toBe(0);
  await page.user.type(field('Seconds it may take'), '30');
  await page.user.type(field('Name'), 'Is the site up');
  await waitFor(() => expect(dialog.querySelector('datalist option')?.getAttribute('value')).toBe('site.sh'));
  await page.user.type(field('File'), '../site.sh');
  await page.user.selectOptions(field('Where it fails'), 'Only record it');
  await page.user.selectOptions(field('Where it still runs when it is due again'), 'Run it after this one');
  const outside = 'The script lies outside of the agent’s folder.';
  page.reach.on('POST /v1/pulse-routines', () =>
    json(
      {
        type: 'about:roost/misfit',
        title: 'Bad Request',
        status: 400,
        detail: outside,
        errors: [{ field: 'script', message: outside }],
      },
      400,
    ),
  );
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await within(dialog).findByText(outside);
  expect(field('File').getAttribute('aria-invalid')).toBe('true');
  // Closed by mistake, it is there again.
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  await page.user.click(screen.getByRole('button', { name: 'A new script' }));
  const again = await screen.findByLabelText<HTMLInputElement>('File');
  expect(again.value).toBe('../site.sh');
  await page.user.clear(again);
  await page.user.type(again, 'site.sh');
  page.reach.on('POST /v1/pulse-routines', () => json(SCHEDULED[4], 201));
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(page.reach.bodies('POST /v1/pulse-routines').at(-1)).toEqual({
    kind: 'script',
    agentId: 'agent-1',
    name: 'Is the site up',
    script: 'site.sh',
    timing: { kind: 'every', minutes: 10, offset: null },
    on_failure: 'ignore',
    overlap: 'wait',
    timeoutMs: 30_000,
    context: 'none',
    enabled: true,
  });
});

test('edits a reminder: its words, its time, and its context', async () => {
  const page = await open();
  page.reach.on('PUT /v1/pulse-routines/schedule-4', () => json(SCHEDULED[3]));
  await page.user.click(await screen.findByRole('button', { name: 'More for dentist' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  const dialog = await screen.findByRole('dialog', { name: 'dentist' });
  const field = (name: string) => within(dialog).getByLabelText(name);
  expect(within(dialog).getByText('In quiet hours it waits for their end.')).toBeTruthy();
  await page.user.clear(field('Message'));
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect(within(dialog).getByText('Fill this in.')).toBeTruthy();
  await page.user.type(field('Message'), 'Ask about the tooth.');
  await page.user.click(within(dialog).getByRole('radio', { name: 'Every so often' }));
  await page.user.clear(field('Minutes from one to the next'));
  await page.user.type(field('Minutes from one to the next'), '90');
  await page.user.selectOptions(field('What it remembers'), 'Its last conversation');
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(page.reach.bodies('PUT /v1/pulse-routines/schedule-4')).toEqual([
    {
      ...{ kind: 'reminder', agentId: 'agent-3', name: 'dentist', message: 'Ask about the tooth.' },
      ...{ timing: { kind: 'every', minutes: 90, offset: null }, context: 'last_session', version: 1 },
    },
  ]);
});

test('a script reaches the hosts that its form names, each by its own name, and saving it accepts its file as it is', async () => {
  const own = SCHEDULED[4];
  if (own?.schedule.kind !== 'script') throw new Error('It is no script.');
  const held = { ...own, schedule: { ...own.schedule, sha256: 'a'.repeat(64), hosts: ['example.org'] } };
  const page = await open((reach) => {
    answerSchedules(reach, { schedules: [held] });
    reach.on('GET /v1/pulse-routines', () => json({ schedules: [held], scripts: true, ownHosts: true }));
    reach.on('GET /v1/pulse-routines/schedule-5', () => json(held));
    reach.on('PUT /v1/pulse-routines/schedule-5', () => json(held));
  });
  await page.user.click(await screen.findByRole('button', { name: 'More for site up' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  const hosts = await screen.findByLabelText<HTMLTextAreaElement>('Hosts that it reaches, one in a line');
  expect(hosts.value).toBe('example.org');
  fireEvent.change(hosts, { target: { value: 'Example.org\n*.example.net' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText(/^\*\.example\.net is no host/)).toBeTruthy();
  fireEvent.change(hosts, { target: { value: 'Example.org\nexample.net:8443' } });
  const inner = screen.getByLabelText(
    'Hosts on the relay’s own computer and networks that it may also reach (optional)',
  );
  fireEvent.change(inner, { target: { value: 'localhost:8080' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const [saved] = page.reach.bodies('PUT /v1/pulse-routines/schedule-5');
  expect(saved).toMatchObject({ hosts: ['example.org', 'example.net:8443'], own_hosts: ['localhost:8080'] });
  expect(saved).not.toHaveProperty('sha256');
});

test('changes, deletes and restores a script', async () => {
  const own = SCHEDULED[4];
  const page = await open();
  const path = 'PUT /v1/pulse-routines/schedule-5';
  page.reach.on(path, () => json(own));
  await page.user.click(await screen.findByRole('button', { name: 'More for site up' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  const minutes = await screen.findByLabelText('Minutes from one to the next');
  await page.user.clear(minutes);
  await page.user.type(minutes, '5');
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies(path)).toHaveLength(1));
  expect(page.reach.bodies(path)[0]).toEqual({
    ...own?.schedule,
    timing: { kind: 'every', minutes: 5, offset: null },
    version: 1,
  });
  page.reach.on('DELETE /v1/pulse-routines/schedule-5', () => new Response(null, { status: 204 }));
  page.reach.on('POST /v1/pulse-routines', () => json(own, 201));
  await page.user.click(screen.getByRole('button', { name: 'More for site up' }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(page.reach.bodies('POST /v1/pulse-routines')).toEqual([own?.schedule]));
});

test('says where the relay runs no scripts what turning them on means, and how', async () => {
  const on = SCHEDULED.map((one) =>
    one.schedule.kind === 'script' ? { ...one, schedule: { ...one.schedule, enabled: true } } : one,
  );
  const page = await open((reach) => answerSchedules(reach, { schedules: on, scripts: false }));
  const third = (await screen.findAllByRole('region', { name: /^Routines of / }))[2];
  expect(third?.textContent).toContain(
    'Not run: Scripts are off: there is no sandbox on the relay’s machine. Install bubblewrap there, or start',
  );
  await page.user.click(screen.getByRole('button', { name: 'A new script' }));
  const dialog = await screen.findByRole('dialog', { name: 'Scripts are off' });
  expect(within(dialog).getByLabelText('How to start it').textContent).toBe('npm start -- --scripts');
  expect(within(dialog).queryByLabelText('File')).toBeNull();
});

test("shows the relay's refusal at its field, and loses no typed text", async () => {
  const page = await open(none);
  await page.user.click(screen.getByRole('button', { name: 'A new routine' }));
  const dialog = await screen.findByRole('dialog', { name: 'A new routine' });
  const field = (name: string) => within(dialog).getByLabelText(name);
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect(within(dialog).getByText('It needs a name.')).toBeTruthy();
  expect(page.reach.times('POST /v1/pulse-routines')).toBe(0);
  await page.user.type(field('Name'), 'Round');
  await page.user.type(field('What it does'), 'Look around.');
  await page.user.click(within(dialog).getByRole('button', { name: 'Cron text' }));
  // What is no cron text is seen here already, and what is one says when it is due.
  await page.user.type(field('Cron text'), '61 * * * *');
  expect(within(dialog).getByText('This schedule will never run.')).toBeTruthy();
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect(field('Cron text').getAttribute('aria-invalid')).toBe('true');
  expect(page.reach.times('POST /v1/pulse-routines')).toBe(0);
  await page.user.clear(field('Cron text'));
  await page.user.type(field('Cron text'), '30 7 * * 1-5');
  expect(within(dialog).getByText('Due next: Monday 07:30, then Tuesday 07:30, then Wednesday 07:30.')).toBeTruthy();
  page.reach.on('POST /v1/pulse-routines', () =>
    json(
      {
        type: 'about:roost/misfit',
        title: 'Bad Request',
        status: 400,
        detail: 'timing.cron: is none',
        errors: [
          { field: 'timing.cron', message: 'is a moment that the clock here does not know' },
          { field: 'body', message: 'The moon is full.' },
        ],
      },
      400,
    ),
  );
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await within(dialog).findByText('is a moment that the clock here does not know');
  expect(field('Cron text').getAttribute('aria-invalid')).toBe('true');
  expect(within(dialog).getByText(/The moon is full/)).toBeTruthy();
  // Closed by mistake, it is there again.
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  await page.user.click(screen.getByRole('button', { name: 'A new routine' }));
  expect((await screen.findByLabelText<HTMLInputElement>('Name')).value).toBe('Round');
  // And once more, though nothing was written since.
  await page.user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Close' }));
  await page.user.click(screen.getByRole('button', { name: 'A new routine' }));
  expect((await screen.findByLabelText<HTMLInputElement>('Name')).value).toBe('Round');
  expect(screen.getByLabelText<HTMLInputElement>('Cron text').value).toBe('30 7 * * 1-5');
});

test('a change keeps what stands in no field of the editor', async () => {
  const [first] = SCHEDULED;
  if (first?.schedule.kind !== 'routine') throw new Error('It is no routine.');
  const own = { ...first.schedule, tools: ['message_agent'], maxConcurrent: 3 };
  const page = await open((reach) => answerSchedules(reach, { schedules: [{ ...first, schedule: own }] }));
  page.reach.on('PUT /v1/pulse-routines/schedule-1', () => json(first));
  await page.user.click(await screen.findByRole('button', { name: 'More for Morning round' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  await page.user.click(await screen.findByRole('checkbox', { name: /^Only when something waits/ }));
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies('PUT /v1/pulse-routines/schedule-1')).toHaveLength(1));
  expect(page.reach.bodies('PUT /v1/pulse-routines/schedule-1')[0]).toEqual({
    ...own,
    when: 'something_waits',
    version: 1,
  });
});

test('keeps a change from elsewhere during saving, and the typed text on a clash', async () => {
  const [first] = SCHEDULED;
  if (first?.schedule.kind !== 'routine') throw new Error('It is no routine.');
  const page = await open((reach) => answerSchedules(reach, { schedules: [first] }));
  const path = 'PUT /v1/pulse-routines/schedule-1';
  let now: Scheduled = { ...first, version: 5, schedule: { ...first.schedule, color: '#112233' } };
  page.reach.on(path, ({ body: { version, ...schedule } }: { body: Schedule & { version: number } }) => {
    if (version !== now.version) return refused('It was changed.', 409, 'changed-elsewhere', { current: now });
    now = { ...now, version: version + 1, schedule };
    return json(now);
  });
  const begin = async () => {
    await page.user.click(await screen.findByRole('button', { name: 'More for Morning round' }));
    await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
    return await screen.findByLabelText<HTMLTextAreaElement>('What it does');
  };
  fireEvent.change(await begin(), { target: { value: 'Look at the river.' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(now.version).toBe(6));
  expect(now.schedule).toMatchObject({ color: '#112233', instructions: 'Look at the river.' });
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  now = { ...first, version: 8, schedule: { ...first.schedule, instructions: 'Look at the bridge.' } };
  const does = await begin();
  fireEvent.change(does, { target: { value: 'Look at the sky.' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText(/^Somebody has changed this elsewhere meanwhile\./);
  expect([does.value, now.version]).toEqual(['Look at the sky.', 8]);
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(now).toMatchObject({ version: 9, schedule: { instructions: 'Look at the sky.' } }));
});

test('keeps changes from elsewhere, and asks first when both changed the same', async () => {
  const [first] = SCHEDULED;
  if (first?.schedule.kind !== 'routine') throw new Error('It is no routine.');
  const page = await open((reach) => answerSchedules(reach, { schedules: [first] }));
  const path = 'PUT /v1/pulse-routines/schedule-1';
  await page.user.click(await screen.findByRole('button', { name: 'More for Morning round' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  await page.user.click(await screen.findByRole('checkbox', { name: /^Only when something waits/ }));
  const theirs = { ...first.schedule, enabled: false, instructions: 'Look at the bridge.', color: '#112233' };
  const current = { ...first, version: 2, schedule: theirs };
  page.reach.on(path, ({ body }: { body: { version: number } }) =>
    body.version === 2 ? json(current) : refused('It was changed.', 409, 'changed-elsewhere', { current }),
  );
  const does = screen.getByLabelText('What it does');
  await page.user.clear(does);
  await page.user.type(does, 'Look at the river.');
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText(/^Somebody has changed this elsewhere meanwhile\./);
  expect(page.reach.bodies(path)).toHaveLength(1);
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies(path)).toHaveLength(2));
  expect(page.reach.bodies(path)[1]).toEqual({
    ...theirs,
    instructions: 'Look at the river.',
    when: 'something_waits',
    version: 2,
  });
});

test('reports instructions that are too long, and does not cut them', async () => {
  const page = await open(none);
  await page.user.click(await screen.findByRole('button', { name: /^Morning round: / }));
  const does = await screen.findByLabelText<HTMLTextAreaElement>('What it does');
  fireEvent.change(does, { target: { value: 'x'.repeat(100_000) } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await screen.findByText('It has 100,000 characters, and there is room for 50,000.');
  expect([does.value.length, does.maxLength]).toEqual([100_000, -1]);
  expect(page.reach.times('POST /v1/pulse-routines')).toBe(0);
});

test('starts an interval later on demand, and gives a routine its colour', async () => {
  const [, mail] = SCHEDULED;
  if (mail?.schedule.kind !== 'routine') throw new Error('It is no routine.');
  const page = await open((reach) => answerSchedules(reach, { schedules: [mail] }));
  page.reach.on('PUT /v1/pulse-routines/schedule-2', () => json(mail));
  await page.user.click(await screen.findByRole('button', { name: 'More for Mail' }));
  await page.user.click(await screen.findByRole('menuitem', { name: /^Change/ }));
  await page.user.type(await screen.findByLabelText('Offset in minutes (optional)'), '20');
  expect(screen.getByText(/^Due next: today 09:20.*, then today 10:20, then today 11:20\.$/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText('Colour'), { target: { value: '#3366cc' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies('PUT /v1/pulse-routines/schedule-2')).toHaveLength(1));
  expect(page.reach.bodies('PUT /v1/pulse-routines/schedule-2')[0]).toEqual({
    ...mail.schedule,
    timing: { kind: 'every', minutes: 60, offset: 20 },
    color: '#3366cc',
    version: 1,
  });
});

test('spreads simultaneous runs after a preview, and resets them with one press', async () => {
  const both = [1, 2].map((n) =>
    scheduled(n, {
      schedule: routine({
        agentId: `agent-${n}`,
        name: `Round ${n}`,
        timing: { kind: 'weekly', days: [], time: '07:30', zone: null },
      }),
    }),
  );
  const page = await open((reach) => answerSchedules(reach, { schedules: both }));
  const [, second] = both;
  const put: unknown[] = [];
  page.reach.on('GET /v1/pulse-routines/schedule-2', () =>
    json({ ...second, schedule: put.at(-1) ?? second?.schedule }),
  );
  page.reach.on(
    'PUT /v1/pulse-routines/schedule-2',
    ({ body: { version, ...body } }: { body: { version: number } }) => {
      expect(version).toBe(1);
      put.push(body);
      return json({ ...second, schedule: body });
    },
  );
  await page.user.click(await screen.findByRole('button', { name: 'Draw them apart' }));
  const dialog = await screen.findByRole('dialog', { name: 'Draw them apart' });
  const moves = await within(dialog).findByRole('list', { name: 'Draw them apart' });
  expect(moves.textContent).toBe('Wren Round 2every day at 07:33, not every day at 07:30');
  expect(put).toEqual([]);
  await page.user.click(within(dialog).getByRole('button', { name: 'Draw them apart' }));
  await screen.findByText('1 of 1 moved.');
  expect(put).toMatchObject([{ name: 'Round 2', timing: { time: '07:33' } }]);
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(put.at(-1)).toEqual(second?.schedule));
});

test("shows an agent's proposal, and makes it a routine after the yes", async () => {
  let left = [proposal(1, 'Night watch'), proposal(2, 'Second look')];
  const page = await open((reach) => {
    answerSchedules(reach);
    reach.on('GET /v1/routine-proposals', () => json({ proposals: left }));
  }, '/inbox');
  const list = (await screen.findByRole('button', { name: 'Save: Night watch' })).closest('li');
  expect(list?.textContent).toMatch(/Wren proposesNight watchEvery day at 03:00.*The \*\*river\*\* rises at night\./);
  page.reach.on('POST /v1/routine-proposals/proposal-1/accept', () => {
    left = left.slice(1);
    return json(SCHEDULED[0], 201);
  });
  await page.user.click(screen.getByRole('button', { name: 'Save: Night watch' }));
  await screen.findByText('“Night watch” is a routine now.');
  page.reach.on('DELETE /v1/pulse-routines/schedule-1', () => new Response(null, { status: 204 }));
  await page.user.click(screen.getByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(page.reach.times('DELETE /v1/pulse-routines/schedule-1')).toBe(1));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Save: Night watch' })).toBeNull());
  page.reach.on('POST /v1/routine-proposals/proposal-2/decline', () => {
    left = [];
    return new Response(null, { status: 204 });
  });
  await page.user.click(screen.getByRole('button', { name: 'Decline: Second look' }));
  await waitFor(() => expect(screen.queryByRole('list', { name: 'Asked for by your agents' })).toBeNull());
  expect(page.reach.times('POST /v1/routine-proposals/proposal-2/decline')).toBe(1);
});

test('the order is the person’s own', async () => {
  const page = await open();
  page.reach.on('PUT /v1/pulse-routines-order', () => new Response(null, { status: 204 }));
  await page.user.click(await screen.findByRole('button', { name: 'More for Mail' }));
  expect(screen.queryByRole('menuitem', { name: 'Move down' })).toBeNull();
  await page.user.click(await screen.findByRole('menuitem', { name: 'Move up' }));
  await waitFor(() => expect(page.reach.times('PUT /v1/pulse-routines-order')).toBe(1));
  expect(page.reach.bodies('PUT /v1/pulse-routines-order')).toEqual([
    { scheduleIds: ['schedule-2', 'schedule-1', 'schedule-3', 'schedule-4', 'schedule-5'] },
  ]);
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() =>
    expect(page.reach.bodies('PUT /v1/pulse-routines-order')[1]).toEqual({
      scheduleIds: ['schedule-1', 'schedule-2', 'schedule-3', 'schedule-4', 'schedule-5'],
    }),
  );
});

test('run now, switch, delete and bring back are asked of the relay', async () => {
  const page = await open();
  const lyra = await routines('Lyra');
  page.reach.on('POST /v1/pulse-routines/schedule-1/trigger', () => new Response(null, { status: 202 }));
  await page.user.click(within(lyra).getByRole('button', { name: 'Run now: Morning round' }));
  await screen.findByText('“Morning round” is due now.');
  page.reach.on('POST /v1/pulse-routines/schedule-1/toggle', SCHEDULED[0]);
  await page.user.click(within(lyra).getByRole('switch', { name: 'Morning round' }));
  await waitFor(() => expect(page.reach.times('POST /v1/pulse-routines/schedule-1/toggle')).toBe(1));
  page.reach.on('DELETE /v1/pulse-routines/schedule-1', () => new Response(null, { status: 204 }));
  page.reach.on('POST /v1/pulse-routines', () => json(SCHEDULED[0], 201));
  await page.user.click(within(lyra).getByRole('button', { name: 'More for Morning round' }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(page.reach.bodies('POST /v1/pulse-routines')).toEqual([SCHEDULED[0]?.schedule]));
});

test('the history of one says what became of each moment, in plain words', async () => {
  const page = await open();
  const wren = await routines('Wren');
  await page.user.click(within(wren).getByRole('button', { name: 'History: Look at the river' }));
  const [failed, dark] = within(await within(wren).findByRole('list', { name: 'History' })).getAllByRole('listitem');
  expect(failed?.textContent).toMatch(/today 04:55failed14 s · 1\.2K tokens · \$0\.0123.*overloaded/);
  expect(dark?.textContent).toMatch(/today 02:55skipped: quiet hours/);
  expect(
    within(failed ?? document.body).getByRole('button', { name: 'Continue: Wren, Look at the river' }),
  ).toBeTruthy();
  expect(within(dark ?? document.body).queryByRole('button')).toBeNull();
});

test('the history of one is read back to its beginning', async () => {
  const page = await open();
  const all = Array.from({ length: 60 }, (_, n) => occurrence(n + 1, { scheduleId: 'schedule-3' }));
  page.reach.on('GET /v1/pulse-routines/schedule-3/history', ({ query }: { query: URLSearchParams }) => {
    const [before, limit] = [Number(query.get('before') ?? Infinity), Number(query.get('limit'))];
    const older = all.filter(({ dueAt }) => dueAt < before);
    return json({ occurrences: older.slice(0, limit), more: older.length > limit });
  });
  const wren = await routines('Wren');
  await page.user.click(within(wren).getByRole('button', { name: 'History: Look at the river' }));
  const rows = async () => within(await within(wren).findByRole('list', { name: 'History' })).getAllByRole('listitem');
  expect(await rows()).toHaveLength(50);
  await page.user.click(within(wren).getByRole('button', { name: 'Show more' }));
  await waitFor(async () => expect(await rows()).toHaveLength(60));
  expect(within(wren).queryByRole('button', { name: 'Show more' })).toBeNull();
});

test('the timeline says where more is due, or was, than it draws', async () => {
  await open((reach) => answerSchedules(reach, { line: timeline({ leftOut: { moments: true, occurrences: true } }) }));
  expect((await screen.findByText(/^More is due in this time/)).textContent).toContain(
    'More is due in this time than is shown here.',
  );
});

test('stops everything with one switch, and withdraws agent snapshots', async () => {
  const page = await open();
  page.reach.on('DELETE /api/agent-snapshots/agent-1', () => new Response(null, { status: 204 }));
  page.reach.on('PUT /v1/config', ({ body }: { body: object }) => json(configAnswer(body)));
  const left = await screen.findByRole('list', { name: 'Copies on the relay' });
  // Only agents with a copy are listed.
  expect(left.textContent).toBe('LyraUpdated today 08:35 · 21 KBRemove');
  await page.user.click(screen.getByRole('button', { name: 'Remove: Lyra' }));
  await screen.findByText('The copy of Lyra is removed. Lyra no longer works alone.');
  await page.user.click(screen.getByRole('switch', { name: 'Pause all' }));
  await waitFor(() => expect(page.reach.bodies('PUT /v1/config')).toMatchObject([{ wakes_enabled: false }]));
});

test('says when the relay cannot answer, and asks again', async () => {
  const page = await open((reach) => {
    answerSchedules(reach);
    reach.on('GET /v1/pulse-routines', () => refused('The store is being opened.', 503));
  });
  expect((await screen.findAllByText('Could not load this.')).length).toBe(1);
  answerSchedules(page.reach);
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  await routines('Lyra');
});

test('sums up absent activity in one line, and all of it on a page beside the grid', async () => {
  const page = await openPage({ docs: team(3), prepare: ({ reach }) => answerSchedules(reach) });
  expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull();
  await page.say({ news: 'documents', docs: [RECORD] });
  const line = await screen.findByRole('region', { name: 'While you were away' });
  expect(line.textContent).toContain('2 agents worked · $0.0246');
  await page.user.click(within(line).getByRole('link', { name: 'Read' }));
  const heading = await screen.findByRole('heading', { level: 1, name: 'While you were away' });
  expect(screen.getByRole('button', { name: 'WAKE' })).toBeDefined();
  const report = heading.closest<HTMLElement>('.morning-page') ?? document.body;
  expect(report.textContent).toContain('1 routine found nothing to do, free.');
  const [lyra, wren, more] = within(report)
    .getAllByRole('listitem')
    .filter((item) => item.className.includes('tint'));
  expect(more).toBeUndefined();
  expect(lyra?.textContent).toMatch(/LyraMorning roundtoday 07:25\$0\.0123.*The bridge holds/);
  expect(wren?.textContent).toMatch(/failed, today 04:55.*overloaded.*skipped: quiet hours, today 02:55/);
  // What did not come to its end is gone on with from here.
  const goOn = within(report).getByRole('button', { name: 'Continue: Wren, Look at the river' });
  page.reach.on('POST /v1/runs/run-4/continue', () => refused('The agent is set to sleep in the session.', 409));
  await page.user.click(goOn);
  await screen.findByText(/The agent is set to sleep in the session\./);
  page.reach.on('POST /v1/runs/run-4/continue', () => new Response(null, { status: 202 }));
  await page.user.click(goOn);
  await waitFor(() => expect(wren?.textContent).toMatch(/overloaded.*continued/));
  // What had nothing to do is no news.
  expect(report.textContent).not.toContain('Mail');
  await page.user.click(within(report).getByRole('button', { name: 'Close' }));
  expect(location.pathname).toBe('/');
  await waitFor(() => expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull());
  expect(page.owner.docs.at(-1)).toMatchObject({ type: 'setting', key: 'runsReadTo', value: NOW });
  expect(page.owner.calls.filter((call) => call === 'append')).toHaveLength(1);
  act(() => history.pushState(null, '', '/morning'));
  await screen.findByText('2 agents worked · $0.0246', { exact: false });
});

test('a page that stays open all night shows in the morning what happened', async () => {
  let now = NOW - 12 * 3_600_000;
  const later: (() => void)[] = [];
  const after = (_ms: number, task: () => void) => {
    later.push(task);
    return () => undefined;
  };
  const page = await openPage({
    docs: team(3),
    prepare({ reach, device }) {
      answerSchedules(reach);
      Object.assign(device, { now: () => now, after });
    },
  });
  await page.say({ news: 'documents', docs: [RECORD] });
  expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull();
  now = NOW;
  act(() => later.splice(0).forEach((task) => task()));
  const line = await screen.findByRole('region', { name: 'While you were away' });
  expect(line.textContent).toContain('2 agents worked · $0.0246');
});

test('restores a line that was dismissed by mistake', async () => {
  const page = await openPage({ docs: team(3), prepare: ({ reach }) => answerSchedules(reach) });
  await page.say({ news: 'documents', docs: [RECORD] });
  const line = await screen.findByRole('region', { name: 'While you were away' });
  await page.user.click(within(line).getByRole('button', { name: 'Put away' }));
  expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull();
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await screen.findByRole('region', { name: 'While you were away' });
});

test('a tile counts the sleep of an agent from a run that ended before the page was opened', async () => {
  const page = await openPage({
    docs: team(3),
    prepare({ reach }) {
      answerSchedules(reach);
      reach.on('GET /v1/runs', { runs: [occurrence(1)] });
    },
  });
  await page.say({ news: 'documents', docs: [RECORD] });
  await screen.findByRole('button', { name: /^Lyra, seat 1, asleep since 07:55/ });
});

test('shows an agent at work alone, to be watched and stopped', async () => {
  const page = await open((reach) => {
    answerSchedules(reach);
    reach.on('GET /v1/runs', {
      runs: [
        occurrence(0, { state: 'running', endedAt: null, said: null, runId: 'run-now' }),
        occurrence(1, { kind: 'wake', name: 'Wren', state: 'running', endedAt: null, said: null, agentId: 'agent-3' }),
        occurrence(2),
      ],
    });
  });
  const region = await screen.findByRole('region', { name: 'Now' });
  expect(within(region).getAllByRole('listitem')).toHaveLength(2);
  expect(region.textContent).toContain('woken by Wren');
  expect(within(region).getByRole('link', { name: 'Watch: Lyra, Morning round' }).getAttribute('href')).toBe(
    '/agent/agent-1',
  );
  page.reach.on('POST /v1/runs/run-now/stop', () => new Response(null, { status: 202 }));
  page.reach.on('GET /v1/runs', { runs: [] });
  await page.user.click(within(region).getByRole('button', { name: 'Stop: Lyra, Morning round' }));
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Now' })).toBeNull());
  expect(page.reach.times('POST /v1/runs/run-now/stop')).toBe(1);
});

test('takes over a schedule from another relay by request, or by the person’s word', async () => {
  const away = SCHEDULED.map((one) => ({ ...one, elsewhere: 'due' as const, nextAt: null, running: 0 }));
  const page = await open((reach) => answerSchedules(reach, { schedules: away }));
  const note = await screen.findByRole('note', { name: 'Due at another relay' });
  expect(note.textContent).toContain('What is due at another relay does not run here until you bring it here.');
  const lyra = await routines('Lyra');
  expect(within(lyra).getByRole<HTMLButtonElement>('button', { name: 'Run now: Morning round' }).disabled).toBe(true);
  expect(within(lyra).getByRole<HTMLButtonElement>('switch', { name: 'Mail' }).disabled).toBe(true);
  page.reach.on('POST /v1/pulse-routines-move', () => new Response(null, { status: 204 }));
  answerSchedules(page.reach, { schedules: away.map((one) => ({ ...one, elsewhere: 'asked' as const })) });
  await page.user.click(within(note).getByRole('button', { name: 'Bring it here' }));
  await screen.findByText(/Open Roost at the other relay once, and then here again/);
  await page.user.click(screen.getByRole('button', { name: 'That relay is gone…' }));
  answerSchedules(page.reach);
  await page.user.click(
    within(await screen.findByRole('dialog', { name: 'Is the other relay stopped for good?' })).getByRole('button', {
      name: 'Bring it here',
    }),
  );
  await waitFor(() => expect(screen.queryByRole('note', { name: 'Due at another relay' })).toBeNull());
  expect(page.reach.bodies('POST /v1/pulse-routines-move')).toEqual([{ gone: false }, { gone: true }]);
});

test("says when a relay's folder is a copy, and takes its schedules once the first is confirmed stopped", async () => {
  const away = SCHEDULED.map((one) => ({ ...one, elsewhere: 'due' as const, nextAt: null, running: 0 }));
  const page = await openPage({
    docs: team(3),
    path: '/schedule',
    prepare({ reach, relay }) {
      answerSchedules(reach, { schedules: away });
      relay.clock = { standsStillMs: null, stoodMs: null, copied: true };
    },
  });
  const note = await screen.findByRole('note', { name: 'Due at another relay' });
  expect(note.textContent).toMatch(
    /^This relay’s folder is a copy of another relay’s\. What is due at another relay does not run here/,
  );
  page.reach.on('POST /v1/pulse-routines-move', () => new Response(null, { status: 204 }));
  // It is asked first, and nothing moves by a look at the question.
  await page.user.click(within(note).getByRole('button', { name: 'Bring it here' }));
  const dialog = await screen.findByRole('dialog', { name: 'Is the other relay stopped for good?' });
  await page.user.click(within(dialog).getByRole('button', { name: 'Not now' }));
  expect(page.reach.times('POST /v1/pulse-routines-move')).toBe(0);
  // One that still runs is asked instead.
  answerSchedules(page.reach, { schedules: away.map((one) => ({ ...one, elsewhere: 'asked' as const })) });
  await page.user.click(within(note).getByRole('button', { name: 'Ask the other relay' }));
  await within(note).findByText(/Open Roost at the other relay once, and then here again/);
  await page.user.click(within(note).getByRole('button', { name: 'Bring it here' }));
  answerSchedules(page.reach);
  await page.user.click(
    within(await screen.findByRole('dialog', { name: 'Is the other relay stopped for good?' })).getByRole('button', {
      name: 'Bring it here',
    }),
  );
  await waitFor(() => expect(screen.queryByRole('note', { name: 'Due at another relay' })).toBeNull());
  expect(page.reach.bodies('POST /v1/pulse-routines-move')).toEqual([{ gone: false }, { gone: true }]);
});

test('every field of a routine is in its editor: what few change stands under More', async () => {
  const tool = (name: string, more: object = {}) => ({
    ...{ name, title: '', description: '', schema: {}, readOnly: true, hash: name, problem: null },
    ...{ called: `mcp__calendar__${name}`, use: true, seen: null, gone: false, ...more },
  });
  const page = await open((reach) => {
    none(reach);
    reach.on('GET /api/mcp-servers', {
      programs: false,
      folders: false,
      sandbox: false,
      servers: [
        {
          ...{
            serverId: 's1',
            version: 1,
            name: 'calendar',
            where: 'http://calendar.test/',
            kind: 'address',
            secrets: [],
            box: null,
            signIn: null,
          },
          ...{ state: 'connected', problem: null, agents: null },
          tools: [tool('list'), tool('add'), tool('drop', { use: false }), tool('old', { gone: true })],
        },
      ],
    });
  });
  await page.user.click(await screen.findByRole('button', { name: /^Morning round: / }));
  const dialog = await screen.findByRole('dialog', { name: 'A new routine' });
  const field = (name: string) => within(dialog).getByLabelText(name);
  for (const [label, model] of [
    ['Model of the first request', 'planner'],
    ['Model after tools were used', 'doer'],
  ] as const) {
    await page.user.selectOptions(field(label), 'Another model…');
    await page.user.type(field(label), `${model}{Enter}`);
  }
  await page.user.selectOptions(field('Tools it may use'), 'Only these…');
  // A set as a whole, and one tool of another; what MCP servers offer, as far as agents may use
  // it, stands by server.
  await page.user.click(within(dialog).getByRole('checkbox', { name: /^Works with files in its folder/ }));
  await page.user.click(within(dialog).getByRole('checkbox', { name: /^Talks with other agents/ }));
  await page.user.click(within(dialog).getByRole('checkbox', { name: 'wake_list' }));
  const calendar = await within(dialog).findByRole('group', { name: 'calendar' });
  expect(calendar.textContent).toMatch(/0 of 2/);
  await page.user.click(within(calendar).getByRole('checkbox', { name: 'mcp__calendar__list' }));
  await page.user.clear(field('Runs of it at once'));
  await page.user.type(field('Runs of it at once'), '11');
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect(within(dialog).getByText('From 1 to 10.')).toBeTruthy();
  await page.user.clear(field('Runs of it at once'));
  await page.user.type(field('Runs of it at once'), '3');
  page.reach.on('POST /v1/pulse-routines', () =>
    json(
      {
        type: 'about:roost/misfit',
        title: 'Bad Request',
        status: 400,
        detail: 'tools: there is none such',
        errors: [{ field: 'tools', message: 'There is no tool called mcp__calendar__list.' }],
      },
      400,
    ),
  );
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(field('Tools it may use').getAttribute('aria-invalid')).toBe('true'));
  expect(page.reach.bodies('POST /v1/pulse-routines')).toMatchObject([
    { planningModel: 'planner', executorModel: 'doer', tools: ['wake_list', 'mcp__calendar__list'], maxConcurrent: 3 },
  ]);
  // What a server has no more stays as it was ticked, until it is unticked.
  page.reach.on('GET /api/mcp-servers', { programs: false, folders: false, sandbox: false, servers: [] });
  await act(() => mcpServersOf(page.state).list.again());
  const away = await within(dialog).findByRole('group', { name: 'Not there now' });
  await page.user.click(within(away).getByRole('checkbox', { name: 'mcp__calendar__list' }));
  expect(within(dialog).getByRole('group', { name: 'Not there now' }).textContent).toMatch(/0 of 1/);
});

test.each(['/schedule', '/'])('reports a stopped clock at %s', async (path) => {
  const page = await openPage({
    docs: team(3),
    path,
    prepare({ reach, relay }) {
      answerSchedules(reach);
      relay.clock = { standsStillMs: 120_000, stoodMs: null, copied: false };
    },
  });
  await page.say({ news: 'documents', docs: [RECORD] });
  expect((await screen.findByRole('alert')).textContent).toContain(
    'The relay’s clock has not run for 2 minutes. Nothing that is due begins.',
  );
});

test('shows routine problems on the agent’s page, with a link', async () => {
  const page = await openPage({
    docs: team(3),
    path: '/agent/agent-2',
    prepare: ({ reach }) => answerSchedules(reach),
  });
  await page.say({ news: 'documents', docs: [RECORD] });
  const about = await screen.findByRole('complementary', { name: 'About Wren' });
  const link = await within(about).findByRole('link', { name: 'Look at the river' });
  expect(link.getAttribute('href')).toBe('/schedule/agent-2');
  expect(link.closest('p')?.textContent).toContain('Paused. It failed 5 times in a row.');
  expect(within(about).queryByRole('heading', { name: 'Now' })).toBeNull();
  const run = { runId: 'run-9', agentId: 'agent-2', sessionId: null, startedAt: NOW, startedBy: 1 };
  page.reach.on('GET /v1/runs', {
    runs: [occurrence(0, { agentId: 'agent-2', runId: 'run-9', state: 'running', endedAt: null })],
    more: false,
  });
  const snapshot = { ...NO_SESSION_SNAPSHOT, runs: [{ ...run, cause: { kind: 'pulse' as const, routine: 'x' } }] };
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot });
  expect((await within(about).findByRole('region', { name: 'Now' })).textContent).toMatch(/Morning round.*since/);
});

test('all of the page says the same of when something is due, whenever each part of it was drawn', async () => {
  const due = NOW + 2 * 60_000;
  await openPage({
    docs: team(2),
    path: '/schedule',
    prepare({ reach, device }) {
      let n = 0;
      device.now = () => NOW + ((n += 1) % 2 === 0 ? 5_000 : 50_000);
      const moment = { scheduleId: 'schedule-1', agentId: 'agent-1', at: due, dark: null };
      answerSchedules(reach, {
        schedules: [scheduled(1, { nextAt: due })],
        line: timeline({ occurrences: [], moments: [moment], clashes: [], blackouts: [] }),
      });
    },
  });
  await waitFor(() => expect(screen.getAllByText(/, in \d minutes?/).length).toBeGreaterThan(1));
  const said = screen
    .getAllByText(/, in \d minutes?/)
    .map(({ textContent }) => /in \d minutes?/.exec(textContent)?.[0]);
  expect([...new Set(said)]).toEqual(['in 2 minutes']);
});
