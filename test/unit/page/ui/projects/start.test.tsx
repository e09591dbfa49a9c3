import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Task } from '../../../../../src/shared/protocol/projects.ts';
import { NOW, team } from '../../support/household.ts';
import { oneProject, task } from '../../support/projects.ts';
import { json, refused } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const MINUTE = 60_000;
const CLAIM = { agentId: 'agent-2', since: NOW - 9 * MINUTE };

/** `answer`: of the relay to a start; left out: the agent has the task. */
async function open(tasks: readonly Task[], { path = '/projects/trip', answer = null as Response | null } = {}) {
  const bodies: { agentId: string; words: string }[] = [];
  const page = await openPage({
    docs: team(3),
    path,
    width: 1440,
    prepare({ reach }) {
      const { held, change } = oneProject(reach, tasks);
      for (const { taskId } of tasks)
        reach.on(`POST /v1/projects/trip/tasks/${taskId}/start`, ({ body }: { readonly body: unknown }) => {
          const asked = body as (typeof bodies)[number];
          bodies.push(asked);
          if (answer) return answer.clone();
          change(taskId, { columnId: 'in_progress', claim: { agentId: asked.agentId, since: NOW } });
          return json(held.get(taskId));
        });
    },
  });
  return { page, bodies };
}
const cardOf = async (title: string) =>
  (await screen.findByRole('link', { name: title })).closest<HTMLElement>('.task-card') ?? document.body;

test('a press on a card starts its assignee, a second press starts nothing more, and the card says it', async () => {
  const { bodies } = await open([task(1, 'Ask the school', 'ready', { assignee: 'agent-2' })]);
  const card = await cardOf('Ask the school');
  const button = within(card).getByRole('button', { name: 'Start with Wren: #1 Ask the school' });
  fireEvent.click(button);
  fireEvent.click(button);
  await waitFor(async () => expect((await cardOf('Ask the school')).textContent).toContain('Wren works on it'));
  expect(bodies).toEqual([{ agentId: 'agent-2', words: 'Please work on #1 Ask the school.' }]);
  expect(within(await cardOf('Ask the school')).queryByRole('button', { name: /^Start with/ })).toBe(null);
});

test('the key S starts a card, and the menu has the other agents of the project with their faces', async () => {
  const user = userEvent.setup();
  const { bodies } = await open([task(1, 'Ask the school', 'backlog'), task(2, 'Book the seats', 'ready')]);
  (await screen.findByRole('link', { name: 'Ask the school' })).focus();
  await user.keyboard('s');
  await waitFor(() => expect(bodies).toHaveLength(1));
  const card = await cardOf('Book the seats');
  await user.click(within(card).getByRole('button', { name: 'Start #2 with another agent' }));
  const menu = await screen.findByRole('menu');
  const items = within(menu).getAllByRole('menuitem');
  expect(items.map(({ textContent }) => textContent)).toEqual(['Lyra', 'Wren']);
  expect(items.every((item) => item.querySelector('.menu-icon') !== null)).toBe(true);
  await user.click(within(menu).getByRole('menuitem', { name: 'Wren' }));
  await waitFor(() => expect(bodies.at(-1)?.agentId).toBe('agent-2'));
});

test('shows at the button why a start was refused', async () => {
  const why = 'The project may cost $1 in a day. Raise that in its settings.';
  await open([task(1, 'Ask the school', 'ready')], {
    path: '/projects/trip/task/task-1',
    answer: refused(why, 409, 'not-ready'),
  });
  const sheet = await screen.findByRole('dialog', { name: 'Task #1' });
  fireEvent.click(await within(sheet).findByRole('button', { name: 'Start with Lyra' }));
  expect((await within(sheet).findByRole('alert')).textContent).toBe(why);
});

test("says when a task's agent has stopped, and continues or releases it", async () => {
  const stopped = { claim: { ...CLAIM, rests: NOW - 6 * MINUTE } };
  const { bodies } = await open([task(1, 'Ask the school', 'in_progress', stopped)], {
    path: '/projects/trip/task/task-1',
  });
  const sheet = await screen.findByRole('dialog', { name: 'Task #1' });
  await within(sheet).findByText('Wren stopped, unfinished');
  expect(within(sheet).getByRole('button', { name: 'Release' })).toBeTruthy();
  fireEvent.click(within(sheet).getByRole('button', { name: 'Continue with Wren' }));
  await waitFor(() => expect(bodies).toEqual([expect.objectContaining({ agentId: 'agent-2' })]));
  await within(sheet).findByText('Wren works on it');
  expect(within(sheet).getByRole('link', { name: 'Watch' }).getAttribute('href')).toBe('/agent/agent-2');
});

test('a task that is moved to work asks who starts it, and can be moved without anybody', async () => {
  const user = userEvent.setup();
  const { page, bodies } = await open([task(1, 'Ask the school', 'ready')]);
  const moves = () => page.reach.times('POST /v1/projects/trip/tasks/task-1/move');
  (await screen.findByRole('link', { name: 'Ask the school' })).focus();
  await user.keyboard('{Alt>}{ArrowRight}{/Alt}');
  const who = await screen.findByRole('dialog', { name: 'Who starts #1 Ask the school?' });
  expect(moves()).toBe(0);
  await user.click(within(who).getByRole('button', { name: 'Wren' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBe(null));
  expect(bodies.map(({ agentId }) => agentId)).toEqual(['agent-2']);
  expect(moves()).toBe(0);
});
