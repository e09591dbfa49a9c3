/** Projects and tasks on the wire: boards of work that agents claim, each task by one agent. */
import { z } from 'zod';
import type { ProjectId, TaskId } from '../domain/ids.ts';
import { COLUMN_KINDS, PRIORITIES } from '../domain/projects.ts';
import { inOneSpelling } from './addresses.ts';
import { mergeRequestSchema, WORK_DEFAULTS, workFields } from './attempts.ts';
import { authorSchema, common, ms } from './documents.ts';
import { projectIdSchema } from './outward-texts.ts';
import { idOf, LIMITS } from './limits.ts';
import { LINE_COMMENT_LIMITS, lineCommentSchema } from './line-comments.ts';
import { threadMessageSchema } from './threads.ts';
import { namedVersionSchema, versionSchema } from './version.ts';

/** Limits of one project. */
export const PROJECT_LIMITS = {
  /** Projects of a household. */
  projects: 100,
  /** Tasks of a project that are not deleted. */
  tasks: 10_000,
  columns: 20,
  criteria: 50,
  labels: 20,
  blockedBy: 50,
  /** Entries of a task's history: the newest. */
  history: 200,
  name: 100,
  title: 200,
  label: 40,
  criterion: 500,
  evidence: 2_000,
  /** The text of a task, and instructions of a project. */
  text: 20_000,
  note: 2_000,
  comment: 20_000,
  /** Characters of a search, and tasks that one finds. */
  search: 200,
  /** Tasks, and files, of one search in all projects. */
  foundAnywhere: 20,
  found: 1_000,
} as const;

/** Author of what the relay itself does. */
const RELAY = 'relay';

const id = z.string().min(1).max(LIMITS.id);
const projectId = idOf<ProjectId>(projectIdSchema);
const taskId = idOf<TaskId>(id);
const columnId = z.string().min(1).max(LIMITS.id);
const line = (max: number) => z.string().trim().min(1).max(max);

const columnSchema = z.strictObject({
  columnId: columnId.describe('names the column within its project'),
  name: line(PROJECT_LIMITS.name),
  kind: z.enum(COLUMN_KINDS).describe('what the column means; agents take tasks from `ready`'),
});

const criterionSchema = z.strictObject({
  criterionId: id,
  text: line(PROJECT_LIMITS.criterion),
  met: z
    .strictObject({ time: ms, by: authorSchema, evidence: z.string().max(PROJECT_LIMITS.evidence) })
    .nullable()
    .describe('who says that it is met, and what shows it; null: it is not met yet'),
});

const historySchema = z.strictObject({
  time: ms,
  by: authorSchema,
  what: z.enum([
    'created',
    'started',
    'moved',
    'claimed',
    'released',
    'edited',
    'met',
    'requested',
    'merged',
    'reverted',
    'changes',
    'closed',
    'setup',
  ]),
  fields: z
    .array(z.enum(['title', 'description', 'criteria', 'priority', 'labels', 'blockedBy', 'assignee']))
    .optional()
    .describe('of an edit: what was changed; left out: not known'),
  columnId: columnId.nullable().describe('where it was moved to; null: it was not moved'),
  note: z.string().max(PROJECT_LIMITS.note).describe('what the mover or releaser said; may be empty'),
});

const projectFields = {
  name: line(PROJECT_LIMITS.name),
  instructions: z.string().max(PROJECT_LIMITS.text).describe('for every agent that works on it'),
  columns: z.array(columnSchema).min(1).max(PROJECT_LIMITS.columns).describe('in the order of the board'),
  agents: z.array(common.agentId).max(LIMITS.threadParticipants).describe('agents that may work on it'),
};
const taskFields = {
  title: line(PROJECT_LIMITS.title),
  description: z.string().max(PROJECT_LIMITS.text),
  criteria: z.array(criterionSchema).max(PROJECT_LIMITS.criteria).describe('what must hold when it is done'),
  priority: z.enum(PRIORITIES),
  labels: z.array(line(PROJECT_LIMITS.label)).max(PROJECT_LIMITS.labels),
  blockedBy: z.array(taskId).max(PROJECT_LIMITS.blockedBy).describe('tasks of this project that must be done first'),
  assignee: common.agentId.nullable().describe('the only agent that may take it; null: any of the project'),
};

/** Settings of the work on a project. Those that are left out have their defaults. */
const work = {
  kind: workFields.kind.default(WORK_DEFAULTS.kind),
  repository: workFields.repository.default(WORK_DEFAULTS.repository),
  baseBranch: workFields.baseBranch.default(WORK_DEFAULTS.baseBranch),
  copy: workFields.copy.default(() => [...WORK_DEFAULTS.copy]),
  worktrees: workFields.worktrees.default(WORK_DEFAULTS.worktrees),
  setup: workFields.setup.default(WORK_DEFAULTS.setup),
  checks: workFields.checks.default(() => [...WORK_DEFAULTS.checks]),
  doneNeeds: workFields.doneNeeds.default(() => ({ ...WORK_DEFAULTS.doneNeeds })),
  subtasksReady: workFields.subtasksReady.default(WORK_DEFAULTS.subtasksReady),
  commands: workFields.commands.default(WORK_DEFAULTS.commands),
  attemptsPerTask: workFields.attemptsPerTask.default(WORK_DEFAULTS.attemptsPerTask),
  executorsAtOnce: workFields.executorsAtOnce.default(WORK_DEFAULTS.executorsAtOnce),
  executorSeconds: workFields.executorSeconds.default(WORK_DEFAULTS.executorSeconds),
  reviewer: workFields.reviewer.default(WORK_DEFAULTS.reviewer),
  taskMicroUsd: workFields.taskMicroUsd.default(WORK_DEFAULTS.taskMicroUsd),
  dayMicroUsd: workFields.dayMicroUsd.default(WORK_DEFAULTS.dayMicroUsd),
};

/** A project as its record has it. */
export const projectValueSchema = z.strictObject({
  ...projectFields,
  ...work,
  createdAt: ms,
  removed: z.boolean().describe('deleted, with its tasks'),
});
/** A task as its record has it. Who works on it now is the relay's knowledge alone. */
export const taskValueSchema = z.strictObject({
  projectId,
  number: z.number().int().positive().describe('counts the tasks of its project, from 1'),
  ...taskFields,
  columnId,
  parentTaskId: taskId.nullable().default(null).describe('the task of this project that it is a part of; null: none'),
  request: mergeRequestSchema.nullable().default(null).describe('the newest request; null: there was none'),
  lineComments: z
    .array(lineCommentSchema)
    .max(LINE_COMMENT_LIMITS.kept)
    .default(() => [])
    .describe('of the person on lines of its diff, oldest first; the oldest are dropped'),
  unprepared: z
    .strictObject({ times: z.number().int().positive(), why: z.string().max(PROJECT_LIMITS.note) })
    .nullable()
    .default(null)
    .describe(
      'its work could not begin, so often since the human moved it last, and why at last; the task is blocked after a few times; null: nothing is in the way',
    ),
  doneWithout: z
    .array(z.enum(['change', 'checks', 'criteria']))
    .max(3)
    .default(() => [])
    .describe('conditions that did not hold, or that the project does not ask for, when the task was moved to done'),
  createdAt: ms,
  createdBy: authorSchema,
  updatedAt: ms,
  history: z.array(historySchema).max(PROJECT_LIMITS.history).describe('oldest first; the oldest are dropped'),
  removed: z.boolean().describe('deleted'),
});
export type ProjectValue = z.infer<typeof projectValueSchema>;
export type TaskValue = z.infer<typeof taskValueSchema>;

export const projectSchema = z.object({
  ...projectValueSchema.omit({ removed: true }).shape,
  projectId,
  version: versionSchema,
  counts: z.record(z.string(), z.number().int().nonnegative()).describe('tasks by column'),
});
export type Project = z.infer<typeof projectSchema>;
export const projectsSchema = z.object({ projects: z.array(projectSchema).describe('oldest first') });

export const taskSchema = z.object({
  ...taskValueSchema.omit({ removed: true }).shape,
  taskId,
  version: versionSchema,
  claim: z
    .object({
      agentId: common.agentId,
      since: ms,
      rests: ms
        .optional()
        .describe('since when its agent, which is awake in the session, has said nothing more; left out: it works'),
    })
    .nullable()
    .describe('the agent that has it now; null: none'),
  asked: z
    .literal(true)
    .optional()
    .describe('it came from elsewhere, and no agent takes it before the person has said yes'),
});
export type Task = z.infer<typeof taskSchema>;
/** A task that a program has claimed. */
export const claimedTaskSchema = taskSchema.extend({
  place: z.string().describe('where the work is done, for the agent; empty where agents have no folders'),
});
/** A task as a board shows it: without its text, its history and evidence. */
const taskCardSchema = z.object({
  ...taskSchema.pick({
    ...{ projectId: true, taskId: true, number: true, version: true, title: true, priority: true, labels: true },
    ...{ blockedBy: true, assignee: true, columnId: true, createdAt: true, createdBy: true, updatedAt: true },
    ...{ claim: true, doneWithout: true, asked: true },
  }).shape,
  criteria: z.object({ met: z.number().int().nonnegative(), all: z.number().int().nonnegative() }),
  note: historySchema.shape.note.describe('what was said when it was moved to its column; may be empty'),
  since: ms.describe('since when it stands as it does'),
  stopped: z
    .object({ agentId: common.agentId, at: ms })
    .optional()
    .describe('the agent whose claim ended with its run and without a result; left out: the task went on since'),
  merged: z.literal(true).optional().describe('the work on it was accepted'),
  worker: common.agentId.optional().describe('the agent that claimed it last; left out: none did'),
});
export type TaskCard = z.infer<typeof taskCardSchema>;
/** Whether the task stood otherwise after it. A note, and a setup that failed, change nothing. */
const movesOn = ({ what }: Task['history'][number]) => what !== 'edited' && what !== 'met' && what !== 'setup';
export const cardOf = (task: Task): TaskCard => ({
  ...{ projectId: task.projectId, taskId: task.taskId, number: task.number, version: task.version },
  ...{ title: task.title, priority: task.priority, labels: task.labels, blockedBy: task.blockedBy },
  ...{ assignee: task.assignee, columnId: task.columnId, claim: task.claim, doneWithout: task.doneWithout },
  ...{ createdAt: task.createdAt, createdBy: task.createdBy, updatedAt: task.updatedAt },
  ...(task.asked ? { asked: true } : {}),
  criteria: { met: task.criteria.filter(({ met }) => met !== null).length, all: task.criteria.length },
  note: task.history.findLast(({ columnId }) => columnId === task.columnId)?.note ?? '',
  since: task.history.findLast(movesOn)?.time ?? task.createdAt,
  ...stoppedIn(task),
  ...(task.request?.state === 'merged' ? { merged: true as const } : {}),
  ...workerOf(task),
});

function workerOf({ history }: Pick<Task, 'history'>): Pick<TaskCard, 'worker'> {
  const worker = history.findLast(({ what }) => what === 'claimed')?.by;
  return worker === undefined ? {} : { worker };
}
/** The agent that stopped, where a claim ended with its run and nothing has happened since. */
function stoppedIn({ claim, history }: Pick<Task, 'claim' | 'history'>): Pick<TaskCard, 'stopped'> {
  const last = history.findLast(movesOn);
  if (claim !== null || last?.what !== 'released' || last.by !== RELAY) return {};
  const { worker } = workerOf({ history });
  return worker === undefined ? {} : { stopped: { agentId: worker, at: last.time } };
}
/** `GET /v1/projects/{projectId}/board` */
export const boardSchema = z.object({
  cards: z.array(taskCardSchema).describe('by number, oldest first'),
  gone: z.array(taskId).describe('with `since`: tasks that were deleted'),
  asOf: z.number().int().describe('the `since` of a later call, which answers what changed meanwhile'),
  next: z.number().int().positive().nullable().describe('the `after` of the next page; null: this is the last'),
});

/** `GET /v1/projects/{projectId}/search` */
export const foundTasksSchema = z.object({
  taskIds: z.array(taskId).max(PROJECT_LIMITS.found).describe('by number, oldest first'),
  more: z.boolean().describe('more were found than are listed'),
});
export type FoundTasks = z.infer<typeof foundTasksSchema>;

/** `GET /v1/find` */
export const foundAnywhereSchema = z.object({
  tasks: z.array(
    z.object({ projectId: idOf<ProjectId>(projectIdSchema), taskId, number: z.number(), title: z.string(), columnId }),
  ),
  files: z.array(
    z.discriminatedUnion('of', [
      z.object({ of: z.literal('project'), projectId: idOf<ProjectId>(projectIdSchema), path: z.string() }),
      z.object({ of: z.literal('agent'), agentId: common.agentId, path: z.string() }),
    ]),
  ),
  more: z.boolean().describe('more were found than are listed'),
});
export type FoundAnywhere = z.infer<typeof foundAnywhereSchema>;

/** `GET /v1/projects/{projectId}/tasks` */
export const tasksSchema = z.object({
  tasks: z.array(taskSchema).describe('by number, oldest first'),
  more: z.boolean().describe('there are later ones'),
});

/** `POST /v1/projects` */
export const createProjectSchema = z.strictObject({
  name: projectFields.name,
  instructions: projectFields.instructions.default(''),
  columns: projectFields.columns.optional().describe('left out: one of each kind'),
  agents: projectFields.agents.default([]),
  ...work,
  repository: work.repository.overwrite(inOneSpelling),
});
/** `PUT /v1/projects/{projectId}`: fields that are left out stay as they are. */
export const changeProjectSchema = z.strictObject({
  ...z
    .object({ ...projectFields, ...workFields })
    .omit({ kind: true, repository: true })
    .partial().shape,
  version: namedVersionSchema,
});

const newCriterion = z.strictObject({
  criterionId: id.optional().describe('of one that is there already; left out: a new one'),
  text: line(PROJECT_LIMITS.criterion),
});
const writable = { ...taskFields, criteria: z.array(newCriterion).max(PROJECT_LIMITS.criteria) };
/** `POST /v1/projects/{projectId}/tasks` */
export const createTaskSchema = z.strictObject({
  title: writable.title,
  description: writable.description.default(''),
  criteria: writable.criteria.default([]),
  priority: writable.priority.default('normal'),
  labels: writable.labels.default([]),
  blockedBy: writable.blockedBy.default([]),
  assignee: writable.assignee.default(null),
  columnId: columnId.optional().describe('left out: the first of the kind `backlog`'),
  parentTaskId: taskId.optional().describe('the task of this project that it is a part of; left out: none'),
});
/** `PUT …/tasks/{taskId}`: fields that are left out stay as they are. */
export const changeTaskSchema = z.strictObject({
  ...z.object(writable).partial().shape,
  version: namedVersionSchema,
});
/** `POST …/tasks/{taskId}/criteria/{criterionId}` */
export const meetCriterionSchema = z.strictObject({
  met: z.boolean(),
  evidence: z.string().trim().max(PROJECT_LIMITS.evidence).default(''),
});
/** `POST …/tasks/{taskId}/move` */
export const moveTaskSchema = z.strictObject({
  columnId,
  note: z.string().trim().max(PROJECT_LIMITS.note).default(''),
  anyway: z.boolean().default(false).describe('the person moves it to done although a condition does not hold'),
  version: namedVersionSchema,
});
/** `POST …/tasks/{taskId}/start` */
export const startTaskSchema = z.strictObject({
  agentId: common.agentId,
  words: line(PROJECT_LIMITS.note).optional().describe('the person’s message in the conversation; left out: English'),
});
/** `POST …/tasks/{taskId}/comments` */
export const addCommentSchema = z.strictObject({
  text: z.string().trim().min(1).max(PROJECT_LIMITS.comment),
  clientId: id.describe('a repeat with the same id is the same comment'),
});
/** `GET …/tasks/{taskId}/comments` */
export const commentsSchema = z.object({
  comments: z.array(threadMessageSchema).describe('oldest first'),
  more: z.boolean().describe('there are earlier ones'),
});
/** `POST …/tasks/{taskId}/release` */
export const releaseTaskSchema = z.strictObject({
  note: z.string().trim().max(PROJECT_LIMITS.note).default(''),
});
