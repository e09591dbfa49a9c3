/** Projects and tasks to test with. */
import { DEFAULT_COLUMNS } from '../../../../src/shared/domain/projects.ts';
import { WORK_DEFAULTS } from '../../../../src/shared/protocol/attempts.ts';
import { cardOf, type Project, type Task } from '../../../../src/shared/protocol/projects.ts';
import type { Mapping } from '../../../../src/shared/protocol/routine-mappings.ts';
import { NOW } from './household.ts';
import { type AskedCall, json, type MemoryReach, refused } from './reach.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const task = (number: number, title: string, columnId: string, more: Partial<Task> = {}): Task => ({
  projectId: 'trip',
  taskId: `task-${number}`,
  number,
  version: 1,
  title,
  description: '',
  criteria: [],
  priority: 'normal',
  labels: [],
  blockedBy: [],
  assignee: null,
  columnId,
  parentTaskId: null,
  createdAt: NOW - 48 * HOUR + number * MINUTE,
  createdBy: 'human',
  updatedAt: NOW - HOUR,
  history: [{ time: NOW - 26 * HOUR, by: 'human', what: 'created', columnId: 'backlog', note: '' }],
  claim: null,
  request: null,
  lineComments: [],
  doneWithout: [],
  unprepared: null,
  ...more,
});

export const project = (more: Partial<Project> = {}): Project => ({
  projectId: 'trip',
  version: 3,
  name: 'Plan our trip',
  instructions: 'We travel by train.',
  columns: DEFAULT_COLUMNS.map((column) => ({ ...column })),
  agents: ['agent-1', 'agent-2'],
  createdAt: NOW - 72 * HOUR,
  counts: {},
  ...WORK_DEFAULTS,
  doneNeeds: { ...WORK_DEFAULTS.doneNeeds },
  copy: [],
  checks: [],
  ...more,
});

/** A routine that works on the project. */
export const mapping = (more: Partial<Mapping> = {}): Mapping => ({
  mappingId: 'm1',
  version: 4,
  projectId: 'trip',
  routineId: 'schedule-1',
  agentId: 'agent-1',
  columnIds: null,
  toolOverrides: null,
  separate: false,
  createdAt: NOW - 48 * HOUR,
  name: 'Morning round',
  enabled: true,
  waits: false,
  ...more,
});

/** A board on which something goes on in each column but one. */
export const TASKS: readonly Task[] = [
  task(1, 'Find three places that fit', 'review', {
    labels: ['research'],
    priority: 'high',
    assignee: 'agent-1',
    description: 'Each can be reached **by train** within eight hours.\n\n- with a child of seven\n- in spring',
    criteria: [
      {
        criterionId: 'c1',
        text: 'Three places, each with the journey in hours',
        met: { time: NOW - HOUR, by: 'agent-1', evidence: 'places.md, lines 1 to 40' },
      },
      {
        criterionId: 'c2',
        text: 'What each costs for the three of us',
        met: { time: NOW - HOUR, by: 'agent-1', evidence: '' },
      },
      { criterionId: 'c3', text: 'One thing in each that a child would like', met: null },
    ],
    history: [
      { time: NOW - 26 * HOUR, by: 'human', what: 'created', columnId: 'backlog', note: '' },
      { time: NOW - 25 * HOUR, by: 'human', what: 'moved', columnId: 'ready', note: '' },
      { time: NOW - 3 * HOUR, by: 'agent-1', what: 'claimed', columnId: null, note: '' },
      { time: NOW - HOUR, by: 'agent-1', what: 'met', columnId: null, note: '' },
      {
        time: NOW - 50 * MINUTE,
        by: 'agent-1',
        what: 'moved',
        columnId: 'review',
        note: 'Three places are in places.md. I could not find a price for the boat in Lindau.',
      },
    ],
  }),
  task(2, 'Compare trains and where to sleep', 'ready', {
    labels: ['research', 'money'],
    blockedBy: ['task-1'],
    criteria: [
      { criterionId: 'c4', text: 'Two connections there and back, with prices', met: null },
      { criterionId: 'c5', text: 'Three places to sleep, with prices', met: null },
    ],
  }),
  task(3, 'Ask the school for the Friday', 'ready', { priority: 'urgent' }),
  task(4, 'Write a plan for the five days', 'backlog', { labels: ['writing'] }),
  task(5, 'Make a packing list that fits on one page, and mark what the child carries', 'backlog', {
    priority: 'low',
    labels: ['writing'],
  }),
  task(6, 'Read what other families wrote about Ljubljana', 'in_progress', {
    assignee: 'agent-2',
    labels: ['research'],
    claim: { agentId: 'agent-2', since: NOW - 12 * MINUTE },
  }),
  task(7, 'Book the seats', 'blocked', {
    history: [
      { time: NOW - 26 * HOUR, by: 'human', what: 'created', columnId: 'backlog', note: '' },
      {
        time: NOW - 2 * HOUR,
        by: 'agent-2',
        what: 'moved',
        columnId: 'blocked',
        note: 'The shop wants a card, and I have none.',
      },
    ],
  }),
  task(8, 'Choose the week', 'done', { updatedAt: NOW - 30 * HOUR }),
];

/** As the relay counts them. */
export const countsOf = (tasks: readonly Task[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { columnId } of tasks) counts[columnId] = (counts[columnId] ?? 0) + 1;
  return counts;
};

type Written = readonly { readonly criterionId?: string; readonly text: string }[];

/** Criteria as they are after a change: whose text stays, stays met. */
const criteriaOf = (before: Task, written: Written): Task['criteria'] =>
  written.map(({ criterionId = `new-${written.length}`, text }) => ({
    criterionId,
    text,
    met: before.criteria.find((one) => one.criterionId === criterionId && one.text === text)?.met ?? null,
  }));

type Change = (task: Task, body: Readonly<Record<string, unknown>>) => Partial<Task>;

/** A change of a task at the relay: refused where it was made from an older version. */
const changing = (held: Map<string, Task>, taskId: string, change: Change) => (call: { readonly body: unknown }) => {
  const task = held.get(taskId);
  if (!task) return refused('There is no such task.', 404, 'no-task');
  const body = (call.body ?? {}) as Readonly<Record<string, unknown>>;
  if (body['version'] !== undefined && body['version'] !== task.version)
    return refused('It was changed elsewhere.', 409, 'changed-elsewhere', { current: task });
  const changed = { ...task, ...change(task, body), version: task.version + 1 };
  held.set(taskId, changed);
  return json(changed);
};

export interface HeldTasks {
  readonly held: Map<string, Task>;
  /** Somebody else changes a task. */
  change(taskId: string, more: Partial<Task>): void;
}

/**
 * The relay with this one project. It keeps its tasks, and changes those that were there at first.
 */
export function oneProject(reach: MemoryReach, tasks: readonly Task[] = TASKS, more: Partial<Project> = {}): HeldTasks {
  const held = new Map(tasks.map((one) => [one.taskId, one]));
  const all = () => [...held.values()];
  const path = '/v1/projects/trip/tasks';
  reach.on('GET /v1/projects', () => json({ projects: [project({ counts: countsOf(all()), ...more })] }));
  /** As they were answered last. */
  let answered: ReadonlyMap<string, Task> = new Map();
  reach.on('GET /v1/projects/trip/board', ({ query }: AskedCall) => {
    const isWhole = !query.get('since');
    const after = all().filter(({ number }) => number > Number(query.get('after')));
    const rest = after.filter((one) => isWhole || answered.get(one.taskId) !== one);
    const gone = isWhole ? [] : [...answered.keys()].filter((taskId) => !held.has(taskId));
    const limit = Number(query.get('limit'));
    const page = rest.slice(0, limit);
    const next = rest.length > limit ? page.at(-1)?.number : null;
    if (next === null) answered = new Map(held);
    return json({ cards: page.map(cardOf), gone, asOf: 1, next });
  });
  reach.on(`POST ${path}`, ({ body }: AskedCall) => {
    const number = held.size + 1;
    const { title, columnId } = body as { readonly title: string; readonly columnId: string };
    const made = task(number, title, columnId);
    held.set(made.taskId, made);
    return json(made, 201);
  });
  reach.on('GET /v1/projects/trip/obstacles', { project: null, agents: [], tasks: [] });
  for (const agentId of more.agents ?? project().agents)
    reach.on(`GET /v1/projects/trip/agents/${agentId}/routines`, { mappings: [] });
  for (const { taskId } of tasks) {
    const one = `${path}/${taskId}`;
    reach.on(`GET ${one}/comments`, { comments: [], more: false });
    reach.on(`GET ${one}`, () => {
      const found = held.get(taskId);
      return found ? json(found) : refused('There is no such task.', 404, 'no-task');
    });
    reach.on(
      `PUT ${one}`,
      changing(held, taskId, (before, { criteria, ...fields }) => ({
        ...fields,
        ...(criteria === undefined ? {} : { criteria: criteriaOf(before, criteria as Written) }),
      })),
    );
    reach.on(
      `POST ${one}/move`,
      changing(held, taskId, (_task, { columnId }) => ({ columnId: String(columnId) })),
    );
    reach.on(
      `POST ${one}/release`,
      changing(held, taskId, () => ({ claim: null, columnId: 'ready' })),
    );
    reach.on(`DELETE ${one}`, () => {
      held.delete(taskId);
      return new Response(null, { status: 204 });
    });
  }
  return {
    held,
    change(taskId, changed) {
      const before = held.get(taskId);
      if (before) held.set(taskId, { ...before, ...changed, version: before.version + 1 });
    },
  };
}
