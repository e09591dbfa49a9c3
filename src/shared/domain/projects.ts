/**
 * The rules of projects: columns, the order of tasks, which task an agent may take, and why a task
 * does not move. Pure: the relay and the page apply the same rules.
 */
import type { AgentId, TaskId } from './ids.ts';
import { type OneTask, takesOneTask, taskAtWork } from './one-task.ts';

/** What a column means. Its name is the person's. */
export const COLUMN_KINDS = ['backlog', 'planning', 'ready', 'in_progress', 'review', 'blocked', 'done'] as const;
export type ColumnKind = (typeof COLUMN_KINDS)[number];

/** Most urgent first. */
export const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const;
type Priority = (typeof PRIORITIES)[number];

export interface Column {
  readonly columnId: string;
  readonly name: string;
  readonly kind: ColumnKind;
}

/** The columns of a new project: one of each kind. */
export const DEFAULT_COLUMNS: readonly Column[] = [
  { columnId: 'backlog', name: 'Backlog', kind: 'backlog' },
  { columnId: 'planning', name: 'Planning', kind: 'planning' },
  { columnId: 'ready', name: 'Ready', kind: 'ready' },
  { columnId: 'in_progress', name: 'In progress', kind: 'in_progress' },
  { columnId: 'review', name: 'Review', kind: 'review' },
  { columnId: 'blocked', name: 'Blocked', kind: 'blocked' },
  { columnId: 'done', name: 'Done', kind: 'done' },
];

/** Kinds of columns to which agents may move a task. Only the person moves one to `done`. */
export const AGENTS_MOVE_TO: readonly ColumnKind[] = [
  'backlog',
  'planning',
  'ready',
  'in_progress',
  'review',
  'blocked',
];

/** Kinds of columns that every project needs, because claiming and finishing a task lead there. */
export const NEEDED_KINDS: readonly ColumnKind[] = ['backlog', 'ready', 'in_progress', 'review', 'done'];

interface Claim {
  readonly agentId: AgentId;
  readonly since: number;
}

/** The fields of a task that the rules read. Times are ms since the epoch. */
export interface TaskState {
  readonly taskId: TaskId;
  readonly columnId: string;
  readonly priority: Priority;
  readonly createdAt: number;
  /** Tasks that must be done first. */
  readonly blockedBy: readonly TaskId[];
  /** Null: any agent of the project may take it. */
  readonly assignee: AgentId | null;
  /** Null: nobody works on it. */
  readonly claim: Claim | null;
  /** It came as a record. Nobody takes it, and it frees no other task, before the person's yes. */
  readonly asked?: true | undefined;
}

interface ProjectState extends OneTask {
  readonly columns: readonly Column[];
  /** Agents that may work on it. */
  readonly agents: readonly AgentId[];
}

export const kindOfColumn = ({ columns }: Pick<ProjectState, 'columns'>, columnId: string): ColumnKind | null =>
  columns.find((column) => column.columnId === columnId)?.kind ?? null;

/** The first column of a kind. */
export const columnOfKind = ({ columns }: Pick<ProjectState, 'columns'>, kind: ColumnKind): Column | undefined =>
  columns.find((column) => column.kind === kind);

/**
 * Whether agents take tasks from this column. `chosen`: the columns that the person chose, which
 * may be of any kind but done. Undefined: the person chose none, and ready columns give tasks.
 */
export function givesTasks(
  project: Pick<ProjectState, 'columns'>,
  columnId: string,
  chosen: readonly string[] | undefined,
): boolean {
  const kind = kindOfColumn(project, columnId);
  if (kind === null || kind === 'done') return false;
  return chosen?.includes(columnId) ?? kind === 'ready';
}

/** Most urgent first, then oldest first. */
export const byPriority = (
  a: Pick<TaskState, 'priority' | 'createdAt' | 'taskId'>,
  b: Pick<TaskState, 'priority' | 'createdAt' | 'taskId'>,
): number =>
  PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) ||
  a.createdAt - b.createdAt ||
  (a.taskId < b.taskId ? -1 : 1);

/**
 * Tasks that this one waits for: those it names that exist and are not done. `all`: the tasks of
 * its project.
 */
export function openBlockers<Task extends TaskState>(
  project: ProjectState,
  { blockedBy }: Pick<TaskState, 'blockedBy'>,
  all: readonly Task[],
): readonly Task[] {
  if (blockedBy.length === 0) return [];
  return all.filter(
    (other) =>
      blockedBy.includes(other.taskId) && (other.asked === true || kindOfColumn(project, other.columnId) !== 'done'),
  );
}

/** Why a task does not move. */
type Still =
  | { readonly why: 'done' }
  /** An agent works on it. */
  | { readonly why: 'claimed'; readonly agentId: AgentId; readonly since: number }
  | { readonly why: 'blocked-by'; readonly tasks: readonly TaskId[] }
  /** It is in a column that nobody takes tasks from; the person moves it on. */
  | { readonly why: 'column'; readonly kind: ColumnKind }
  /** It came as a record, and waits for the person's yes. */
  | { readonly why: 'asked' }
  /** No agent is assigned to its project. */
  | { readonly why: 'no-agent' }
  /** Its assignee is not assigned to the project any more. */
  | { readonly why: 'assignee-gone'; readonly agentId: AgentId }
  /** Its project takes one task at a time, and an agent works on this other one. */
  | { readonly why: 'one-at-a-time'; readonly agentId: AgentId; readonly since: number; readonly taskId: TaskId }
  /** The task is ready, and waits until an agent takes it. */
  | { readonly why: 'waits' };

/**
 * `taken`: columns from which agents take tasks besides those that are ready. A task in review
 * waits for the person all the same.
 */
export function whyStill(
  project: ProjectState,
  task: TaskState,
  all: readonly TaskState[],
  taken: readonly string[] = [],
): Still {
  const isReview = kindOfColumn(project, task.columnId) === 'review';
  const gives =
    givesTasks(project, task.columnId, undefined) || (!isReview && givesTasks(project, task.columnId, taken));
  const still = whyOfItsOwn(project, task, all, gives);
  const other = still.why === 'waits' ? taskAtWork(project, task, all) : undefined;
  return other ? { why: 'one-at-a-time', taskId: other.taskId, ...other.claim } : still;
}
/**
 * As `whyStill`, as if every project took any number of tasks at a time. `gives`: agents take tasks
 * from its column.
 */
function whyOfItsOwn(project: ProjectState, task: TaskState, all: readonly TaskState[], gives: boolean): Still {
  const kind = kindOfColumn(project, task.columnId) ?? 'backlog';
  if (kind === 'done') return { why: 'done' };
  if (task.claim) return { why: 'claimed', agentId: task.claim.agentId, since: task.claim.since };
  if (!gives) return { why: 'column', kind };
  if (task.asked) return { why: 'asked' };
  const blockers = openBlockers(project, task, all);
  if (blockers.length > 0) return { why: 'blocked-by', tasks: blockers.map(({ taskId }) => taskId) };
  if (project.agents.length === 0) return { why: 'no-agent' };
  if (task.assignee !== null && !project.agents.includes(task.assignee))
    return { why: 'assignee-gone', agentId: task.assignee };
  return { why: 'waits' };
}

/**
 * Tasks that this agent may claim now, most urgent first. `chosen`: as for `givesTasks`. Whether it
 * may review one says `takersOf`.
 */
export function readyFor<Task extends TaskState>(
  project: ProjectState,
  agentId: AgentId,
  all: readonly Task[],
  chosen?: readonly string[],
): readonly Task[] {
  if (!project.agents.includes(agentId)) return [];
  if (takesOneTask(project) && all.some(({ claim }) => claim !== null)) return [];
  return all
    .filter(
      (task) =>
        whyOfItsOwn(project, task, all, givesTasks(project, task.columnId, chosen)).why === 'waits' &&
        (task.assignee === null || task.assignee === agentId),
    )
    .toSorted(byPriority);
}

/** Why these columns cannot be a project's, as a sentence. Null: they can. */
export function refuseColumns(columns: readonly Column[]): string | null {
  const ids = new Set(columns.map(({ columnId }) => columnId));
  if (ids.size < columns.length) return 'Two columns have the same id.';
  const missing = NEEDED_KINDS.find((kind) => !columns.some((column) => column.kind === kind));
  return missing === undefined ? null : `A project needs a column of the kind “${missing}”.`;
}
