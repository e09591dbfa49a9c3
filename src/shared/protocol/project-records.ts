/**
 * What of a project, a task or an attempt waits for the person's yes when it comes as a record.
 * Every field says it. Pure.
 */
import { WORK_DEFAULTS, type AttemptValue } from './attempts.ts';
import type { ProjectValue, TaskValue } from './projects.ts';

/** `asked`: waits for a yes where it differs and does not narrow. Otherwise why it may not wait. */
type Fields<Value> = Readonly<Record<keyof Value, 'asked' | { readonly harmless: string }>>;
const harmless = (why: string) => ({ harmless: why });

export const PROJECT_FIELDS = {
  name: harmless('It is shown, and starts nothing.'),
  createdAt: harmless('It is shown, and starts nothing.'),
  removed: harmless('It only takes away.'),
  worktrees: harmless('It says where agents work that may work anyway.'),
  instructions: 'asked',
  columns: 'asked',
  agents: 'asked',
  kind: 'asked',
  repository: 'asked',
  baseBranch: 'asked',
  copy: 'asked',
  setup: 'asked',
  checks: 'asked',
  doneNeeds: 'asked',
  subtasksReady: 'asked',
  commands: 'asked',
  attemptsPerTask: 'asked',
  executorsAtOnce: 'asked',
  executorSeconds: 'asked',
  reviewer: 'asked',
  taskMicroUsd: 'asked',
  dayMicroUsd: 'asked',
} as const satisfies Fields<ProjectValue>;

/** Fields of a project that a yes covers. */
export type AskedField = {
  [Field in keyof ProjectValue]: (typeof PROJECT_FIELDS)[Field] extends 'asked' ? Field : never;
}[keyof ProjectValue];

const SHOWN = harmless('It is shown, and starts nothing.');
/** A task that came is taken by nobody before the yes, and the card shows the fields of that. */
export const TASK_FIELDS = {
  columnId: 'asked',
  number: 'asked',
  title: 'asked',
  description: 'asked',
  criteria: 'asked',
  priority: 'asked',
  assignee: 'asked',
  lineComments: 'asked',
  history: 'asked',
  labels: SHOWN,
  blockedBy: harmless('It only makes a task wait.'),
  parentTaskId: SHOWN,
  request: harmless('A merge and a revert name the commit that the person has looked at.'),
  unprepared: harmless('It is shown, and only lets a task be blocked earlier.'),
  doneWithout: SHOWN,
  projectId: harmless('The card is that of its project.'),
  createdAt: SHOWN,
  createdBy: SHOWN,
  updatedAt: SHOWN,
  removed: harmless('It only takes away.'),
} as const satisfies Fields<TaskValue>;

const OVER = harmless('A restored attempt is over. What this relay ran itself is not replaced.');
export const ATTEMPT_FIELDS = {
  projectId: OVER,
  taskId: OVER,
  number: OVER,
  agentId: OVER,
  runId: OVER,
  kind: OVER,
  model: OVER,
  startedAt: OVER,
  endedAt: OVER,
  outcome: OVER,
  note: OVER,
  noteBy: OVER,
  branch: harmless('It names a branch of the relay’s own repository, in a form that git takes for nothing else.'),
  base: OVER,
  head: OVER,
  folder: harmless('It lies below the checkouts in the agent’s own folder, by its schema.'),
  receipt: harmless('What it says of costs only fills a budget.'),
  review: OVER,
} as const satisfies Fields<AttemptValue>;

/** A project of which nothing starts, costs or reaches anything. Its columns hold its tasks. */
const NEUTRAL = {
  ...{ instructions: '', agents: [], kind: 'folder', repository: '', baseBranch: '', copy: [], setup: '', checks: [] },
  ...{ reviewer: null, doneNeeds: { change: true, checks: true, criteria: true } },
  ...{
    subtasksReady: false,
    commands: 'none',
    attemptsPerTask: 1,
    executorsAtOnce: 1,
    executorSeconds: 10,
    taskMicroUsd: 0,
    dayMicroUsd: 0,
  },
} as const;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const isSubset = (some: readonly string[], all: readonly string[]) => some.every((each) => all.includes(each));
const isLess = (after: number | null, here: number | null) => here === null || (after !== null && after <= here);

/** Whether a field only takes away from what holds here. */
const NARROWS: { readonly [Field in keyof ProjectValue]?: (after: ProjectValue, here: ProjectValue) => boolean } = {
  agents: (after, here) => isSubset(after.agents, here.agents),
  reviewer: ({ reviewer }) => reviewer === null,
  copy: (after, here) => isSubset(after.copy, here.copy),
  setup: ({ setup }) => setup === '',
  instructions: ({ instructions }) => instructions === '',
  subtasksReady: ({ subtasksReady }) => !subtasksReady,
  commands: ({ commands }) => commands === 'none',
  attemptsPerTask: (after, here) => after.attemptsPerTask <= here.attemptsPerTask,
  executorsAtOnce: (after, here) => after.executorsAtOnce <= here.executorsAtOnce,
  executorSeconds: (after, here) => after.executorSeconds <= here.executorSeconds,
  taskMicroUsd: (after, here) => isLess(after.taskMicroUsd, here.taskMicroUsd),
  dayMicroUsd: (after, here) => isLess(after.dayMicroUsd, here.dayMicroUsd),
};

/** `value`: what holds at once. `waits`: fields of the record that wait for the person's yes. */
export interface HeldProject {
  readonly value: ProjectValue;
  readonly waits: readonly (keyof ProjectValue)[];
}

/** `here`: the project at this relay. Null: there is none, or it was deleted. */
export function heldProject(after: ProjectValue, here: ProjectValue | null): HeldProject {
  if (after.removed) return { value: after, waits: [] };
  // A kind stays as it was created, so a project that waits whole has the columns of the record.
  const before: ProjectValue = here ?? { ...after, ...WORK_DEFAULTS, ...structuredClone<object>(NEUTRAL) };
  const waits = (Object.keys(PROJECT_FIELDS) as (keyof ProjectValue)[]).filter(
    (field) =>
      PROJECT_FIELDS[field] === 'asked' &&
      !isSame(after[field], before[field]) &&
      NARROWS[field]?.(after, before) !== true,
  );
  const kept = Object.fromEntries(waits.map((field) => [field, before[field]]));
  return { value: { ...after, ...kept }, waits };
}
