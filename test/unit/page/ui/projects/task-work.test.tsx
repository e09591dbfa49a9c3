import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Attempt } from '../../../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../../../src/shared/protocol/projects.ts';
import { NOW, team } from '../../support/household.ts';
import { countsOf, type HeldTasks, oneProject, project, TASKS } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';
import { attempt, HEAD, receipt, request } from '../../support/task-work.ts';

const ONE = '/v1/projects/trip/tasks/task-1';

interface Opened {
  readonly page: Page;
  readonly relay: HeldTasks;
}

/** The page with one project. Its first task has these fields and attempts. */
async function open({
  path = '/projects/trip/task/task-1',
  first = {},
  attempts = [],
  more = {},
}: {
  readonly path?: string;
  readonly first?: Partial<Task>;
  readonly attempts?: readonly Attempt[];
  readonly more?: Partial<Project>;
} = {}): Promise<Opened> {
  let relay: HeldTasks | undefined;
  const tasks = TASKS.map((one) => (one.taskId === 'task-1' ? { ...one, ...first } : one));
  const page = await openPage({
    docs: team(3),
    path,
    prepare({ reach }) {
      relay = oneProject(reach, tasks, more);
      reach.on(`GET ${ONE}/attempts`, { attempts });
    },
  });
  if (!relay) throw new Error('the relay was not prepared');
  return { page, relay };
}

const bodyOf = (page: Page, call: string) => page.reach.bodies(call).at(-1);
const sheetOf = (number: number) => screen.findByRole('dialog', { name: `Task #${number}` });
const column = (name: string) => screen.findByRole('region', { name: new RegExp(`^${name}: `) });
const press = async (page: Page, within_: HTMLElement, name: string) =>
  page.user.click(await within(within_).findByRole('button', { name }));

// Creating a project.

const NEW = 'New project';
async function openNew(answer: (call: AskedCall) => Response) {
  const page = await openPage({
    docs: team(2),
    path: '/projects/new',
    prepare({ reach }) {
      reach.on('GET /v1/projects', { projects: [] });
      reach.on('POST /v1/projects', answer);
    },
  });
  return { page, dialog: await screen.findByRole('dialog', { name: NEW }) };
}

test('a repository project needs its place, and is created with its branch', async () => {
  const { page, dialog } = await openNew(({ body }) => json(project(body as object), 201));
  expect(dialog.textContent).toContain('Agents work in copies, and you merge what is good');
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Bakery');
  await page.user.click(within(dialog).getByRole('radio', { name: /^A repository/ }));
  expect(dialog.textContent).toContain('Agents work on branches, and you merge what is good');
  await press(page, dialog, 'Create');
  expect(within(dialog).getByRole('alert').textContent).toBe('Fill this in.');
  expect(page.reach.times('POST /v1/projects')).toBe(0);
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Repository' }), '/home/me/bakery');
  await page.user.type(within(dialog).getByRole('textbox', { name: /^Base branch/ }), 'main');
  await press(page, dialog, 'Create');
  await waitFor(() => expect(location.pathname).toBe('/projects/trip'));
  expect(bodyOf(page, 'POST /v1/projects')).toMatchObject({
    ...{ name: 'Bakery', kind: 'git', repository: '/home/me/bakery', baseBranch: 'main' },
  });
});

test('shows a refused repository at its field, once, and keeps the typed text', async () => {
  const why = 'There is no /home/me/gone on the relay’s machine.';
  const { page, dialog } = await openNew(() =>
    refused(why, 400, 'misfit', { errors: [{ field: 'repository', message: why }] }),
  );
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Bakery');
  await page.user.click(within(dialog).getByRole('radio', { name: /^A repository/ }));
  const field = within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Repository' });
  await page.user.type(field, '/home/me/gone');
  await press(page, dialog, 'Create');
  const alert = await within(dialog).findByRole('alert');
  expect(alert.textContent).toBe(why);
  expect(field.getAttribute('aria-describedby')).toBe(alert.id);
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(field.value).toBe('/home/me/gone');
  await waitFor(() => expect(document.activeElement).toBe(field));
});

test('offers three examples, and asks where the repository is', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/projects',
    prepare: ({ reach }) => reach.on('GET /v1/projects', { projects: [] }),
  });
  await page.user.click(await screen.findByRole('button', { name: /^A repository/ }));
  const dialog = await screen.findByRole('dialog', { name: NEW });
  expect(within(dialog).getByRole<HTMLInputElement>('radio', { name: /^A repository/ }).checked).toBe(true);
  expect(document.querySelectorAll('.project-example')).toHaveLength(3);
});

// Settings.

test('the settings of the work are saved as they are typed, and nothing else', async () => {
  const { page } = await open({
    path: '/projects/trip/settings',
    more: { kind: 'git', repository: '/home/me/trip' },
  });
  page.reach.on('PUT /v1/projects/trip', ({ body }: AskedCall) => json({ ...project(), ...(body as object) }));
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  const type = async (name: RegExp, text: string) => {
    const field = within(dialog).getByRole('textbox', { name });
    await page.user.clear(field);
    await page.user.type(field, text);
  };
  expect(dialog.textContent).toContain('/home/me/trip');
  await type(/^Base branch/, 'main');
  await type(/^Files outside git to copy/, '.env{Enter}  local.json {Enter}');
  await type(/^Setup command/, 'npm ci');
  await type(/^Checks/, 'npm test{Enter}npm run lint');
  await page.user.click(within(dialog).getByRole('switch', { name: 'Something was changed' }));
  await page.user.selectOptions(within(dialog).getByRole('combobox', { name: 'Automatic reviewer' }), 'Wren');
  await type(/^Attempts at one task/, '5');
  await type(/^Seconds for an executor/, '600');
  await type(/^Budget a task/, '2.50');
  await press(page, dialog, 'Save');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(bodyOf(page, 'PUT /v1/projects/trip')).toEqual({
    ...{ version: 3, baseBranch: 'main', copy: ['.env', 'local.json'], setup: 'npm ci' },
    ...{ checks: ['npm test', 'npm run lint'], doneNeeds: { change: false, checks: true, criteria: true } },
    reviewer: 'agent-2',
    ...{ attemptsPerTask: 5, executorSeconds: 600, taskMicroUsd: 2_500_000 },
  });
});

test('a repository may be worked on in one checkout, and a task then says which other one it waits for', async () => {
  const { page } = await open({ path: '/projects/trip/settings', more: { kind: 'git', repository: '/home/me/trip' } });
  page.reach.on('PUT /v1/projects/trip', ({ body }: AskedCall) =>
    json({ ...project({ kind: 'git' }), ...(body as object) }),
  );
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  await page.user.click(within(dialog).getByRole('switch', { name: 'A separate checkout for each task' }));
  await press(page, dialog, 'Save');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(bodyOf(page, 'PUT /v1/projects/trip')).toEqual({ version: 3, worktrees: false });
  const card = (await screen.findByRole('link', { name: 'Ask the school for the Friday' })).closest('li');
  await waitFor(() => expect(card?.textContent).toContain('Waits for #6 Read what other families'));
});

test('a limit that is no number is named, and nothing is saved', async () => {
  const { page } = await open({ path: '/projects/trip/settings' });
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  const field = within(dialog).getByRole('textbox', { name: 'Executors at the same time' });
  await page.user.clear(field);
  await page.user.type(field, '200');
  expect(within(dialog).getByRole('alert').textContent).toBe(
    'Executors at the same time: give a whole number from 1 to 20.',
  );
  await page.user.clear(field);
  await page.user.type(field, '3');
  const cost = within(dialog).getByRole('textbox', { name: /^Budget a day/ });
  await page.user.type(cost, 'much');
  expect(within(dialog).getByRole('alert').textContent).toContain('Give an amount from 0');
  await press(page, dialog, 'Save');
  expect(page.reach.times('PUT /v1/projects/trip')).toBe(0);
  // A folder has no branch and no files to copy.
  expect(within(dialog).queryByRole('textbox', { name: /^Base branch/ })).toBeNull();
});

// Attempts.

test('attempts are shown newest first, the receipt before the words, with the cost of all', async () => {
  const failing = receipt({
    checks: [{ command: 'npm test', code: 1, ms: 900, output: 'expected 3, got 2' }],
    approvals: [{ tool: 'run_command', allowed: true }],
    uncommitted: ['draft.md'],
    costMicroUsd: 300_000,
    estimated: true,
  });
  await open({
    attempts: [attempt(1, { outcome: 'blocked', note: 'The test fails.', receipt: failing }), attempt(2)],
    more: { kind: 'git', repository: '/home/me/trip' },
  });
  const sheet = await sheetOf(1);
  const region = await within(sheet).findByRole('region', { name: 'Attempts' });
  expect(within(region).getByRole('heading', { level: 3 }).textContent).toBe('Attempts ≈ $0.42 · 24K tokens');
  const [newest, oldest] = [...region.querySelectorAll<HTMLElement>('.attempt')];
  expect(newest?.querySelector('summary')?.textContent).toMatch(/^Lyra07:57, 10 minutes · \$0.12Moved to Review/);
  expect(newest?.hasAttribute('open')).toBe(true);
  expect(oldest?.hasAttribute('open')).toBe(false);
  const text = newest?.textContent ?? '';
  expect(text.indexOf('places.md')).toBeLessThan(text.lastIndexOf('Lyra'));
  expect(text).toContain('2 lines added, 1 removed');
  expect(text).toContain('feat/1-places');
  const old = oldest?.textContent ?? '';
  expect(old).toContain('npm test ✕ 1');
  expect(old).toContain('expected 3, got 2');
  expect(old).toContain('draft.md');
  expect(old).toMatch(/run_command\s*You said yes/);
  expect(old).toContain('12K tokens');
});

test('shows the second review between receipt and conversation, and counts its cost', async () => {
  const review = {
    ...{ by: 'agent-2', model: 'sonnet', at: NOW, error: null, costMicroUsd: 80_000, estimated: true },
    criteria: [
      { text: 'Three places', verdict: 'met' as const, why: 'places.md has three.' },
      { text: 'What each costs', verdict: 'not-met' as const, why: 'There is no price.' },
    ],
  };
  const url = 'https://forge.example/me/trip/pulls/1';
  await open({ attempts: [attempt(1, { review })], first: { request: request({ url }) } });
  const sheet = await sheetOf(1);
  const region = await within(sheet).findByRole('region', { name: 'Attempts' });
  const text = region.textContent ?? '';
  expect(text).toContain('≈ $0.20');
  expect(text).toMatch(/places\.md.*Automatic reviewer: Wren, sonnet.*not metWhat each costs.*Lyra/);
  expect(within(sheet).getByRole('link', { name: url }).getAttribute('href')).toBe(url);
});

test('shows the cost of a running attempt, and its end by itself', async () => {
  const spent = { tokens: 1_000, costMicroUsd: 250_000, estimated: false };
  const underWay = attempt(1, { endedAt: null, outcome: null, receipt: null, head: null, note: '', spent });
  const { page } = await open({ attempts: [underWay] });
  const sheet = await sheetOf(1);
  expect(await within(sheet).findByText('Under way')).toBeDefined();
  expect(sheet.textContent).not.toContain('no record of what it did');
  expect(within(sheet).getByRole('region', { name: 'Attempts' }).textContent).toMatch(/· \$0\.25/);
  page.reach.on(`GET ${ONE}/attempts`, { attempts: [attempt(1)] });
  await page.hear({ kind: 'changed', time: NOW, what: 'projects', agentId: null });
  expect(await within(sheet).findByText('Moved to Review')).toBeDefined();
});

test('attempts that cannot be read say why', async () => {
  const { page } = await open();
  page.unmount();
  const later = await openPage({
    docs: team(3),
    path: '/projects/trip/task/task-1',
    prepare({ reach }) {
      oneProject(reach);
      reach.on(`GET ${ONE}/attempts`, () => refused('The disk is full.', 507, 'full'));
    },
  });
  expect(await screen.findByText('Could not load this.')).toBeDefined();
  later.reach.on(`GET ${ONE}/attempts`, { attempts: [attempt(1)] });
  await later.user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('region', { name: 'Attempts' })).toBeDefined();
});

test("keeps the relay's words about an attempt apart from the agent's", async () => {
  const note = 'Its run ended.';
  await open({ attempts: [attempt(1, { outcome: 'ended', note, noteBy: 'relay' })] });
  const region = await within(await sheetOf(1)).findByRole('region', { name: 'Attempts' });
  expect(region.textContent).toContain(`Roost${note}`);
  expect(region.textContent).not.toContain(`Lyra${note}`);
});

test('lists changes in the history, and sums up criteria ticked in a row', async () => {
  const entry = { time: NOW, by: 'human', what: 'edited', columnId: null, note: '' } as const;
  const met = { ...entry, by: 'agent-1', what: 'met' } as const;
  await open({
    first: {
      history: [
        { ...entry, fields: ['title'] },
        { ...entry, fields: ['title', 'priority'] },
        { ...met, note: 'Three places' },
        { ...met, note: 'What each costs' },
        { ...entry, by: 'relay', note: 'What was in no commit is on the branch now.' },
        { ...entry, what: 'reverted' },
      ],
    },
  });
  const lines = [...((await sheetOf(1)).querySelector('.task-history')?.children ?? [])].map(
    (line) => line.textContent,
  );
  expect(lines.map((line) => line?.replace(/ 08:\d\d/, ' …'))).toEqual([
    expect.stringMatching(/^You: Reverted/),
    expect.stringMatching(/^Roost.*on the branch now\.$/),
    expect.stringMatching(/^Lyra: 2 criteria checked off.*Three places.*What each costs$/),
    expect.stringMatching(/^You: changed: Title and Priority/),
  ]);
});

test('a receipt names rewritten commits, and where the relay keeps them', async () => {
  const ref = `refs/roost/kept/feat/1-places/${'d'.repeat(12)}`;
  const rewritten = [{ ref, commit: 'd'.repeat(40), subject: 'Two places' }];
  await open({ attempts: [attempt(1, { receipt: receipt({ rewritten }) })] });
  const part = (await screen.findByText('Rewritten commits')).closest('.receipt-part');
  expect(part?.textContent).toContain('ddddddd Two places');
  expect(part?.textContent).toContain(ref);
});

// Done, although something is missing.

const WHY = 'Not all checks passed. Not every criterion is met.';
/** The relay refuses a move to done, unless the person says so. */
function refuseDone({ page, relay }: Opened) {
  page.reach.on(`POST ${ONE}/move`, ({ body }: AskedCall) => {
    const { anyway = false, columnId } = body as { readonly anyway?: boolean; readonly columnId: string };
    if (columnId === 'done' && !anyway) return refused(WHY, 409, 'not-proven');
    relay.change('task-1', { columnId, doneWithout: ['checks', 'criteria'] });
    return json(relay.held.get('task-1'));
  });
}
const QUESTION = { name: 'Is #1 Find three places that fit done?' };

test('says what is missing when a card is dragged to done, and moves it on demand', async () => {
  const opened = await open({ path: '/projects/trip' });
  refuseDone(opened);
  const { page } = opened;
  const card = (await screen.findByRole('link', { name: 'Find three places that fit' })).closest('[draggable]');
  if (!card) throw new Error('the card cannot be dragged');
  const dataTransfer = { setData: () => undefined, effectAllowed: '', dropEffect: '' };
  fireEvent.dragStart(card, { dataTransfer });
  const done = await column('Done');
  fireEvent.dragOver(done, { dataTransfer });
  fireEvent.drop(done, { dataTransfer });
  const question = await screen.findByRole('dialog', QUESTION);
  expect(question.textContent).toContain(WHY);
  expect(within(question).queryByRole('button', { name: 'Merge and finish' })).toBeNull();
  expect((await column('Review')).textContent).toContain('Find three places');
  await press(page, question, 'Done anyway');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(bodyOf(page, `POST ${ONE}/move`)).toMatchObject({ columnId: 'done', anyway: true });
  await waitFor(async () =>
    expect((await column('Done')).textContent).toContain('Done without checks and met criteria'),
  );
});

test('keeps the card in its place by keyboard too when the person cancels', async () => {
  const opened = await open({ path: '/projects/trip', first: { columnId: 'blocked' } });
  refuseDone(opened);
  const link = await screen.findByRole('link', { name: 'Find three places that fit' });
  link.focus();
  await opened.page.user.keyboard('{Alt>}{ArrowRight}{/Alt}');
  await press(opened.page, await screen.findByRole('dialog', QUESTION), 'Cancel');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect((await column('Blocked')).textContent).toContain('Find three places');
});

test('merges and finishes an open request from the sheet, by its commit', async () => {
  const opened = await open({ first: { request: request() } });
  refuseDone(opened);
  const { page, relay } = opened;
  page.reach.on(`POST ${ONE}/request/merge`, () => {
    relay.change('task-1', { columnId: 'done', request: request({ state: 'merged' }) });
    return json(relay.held.get('task-1'));
  });
  const sheet = await sheetOf(1);
  await page.user.selectOptions(within(sheet).getByRole('combobox', { name: 'Column' }), 'Done');
  await press(page, sheet, 'Move to');
  await press(page, await screen.findByRole('dialog', QUESTION), 'Merge and finish');
  await waitFor(() => expect(screen.queryByRole('dialog', QUESTION)).toBeNull());
  expect(bodyOf(page, `POST ${ONE}/request/merge`)).toEqual({ head: HEAD });
});

// Checkouts and costs.

const CHECKOUTS = '/v1/projects/trip/checkouts';
const checkout = (number: number, more: object) => ({
  taskId: `task-${number}`,
  agentId: 'agent-1',
  folder: `projects/trip/${number}-task`,
  branch: `feat/${number}-task`,
  bytes: 21_000,
  state: 'clean',
  unsaved: [],
  ...more,
});
const fold = (dialog: HTMLElement, name: string) => {
  const details = within(dialog).getByText(name).closest('details');
  if (!details) throw new Error(`there is no ${name}`);
  return details;
};

test('checkouts are listed when they are asked for, and removing one names what would be lost', async () => {
  const { page } = await open({ path: '/projects/trip/settings' });
  page.reach.on(`GET ${CHECKOUTS}`, {
    checkouts: [
      checkout(1, { state: 'unsaved', unsaved: ['new.txt', 'bbbbbbbb Two'] }),
      checkout(2, {}),
      checkout(6, { state: 'in-use', agentId: 'agent-2' }),
    ],
  });
  const removes = (number: number) => `POST /v1/projects/trip/tasks/task-${number}/checkout/remove`;
  for (const number of [1, 2]) page.reach.on(removes(number), () => new Response(null, { status: 204 }));
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  expect(page.reach.times(`GET ${CHECKOUTS}`)).toBe(0);
  await page.user.click(within(dialog).getByText('Checkouts of agents'));
  const lines = await within(fold(dialog, 'Checkouts of agents')).findAllByRole('button', { name: /^Remove the/ });
  expect(lines.map((line) => (line as HTMLButtonElement).disabled)).toEqual([false, false, true]);
  expect(fold(dialog, 'Checkouts of agents').textContent).toMatch(/#1 Find three.*Lyra · 21 KB.*Not saved.*new\.txt/);

  await page.user.click(lines[0] ?? dialog);
  const lost = await screen.findByRole('dialog', { name: /^Remove the checkout of #1/ });
  expect(lost.textContent).toContain('is lost');
  expect(lost.textContent).toContain('new.txt');
  await press(page, lost, 'Remove');
  await waitFor(() => expect(bodyOf(page, removes(1))).toEqual({ lose: true }));

  await page.user.click(within(dialog).getByRole('button', { name: /^Remove the checkout of #2/ }));
  const saved = await screen.findByRole('dialog', { name: /^Remove the checkout of #2/ });
  expect(saved.textContent).toContain('Nothing is lost');
  // It was changed since it was listed.
  page.reach.on(removes(2), () => refused('Only this checkout has “late.txt”.', 409, 'unsaved'));
  await press(page, saved, 'Remove');
  expect((await within(saved).findByRole('alert')).textContent).toContain('late.txt');
  expect(bodyOf(page, removes(2))).toEqual({ lose: false });
});

test('the cost of a project is the sum of its receipts, by day', async () => {
  const { page } = await open({ path: '/projects/trip/settings' });
  const day = 24 * 60 * 60_000;
  const spent = (startedAt: number, costMicroUsd: number) => ({
    ...{ taskId: 'task-1', startedAt, costMicroUsd, tokens: 1_000, estimated: false },
  });
  page.reach.on('GET /v1/projects/trip/spent', {
    attempts: [spent(NOW - day, 500_000), spent(NOW - 9_000, 1_000_000), spent(NOW, 250_000)],
  });
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  await page.user.click(within(dialog).getByText('Costs'));
  const costs = fold(dialog, 'Costs');
  expect(await within(costs).findByText('3 attempts')).toBeDefined();
  expect(costs.textContent).toContain('$1.75');
  expect(
    within(costs)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual(['Today $1.25', 'Yesterday $0.50']);
});

// The grid.

test('the tile of an agent at work names its task, and leads to it', async () => {
  const page = await openPage({
    docs: team(3),
    prepare({ reach }) {
      oneProject(reach);
      reach.on('GET /v1/projects', { projects: [project({ counts: countsOf(TASKS) })] });
      reach.on('GET /v1/projects/trip/tasks', ({ query }: AskedCall) =>
        json({ tasks: TASKS.filter(({ columnId }) => columnId === query.get('column')), more: false }),
      );
    },
  });
  const name = 'Works on #6 Read what other families wrote about Ljubljana';
  // Nobody is at work: tasks at work are not asked for. The inbox needs the projects for its count.
  expect(page.reach.times('GET /v1/projects')).toBe(1);
  expect(page.reach.times('GET /v1/projects/trip/tasks')).toBe(0);
  await page.hear({
    ...{ kind: 'run-started', time: NOW - 3_000, runId: 'r1', agentId: 'agent-2', sessionId: null },
    cause: { kind: 'reminder', name: 'tea' },
  });
  const link = await screen.findByRole('link', { name });
  expect(link.getAttribute('href')).toBe('/projects/trip/task/task-6');
});

test('a request that the forge refused says why, and is sent again', async () => {
  const sent = request({ url: 'https://forge.test/pulls/1' });
  const { page } = await open({
    first: { columnId: 'review', request: request({ forgeProblem: 'forge.test has a fault (500).' }) },
  });
  const sheet = await sheetOf(1);
  expect(await within(sheet).findByText(/request on the forge is not up to date.*has a fault \(500\)/)).toBeTruthy();
  const task = { ...TASKS.find(({ taskId }) => taskId === 'task-1'), columnId: 'review', request: sent };
  page.reach.on(`POST ${ONE}/request`, task);
  await press(page, sheet, 'Try again');
  await waitFor(() => expect(sheet.textContent).not.toContain('has a fault'));
});

test('a task in review without an open request offers to open one', async () => {
  const { page } = await open({ first: { columnId: 'review' }, attempts: [attempt(1)] });
  const sheet = await sheetOf(1);
  page.reach.on(`POST ${ONE}/request`, () => refused('The branch of the task has no change yet.', 409, 'no-work'));
  await press(page, sheet, 'Open a request');
  expect((await within(sheet).findByRole('alert')).textContent).toContain('has no change yet');
});
