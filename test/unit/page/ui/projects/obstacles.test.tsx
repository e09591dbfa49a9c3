import { act, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ObstaclesAnswer } from '../../../../../src/shared/protocol/obstacles.ts';
import { NOW, team } from '../../support/household.ts';
import { oneProject, task } from '../../support/projects.ts';
import { openPage } from '../../support/render.tsx';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const NOTHING: ObstaclesAnswer = { project: null, agents: [], tasks: [] };
const SPENT = { why: 'budget' as const, detail: 'The budget is used up.', until: NOW + HOUR };

async function open(said: Partial<ObstaclesAnswer>, path = '/projects/trip') {
  const opened: { said: ObstaclesAnswer } = { said: { ...NOTHING, ...said } };
  let ahead = 0;
  const minutes: (() => void)[] = [];
  const page = await openPage({
    docs: team(3),
    path,
    width: 1440,
    prepare({ reach, device }) {
      const { after } = device;
      Object.assign(device, {
        now: () => NOW + ahead,
        after: (ms: number, task: () => void) =>
          ms === MINUTE ? minutes.push(task) && (() => undefined) : after(ms, task),
      });
      oneProject(reach, [
        task(1, 'Ask the school', 'ready'),
        task(2, 'Book the seats', 'ready', { assignee: 'agent-1' }),
        task(3, 'Read reviews', 'in_progress', { claim: { agentId: 'agent-2', since: NOW - HOUR } }),
      ]);
      reach.on('GET /v1/projects/trip/obstacles', () => Response.json(opened.said));
    },
  });
  return {
    page,
    opened,
    passMinute() {
      ahead += MINUTE;
      act(() => minutes.splice(0).forEach((task) => task()));
    },
  };
}
const words = async (title: string) =>
  (await screen.findByRole('link', { name: title })).closest('.task-card')?.querySelector('.task-still')?.textContent;

test('a card says which budget or quiet hours keep its agents from it, and until when', async () => {
  const quiet = { why: 'blackout' as const, detail: 'It is not woken at this hour.', until: NOW + 2 * HOUR };
  await open({
    agents: [
      { agentId: 'agent-1', obstacle: quiet, columnIds: null },
      { agentId: 'agent-2', obstacle: SPENT, columnIds: null },
    ],
  });
  await waitFor(async () => expect(await words('Ask the school')).toMatch(/^The budget is used up · until/));
  expect(await words('Book the seats')).toMatch(/^Quiet hours of Lyra · until \d\d:\d\d$/);
  expect(await words('Read reviews')).toMatch(/^Wren works on it · since/);
});

test('the sheet says what the relay says, and what the person can do', async () => {
  const { page, opened } = await open({ project: { ...SPENT, why: 'project-budget' } }, '/projects/trip/task/task-1');
  const dialog = await screen.findByRole('dialog', { name: 'Task #1' });
  await within(dialog).findByText('The budget is used up');
  expect(within(dialog).getByText('The budget is used up.')).toBeTruthy();
  opened.said = { ...NOTHING, agents: [{ agentId: 'agent-1', obstacle: null, columnIds: ['backlog'] }] };
  await page.hear({ kind: 'changed', time: NOW, what: 'costs', agentId: null });
  await within(dialog).findByText('Not started yet');
  expect(within(dialog).getByText('No routine takes tasks from this column.')).toBeTruthy();
});

test('a claimed task whose run asks the person leads to the question', async () => {
  await open(
    {
      tasks: [
        { taskId: 'task-3', obstacle: { why: 'approval', detail: 'write_file waits for your yes.', until: null } },
      ],
    },
    '/projects/trip/task/task-3',
  );
  const dialog = await screen.findByRole('dialog', { name: 'Task #3' });
  await within(dialog).findByText('Waits for your yes');
  expect(within(dialog).getByRole('link', { name: 'Open' }).getAttribute('href')).toBe('/inbox');
  expect(within(dialog).getByRole('button', { name: 'Release' })).toBeTruthy();
  expect(await words('Read reviews')).toMatch(/^Waits for your yes/);
});

test('quiet hours that begin while the board is open are shown within a minute', async () => {
  const { page, opened, passMinute } = await open({});
  expect(await words('Book the seats')).toMatch(/^Not started yet/);
  const asked = page.reach.times('GET /v1/projects/trip/obstacles');
  opened.said = {
    ...NOTHING,
    agents: [{ agentId: 'agent-1', obstacle: { ...SPENT, why: 'blackout' }, columnIds: null }],
  };
  passMinute();
  await waitFor(async () => expect(await words('Book the seats')).toMatch(/^Quiet hours of Lyra/));
  expect(page.reach.times('GET /v1/projects/trip/obstacles')).toBe(asked + 1);
});
