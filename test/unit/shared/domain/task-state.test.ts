import { describe, expect, it } from 'vitest';
import { canStart, type StatedTask, TASK_STATES, taskStateOf } from '../../../../src/shared/domain/task-state.ts';
import { DEFAULT_COLUMNS } from '../../../../src/shared/domain/projects.ts';
import type { Obstacles } from '../../../../src/shared/domain/obstacles.ts';

const PROJECT = { kind: 'git', worktrees: true, columns: DEFAULT_COLUMNS, agents: ['a1', 'a2'] } as const;
const task = (columnId: string, more: Partial<StatedTask> = {}): StatedTask => ({
  ...{ taskId: 't1', columnId, priority: 'normal', createdAt: 1, blockedBy: [], assignee: null, claim: null, since: 5 },
  ...more,
});
const stateOf = (one: StatedTask, facts: Parameters<typeof taskStateOf>[3] = undefined, all = [one]) =>
  taskStateOf(PROJECT, one, all, facts);
const step = { text: 'writing', from: 9 };
const facts = (more: Partial<Obstacles> = {}, at: typeof step | null = null) => ({
  obstacles: { project: null, agents: [], tasks: [], ...more },
  stepOf: () => at,
});
const CLAIM = { agentId: 'a1', since: 3 };

describe('The state of a task', () => {
  it.each([
    [task('backlog'), 'planned'],
    [task('planning'), 'planned'],
    [task('ready'), 'queued'],
    [task('in_progress', { claim: CLAIM }), 'working'],
    [task('in_progress', { claim: { ...CLAIM, rests: 7 } }), 'stopped'],
    [task('ready', { stopped: { agentId: 'a1', at: 7 } }), 'stopped'],
    [task('blocked'), 'waits-for-you'],
    [task('ready', { asked: true }), 'waits-for-you'],
    [task('review'), 'in-review'],
    [task('done', { merged: true }), 'merged'],
    [task('done'), 'done'],
  ] as const)('derives from %j the state %s', (one, state) => {
    expect(stateOf(one).state).toBe(state);
    expect(TASK_STATES).toContain(state);
  });

  it('shows a task as worked on while its agent acts, although the last answer had ended', () => {
    const rests = task('in_progress', { claim: { ...CLAIM, rests: 7 } });
    expect(stateOf(rests, facts())).toEqual({ state: 'stopped', agentId: 'a1', claimed: true, since: 7 });
    expect(stateOf(rests, facts({}, step))).toEqual({ state: 'working', agentId: 'a1', step, since: 3 });
  });

  it('shows one task per agent as worked on: the one claimed last', () => {
    const first = task('in_progress', { claim: CLAIM });
    const second = task('in_progress', { taskId: 't2', claim: { agentId: 'a1', since: 6 } });
    const others = task('in_progress', { taskId: 't3', claim: { agentId: 'a2', since: 8 } });
    const all = [first, second, others];
    expect(stateOf(first, facts({}, step), all)).toEqual({ state: 'stopped', agentId: 'a1', claimed: true, since: 6 });
    expect(stateOf(second, facts({}, step), all)).toMatchObject({ state: 'working', step });
  });

  it('waits for the person where the run that works on it has asked', () => {
    const asks = { why: 'approval', detail: 'run_command waits for your yes.', until: null } as const;
    const claimed = task('in_progress', { claim: CLAIM });
    const said = facts({ tasks: [{ taskId: 't1', obstacle: asks }] }, step);
    expect(stateOf(claimed, said)).toMatchObject({ state: 'waits-for-you', held: { agentId: 'a1' } });
  });

  it('lets the person start or continue a task, unless an agent works on it or it is done', () => {
    const starts = (one: StatedTask) => canStart(stateOf(one));
    expect([task('backlog'), task('ready'), task('blocked')].map(starts)).toEqual([true, true, true]);
    expect(starts(task('in_progress', { claim: { ...CLAIM, rests: 7 } }))).toBe(true);
    const over = [task('in_progress', { claim: CLAIM }), task('review'), task('done'), task('ready', { asked: true })];
    expect(over.map(starts)).toEqual([false, false, false, false]);
  });
});
