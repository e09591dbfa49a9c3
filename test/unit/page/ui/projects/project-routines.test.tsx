/** Routines on a project, in the settings of the project and in the form of the routine. */
import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { PROJECT_INSTRUCTIONS } from '../../../../../src/shared/domain/schedule/default-routine.ts';
import type { Mapping } from '../../../../../src/shared/protocol/routine-mappings.ts';
import { routine } from '../../../../support/schedules.ts';
import { team } from '../../support/household.ts';
import { answerSchedules, SCHEDULED, scheduled } from '../../support/schedules.ts';
import { mapping, oneProject, project } from '../../support/projects.ts';
import { type AskedCall, json, type MemoryReach, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const PATH = '/v1/projects/trip/agents/agent-1/routines';
const MORNING = scheduled(1, { schedule: routine({ agentId: 'agent-1', name: 'Morning round' }) });
const MAIL = scheduled(2, { schedule: routine({ agentId: 'agent-1', name: 'Mail' }) });

/** The settings of the project, with these routines of Lyra. */
async function open(
  mappings: readonly Mapping[] = [],
  prepare: (reach: MemoryReach) => void = () => undefined,
  more: Parameters<typeof project>[0] = {},
): Promise<Page> {
  return await openPage({
    docs: team(3),
    path: '/projects/trip/settings',
    prepare({ reach }) {
      oneProject(reach, [], more);
      const projectIds = mappings.map(({ projectId }) => projectId);
      const schedules = [{ ...MORNING, ...(projectIds.length > 0 ? { projectIds } : {}) }, MAIL];
      reach.on('GET /v1/pulse-routines', { schedules, scripts: false });
      reach.on(`GET ${PATH}`, { mappings });
      prepare(reach);
    },
  });
}
const ofLyra = async () => {
  const list = await screen.findByRole('list', { name: 'Routines' });
  const [lyra] = within(list).getAllByRole('listitem');
  return lyra ?? expect.fail('She is not there.');
};
const give = async (page: Page) => {
  await page.user.click(await screen.findByRole('button', { name: 'Give a routine: Lyra' }));
  return await screen.findByRole('dialog', { name: 'Routine: Lyra' });
};

test('each agent of the project has its routines there, with what the project sets for them', async () => {
  await open([
    mapping(),
    mapping({
      ...{ mappingId: 'm2', name: 'Mail', columnIds: ['ready', 'review'], toolOverrides: ['read_inbox'] },
      ...{ separate: true, enabled: false },
    }),
    mapping({ mappingId: 'm3', name: 'Nothing', columnIds: [], toolOverrides: [] }),
  ]);
  const lyra = await ofLyra();
  await within(lyra).findByText('Morning round');
  expect(lyra.textContent).toContain('off · takes from Ready, Review · 1 tool · A separate run for this project');
  expect(lyra.textContent).toContain('takes from none · none');
  const wren = within(screen.getByRole('list', { name: 'Routines' }))
    .getAllByRole('listitem')
    .at(-1);
  expect(wren?.textContent).not.toContain('takes from');
});

test('gives an agent a new routine in two presses, at no cost when nothing is ready', async () => {
  const page = await open([], (reach) => {
    reach.on('POST /v1/pulse-routines', ({ body }: AskedCall) =>
      json(scheduled(9, { scheduleId: 'made', schedule: body as never }), 201),
    );
    reach.on(`POST ${PATH}`, () => json(mapping(), 201));
  });
  const dialog = await give(page);
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog', { name: /Routine: Lyra/ })).toBeNull());
  expect(page.reach.bodies('POST /v1/pulse-routines')).toMatchObject([
    {
      ...{ kind: 'routine', agentId: 'agent-1', name: 'Work on projects', when: 'something_waits', enabled: true },
      ...{
        instructions: PROJECT_INSTRUCTIONS,
        timing: { kind: 'every', minutes: 30 },
        pulse_columns: null,
        tools: null,
      },
    },
  ]);
  expect(page.reach.bodies(`POST ${PATH}`)).toEqual([
    { routineId: 'made', columnIds: null, toolOverrides: null, separate: false },
  ]);
});

test('gives a routine columns, tools and a run of its own', async () => {
  const page = await open([mapping()], (reach) => reach.on(`POST ${PATH}`, () => json(mapping(), 201)));
  const dialog = await give(page);
  const choice = within(dialog).getByRole('combobox', { name: 'Routine' });
  // One that works on the project already is not offered again.
  expect(within(choice).queryByRole('option', { name: 'Morning round' })).toBeNull();
  await page.user.selectOptions(choice, 'Mail');
  await page.user.selectOptions(
    within(dialog).getByRole('combobox', { name: 'Columns it takes tasks from' }),
    'Only these…',
  );
  await page.user.click(within(dialog).getByRole('checkbox', { name: 'Review' }));
  await page.user.selectOptions(within(dialog).getByRole('combobox', { name: 'Tools it may use' }), 'Only these…');
  for (const set of ['Talks with other agents', 'Works with files in its folder'])
    await page.user.click(within(dialog).getByRole('checkbox', { name: new RegExp(`^${set}`) }));
  await page.user.click(within(dialog).getByRole('checkbox', { name: /^A separate run/ }));
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() =>
    expect(page.reach.bodies(`POST ${PATH}`)).toEqual([
      { routineId: 'schedule-2', columnIds: ['ready', 'review'], toolOverrides: [], separate: true },
    ]),
  );
  expect(page.reach.times('POST /v1/pulse-routines')).toBe(0);
});

test('a refused routine stays in its fields, and one that was made for nothing is removed again', async () => {
  const page = await open([], (reach) => {
    reach.on('POST /v1/pulse-routines', () => json(scheduled(9, { scheduleId: 'made' }), 201));
    reach.on('DELETE /v1/pulse-routines/made', () => new Response(null, { status: 204 }));
    reach.on(`POST ${PATH}`, () => refused('The agent does not work on this project.', 404, 'not-assigned'));
  });
  const dialog = await give(page);
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect((await within(dialog).findByText(/Could not save/)).getAttribute('role')).toBe('alert');
  expect(page.reach.times('DELETE /v1/pulse-routines/made')).toBe(1);
});

test('sends only the changes, based on the version that was read', async () => {
  const path = `${PATH}/m1`;
  const newer = mapping({ version: 9, columnIds: ['review'] });
  let tries = 0;
  const page = await open([mapping({ columnIds: ['ready'] })], (reach) =>
    reach.on(`PUT ${path}`, () =>
      (tries += 1) === 1
        ? refused('It was changed elsewhere.', 409, 'changed-elsewhere', { current: newer })
        : json(mapping()),
    ),
  );
  await page.user.click(await screen.findByRole('button', { name: 'Change: Morning round, Lyra' }));
  const dialog = await screen.findByRole('dialog', { name: 'Routine: Morning round' });
  await page.user.selectOptions(
    within(dialog).getByRole('combobox', { name: 'Columns it takes tasks from' }),
    'As the routine says',
  );
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  // The same field was changed elsewhere: nothing is saved before another press.
  await within(dialog).findByText(/changed this elsewhere/);
  expect(page.reach.bodies(`PUT ${path}`)).toEqual([{ columnIds: null, version: 4 }]);
  await page.user.click(within(dialog).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies(`PUT ${path}`).at(-1)).toEqual({ columnIds: null, version: 9 }));
});

test('removes a routine from the project, and restores it unchanged', async () => {
  const page = await open([mapping({ toolOverrides: [] })], (reach) => {
    reach.on(`DELETE ${PATH}/m1`, () => new Response(null, { status: 204 }));
    reach.on(`POST ${PATH}`, () => json(mapping(), 201));
  });
  await page.user.click(await screen.findByRole('button', { name: 'Remove Morning round, Lyra' }));
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() =>
    expect(page.reach.bodies(`POST ${PATH}`)).toEqual([
      { routineId: 'schedule-1', columnIds: null, toolOverrides: [], separate: false },
    ]),
  );
});

test('uses an imported routine after a yes, and says when routines cannot be read', async () => {
  let isBroken = true;
  const page = await open([], (reach) => {
    reach.on(`GET ${PATH}`, () =>
      isBroken ? refused('The store is full.', 507, 'disk-full') : json({ mappings: [mapping({ waits: true })] }),
    );
    reach.on(`PUT ${PATH}/m1`, () => json(mapping()));
  });
  const lyra = await ofLyra();
  expect((await within(lyra).findByRole('alert')).textContent).toContain('Could not load');
  isBroken = false;
  await page.user.click(within(lyra).getByRole('button', { name: 'Try again' }));
  expect((await within(lyra).findByText(/^It came from a copy/)).textContent).toContain('another device');
  await page.user.click(within(lyra).getByRole('button', { name: 'Use it here' }));
  await waitFor(() => expect(page.reach.bodies(`PUT ${PATH}/m1`)).toEqual([{ version: 4 }]));
});

test('a project on which no agent may work has no routines', async () => {
  await open([], undefined, { agents: [] });
  await screen.findByRole('group', { name: 'Who may work on it' });
  expect(screen.queryByRole('group', { name: 'Routines' })).toBeNull();
});

test('the form of a routine names the projects that it works on', async () => {
  const [first] = SCHEDULED;
  if (!first) throw new Error('Nothing yet.');
  const page = await openPage({
    docs: team(3),
    path: '/schedule',
    prepare({ reach }) {
      answerSchedules(reach, { schedules: [{ ...first, projectIds: ['trip', 'gone'] }, ...SCHEDULED.slice(1)] });
      reach.on('GET /v1/projects', { projects: [project()] });
    },
  });
  await page.user.click(await screen.findByRole('button', { name: new RegExp(`More.*${first.schedule.name}`) }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Change' }));
  const part = await screen.findByRole('region', { name: 'Projects' });
  const link = await within(part).findByRole('link', { name: 'Plan our trip' });
  expect(link.getAttribute('href')).toBe('/projects/trip/settings');
  expect(part.textContent).toContain('…');
});

test('works on its projects again after a routine was restored', async () => {
  const [first] = SCHEDULED;
  if (!first) throw new Error('Nothing yet.');
  const page = await openPage({
    docs: team(3),
    path: '/schedule',
    prepare({ reach }) {
      answerSchedules(reach, { schedules: [{ ...first, projectIds: ['trip'] }] });
      reach.on(`GET ${PATH}`, { mappings: [mapping({ columnIds: ['ready'] }), mapping({ routineId: 'another' })] });
      reach.on('DELETE /v1/pulse-routines/schedule-1', () => new Response(null, { status: 204 }));
      reach.on('POST /v1/pulse-routines', () => json(scheduled(9, { scheduleId: 'made' }), 201));
      reach.on(`POST ${PATH}`, () => json(mapping(), 201));
    },
  });
  await page.user.click(await screen.findByRole('button', { name: new RegExp(`More.*${first.schedule.name}`) }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() =>
    expect(page.reach.bodies(`POST ${PATH}`)).toEqual([
      { routineId: 'made', columnIds: ['ready'], toolOverrides: null, separate: false },
    ]),
  );
});
