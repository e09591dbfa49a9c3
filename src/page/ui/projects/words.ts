/** Projects and tasks in words: columns, priorities, why a task does not move, and its history. */
import type { Held, Obstacle } from '../../../shared/domain/obstacles.ts';
import type { TaskState } from '../../../shared/domain/task-state.ts';
import type { ColumnKind } from '../../../shared/domain/projects.ts';
import type { Project, Task, TaskCard } from '../../../shared/protocol/projects.ts';
import { retold, t } from '../../language/t.ts';
import { names, plural } from '../text/sizes.ts';
import { dayAndClock, since } from '../text/time.ts';
import { doneText, OUTCOMES, REQUEST_STATES } from './work-words.ts';

/** The person, as the author of an entry of a history. */
const PERSON = 'human';

export const KIND_NAMES: Readonly<Record<ColumnKind, string>> = {
  backlog: t`Backlog`,
  planning: t`Planning`,
  ready: t`Ready`,
  in_progress: t`In progress`,
  review: t`Review`,
  blocked: t`Blocked`,
  done: t`Done`,
};

/** What a column of this kind is for. */
export const KIND_HINTS: Readonly<Record<ColumnKind, string>> = {
  backlog: t`Ideas. Nobody works on them yet.`,
  planning: t`Being thought through.`,
  ready: t`Agents take tasks from here.`,
  in_progress: t`An agent works on it.`,
  review: t`An agent has finished it. You review it.`,
  blocked: t`Needs your help.`,
  done: t`Finished.`,
};

export const PRIORITY_NAMES: Readonly<Record<Task['priority'], string>> = {
  urgent: t`Urgent`,
  high: t`High`,
  normal: t`Normal`,
  low: t`Low`,
};

/** What the words need to know of others. */
export interface Known {
  /** Name of an agent. */
  readonly nameOf: (agentId: string) => string;
  readonly taskOf: (taskId: string) => TaskCard | undefined;
}

const columnText = (kind: ColumnKind): string =>
  kind === 'in_progress' ? t`Nobody works on it now` : KIND_NAMES[kind];

/** `name`: of the agent that it keeps, or whose call waits. */
function obstacleText(why: Obstacle['why'], name: string): string {
  switch (why) {
    case 'budget':
    case 'project-budget':
    case 'task-budget':
      return t`The budget is used up`;
    case 'blackout':
      return t`Quiet hours of ${name}`;
    case 'switched-off':
    case 'no-copy':
      return t`${name} won’t start without you`;
    case 'minutes':
    case 'gate':
      return t`${name} has reached a limit`;
    case 'concurrency':
    case 'agent-busy':
      return t`${name} is busy`;
    case 'unprepared':
    case 'tools-off':
      return t`Something that it needs is missing`;
    case 'approval':
      return t`Waits for your yes`;
    default:
      return why satisfies never;
  }
}

/** What keeps a task, in a few words. */
function heldText(held: Held, { nameOf, taskOf }: Known): string {
  const othersText = (taskIds: readonly string[]) => {
    const [other, ...more] = taskIds.map(taskOf);
    return other && more.length === 0
      ? t`Waits for ${`#${String(other.number)} ${other.title}`}`
      : t`Waits for ${plural(taskIds.length, 'other task')}`;
  };
  switch (held.why) {
    case 'blocked-by':
      return othersText(held.tasks);
    case 'column':
      return columnText(held.kind);
    case 'asked':
      return t`Waits for your yes`;
    case 'no-agent':
      return t`No agent may work on this project`;
    case 'assignee-gone':
      return t`${nameOf(held.agentId)} may not work on this project`;
    case 'obstacle':
      return obstacleText(held.obstacle.why, held.agentId === null ? '' : nameOf(held.agentId));
    case 'nobody-can':
      // Waiting does not help. The person starts it, or lets an agent start by itself.
      return held.obstacle.until === null ? t`Not started yet` : obstacleText(held.obstacle.why, nameOf(held.agentId));
    case 'one-at-a-time':
      return othersText([held.taskId]);
    case 'no-routine':
    case 'waits':
    case 'claimed':
    case 'done':
      return t`Not started yet`;
    default:
      return held satisfies never;
  }
}

export const titleOf = ({ number, title }: Pick<TaskCard, 'number' | 'title'>): string =>
  t`Review of #${number} ${title}`;

/** What a task is doing, in a few words. */
export function stateText(now: TaskState, task: Pick<TaskCard, 'doneWithout'>, known: Known): string {
  switch (now.state) {
    case 'planned':
      return columnText(now.kind);
    case 'queued':
    case 'waits-for-you':
      return heldText(now.held, known);
    case 'working':
      return now.step ? `${known.nameOf(now.agentId)}: ${now.step.text}` : t`${known.nameOf(now.agentId)} works on it`;
    case 'stopped':
      return t`${known.nameOf(now.agentId)} stopped, unfinished`;
    case 'in-review':
      return t`Waits for your review`;
    case 'merged':
      return t`Merged`;
    case 'done':
      return doneText(task);
    default:
      return now satisfies never;
  }
}

/** What the person can do so that it moves. null: nothing is needed, or a button says it. */
export function stateHint(now: TaskState): string | null {
  if (now.state === 'planned')
    return now.kind === 'in_progress'
      ? null
      : t`Agents take tasks only from columns of the kind “${KIND_NAMES.ready}”.`;
  return 'held' in now ? heldHint(now.held) : null;
}

function heldHint(held: Held): string | null {
  switch (held.why) {
    case 'obstacle':
      return retold(held.obstacle.detail);
    case 'nobody-can':
      return held.obstacle.why === 'no-copy'
        ? t`No agent is allowed to start on its own yet.`
        : retold(held.obstacle.detail);
    case 'no-routine':
      return t`No routine takes tasks from this column.`;
    case 'asked':
      return t`It came from a copy, another device or another relay.`;
    case 'assignee-gone':
      return t`Assign it to another agent.`;
    case 'one-at-a-time':
      return t`The project takes one task at a time. Its settings can change that.`;
    case 'no-agent':
    case 'column':
    case 'waits':
    case 'claimed':
    case 'blocked-by':
    case 'done':
      return null;
    default:
      return held satisfies never;
  }
}

/** `until 07:00` where it is known when it can go on, `since yesterday` otherwise. */
export function stateWhen(now: TaskState, ms: number): string {
  const held = 'held' in now ? now.held : null;
  const until = held && 'obstacle' in held ? held.obstacle.until : null;
  if (until !== null && until > ms) return t`until ${dayAndClock(until, ms)}`;
  return t`since ${since(now.state === 'working' && now.step ? now.step.from : now.since, ms)}`;
}

type Entry = Task['history'][number];
const FIELD_NAMES: Readonly<Record<NonNullable<Entry['fields']>[number], string>> = {
  title: t`Title`,
  description: t`Description`,
  criteria: t`Done when`,
  priority: t`Priority`,
  labels: t`Labels`,
  blockedBy: t`Waits for`,
  assignee: t`For`,
};

/** Entries of one author that say the same, one after another, are one line. Newest first. */
export function historyLines(history: readonly Entry[]): readonly (readonly Entry[])[] {
  const lines: Entry[][] = [];
  for (const entry of history) {
    const last = lines.at(-1);
    const isSame = last?.[0]?.by === entry.by && last[0].what === entry.what;
    if (last && isSame && (entry.what === 'edited' || entry.what === 'met')) last.push(entry);
    else lines.push([entry]);
  }
  return lines.toReversed();
}

/** A line of a history, as a sentence without its notes. */
export function historyText(
  line: readonly Entry[],
  project: Pick<Project, 'columns'>,
  nameOf: Known['nameOf'],
): string {
  const [first] = line;
  if (first === undefined) return '';
  const { by, what, columnId } = first;
  if (what === 'setup' || (by === 'relay' && what === 'edited')) return t`Roost`;
  const column = project.columns.find((one) => one.columnId === columnId)?.name ?? t`a column that is gone`;
  const fields = names([...new Set(line.flatMap((entry) => entry.fields ?? []))].map((field) => FIELD_NAMES[field]));
  const acts: Readonly<Record<Exclude<Entry['what'], 'setup'>, string>> = {
    created: t`created`,
    moved: t`moved to ${columnId === null ? '' : column}`,
    started: t`started`,
    claimed: t`taken`,
    released: OUTCOMES.released.name,
    // Of earlier edits it is not known what they changed.
    edited: fields === '' ? t`changed` : t`${t`changed`}: ${fields}`,
    met: t`${plural(line.length, 'criterion', 'criteria')} checked off`,
    requested: t`asked for a review`,
    merged: REQUEST_STATES.merged.name,
    reverted: REQUEST_STATES.reverted.name,
    changes: REQUEST_STATES['changes-wanted'].name,
    closed: REQUEST_STATES.closed.name,
  };
  return `${by === PERSON ? t`You` : nameOf(by)}: ${acts[what]}`;
}

/** The author of a criterion's tick. */
export const metBy = (by: string, nameOf: Known['nameOf']): string => (by === PERSON ? t`You` : nameOf(by));
