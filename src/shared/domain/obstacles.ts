/**
 * What keeps an agent from beginning a task, although the board lets it. The relay finds it where
 * runs are refused. Pure.
 */
import type { AgentId, TaskId } from './ids.ts';
import type { TaskState, whyStill } from './projects.ts';
import type { SkipReason } from './schedule/timing.ts';

export const OBSTACLES = [
  // As a run of a routine is skipped: see `SKIP_REASONS`.
  ...(['agent-busy', 'blackout', 'concurrency', 'minutes', 'budget', 'switched-off', 'no-copy', 'gate'] as const),
  /** The project or the task has cost as much as it may. */
  ...(['project-budget', 'task-budget'] as const),
  /** A call of the run that works on the task waits for the person's yes. */
  'approval',
  /** The last claim ended because the place of work could not be prepared. */
  'unprepared',
  /** The agent may not use what the work needs, or the relay cannot run it. */
  'tools-off',
] as const satisfies readonly (
  | SkipReason
  | 'project-budget'
  | 'task-budget'
  | 'approval'
  | 'unprepared'
  | 'tools-off'
)[];
export type ObstacleKind = (typeof OBSTACLES)[number];

export interface Obstacle {
  readonly why: ObstacleKind;
  /** A sentence for people. */
  readonly detail: string;
  /** When it is over by itself, in ms since the epoch. Null: not by waiting, or not known. */
  readonly until: number | null;
}

/** What the relay says of one project. */
export interface Obstacles {
  /** Keeps every agent from beginning a task of the project. */
  readonly project: Obstacle | null;
  readonly agents: readonly {
    readonly agentId: AgentId;
    readonly obstacle: Obstacle | null;
    /** Columns from which its routines take tasks. Null: from any that is ready. */
    readonly columnIds: readonly string[] | null;
  }[];
  readonly tasks: readonly { readonly taskId: TaskId; readonly obstacle: Obstacle }[];
}

type Still = ReturnType<typeof whyStill>;
/** Why a task does not move, with what the relay knows. */
export type Held =
  | Still
  /** `agentId`: the only agent that may take it. Null: it concerns the task, or all its agents. */
  | { readonly why: 'obstacle'; readonly obstacle: Obstacle; readonly agentId: AgentId | null }
  /** Each agent that may take it is kept from it. `obstacle`: the one that is over first. */
  | { readonly why: 'nobody-can'; readonly obstacle: Obstacle; readonly agentId: AgentId }
  /** No routine takes tasks from its column. An agent can still be asked. */
  | { readonly why: 'no-routine' };

const byEnd = (one: Obstacle, other: Obstacle) => (one.until ?? Infinity) - (other.until ?? Infinity);

/**
 * Why the task does not move. `known` null: the relay has not said yet what keeps agents from it.
 */
export function whyHeld(
  still: Still,
  task: Pick<TaskState, 'taskId' | 'columnId' | 'assignee'>,
  known: Obstacles | null,
): Held {
  if (known === null || (still.why !== 'waits' && still.why !== 'claimed')) return still;
  const own = known.tasks.find(({ taskId }) => taskId === task.taskId)?.obstacle;
  if (own) return { why: 'obstacle', obstacle: own, agentId: still.why === 'claimed' ? still.agentId : null };
  if (still.why === 'claimed') return still;
  if (known.project) return { why: 'obstacle', obstacle: known.project, agentId: null };
  const able = known.agents.filter(({ agentId }) => task.assignee === null || task.assignee === agentId);
  const kept = able.flatMap(({ agentId, obstacle }) => (obstacle ? [{ agentId, obstacle }] : []));
  const [first] = kept.toSorted((one, other) => byEnd(one.obstacle, other.obstacle));
  if (first && kept.length === able.length)
    return able.length === 1 ? { why: 'obstacle', ...first } : { why: 'nobody-can', ...first };
  const isTaken = able.length === 0 || able.some(({ columnIds }) => columnIds?.includes(task.columnId) ?? true);
  return isTaken ? still : { why: 'no-routine' };
}
