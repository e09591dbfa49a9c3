import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { isOfProject, mergeLog } from '../../../../../src/page/ui/activity/log.ts';
import { NOW, team } from '../../support/household.ts';
import { occurrence } from '../../support/schedules.ts';
import { oneProject } from '../../support/projects.ts';
import { json, wake, WAITING_CALL } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const MINUTE = 60_000;
const entry = (time: number, agentId = 'a') => ({ key: `${agentId} ${time}`, agentId, time });
const timesOf = (...sources: Parameters<typeof mergeLog>[0]) => {
  const { entries, behind } = mergeLog(sources);
  return { times: entries.map(({ time }) => time), behind };
};

test('merges lists down to the moment to which each of them is read', () => {
  const whole = { entries: [entry(9), entry(5), entry(1)], more: false };
  expect(timesOf(whole, { entries: [entry(8), entry(4)], more: true })).toEqual({ times: [9, 8, 5, 4], behind: [1] });
  // Below 6 the second list may have entries that are not read yet.
  expect(timesOf({ entries: [entry(9), entry(2)], more: true }, { entries: [entry(8), entry(6)], more: true })).toEqual(
    {
      times: [9, 8, 6],
      behind: [1],
    },
  );
  expect(timesOf(whole, { entries: [], more: false })).toEqual({ times: [9, 5, 1], behind: [] });
  // Nothing is shown before each list has answered.
  expect(timesOf(whole, { entries: [], more: true })).toEqual({ times: [], behind: [1] });
});

test("counts an agent's activity during an attempt to the task's project", () => {
  const attempts = [{ projectId: 'p', agentId: 'a', startedAt: 10, endedAt: 20 }];
  expect([9, 10, 20, 21].map((time) => isOfProject(entry(time), 'p', attempts))).toEqual([false, true, true, false]);
  expect(isOfProject(entry(15, 'b'), 'p', attempts)).toBe(false);
  expect(isOfProject(entry(15), 'q', attempts)).toBe(false);
});

const CALL = { ...WAITING_CALL, state: 'done' as const, agentId: 'agent-1', input: '{"command":"make all"}' };

const openActivity = (path: string) =>
  openPage({
    docs: team(2),
    path,
    prepare({ reach }) {
      oneProject(reach);
      reach.on('GET /api/wakes', { wakes: [wake(5)], more: false });
      reach.on('GET /v1/runs', {
        runs: [occurrence(1, { agentId: 'agent-2', runId: 'run-1', name: 'Look', startedAt: NOW - 3 * MINUTE })],
        more: false,
      });
      reach.on('GET /api/calls', ({ query }: { query: URLSearchParams }) =>
        json({ calls: [{ ...CALL, callId: `call ${query.get('agent') ?? ''}`, askedAt: NOW - MINUTE }], more: false }),
      );
      reach.on('GET /v1/attempts', {
        attempts: [
          {
            ...{ attemptId: 'a1', projectId: 'trip', taskId: 'task-1', agentId: 'agent-1', runId: 'run-9' },
            ...{ kind: 'agent', outcome: 'review', startedAt: NOW - 2 * MINUTE, endedAt: NOW, receipt: null },
            task: { number: 1, title: 'Pack' },
          },
        ],
        more: false,
      });
    },
  });
const lines = async () =>
  within(await screen.findByRole('region', { name: 'Today' }))
    .getAllByRole('listitem')
    .map(({ textContent }) => /make all|Look|asked for/.exec(textContent)?.[0]);

test('lists tool calls, runs and wakes newest first, and filters by project', async () => {
  const page = await openActivity('/activity');
  await waitFor(async () => expect(await lines()).toEqual(['make all', 'Look', 'asked for']));
  await page.user.selectOptions(await screen.findByRole('combobox', { name: 'Project' }), 'Plan our trip');
  await waitFor(async () => expect(await lines()).toEqual(['make all']));
});

test('a kind has a tab and an address, asks for no other kind, and an agent filters it', async () => {
  const page = await openActivity('/activity/calls');
  await waitFor(async () => expect(await lines()).toEqual(['make all']));
  expect(page.reach.times('GET /api/wakes')).toBe(0);
  await page.user.selectOptions(screen.getByRole('combobox', { name: 'Agent' }), 'Wren');
  expect(location.pathname).toBe('/activity/calls/agent-2');
  await waitFor(() =>
    expect(
      page.reach.asked
        .filter(({ path }) => path === '/api/calls')
        .at(-1)
        ?.query.get('agent'),
    ).toBe('agent-2'),
  );
  await page.user.click(screen.getByRole('tab', { name: 'Runs' }));
  expect(location.pathname).toBe('/activity/runs/agent-2');
  await waitFor(async () => expect(await lines()).toEqual(['Look']));
});
