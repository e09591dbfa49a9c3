/**
 * What the parts of a board share, and which tasks it shows in which order. Pure but for the
 * context.
 */
import { createContext, use } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Obstacles } from '../../../shared/domain/obstacles.ts';
import { byPriority, kindOfColumn } from '../../../shared/domain/projects.ts';
import { cardText, missingWords, wordsIn } from '../../../shared/domain/task-search.ts';
import { type Step, type TaskState, taskStateOf } from '../../../shared/domain/task-state.ts';
import type { Project, TaskCard } from '../../../shared/protocol/projects.ts';
import type { Known } from './words.ts';

/**
 * The card that is being dragged. It is no state: a board is not rendered anew while one is dragged
 * over it.
 */
export interface Drag {
  readonly task: () => TaskCard | null;
  readonly take: (task: TaskCard | null) => void;
}

export function createDrag(): Drag {
  let dragged: TaskCard | null = null;
  return {
    task: () => dragged,
    take(task) {
      dragged = task;
    },
  };
}

export interface Board {
  readonly project: Project;
  readonly tasks: readonly TaskCard[];
  readonly known: Known;
  /** null: the relay has not said yet what keeps agents from tasks. */
  readonly obstacles: Obstacles | null;
  /** ms since the epoch */
  readonly now: number;
  /** The relay cannot be reached, and nothing can be changed. */
  readonly away: boolean;
  readonly move: (task: TaskCard, columnId: string) => void;
  /** The task that takes the focus as soon as it is in the page; null: none. */
  readonly focusOn: string | null;
  readonly onFocused: () => void;
  readonly drag: Drag;
}

export const BoardContext = createContext<Board | null>(null);

export function useBoard(): Board {
  const board = use(BoardContext);
  if (!board) throw new Error('This component stands outside of BoardContext');
  return board;
}

/** What a task is doing. `step`: what the agent that has it does now. */
export const stateOf = (
  { project, tasks, obstacles }: Pick<Board, 'project' | 'tasks' | 'obstacles'>,
  task: TaskCard,
  step: Step | null = null,
): TaskState => taskStateOf(project, task, tasks, { obstacles, stepOf: () => step });

/** Tasks of finished columns: the last finished first. */
const byChange = (a: TaskCard, b: TaskCard) => b.updatedAt - a.updatedAt || b.number - a.number;

/** The tasks of each column in the order in which they are shown. */
export function byColumn(project: Project, tasks: readonly TaskCard[]): ReadonlyMap<string, readonly TaskCard[]> {
  const columns = new Map<string, TaskCard[]>(project.columns.map(({ columnId }) => [columnId, []]));
  for (const task of tasks) columns.get(task.columnId)?.push(task);
  for (const [columnId, held] of columns) held.sort(kindOfColumn(project, columnId) === 'done' ? byChange : byPriority);
  return columns;
}

export interface Filter {
  readonly text: string;
  /** null: all tasks. `nobody`: those without an assignee. */
  readonly assignee: AgentId | 'nobody' | null;
  readonly label: string | null;
}
export const NO_FILTER: Filter = { text: '', assignee: null, label: null };
export const isFiltered = ({ text, assignee, label }: Filter): boolean =>
  text.trim() !== '' || assignee !== null || label !== null;

/**
 * Every word must stand in the title, a label or the number of a task. `matchingIds`: tasks in
 * whose text the relay has found them.
 */
export function filtered(
  tasks: readonly TaskCard[],
  { text, assignee, label }: Filter,
  matchingIds: ReadonlySet<string> | null = null,
): readonly TaskCard[] {
  const words = wordsIn(text);
  return tasks.filter((task) => {
    if (assignee !== null && task.assignee !== (assignee === 'nobody' ? null : assignee)) return false;
    if (label !== null && !task.labels.includes(label)) return false;
    return (
      words.length === 0 || matchingIds?.has(task.taskId) === true || missingWords(cardText(task), words).length === 0
    );
  });
}

/** The column beside this one. `step` 1: the next, -1: the one before. */
export function columnBeside({ columns }: Project, columnId: string, step: 1 | -1): string | null {
  const at = columns.findIndex((column) => column.columnId === columnId);
  return at < 0 ? null : (columns[at + step]?.columnId ?? null);
}
