import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { ThreadMessage } from '../../../../../src/shared/protocol/threads.ts';
import { NOW, team } from '../../support/household.ts';
import { oneProject, TASKS } from '../../support/projects.ts';
import { type AskedCall, json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const PATH = '/v1/projects/trip/tasks/task-1/comments';
const said = (sequence: number, from: string, text: string): ThreadMessage => ({
  ...{ messageId: `m${sequence}`, sequence, from, text, mentions: [], time: NOW - 3_600_000 },
});

async function openTask(first: readonly ThreadMessage[], more = false, width = 1440) {
  let comments = first;
  let failing = false;
  const page: Page = await openPage({
    ...{ docs: team(3), path: '/projects/trip/task/task-1', width },
    prepare({ reach }) {
      oneProject(reach, TASKS);
      reach.on(`GET ${PATH}`, () => json({ comments, more }));
      reach.on(`POST ${PATH}`, ({ body }: AskedCall) => {
        if (failing) return refused('The database is away.', 503, 'database-away');
        const { text } = body as { readonly text: string };
        const written = said(comments.length + 1, 'human', text);
        comments = [...comments, written];
        return json(written, 201);
      });
    },
  });
  return {
    page,
    say: (from: string, text: string) => {
      comments = [...comments, said(comments.length + 1, from, text)];
      return page.hear({ kind: 'changed', time: NOW, what: 'threads', agentId: null });
    },
    fail: (is: boolean) => (failing = is),
  };
}
const section = () => screen.findByRole('region', { name: 'Comments' });

test('the comments of a task are read in its sheet, and a new one of an agent comes by itself', async () => {
  const { say } = await openTask([said(1, 'agent-1', 'By **train**?')], true);
  expect((await within(await section()).findByRole('listitem')).textContent).toMatch(/^Lyra .*By train\?$/);
  expect(
    within(await section())
      .getByRole('link', { name: 'Show more' })
      .getAttribute('href'),
  ).toBe('/threads/comments-task-1');
  await say('agent-2', 'By boat.');
  await waitFor(async () => expect(within(await section()).getAllByRole('listitem')).toHaveLength(2));
});

test('a comment is written by keyboard, says who is notified, and is written once however often it is tried', async () => {
  const { page, fail } = await openTask([], false, 360);
  const field = within(await section()).getByLabelText('New comment');
  await page.user.type(field, 'By train, please');
  expect((await section()).textContent).toContain('Notified, and may wake: Lyra');
  fail(true);
  await page.user.keyboard('{Control>}{Enter}{/Control}');
  expect((await within(await section()).findByRole('alert')).textContent).toMatch(/^Could not save this\. /);
  // What was typed stays.
  expect((field as HTMLTextAreaElement).value).toBe('By train, please');
  fail(false);
  await page.user.click(within(await section()).getByRole('button', { name: 'Comment' }));
  expect((await within(await section()).findByRole('listitem')).textContent).toContain('By train, please');
  expect((field as HTMLTextAreaElement).value).toBe('');
  const sent = page.reach.bodies(`POST ${PATH}`) as { readonly clientId: string }[];
  expect(sent).toHaveLength(2);
  expect(new Set(sent.map(({ clientId }) => clientId)).size).toBe(1);
});
