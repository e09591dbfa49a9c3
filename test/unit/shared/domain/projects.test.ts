/** Which columns give tasks, who may review a task, and why a task does not move. */
import { describe, expect, it } from 'vitest';
import {
  COLUMN_KINDS,
  DEFAULT_COLUMNS,
  readyFor,
  type TaskState,
  whyStill,
} from '../../../../src/shared/domain/projects.ts';
import { reviewsSince, takersOf } from '../../../../src/shared/domain/task-reviews.ts';

const PROJECT = { columns: DEFAULT_COLUMNS, agents: ['a1'], kind: 'folder', worktrees: true } as const;
const task = (columnId: string, fields: Partial<TaskState> = {}): TaskState => ({
  ...{ taskId: columnId, columnId, priority: 'normal', createdAt: 1, blockedBy: [], assignee: null, claim: null },
  ...fields,
});
const ALL = DEFAULT_COLUMNS.map(({ columnId }) => task(columnId));
const readyIn = (chosen?: readonly string[]) =>
  readyFor(PROJECT, 'a1', ALL, chosen)
    .map(({ columnId }) => columnId)
    .sort();

describe('tasks that an agent may take', () => {
  it('lets an agent take tasks of ready columns when the person chose no columns', () => {
    expect(readyIn()).toEqual(['ready']);
  });
  it('lets an agent take tasks of the chosen columns, of any kind but done', () => {
    expect(readyIn(['backlog', 'ready'])).toEqual(['backlog', 'ready']);
    expect(readyIn(COLUMN_KINDS)).toEqual(COLUMN_KINDS.filter((kind) => kind !== 'done').toSorted());
    expect(readyIn([])).toEqual([]);
    expect(readyIn(['gone'])).toEqual([]);
  });
  it('leave out in a chosen column what waits, is claimed, came from elsewhere, or is another agent’s', () => {
    const held = [
      task('ready'),
      task('backlog', { taskId: 'waits', blockedBy: ['ready'] }),
      task('backlog', { taskId: 'claimed', claim: { agentId: 'a2', since: 1 } }),
      task('backlog', { taskId: 'came', asked: true }),
      task('backlog', { taskId: 'other', assignee: 'a2' }),
    ];
    expect(readyFor(PROJECT, 'a1', held, ['backlog'])).toEqual([]);
  });
});

describe('why a task does not move', () => {
  const why = (columnId: string, taken?: readonly string[]) => whyStill(PROJECT, task(columnId), ALL, taken);
  it('names the column as the obstacle, unless agents take tasks from it', () => {
    expect(why('backlog')).toEqual({ why: 'column', kind: 'backlog' });
    expect(why('backlog', ['backlog'])).toEqual({ why: 'waits' });
    expect(why('ready', ['backlog'])).toEqual({ why: 'waits' });
  });
  it('names the person as the obstacle in review, and none in done', () => {
    expect(why('review', ['review', 'done'])).toEqual({ why: 'column', kind: 'review' });
    expect(why('done', ['review', 'done'])).toEqual({ why: 'done' });
  });
});

describe('a review', () => {
  let time = 0;
  const entry = (by: string, what: string, columnId: string | null = null) => ({
    time: (time += 1),
    by,
    what,
    columnId,
  });
  const made = entry('human', 'created', 'ready');
  const work = (by: string, to: string) => [entry(by, 'claimed', 'in_progress'), entry(by, 'moved', to)];
  const takers = (...history: (typeof made)[]) => [...takersOf(PROJECT, history)].sort();

  it('refuses a review by the agent that did the work, and a second one by the same agent', () => {
    expect(takers(made)).toEqual([]);
    expect(takers(made, ...work('a1', 'review'))).toEqual(['a1']);
    expect(takers(made, ...work('a1', 'review'), ...work('a2', 'review'))).toEqual(['a1', 'a2']);
    const back = [entry('a2', 'claimed', 'in_progress'), entry('relay', 'released', 'review')];
    expect(takers(made, ...work('a1', 'review'), ...back)).toEqual(['a1', 'a2']);
  });
  it('allows another review after new work, and after each move by the person', () => {
    expect(takers(made, ...work('a1', 'review'), ...work('a2', 'ready'), ...work('a3', 'review'))).toEqual(['a3']);
    expect(takers(made, ...work('a1', 'review'), entry('human', 'moved', 'review'))).toEqual([]);
  });
  it('tells a review from work, also when the oldest entries are missing', () => {
    const history = [made, ...work('a1', 'review'), ...work('a2', 'review'), entry('a3', 'claimed', 'in_progress')];
    expect(reviewsSince(PROJECT, history, 0)).toEqual({ count: 2, isLast: true });
    expect(reviewsSince(PROJECT, history, history[3]?.time ?? 0)).toEqual({ count: 1, isLast: true });
    expect(reviewsSince(PROJECT, history.slice(0, 2), 0)).toEqual({ count: 0, isLast: false });
    expect(reviewsSince(PROJECT, history.slice(3), 0)).toEqual({ count: 1, isLast: true });
    expect(reviewsSince(PROJECT, [], 0)).toEqual({ count: 0, isLast: false });
  });
});
