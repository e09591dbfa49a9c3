import { describe, expect, it } from 'vitest';
import { type Obstacle, type Obstacles, whyHeld } from '../../../../src/shared/domain/obstacles.ts';

const WAITS = { why: 'waits' } as const;
const TASK = { taskId: 't1', columnId: 'ready', assignee: null };
const quiet: Obstacle = { why: 'blackout', detail: 'Quiet.', until: 900 };
const spent: Obstacle = { why: 'budget', detail: 'Spent.', until: 500 };
const agent = (agentId: string, obstacle: Obstacle | null = null, columnIds: readonly string[] | null = null) => ({
  ...{ agentId, obstacle, columnIds },
});
const known = (more: Partial<Obstacles> = {}): Obstacles => ({
  project: null,
  agents: [agent('a1')],
  tasks: [],
  ...more,
});

describe('Why a task does not move', () => {
  it('follows the board when the relay has nothing to add', () => {
    expect(whyHeld(WAITS, TASK, null)).toBe(WAITS);
    expect(whyHeld(WAITS, TASK, known())).toBe(WAITS);
    expect(whyHeld(WAITS, TASK, known({ agents: [] }))).toBe(WAITS);
    const blocked = { why: 'blocked-by', tasks: ['t2'] } as const;
    expect(whyHeld(blocked, TASK, known({ project: spent }))).toBe(blocked);
  });

  it('shows the task’s own obstacle first, then the project’s, then those of its agents', () => {
    const tasks = [{ taskId: 't1', obstacle: spent }];
    const all = known({ tasks, project: quiet, agents: [agent('a1', quiet)] });
    expect(whyHeld(WAITS, TASK, all)).toEqual({ why: 'obstacle', obstacle: spent, agentId: null });
    expect(whyHeld(WAITS, { ...TASK, taskId: 't2' }, all)).toEqual({ why: 'obstacle', obstacle: quiet, agentId: null });
    expect(whyHeld(WAITS, TASK, known({ agents: [agent('a1', quiet)] }))).toEqual({
      ...{ why: 'obstacle', obstacle: quiet, agentId: 'a1' },
    });
  });

  it('shows no obstacle while one agent that may take the task can begin', () => {
    const agents = [agent('a1', quiet), agent('a2')];
    expect(whyHeld(WAITS, TASK, known({ agents }))).toBe(WAITS);
    expect(whyHeld(WAITS, { ...TASK, assignee: 'a2' }, known({ agents }))).toBe(WAITS);
    expect(whyHeld(WAITS, { ...TASK, assignee: 'a1' }, known({ agents }))).toMatchObject({ agentId: 'a1' });
  });

  it('names the agent that can begin first, where none can now', () => {
    const never = { ...spent, until: null };
    const agents = [agent('a1', never), agent('a2', quiet), agent('a3', spent)];
    expect(whyHeld(WAITS, TASK, known({ agents }))).toEqual({ why: 'nobody-can', obstacle: spent, agentId: 'a3' });
  });

  it('says that no routine takes the task when all routines are for other columns', () => {
    expect(whyHeld(WAITS, TASK, known({ agents: [agent('a1', null, [])] }))).toEqual({ why: 'no-routine' });
    const agents = [agent('a1', null, ['later']), agent('a2', null, ['ready'])];
    expect(whyHeld(WAITS, TASK, known({ agents }))).toBe(WAITS);
    expect(whyHeld(WAITS, { ...TASK, assignee: 'a1' }, known({ agents }))).toEqual({ why: 'no-routine' });
    expect(whyHeld(WAITS, TASK, known({ agents: [agent('a1', null, []), agent('a2')] }))).toBe(WAITS);
  });

  it("shows an agent's question to the person on the task that the agent works on", () => {
    const claimed = { why: 'claimed', agentId: 'a1', since: 5 } as const;
    const asks: Obstacle = { why: 'approval', detail: 'write_file waits for your yes.', until: null };
    expect(whyHeld(claimed, TASK, known({ agents: [agent('a1', quiet)] }))).toBe(claimed);
    expect(whyHeld(claimed, TASK, known({ tasks: [{ taskId: 't1', obstacle: asks }] }))).toEqual({
      ...{ why: 'obstacle', obstacle: asks, agentId: 'a1' },
    });
  });
});
