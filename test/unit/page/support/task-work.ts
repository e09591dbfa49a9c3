/** Attempts, requests and diffs to test with. */
import type { Attempt, Diff, MergeRequest, Receipt } from '../../../../src/shared/protocol/attempts.ts';
import { NOW } from './household.ts';

const MINUTE = 60_000;
export const BASE = 'a'.repeat(40);
export const HEAD = 'b'.repeat(40);

export const receipt = (more: Partial<Receipt> = {}): Receipt => ({
  commands: [{ command: 'npm test', code: 0, ms: 4_200 }],
  moreCommands: 0,
  files: [{ path: 'places.md', status: 'changed', added: 2, removed: 1 }],
  moreFiles: 0,
  commits: [{ commit: HEAD, subject: 'Write down three places' }],
  moreCommits: 0,
  uncommitted: [],
  elsewhere: [],
  rewritten: [],
  checks: [],
  pushes: [],
  approvals: [],
  tokens: 12_000,
  costMicroUsd: 120_000,
  estimated: false,
  ...more,
});

export const attempt = (number: number, more: Partial<Attempt> = {}): Attempt => ({
  attemptId: `attempt-${number}`,
  projectId: 'trip',
  taskId: 'task-1',
  number,
  agentId: 'agent-1',
  runId: `run-${number}`,
  kind: 'agent',
  model: null,
  startedAt: NOW - (60 - number) * MINUTE,
  endedAt: NOW - (50 - number) * MINUTE,
  outcome: 'review',
  note: 'Three places are in places.md.',
  noteBy: 'agent',
  branch: 'feat/1-places',
  base: BASE,
  head: HEAD,
  folder: 'projects/trip/1-places',
  receipt: receipt(),
  spent: null,
  review: null,
  ...more,
});

export const request = (more: Partial<MergeRequest> = {}): MergeRequest => ({
  title: 'Three places that fit',
  body: 'Siena, **Bled** and Ghent.',
  by: 'agent-1',
  state: 'open',
  branch: 'feat/1-places',
  base: BASE,
  head: HEAD,
  openedAt: NOW - 40 * MINUTE,
  updatedAt: NOW - 40 * MINUTE,
  merged: null,
  mergedOnto: null,
  reverted: null,
  url: null,
  forgeProblem: null,
  ...more,
});

export const diff = (more: Partial<Diff> = {}): Diff => ({
  branch: 'feat/1-places',
  base: BASE,
  head: HEAD,
  commits: [{ commit: HEAD, subject: 'Write down three places' }],
  files: [
    {
      path: 'places.md',
      status: 'changed',
      added: 2,
      removed: 1,
      number: 0,
      before: null,
      reason: null,
      content: { before: '1'.repeat(40), after: '2'.repeat(40) },
      patch: [
        'diff --git a/places.md b/places.md',
        '--- a/places.md',
        '+++ b/places.md',
        '@@ -8,3 +8,4 @@ Places',
        ' Siena',
        '-Lindau',
        '+Bled',
        '+Ghent',
        ' Done',
        '\\ No newline at end of file',
        '',
      ].join('\n'),
    },
    {
      ...{ number: 1, path: 'map.png', status: 'added', added: null, removed: null, before: null, patch: null },
      ...{ reason: 'binary', content: { before: null, after: '3'.repeat(40) } },
    },
    {
      ...{ number: 2, path: 'prices.csv', status: 'renamed', added: 9_000, removed: 2, before: 'costs.csv' },
      ...{ patch: null, reason: 'long', content: { before: '4'.repeat(40), after: '5'.repeat(40) } },
    },
  ],
  more: 0,
  comments: [],
  ...more,
});
