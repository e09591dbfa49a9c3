import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { EndedAttempt } from '../../../../../src/shared/protocol/attempts.ts';
import type { Doc } from '../../../../../src/shared/protocol/documents.ts';
import { at, NOW, team } from '../../support/household.ts';
import { answerSchedules, OCCURRENCES, SCHEDULED, timeline } from '../../support/schedules.ts';
import { openPage } from '../../support/render.tsx';

const MINUTE = 60_000;
const RECORD: Doc = {
  _id: 'schedule:1',
  type: 'schedule',
  schema: 1,
  at: at(NOW - 48 * 60 * MINUTE),
  recordId: 'schedule-1',
  value: { homeRelay: 'h', removed: false, schedule: SCHEDULED[0]?.schedule },
};
const FIGURES = {
  ...{ commits: 2, files: 3, added: 10, removed: 2, checks: { passed: 2, failed: 1 } },
  ...{ tokens: 1_000, costMicroUsd: 120_000, estimated: false },
};
const ended = (n: number, more: Partial<EndedAttempt> = {}): EndedAttempt => ({
  ...{ attemptId: `attempt-${n}`, projectId: 'trip', taskId: `task-${n}`, agentId: 'agent-1', runId: 'run-1' },
  ...{ kind: 'agent', outcome: 'review', startedAt: NOW - 40 * MINUTE, endedAt: NOW - 30 * MINUTE },
  task: { number: n, title: `Task ${n}` },
  receipt: FIGURES,
  ...more,
});

async function openCard(attempts: readonly EndedAttempt[], line = timeline()) {
  const page = await openPage({
    docs: team(3),
    path: '/morning',
    prepare({ reach }) {
      answerSchedules(reach, { line });
      reach.on('GET /v1/attempts', { attempts, more: false });
    },
  });
  await page.say({ news: 'documents', docs: [RECORD] });
  const heading = await screen.findByRole('heading', { level: 1, name: 'While you were away' });
  return { page, card: heading.closest<HTMLElement>('.morning-page') ?? document.body };
}
const ofLyra = OCCURRENCES.find(({ said, runId }) => runId !== null && said?.includes('The bridge holds'));

test('the card shows the receipt of each attempt first, and the words of its agent second', async () => {
  const runId = ofLyra?.runId ?? '';
  const { card } = await openCard([
    ended(1, { runId }),
    ended(1, {
      attemptId: 'executor',
      kind: 'executor',
      runId: 'run-e',
      outcome: 'blocked',
      startedAt: NOW - 35 * MINUTE,
    }),
    ended(2, {
      runId,
      outcome: 'done',
      receipt: { ...FIGURES, commits: null, files: 0, checks: { passed: 1, failed: 0 } },
    }),
    ended(3, { runId, outcome: 'lost', receipt: null }),
    // Of a conversation, in which the person was there; and of a time before the card.
    ended(4, { runId: 'run-of-a-session' }),
    ended(5, { runId, endedAt: NOW - 200 * 24 * 60 * MINUTE }),
  ]);
  const receipts = await within(card).findByRole('list', { name: 'Receipts' });
  const lines = within(receipts).getAllByRole('listitem');
  expect(lines.map(({ textContent }) => textContent)).toEqual([
    '#1 Task 1Moved to Review2 commits · 3 files +10 −2 · 1 of 3 checks failed · $0.12',
    '#1 Task 1Executor of LyraBlocked2 commits · 3 files +10 −2 · 1 of 3 checks failed · $0.12',
    '#2 Task 2DoneNothing was changed. · 1 check passed · $0.12',
    '#3 Task 3Cut shortThere is no record of what it did.',
  ]);
  expect(within(receipts).getAllByRole('link')[0]?.getAttribute('href')).toBe('/projects/trip/task/task-1');
  const words = within(card).getByText(/The bridge holds/);
  expect(receipts.compareDocumentPosition(words) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
});

test("shows an API client's activity under its agent's name, also when nothing else happened", async () => {
  const { page, card } = await openCard([ended(1, { runId: null, agentId: 'agent-2' })], timeline({ occurrences: [] }));
  const receipts = await within(card).findByRole('list', { name: 'Receipts' });
  expect(receipts.textContent).toMatch(/^#1 Task 1WrenMoved to Review/);
  await page.user.click(within(card).getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(screen.queryByRole('region', { name: 'While you were away' })).toBeNull());
});
