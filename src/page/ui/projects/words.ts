/** Projects and tasks in words: columns, priorities, why a task does not move, and its history. */
import type { Held, Obstacle } from '../../../shared/domain/obstacles.ts';
import type { ColumnKind } from '../../../shared/domain/projects.ts';
import type { Project, Task, TaskCard } from '../../../shared/protocol/projects.ts';
import { retold, t } from '../../language/t.ts';
import { plural } from '../text/sizes.ts';
import { dayAndClock, since } from '../text/time.ts';
import { doneText } from './work-words.ts';

type Still = Held;

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
  review: t`An agent is finished, and you look at it.`,
  blocked: t`It cannot go on.`,
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

function columnText(kind: ColumnKind): string {
  switch (kind) {
    case 'backlog':
      return t`Not ready yet`;
    case 'planning':
      return t`Is being planned`;
    case 'in_progress':
      return t`Nobody works on it now`;
    case 'review':
      return t`Waits for you to look at it`;
    case 'blocked':
      return t`Cannot go on`;
    case 'ready':
    case 'done':
      return KIND_NAMES[kind];
    default:
      return kind satisfies never;
  }
}

/** `name`: of the agent that it keeps, or whose call waits. */
function obstacleText(why: Obstacle['why'], name: string): string {
  switch (why) {
    case 'budget':
      return t`No budget is left for ${name}`;
    case 'blackout':
      return t`Quiet hours of ${name}`;
    case 'switched-off':
      return t`Waking ${name} is switched off`;
    case 'minutes':
      return t`${name} has worked as long today as it may`;
    case 'concurrency':
      return t`${name} is at work already`;
    case 'agent-busy':
      return t`${name} begins nothing by itself now`;
    case 'no-copy':
      return t`The relay cannot wake ${name}`;
    case 'gate':
      return t`A wake limit of ${name} holds it back`;
    case 'unprepared':
      return t`The place of work could not be prepared`;
    case 'tools-off':
      return t`${name} cannot do its work: something is off`;
    case 'project-budget':
      return t`The project’s budget for today is used up`;
    case 'task-budget':
      return t`It has cost as much as it may`;
    case 'approval':
      return t`${name} waits for your yes`;
    default:
      return why satisfies never;
  }
}

/** Why a task does not move, in a few words. */
export function stillText(
  still: Still,
  task: Pick<TaskCard, 'assignee' | 'doneWithout'>,
  { nameOf, taskOf }: Known,
): string {
  switch (still.why) {
    case 'done':
      return doneText(task);
    case 'claimed':
      return t`${nameOf(still.agentId)} works on it`;
    case 'blocked-by': {
      const [first] = still.tasks;
      const other = first === undefined ? undefined : taskOf(first);
      return still.tasks.length === 1 && other
        ? t`Waits for #${other.number} ${other.title}`
        : t`Waits for ${plural(still.tasks.length, 'other task')}`;
    }
    case 'column':
      return columnText(still.kind);
    case 'asked':
      return t`Waits for your yes`;
    case 'no-agent':
      return t`No agent may work on this project`;
    case 'assignee-gone':
      return t`${nameOf(still.agentId)} may not work on this project`;
    case 'obstacle':
      return obstacleText(still.obstacle.why, still.agentId === null ? '' : nameOf(still.agentId));
    case 'nobody-can':
      return t`None of its agents can begin now`;
    case 'no-routine':
      return t`No routine takes it`;
    case 'one-at-a-time': {
      const other = taskOf(still.taskId);
      return other
        ? t`Waits until ${nameOf(still.agentId)} has finished #${other.number} ${other.title}`
        : t`Waits until ${nameOf(still.agentId)} has finished another task`;
    }
    case 'waits':
      return task.assignee === null
        ? t`Waits until an agent takes it`
        : t`Waits until ${nameOf(task.assignee)} takes it`;
    default:
      return still satisfies never;
  }
}

/** Obstacles that keep an agent from working in a conversation, too. */
const KEEPS_ALL: readonly Obstacle['why'][] = [
  'budget',
  'project-budget',
  'task-budget',
  'approval',
  'unprepared',
  'tools-off',
];

/** What the relay says, and whether the person can ask for the work all the same. */
const obstacleHint = ({ why, detail }: Obstacle): string =>
  KEEPS_ALL.includes(why) ? retold(detail) : t`${retold(detail)} In a conversation it can still be asked.`;

/** What the person can do so that it moves. null: nothing is needed. */
export function stillHint(still: Still, nameOf: Known['nameOf']): string | null {
  switch (still.why) {
    case 'obstacle':
      return obstacleHint(still.obstacle);
    case 'nobody-can':
      return t`${nameOf(still.agentId)} is the first who can: ${obstacleHint(still.obstacle)}`;
    case 'no-routine':
      return t`No routine of its agents takes tasks from this column. Give one the project in its settings, or ask an agent in a conversation.`;
    case 'column':
      if (still.kind === 'review') return t`Move it on if it is good, or back with a few words about what is missing.`;
      if (still.kind === 'blocked') return t`Its history says why. Help, and move it to a column that is ready.`;
      return t`Agents take tasks from columns that are ready. Move it there when it is.`;
    case 'asked':
      return t`It came from a copy, another device or another relay. Say yes to it above, or move it yourself.`;
    case 'no-agent':
      return t`Choose in the settings of the project who may work on it.`;
    case 'assignee-gone':
      return t`Assign it to somebody else, or let it be taken by anybody.`;
    case 'one-at-a-time':
      return t`The project takes one task at a time. Its settings can give each task a checkout of its own.`;
    case 'waits':
      return t`An agent takes it when it is awake and looks for work: by a routine, or because you ask for it.`;
    case 'claimed':
    case 'blocked-by':
    case 'done':
      return null;
    default:
      return still satisfies never;
  }
}

/** `until 07:00` where it is known when it can go on, `since yesterday` otherwise. */
export function stillWhen(still: Still, { since: stands }: Pick<TaskCard, 'since'>, now: number): string {
  const until = 'obstacle' in still ? still.obstacle.until : null;
  if (until !== null && until > now) return t`until ${dayAndClock(until, now)}`;
  return t`since ${since(still.why === 'claimed' ? still.since : stands, now)}`;
}

/** An entry of a history, as a sentence without its note. */
export function historyText(
  { by, what, columnId }: Task['history'][number],
  project: Pick<Project, 'columns'>,
  nameOf: Known['nameOf'],
): string {
  const isPerson = by === PERSON;
  const name = isPerson ? '' : nameOf(by);
  const column =
    columnId === null
      ? ''
      : (project.columns.find((one) => one.columnId === columnId)?.name ?? t`a column that is gone`);
  switch (what) {
    case 'created':
      return isPerson ? t`You created it` : t`${name} created it`;
    case 'moved':
      return isPerson ? t`You moved it to ${column}` : t`${name} moved it to ${column}`;
    case 'claimed':
      return isPerson ? t`You took it` : t`${name} took it`;
    case 'released':
      return isPerson ? t`You released it` : t`${name} released it`;
    case 'edited':
      return isPerson ? t`You changed it` : t`${name} changed it`;
    case 'met':
      return isPerson ? t`You said what is met` : t`${name} said what is met`;
    case 'requested':
      return isPerson ? t`You asked for a review` : t`${name} asked for a review`;
    case 'merged':
      return t`You accepted the work`;
    case 'changes':
      return t`You asked for changes`;
    case 'closed':
      return t`You closed the request`;
    default:
      return what satisfies never;
  }
}

/** Who said that a criterion is met. */
export const metBy = (by: string, nameOf: Known['nameOf']): string =>
  by === PERSON ? t`You say so` : t`${nameOf(by)} says so`;
