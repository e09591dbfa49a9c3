import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { cardOf, type Project } from '../../../../../src/shared/protocol/projects.ts';
import { NOW, team } from '../../support/household.ts';
import { countsOf, type HeldTasks, oneProject, project, task, TASKS } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

interface Opened {
  readonly page: Page;
  readonly relay: HeldTasks;
}

/** The page with one project, whose relay keeps what is changed. */
async function openProject({
  path = '/projects/trip',
  tasks = TASKS,
  more = {},
  width = 1440,
}: {
  readonly path?: string;
  readonly tasks?: typeof TASKS;
  readonly more?: Partial<Project>;
  readonly width?: number;
} = {}): Promise<Opened> {
  let relay: HeldTasks | undefined;
  const page = await openPage({
    docs: team(3),
    path,
    width,
    prepare({ reach }) {
      relay = oneProject(reach, tasks, more);
    },
  });
  if (!relay) throw new Error('the relay was not prepared');
  return { page, relay };
}

const column = (name: string) => screen.findByRole('region', { name: new RegExp(`^${name}: `) });
const titles = (region: HTMLElement) =>
  within(region)
    .queryAllByRole('link', { name: /^(?!Review of #)/ })
    .map(({ textContent }) => textContent);
const card = (title: string) => screen.findByRole('link', { name: title });
const bodyOf = (page: Page, call: string) => page.reach.bodies(call).at(-1);
const changed = (page: Page) => page.hear({ kind: 'changed', time: NOW, what: 'projects', agentId: null });

test('the list says how many tasks are in which column, who may work on it and what waits for the person', async () => {
  await openPage({
    docs: team(3),
    path: '/projects',
    prepare: ({ reach }) =>
      reach.on('GET /v1/projects', {
        projects: [project({ counts: countsOf(TASKS) }), project({ projectId: 'empty', name: 'Letters', agents: [] })],
      }),
  });
  const list = await screen.findByRole('list', { name: 'Projects' });
  const [trip, letters] = within(list).getAllByRole('link');
  expect(trip?.getAttribute('href')).toBe('/projects/trip');
  expect(trip?.textContent).toMatch(/Plan our trip1 task to look at.*Lyra and Wren.*2 Backlog2 Ready1 In progress/);
  expect(letters?.textContent).toContain('No agent may work on this project');
  expect(letters?.textContent).toContain('0 tasks');
});

test('an example is created in one press, with its tasks and their criteria, and opens', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/projects',
    prepare({ reach }) {
      reach.on('GET /v1/projects', { projects: [] });
      reach.on('POST /v1/projects', ({ body }: AskedCall) => json(project(body as object), 201));
      reach.on('POST /v1/projects/trip/tasks', ({ body }: AskedCall) => {
        const { title } = body as { readonly title: string };
        return json(task(1, title, 'backlog'), 201);
      });
    },
  });
  await page.user.click(await screen.findByRole('button', { name: /^Plan our trip/ }));
  await waitFor(() => expect(location.pathname).toBe('/projects/trip'));
  expect(bodyOf(page, 'POST /v1/projects')).toMatchObject({ name: 'Plan our trip' });
  const tasks = page.reach.bodies('POST /v1/projects/trip/tasks') as { readonly criteria?: readonly unknown[] }[];
  expect(tasks).toHaveLength(3);
  expect(tasks.every(({ criteria = [] }) => criteria.length > 1)).toBe(true);
  // Nobody may work on it before the person says so: an example costs nothing.
  expect(bodyOf(page, 'POST /v1/projects')).not.toHaveProperty('agents');
});

test('an example of which a task is refused is not left half there', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/projects',
    prepare({ reach }) {
      reach.on('GET /v1/projects', { projects: [] });
      reach.on('POST /v1/projects', ({ body }: AskedCall) => json(project(body as object), 201));
      reach.on('POST /v1/projects/trip/tasks', () => refused('There are too many.', 409, 'too-many'));
      reach.on('DELETE /v1/projects/trip', () => new Response(null, { status: 204 }));
    },
  });
  await page.user.click(await screen.findByRole('button', { name: /^Plan our trip/ }));
  expect((await screen.findByRole('alert')).textContent).toContain('Could not do this. There are too many.');
  expect(page.reach.times('DELETE /v1/projects/trip')).toBe(1);
});

test('a new project needs a name, and takes everybody but who is unticked', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/projects/new',
    prepare({ reach }) {
      reach.on('GET /v1/projects', { projects: [] });
      reach.on('POST /v1/projects', ({ body }: AskedCall) => json(project(body as object), 201));
    },
  });
  const dialog = await screen.findByRole('dialog', { name: 'New project' });
  await page.user.click(within(dialog).getByRole('button', { name: 'Create' }));
  expect(within(dialog).getByRole('alert').textContent).toBe('It needs a name.');
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'The shed');
  await page.user.click(within(dialog).getByRole('checkbox', { name: 'Wren' }));
  await page.user.click(within(dialog).getByRole('button', { name: 'Create' }));
  await waitFor(() => expect(location.pathname).toBe('/projects/trip'));
  expect(bodyOf(page, 'POST /v1/projects')).toMatchObject({ name: 'The shed', agents: ['lead', 'agent-1'] });
  expect(bodyOf(page, 'POST /v1/projects')).not.toHaveProperty('commands');
});

test('a new project of a repository proposes commands in a sandbox, and takes another choice', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/projects/new',
    prepare({ reach }) {
      reach.on('GET /v1/projects', { projects: [] });
      reach.on('POST /v1/projects', () => refused('There is no /home/me/shed.', 400, 'misfit'));
    },
  });
  const dialog = await screen.findByRole('dialog', { name: 'New project' });
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'The shed');
  await page.user.click(within(dialog).getByRole('radio', { name: /^A repository/ }));
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Repository' }), '/home/me/shed');
  await page.user.click(within(dialog).getByRole('button', { name: 'Create' }));
  const sent = () => page.reach.bodies('POST /v1/projects').at(-1);
  await waitFor(() => expect(sent()).toMatchObject({ kind: 'git', commands: 'sandbox' }));
  await page.user.click(within(dialog).getByRole('radio', { name: /^only edit/ }));
  await page.user.click(within(dialog).getByRole('button', { name: 'Create' }));
  await waitFor(() => expect(sent()).toMatchObject({ commands: 'none' }));
});

test('the board has the columns in order, and each task says why it does not move and since when', async () => {
  await openProject();
  await column('Backlog');
  const regions = screen.getAllByRole('region', { name: /: \d+ tasks?$/ });
  expect(regions.map((region) => region.getAttribute('aria-label'))).toEqual([
    'Backlog: 2 tasks',
    'Planning: 0 tasks',
    'Ready: 2 tasks',
    'In progress: 1 task',
    'Review: 1 task',
    'Blocked: 1 task',
    'Done: 1 task',
  ]);
  // Most urgent first.
  expect(titles(await column('Ready'))).toEqual(['Ask the school for the Friday', 'Compare trains and where to sleep']);
  const words = async (name: string) => (await column(name)).textContent;
  expect(await words('Ready')).toContain('Not started yet · since yesterday');
  expect(await words('Ready')).toContain('Waits for #1 Find three places that fit');
  expect(await words('In progress')).toContain('Wren works on it · since 08:43');
  expect(await words('Review')).toContain('Three places are in places.md.');
  expect(await words('Review')).toContain('2 of 3 criteria met');
  expect(await words('Blocked')).toContain('The shop wants a card, and I have none.');
});

test('Enter adds a task at the end of a column, and the next one can be typed at once', async () => {
  const { page } = await openProject();
  const field = await screen.findByRole('textbox', { name: 'New task in Planning' });
  await page.user.type(field, 'Pack{Enter}Leave{Enter}');
  await waitFor(async () => expect(titles(await column('Planning'))).toEqual(['Pack', 'Leave']));
  expect(document.activeElement).toBe(field);
  expect(page.reach.bodies('POST /v1/projects/trip/tasks')).toEqual([
    { title: 'Pack', columnId: 'planning' },
    { title: 'Leave', columnId: 'planning' },
  ]);
});

test('a task that is not taken stays in the field, with the reason', async () => {
  const { page } = await openProject();
  page.reach.on('POST /v1/projects/trip/tasks', () => refused('There are as many as fit.', 409, 'too-many'));
  const field = await screen.findByRole<HTMLInputElement>('textbox', { name: 'New task in Ready' });
  await page.user.type(field, 'One more{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('“One more” was not added. There are as many');
  expect(field.value).toBe('One more');
});

test('a card goes to the next column by Alt and an arrow, keeps the focus, and it is announced', async () => {
  const { page, relay } = await openProject();
  (await card('Write a plan for the five days')).focus();
  // The second press comes before the first was answered, and follows it.
  for (let i = 0; i < 2; i += 1)
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'ArrowRight', altKey: true });
  await waitFor(async () => expect(titles(await column('Ready'))).toContain('Write a plan for the five days'));
  expect(document.activeElement).toBe(await card('Write a plan for the five days'));
  expect(screen.getByText('#4 Write a plan for the five days is in Ready now.')).toBeDefined();
  await waitFor(() => expect(relay.held.get('task-4')).toMatchObject({ columnId: 'ready', version: 3 }));
  expect(page.reach.bodies('POST /v1/projects/trip/tasks/task-4/move')).toEqual([
    { columnId: 'planning', note: '', version: 1 },
    { columnId: 'ready', note: '', version: 2 },
  ]);
  expect(titles(await column('Planning'))).toEqual([]);
});

test('a card goes to any column by its menu, and by a drag', async () => {
  const { page } = await openProject();
  await page.user.click(await screen.findByRole('button', { name: 'Move #7 Book the seats' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Done' }));
  await waitFor(async () => expect(titles(await column('Done'))).toContain('Book the seats'));

  const dragged = (await card('Choose the week')).closest('[draggable]');
  if (!dragged) throw new Error('the card cannot be dragged');
  const dataTransfer = { setData: () => undefined, effectAllowed: '', dropEffect: '' };
  const backlog = await column('Backlog');
  fireEvent.dragStart(dragged, { dataTransfer });
  fireEvent.dragOver(backlog, { dataTransfer });
  expect(backlog.dataset['over']).toBe('true');
  fireEvent.drop(backlog, { dataTransfer });
  fireEvent.dragEnd(dragged, { dataTransfer });
  await waitFor(async () => expect(titles(await column('Backlog'))).toContain('Choose the week'));
  await waitFor(() =>
    expect(bodyOf(page, 'POST /v1/projects/trip/tasks/task-8/move')).toMatchObject({ columnId: 'backlog' }),
  );
});

test('undoes a refused move, and tells the person', async () => {
  const { page } = await openProject();
  page.reach.on('POST /v1/projects/trip/tasks/task-7/move', () => refused('Not now.', 400, 'misfit'));
  await page.user.click(await screen.findByRole('button', { name: 'Move #7 Book the seats' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Done' }));
  expect(await screen.findByText('Not now.')).toBeDefined();
  expect(titles(await column('Blocked'))).toEqual(['Book the seats']);
});

test('keeps a dropped task in its place when it was moved elsewhere meanwhile', async () => {
  const { page, relay } = await openProject();
  await card('Book the seats');
  relay.change('task-7', { columnId: 'ready' });
  await page.user.click(screen.getByRole('button', { name: 'Move #7 Book the seats' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Done' }));
  expect(await screen.findByText(/“Book the seats” was moved elsewhere meanwhile/)).toBeDefined();
  expect(titles(await column('Ready'))).toContain('Book the seats');
});

test('shows changes from elsewhere as soon as the relay announces them', async () => {
  const { page, relay } = await openProject();
  await card('Ask the school for the Friday');
  relay.change('task-3', { columnId: 'in_progress', claim: { agentId: 'agent-1', since: NOW } });
  await changed(page);
  await waitFor(async () => expect(titles(await column('In progress'))).toContain('Ask the school for the Friday'));
});

test('filters tasks by words, agent and label, and says what it hides', async () => {
  const { page } = await openProject();
  const find = await screen.findByRole('searchbox', { name: 'Find a task' });
  await page.user.type(find, 'plan days');
  await waitFor(async () => expect(titles(await column('Backlog'))).toEqual(['Write a plan for the five days']));
  expect((await column('Ready')).textContent).toContain('2 hidden by the filter');
  await page.user.click(screen.getByRole('button', { name: 'Show all' }));
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'For' }), 'Wren');
  await waitFor(async () => expect(titles(await column('Backlog'))).toEqual([]));
  expect(titles(await column('In progress'))).toHaveLength(1);
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'For' }), 'Everybody');
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'Labels' }), 'writing');
  await waitFor(async () => expect(titles(await column('Ready'))).toEqual([]));
  expect(titles(await column('Backlog'))).toHaveLength(2);
});

test('the list has all tasks by column, each with the name of its column', async () => {
  const { page } = await openProject();
  await page.user.click(await screen.findByRole('link', { name: 'List' }));
  const list = await screen.findByRole('region', { name: '8 tasks' });
  // Rows come once the list is measured.
  await waitFor(() => expect(within(list).getAllByRole('listitem')).toHaveLength(8));
  const rows = within(list).getAllByRole('listitem');
  expect(rows[0]?.textContent).toMatch(/^#4Write a plan.*Backlog/);
  expect(rows.at(-1)?.textContent).toMatch(/^#8Choose the week.*Done/);
});

test('shows one column at a time on a phone, chosen by tabs', async () => {
  const { page } = await openProject({ width: 360 });
  await column('Backlog');
  expect(screen.getAllByRole('region', { name: /: \d+ tasks?$/ })).toHaveLength(1);
  await page.user.click(screen.getByRole('tab', { name: 'Review 1' }));
  expect(titles(await column('Review'))).toEqual(['Find three places that fit']);
  await page.user.click(await card('Find three places that fit'));
  const sheet = await screen.findByRole('dialog', { name: 'Task #1' });
  await page.user.click(within(sheet).getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(location.pathname).toBe('/projects/trip/column/review'));
});

const openSheet = async (number: number, options: Parameters<typeof openProject>[0] = {}) => {
  const opened = await openProject({ path: `/projects/trip/task/task-${number}`, ...options });
  return { ...opened, sheet: await screen.findByRole('dialog', { name: `Task #${number}` }) };
};

test('the sheet of a task tells its history, and closing it gives the focus back to its card', async () => {
  const { page } = await openProject();
  const link = await card('Find three places that fit');
  await page.user.click(link);
  const sheet = await screen.findByRole('dialog', { name: 'Task #1' });
  const entries = within(sheet)
    .getAllByRole('listitem')
    .map(({ textContent }) => textContent)
    .filter((text) => /moved|created|taken|checked off/.test(text));
  expect(entries).toEqual([
    expect.stringMatching(/^Lyra: moved to Review 08:05Three places are in places.md/),
    expect.stringMatching(/^Lyra: 1 criterion checked off/),
    expect.stringMatching(/^Lyra: taken/),
    expect.stringMatching(/^You: moved to Ready/),
    expect.stringMatching(/^You: created/),
  ]);
  await page.user.click(within(sheet).getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(document.activeElement).toBe(link));
});

test('a changed text is saved over the version it was made from', async () => {
  const { page, sheet } = await openSheet(4);
  const title = within(sheet).getByRole('textbox', { name: 'Title' });
  await page.user.clear(title);
  await page.user.type(title, 'Write a plan');
  await page.user.click(within(sheet).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(within(sheet).queryByRole('button', { name: 'Discard' })).toBeNull());
  expect(bodyOf(page, 'PUT /v1/projects/trip/tasks/task-4')).toEqual({ title: 'Write a plan', version: 1 });
  expect(titles(await column('Backlog'))).toContain('Write a plan');
});

test('a text that was changed elsewhere too is kept as it was typed, and saved over that with another press', async () => {
  const { page, relay, sheet } = await openSheet(4);
  const title = within(sheet).getByRole<HTMLInputElement>('textbox', { name: 'Title' });
  await page.user.type(title, '!');
  relay.change('task-4', { title: 'Theirs' });
  await changed(page);
  await page.user.click(within(sheet).getByRole('button', { name: 'Save' }));
  expect((await within(sheet).findByRole('alert')).textContent).toContain('changed this elsewhere meanwhile');
  expect(title.value).toBe('Write a plan for the five days!');
  expect(relay.held.get('task-4')?.title).toBe('Theirs');
  await page.user.click(within(sheet).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(relay.held.get('task-4')?.title).toBe('Write a plan for the five days!'));
});

test('a text is saved although something else of the task was changed meanwhile', async () => {
  const { page, relay, sheet } = await openSheet(4);
  await page.user.type(within(sheet).getByRole('textbox', { name: 'Title' }), '!');
  relay.change('task-4', { columnId: 'ready', labels: ['theirs'] });
  await page.user.click(within(sheet).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(relay.held.get('task-4')?.title).toBe('Write a plan for the five days!'));
  expect(relay.held.get('task-4')).toMatchObject({ columnId: 'ready', labels: ['theirs'] });
});

test('keeps unsaved text when the task is opened again', async () => {
  const { page, sheet } = await openSheet(4);
  await page.user.type(within(sheet).getByRole('textbox', { name: 'Description' }), 'Not finis');
  await page.user.click(within(sheet).getByRole('button', { name: 'Close' }));
  await page.user.click(await card('Write a plan for the five days'));
  const again = await screen.findByRole('dialog', { name: 'Task #4' });
  const field = within(again).getByRole<HTMLTextAreaElement>('textbox', { name: 'Description' });
  expect(field.value).toBe('Not finis');
  expect(within(again).getByRole('button', { name: 'Discard' })).toBeDefined();
  await page.user.click(within(again).getByRole('button', { name: 'Discard' }));
  expect(field.value).toBe('');
});

test('ticks a criterion with its evidence, unticks, adds and removes it', async () => {
  const { page, relay, sheet } = await openSheet(1);
  const path = 'POST /v1/projects/trip/tasks/task-1/criteria';
  const meets = (criterionId: string) =>
    page.reach.on(`${path}/${criterionId}`, ({ body }: AskedCall) => {
      const { met, evidence } = body as { readonly met: boolean; readonly evidence: string };
      const criteria = (relay.held.get('task-1')?.criteria ?? []).map((one) =>
        one.criterionId === criterionId ? { ...one, met: met ? { time: NOW, by: 'human', evidence } : null } : one,
      );
      relay.change('task-1', { criteria });
      return json(relay.held.get('task-1'));
    });
  meets('c1');
  meets('c3');
  const tick = (name: RegExp) => within(sheet).getByRole('checkbox', { name });
  await page.user.click(tick(/^One thing in each/));
  await page.user.keyboard('places.md, line 50{Enter}');
  await waitFor(() => expect(tick(/^One thing/).getAttribute('aria-checked')).toBe('true'));
  expect(bodyOf(page, `${path}/c3`)).toEqual({ met: true, evidence: 'places.md, line 50' });
  expect(sheet.textContent).toContain('You: places.md, line 50');
  await page.user.click(tick(/^Three places/));
  await waitFor(() => expect(tick(/^Three places/).getAttribute('aria-checked')).toBe('false'));
  expect(bodyOf(page, `${path}/c1`)).toEqual({ met: false, evidence: '' });

  await page.user.click(within(sheet).getByRole('button', { name: 'More for What each costs for the three of us' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Remove' }));
  await waitFor(() =>
    expect(bodyOf(page, 'PUT /v1/projects/trip/tasks/task-1')).toMatchObject({
      criteria: [{ criterionId: 'c1' }, { criterionId: 'c3' }],
    }),
  );
  await page.user.type(within(sheet).getByRole('textbox', { name: 'New criterion' }), 'A map{Enter}');
  await waitFor(() =>
    expect(bodyOf(page, 'PUT /v1/projects/trip/tasks/task-1')).toMatchObject({
      criteria: [{ criterionId: 'c1' }, { criterionId: 'c3' }, { text: 'A map' }],
    }),
  );
});

test('saves priority, agent, labels and blockers as they are chosen', async () => {
  const { page, relay, sheet } = await openSheet(4);
  const choose = (name: string, option: string) =>
    page.user.selectOptions(within(sheet).getByRole('combobox', { name }), option);
  const is = (fields: object) => waitFor(() => expect(relay.held.get('task-4')).toMatchObject(fields));
  await choose('Priority', 'Urgent');
  await is({ priority: 'urgent' });
  await choose('For', 'Wren');
  await is({ assignee: 'agent-2' });
  await page.user.type(within(sheet).getByRole('combobox', { name: 'Add a label' }), 'soon{Enter}');
  await is({ labels: ['writing', 'soon'] });
  await choose('Waits for', '#3 Ask the school for the Friday');
  await is({ blockedBy: ['task-3'] });
  await page.user.click(await within(sheet).findByRole('button', { name: 'Remove #3 Ask the school for the Friday' }));
  await is({ blockedBy: [] });
  await page.user.click(within(sheet).getByRole('button', { name: 'Remove writing' }));
  await is({ labels: ['soon'] });
});

test('a task cannot be made to wait for itself through another', async () => {
  const { sheet } = await openSheet(1);
  const options = within(within(sheet).getByRole('combobox', { name: 'Waits for' })).getAllByRole('option');
  const names = options.map(({ textContent }) => textContent);
  expect(names).toContain('#3 Ask the school for the Friday');
  // It waits for #1 already.
  expect(names).not.toContain('#2 Compare trains and where to sleep');
});

test('a task is moved from its sheet with a few words about it', async () => {
  const { page, sheet } = await openSheet(1);
  await page.user.selectOptions(within(sheet).getByRole('combobox', { name: 'Column' }), 'Ready');
  await page.user.type(within(sheet).getByRole('textbox', { name: /^Note/ }), 'The boat?{Enter}');
  await waitFor(() =>
    expect(bodyOf(page, 'POST /v1/projects/trip/tasks/task-1/move')).toEqual({
      columnId: 'ready',
      note: 'The boat?',
      version: 1,
    }),
  );
});

test('a task that an agent works on says since when, and is released', async () => {
  const { page, sheet } = await openSheet(6);
  expect(sheet.textContent).toContain('Wren works on itsince 08:43');
  await page.user.click(within(sheet).getByRole('button', { name: 'Release' }));
  await waitFor(() => expect(within(sheet).queryByRole('button', { name: 'Release' })).toBeNull());
  expect(titles(await column('Ready'))).toContain('Read what other families wrote about Ljubljana');
});

test('deletes a task after a question, and says so at its address', async () => {
  const { page, relay, sheet } = await openSheet(7);
  await page.user.click(within(sheet).getByRole('button', { name: 'Delete #7 Book the seats' }));
  const question = await screen.findByRole('dialog', { name: 'Delete #7 Book the seats' });
  await page.user.click(within(question).getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(relay.held.has('task-7')).toBe(false);
  expect(titles(await column('Blocked'))).toEqual([]);
  act(() => history.pushState(null, '', '/projects/trip/task/task-7'));
  expect(await screen.findByRole('dialog', { name: 'Not found' })).toBeDefined();
});

test('the settings change name, agents and columns, and a needed column cannot be removed', async () => {
  const { page } = await openProject({ path: '/projects/trip/settings' });
  page.reach.on('PUT /v1/projects/trip', ({ body }: AskedCall) => json({ ...project(), ...(body as object) }));
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Name' }), ' 2027');
  await page.user.click(within(dialog).getByRole('checkbox', { name: 'Lyra' }));
  await page.user.type(within(dialog).getByRole('textbox', { name: 'Name of column 2' }), ' it');
  const more = async (name: string, item: string) => {
    await page.user.click(within(dialog).getByRole('button', { name }));
    await page.user.click(await screen.findByRole('menuitem', { name: new RegExp(`^${item}`) }));
  };
  await more('More for Blocked', 'Remove');
  await more('More for Done', 'Move up');
  await page.user.click(within(dialog).getByRole('button', { name: 'More for Backlog' }));
  const remove = await screen.findByRole('menuitem', { name: /^Remove/ });
  expect(remove.textContent).toContain('A project needs a column of this kind');
  expect(remove.getAttribute('aria-disabled')).toBe('true');
  await page.user.keyboard('{Escape}');
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const body = bodyOf(page, 'PUT /v1/projects/trip') as Project;
  expect(body).toMatchObject({ name: 'Plan our trip 2027', agents: ['agent-2'], version: 3 });
  expect(body).not.toHaveProperty('instructions');
  expect(body.columns.map(({ name }) => name)).toEqual([
    'Backlog',
    'Planning it',
    'Ready',
    'In progress',
    'Done',
    'Review',
  ]);
});

test('settings that were changed elsewhere too are kept as typed, and saved over that with another press', async () => {
  const { page } = await openProject({ path: '/projects/trip/settings' });
  let theirs = project({ name: 'Theirs', version: 9 });
  page.reach.on('PUT /v1/projects/trip', ({ body }: AskedCall) => {
    const { version, ...fields } = body as Project;
    if (version !== theirs.version)
      return refused('It was changed elsewhere.', 409, 'changed-elsewhere', { current: theirs });
    theirs = { ...theirs, ...fields, version: version + 1 };
    return json(theirs);
  });
  const dialog = await screen.findByRole('dialog', { name: 'Settings of Plan our trip' });
  const name = within(dialog).getByRole<HTMLInputElement>('textbox', { name: 'Name' });
  await page.user.type(name, '!');
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect((await within(dialog).findByRole('alert')).textContent).toContain('changed this elsewhere meanwhile');
  expect(name.value).toBe('Plan our trip!');
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(theirs.name).toBe('Plan our trip!'));
});

test('a project is deleted after a question, which says how many tasks go with it', async () => {
  const { page } = await openProject({ path: '/projects/trip/settings' });
  page.reach.on('DELETE /v1/projects/trip', () => new Response(null, { status: 204 }));
  await page.user.click(await screen.findByRole('button', { name: 'Delete Plan our trip' }));
  const question = await screen.findByRole('dialog', { name: 'Delete Plan our trip' });
  expect(question.textContent).toContain('Its 8 tasks are deleted too.');
  page.reach.on('GET /v1/projects', { projects: [] });
  await page.user.click(within(question).getByRole('button', { name: 'Delete' }));
  expect(await screen.findByText('No projects yet')).toBeDefined();
});

test('a project with unmerged work is deleted only after that is named', async () => {
  const { page } = await openProject({ path: '/projects/trip/settings' });
  const detail = 'This is nowhere else: work that is not merged: #1 “Book”.';
  page.reach.on('DELETE /v1/projects/trip', ({ query }: AskedCall) =>
    query.get('lose') === 'true' ? new Response(null, { status: 204 }) : refused(detail, 409, 'unsaved'),
  );
  await page.user.click(await screen.findByRole('button', { name: 'Delete Plan our trip' }));
  const question = await screen.findByRole('dialog', { name: 'Delete Plan our trip' });
  await page.user.click(within(question).getByRole('button', { name: 'Delete' }));
  expect((await within(question).findByRole('alert')).textContent).toContain('#1 “Book”');
  page.reach.on('GET /v1/projects', { projects: [] });
  await page.user.click(within(question).getByRole('button', { name: 'Delete it with that' }));
  expect(await screen.findByText('No projects yet')).toBeDefined();
});

test('says when no agent may work on a project, and links the setting', async () => {
  await openProject({ more: { agents: [] } });
  const link = await screen.findByRole('link', { name: 'Who may work on it' });
  expect(link.getAttribute('href')).toBe('/projects/trip/settings');
  expect((await column('Ready')).textContent).toContain('No agent may work on this project');
});

test('shows the board read-only without the relay', async () => {
  const { page } = await openProject();
  await card('Book the seats');
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  expect(await screen.findByText(/^The relay cannot be reached\. Nothing/)).toBeDefined();
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'New task in Ready' }).disabled).toBe(true);
  (await card('Book the seats')).focus();
  await page.user.keyboard('{Alt>}{ArrowRight}{/Alt}');
  expect(titles(await column('Blocked'))).toEqual(['Book the seats']);
});

test('a board that cannot be read says why, and is asked for again', async () => {
  const { page } = await openProject();
  page.unmount();
  const later = await openPage({
    docs: team(1),
    path: '/projects/trip',
    prepare({ reach }) {
      oneProject(reach);
      reach.on('GET /v1/projects/trip/board', () => refused('The disk is full.', 507, 'full'));
    },
  });
  expect(await screen.findByText('Could not load this.')).toBeDefined();
  oneProject(later.reach);
  await later.user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await card('Book the seats')).toBeDefined();
});

test('says when the project of an address is gone', async () => {
  await openProject({ path: '/projects/gone' });
  expect(await screen.findByRole('heading', { name: 'Not found' })).toBeDefined();
});

test('renders only the cards in view of 5,000 tasks, and counts all', async () => {
  const many = Array.from({ length: 5_000 }, (_none, i) =>
    task(i + 1, `Task ${i + 1}`, i % 2 === 0 ? 'backlog' : 'ready'),
  );
  const { page } = await openProject({ tasks: many });
  expect(await screen.findByRole('region', { name: 'Backlog: 2,500 tasks' })).toBeDefined();
  const cards = document.querySelectorAll('.task-card');
  expect(cards.length).toBeGreaterThan(10);
  expect(cards.length).toBeLessThan(200);
  expect(page.reach.times('GET /v1/projects/trip/board')).toBe(5);
});

test('a large board is shown before all of it is read', async () => {
  const many = Array.from({ length: 1_100 }, (_none, i) => task(i + 1, `Task ${i + 1}`, 'backlog'));
  let answer: (response: Response) => void = () => undefined;
  await openPage({
    docs: team(1),
    path: '/projects/trip',
    prepare({ reach }) {
      oneProject(reach, []);
      reach.on('GET /v1/projects/trip/board', ({ query }: AskedCall) =>
        query.get('after') === '0'
          ? json({ cards: many.slice(0, 1_000).map(cardOf), gone: [], asOf: 1, next: 1_000 })
          : new Promise((resolve) => (answer = resolve)),
      );
    },
  });
  expect(await screen.findByRole('region', { name: 'Backlog: 1,000 tasks' })).toBeDefined();
  answer(json({ cards: many.slice(1_000).map(cardOf), gone: [], asOf: 1, next: null }));
  expect(await screen.findByRole('region', { name: 'Backlog: 1,100 tasks' })).toBeDefined();
});

test('reloads only what changed, and nothing for another project', async () => {
  const { page, relay } = await openProject();
  await card('Book the seats');
  const asked = () => page.reach.times('GET /v1/projects/trip/board');
  await page.hear({ kind: 'changed', time: NOW, what: 'projects', agentId: null, projectId: 'other' });
  const before = asked();
  relay.change('task-4', { columnId: 'ready' });
  relay.held.delete('task-5');
  relay.held.set('task-9', task(9, 'Buy shoes', 'backlog'));
  await page.hear({ kind: 'changed', time: NOW, what: 'projects', agentId: null, projectId: 'trip' });
  await waitFor(async () => expect(titles(await column('Backlog'))).toEqual(['Buy shoes']));
  expect(titles(await column('Ready'))).toContain('Write a plan for the five days');
  expect(asked()).toBe(before + 1);
  expect(page.reach.asked.findLast(({ path }) => path.endsWith('/board'))?.query.get('since')).toBe('1');
});

test('the page of projects is one of the places, and on a key', async () => {
  const { page } = await openProject({ path: '/' });
  await page.user.keyboard('b');
  expect(await screen.findByRole('list', { name: 'Projects' })).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Close' }));
  await page.user.click(screen.getByRole('link', { name: 'Projects' }));
  expect(await screen.findByRole('list', { name: 'Projects' })).toBeDefined();
});
