/**
 * Attempts at tasks, on the wire: what came of each, and the request that asks the person to accept
 * it.
 */
import { z } from 'zod';
import type { ProjectId, TaskId } from '../domain/ids.ts';
import { authorSchema, common, ms } from './documents.ts';
import { webAddress } from './addresses.ts';
import {
  argumentText,
  branchSchema,
  checkoutFolderSchema,
  commitIdSchema,
  contentIdSchema,
  pathBelowSchema,
  projectIdSchema,
} from './outward-texts.ts';
import { idOf, LIMITS } from './limits.ts';
import { LINE_COMMENT_LIMITS, newLineCommentSchema, shownLineCommentSchema } from './line-comments.ts';

/** Limits of a receipt, of a diff, and of the settings of a project that make them. */
export const ATTEMPT_LIMITS = {
  /** Commands, files, commits and checks of one receipt. What is over is counted. */
  commands: 100,
  files: 300,
  commits: 100,
  checks: 10,
  /** Characters of a command, of a path, of a commit’s subject. */
  command: 2_000,
  path: 1_000,
  subject: 300,
  /** Characters of the end of a check’s output. */
  output: 4_000,
  /** Files that are copied into a checkout. */
  copied: 20,
  /** Characters of a repository’s address. */
  repository: 1_000,
  branch: 200,
  /** Characters of the diff of one file, and of all files together. */
  patch: 50_000,
  patches: 500_000,
  title: 200,
  body: 10_000,
  forgeProblem: 1_000,
  /** Ended attempts in one list, and the hours that it reaches back at most. */
  ended: 200,
  endedHours: 168,
  /** Files of a project in one list. */
  listed: 1_000,
  /** Seconds that a task’s preparation, or one check, may take. */
  seconds: 3_600,
} as const;

const count = z.number().int().nonnegative();
const text = (most: number) => z.string().max(most);

/** Conditions of `done`. A project may turn each of them off. */
const doneNeedsSchema = z.strictObject({
  change: z.boolean().describe('at least one commit or changed file'),
  checks: z.boolean().describe('all checks of the project passed'),
  criteria: z.boolean().describe('every criterion is met, with evidence'),
});
export type DoneNeeds = z.infer<typeof doneNeedsSchema>;

/** What a project grants its agents of commands. */
const COMMAND_GRANTS = ['own', 'sandbox', 'ask', 'none'] as const;
export type CommandGrant = (typeof COMMAND_GRANTS)[number];

/** How a project's tasks are worked on. */
export const workFields = {
  kind: z
    .enum(['folder', 'git'])
    .describe('folder: a shared folder that the relay keeps; git: a repository; stays as created'),
  repository: argumentText(ATTEMPT_LIMITS.repository).describe(
    'git: an absolute path on the relay’s machine, or an address under https://; folder: empty; stays as created',
  ),
  baseBranch: z
    .union([z.literal(''), branchSchema])
    .describe('git: tasks begin here and are merged here; empty: the repository’s own'),
  copy: z
    .array(pathBelowSchema)
    .max(ATTEMPT_LIMITS.copied)
    .describe('git: untracked files of the repository on the relay’s machine that each checkout gets, such as `.env`'),
  worktrees: z
    .boolean()
    .describe(
      'git: each task has a checkout of its own; false: each agent has one for the whole project, and one task of it is worked on at a time',
    ),
  setup: argumentText(ATTEMPT_LIMITS.command).describe('a command that prepares a checkout; empty: none'),
  checks: z
    .array(argumentText(ATTEMPT_LIMITS.command).trim().min(1))
    .max(ATTEMPT_LIMITS.checks)
    .describe('commands that must succeed before a task is done'),
  doneNeeds: doneNeedsSchema,
  subtasksReady: z
    .boolean()
    .describe('parts of a task that an agent creates while it has claimed the task are ready at once'),
  commands: z
    .enum(COMMAND_GRANTS)
    .describe(
      'commands of an agent while it has a task of the project, unless its own settings say otherwise. own: as its settings say; sandbox: they run, in the sandbox; ask: each asks the person; none: it runs none, and the relay commits its work',
    ),
  attemptsPerTask: z.number().int().min(1).max(50).describe('attempts at one task'),
  executorsAtOnce: z.number().int().min(1).max(20).describe('executors of the project that run at the same time'),
  executorSeconds: z.number().int().min(10).max(ATTEMPT_LIMITS.seconds).describe('time limit of an executor'),
  taskMicroUsd: count.nullable().describe('most that one task may cost, in millionths of a dollar; null: no limit'),
  reviewer: common.agentId
    .nullable()
    .describe('an agent with whose model a fresh run looks at each task in review; null: none does'),
  dayMicroUsd: count
    .nullable()
    .describe('most that the project may cost in a day, in millionths of a dollar; null: no limit'),
};
export const WORK_DEFAULTS = {
  reviewer: null,
  kind: 'folder',
  repository: '',
  baseBranch: '',
  copy: [] as string[],
  worktrees: true as boolean,
  setup: '',
  checks: [] as string[],
  doneNeeds: { change: true, checks: true, criteria: true },
  subtasksReady: false as boolean,
  commands: 'own' as CommandGrant,
  attemptsPerTask: 3,
  executorsAtOnce: 2,
  executorSeconds: 300,
  taskMicroUsd: null,
  dayMicroUsd: null,
} as const;

const commandSchema = z.strictObject({
  command: text(ATTEMPT_LIMITS.command),
  code: z.number().int().nullable().describe('exit status; null: it was ended, or did not start'),
  ms: count.describe('how long it took, in ms'),
});
const checkSchema = z.strictObject({
  ...commandSchema.shape,
  output: text(ATTEMPT_LIMITS.output).describe('the end of its output'),
});
const fileSchema = z.strictObject({
  path: text(ATTEMPT_LIMITS.path),
  status: z.enum(['added', 'changed', 'deleted', 'renamed']),
  added: count.nullable().describe('lines; null: it is no text, or too large to be counted'),
  removed: count.nullable().describe('lines; null: it is no text, or too large to be counted'),
});
export type ChangedFile = z.infer<typeof fileSchema>;
const commitSchema = z.strictObject({ commit: commitIdSchema, subject: text(ATTEMPT_LIMITS.subject) });

/** What came of an attempt, as git and the relay's own records say. */
export const receiptSchema = z.strictObject({
  commands: z.array(commandSchema).max(ATTEMPT_LIMITS.commands).describe('commands that ran, oldest first'),
  moreCommands: count.describe('commands that ran and are not listed'),
  files: z.array(fileSchema).max(ATTEMPT_LIMITS.files),
  moreFiles: count,
  commits: z.array(commitSchema).max(ATTEMPT_LIMITS.commits).describe('oldest first'),
  moreCommits: count,
  uncommitted: z
    .array(text(ATTEMPT_LIMITS.path))
    .max(ATTEMPT_LIMITS.files)
    .describe('changed files that are in no commit'),
  elsewhere: z
    .array(commitSchema)
    .max(ATTEMPT_LIMITS.commits)
    .default(() => [])
    .describe('commits of the checkout that the branch lacks, newest first: on other branches, or in a stash'),
  rewritten: z
    .array(z.strictObject({ ...commitSchema.shape, ref: text(ATTEMPT_LIMITS.branch + 100) }))
    .max(ATTEMPT_LIMITS.commits)
    .default(() => [])
    .describe('earlier heads of the branch that its agent has replaced; the relay keeps each under `ref`'),
  checks: z.array(checkSchema).max(ATTEMPT_LIMITS.checks),
  pushes: z.array(branchSchema).max(10).describe('branches that the relay pushed'),
  approvals: z
    .array(
      z.strictObject({
        tool: text(LIMITS.id),
        allowed: z.boolean().nullable().describe('null: the person had not answered when the attempt ended'),
      }),
    )
    .max(ATTEMPT_LIMITS.commands)
    .describe('what the person was asked, and answered, oldest first'),
  tokens: count.nullable().describe('all tokens of the run; null: no model reported any'),
  costMicroUsd: count.describe('in millionths of a dollar'),
  estimated: z.boolean().describe('the cost is an upper bound'),
});
export type Receipt = z.infer<typeof receiptSchema>;

const attemptOutcomeSchema = z
  .enum(['review', 'done', 'blocked', 'released', 'ended', 'timed-out', 'lost'])
  .describe(
    'review, done, blocked: the task was moved there; released: the claim was given up; ended: its run ended; timed-out: it took too long; lost: the relay or the run died',
  );

/**
 * What a second mind says of the work. It saw criteria, diff and checks,
 * and no words of the agent.
 */
const secondReviewSchema = z.strictObject({
  by: common.agentId.describe('with whose model'),
  model: text(LIMITS.id),
  at: ms,
  criteria: z
    .array(
      z.strictObject({
        text: text(2_000),
        verdict: z.enum(['met', 'not-met', 'cannot-tell']),
        why: text(2_000),
      }),
    )
    .max(50),
  error: text(2_000).nullable().describe('why there is no verdict; null: there is one'),
  costMicroUsd: count,
  estimated: z.boolean().default(false).describe('the cost is an upper bound'),
});
export type SecondReview = z.infer<typeof secondReviewSchema>;

/** An attempt as its record has it. */
export const attemptValueSchema = z.strictObject({
  projectId: idOf<ProjectId>(projectIdSchema),
  taskId: idOf<TaskId>(z.string().min(1).max(LIMITS.id)),
  number: z.number().int().positive().describe('counts the attempts at its task, from 1'),
  agentId: common.agentId,
  runId: z.string().max(LIMITS.id).nullable().describe('null: an API client works'),
  kind: z.enum(['agent', 'executor']).describe('executor: a run that gets a brief, and nothing else'),
  model: text(LIMITS.id).nullable(),
  startedAt: ms,
  endedAt: ms.nullable().describe('null: it is under way'),
  outcome: attemptOutcomeSchema.nullable(),
  note: text(2_000).describe('what the agent said at the end, or why the relay ended it; may be empty'),
  noteBy: z.enum(['agent', 'human', 'relay']).default('agent').describe('who wrote the note'),
  branch: branchSchema,
  base: commitIdSchema.describe('the commit on which the work stands'),
  head: commitIdSchema.nullable().describe('the last commit of the branch; null: nothing was committed'),
  folder: checkoutFolderSchema.describe('where the work is, in the agent’s folder'),
  receipt: receiptSchema.nullable().describe('null: it is under way, or nothing could be found out'),
  review: secondReviewSchema.nullable().default(null).describe('of a second mind; null: none was asked'),
});
export type AttemptValue = z.infer<typeof attemptValueSchema>;
const attemptSchema = z.object({
  ...attemptValueSchema.shape,
  attemptId: z.string().min(1).max(LIMITS.id),
  spent: receiptSchema
    .pick({ tokens: true, costMicroUsd: true, estimated: true })
    .nullable()
    .describe('what it has used so far; null: nothing was counted, or its receipt says it'),
});
export type Attempt = z.infer<typeof attemptSchema>;
/** `GET …/tasks/{taskId}/attempts` */
export const attemptsSchema = z.object({ attempts: z.array(attemptSchema).describe('oldest first') });

/** `GET …/projects/{projectId}/spent` */
export const projectSpentSchema = z.object({
  attempts: z
    .array(
      z.object({
        taskId: attemptValueSchema.shape.taskId,
        startedAt: ms,
        ...receiptSchema.pick({ tokens: true, costMicroUsd: true, estimated: true }).shape,
      }),
    )
    .describe('attempts of which something is known, oldest first; those under way with what they have used so far'),
});
export type ProjectSpent = z.infer<typeof projectSpentSchema>;

/** `GET /v1/attempts` */
export const endedAttemptsSchema = z.object({
  attempts: z
    .array(
      z.object({
        ...attemptValueSchema.pick({ projectId: true, taskId: true, agentId: true, runId: true, kind: true }).shape,
        attemptId: attemptSchema.shape.attemptId,
        outcome: attemptOutcomeSchema.nullable(),
        startedAt: ms,
        endedAt: ms,
        task: z.object({ number: z.number().int().positive(), title: z.string() }),
        receipt: z
          .object({
            commits: count.nullable().describe('null: the project has no repository'),
            files: count.describe('changed files'),
            added: count.describe('lines of the listed files'),
            removed: count.describe('lines of the listed files'),
            checks: z.object({ passed: count, failed: count }),
            ...receiptSchema.pick({ tokens: true, costMicroUsd: true, estimated: true }).shape,
          })
          .nullable()
          .describe('in figures; null: nothing could be found out'),
      }),
    )
    .describe('newest first; those of deleted tasks are left out'),
  more: z.boolean().describe('there are earlier ones'),
});
export type EndedAttempt = z.infer<typeof endedAttemptsSchema>['attempts'][number];

/** Asks the person to accept the work on a task. A part of the task's record. */
export const mergeRequestSchema = z
  .strictObject({
    title: text(ATTEMPT_LIMITS.title).min(1),
    body: text(ATTEMPT_LIMITS.body),
    by: authorSchema,
    state: z
      .enum(['open', 'merged', 'reverted', 'changes-wanted', 'closed'])
      .describe('reverted: it was merged, and a later commit took it back'),
    branch: branchSchema,
    base: commitIdSchema.describe('the commit that the diff starts from'),
    head: commitIdSchema.describe('the commit that would be merged'),
    openedAt: ms,
    updatedAt: ms,
    merged: commitIdSchema.nullable().describe('the commit on the base branch; null: it was never merged'),
    mergedOnto: commitIdSchema
      .nullable()
      .default(null)
      .describe('the base branch before the last merge or revert; null: not known'),
    reverted: commitIdSchema
      .nullable()
      .default(null)
      .describe('the commit that took the merge back; null: nothing did'),
    url: webAddress(2_000).nullable().describe('the request at the forge; null: it is kept in Roost'),
    forgeProblem: text(ATTEMPT_LIMITS.forgeProblem)
      .nullable()
      .default(null)
      .describe('why the forge does not have the request as it is here, as a sentence; null: nothing is wrong'),
  })
  .describe('asks the person to accept the work on the task');
export type MergeRequest = z.infer<typeof mergeRequestSchema>;

const contentSide = (when: string) => contentIdSchema.nullable().describe(`the id of its content; null: ${when}`);
/** `GET …/tasks/{taskId}/diff` */
export const diffSchema = z.object({
  branch: z.string(),
  base: z.string(),
  head: z.string(),
  commits: z.array(commitSchema),
  files: z.array(
    z.object({
      ...fileSchema.shape,
      number: count.describe('counts the changed files from 0; names may be the same, and numbers never are'),
      before: z.string().nullable().describe('the path before a rename; null: it was not renamed'),
      patch: z.string().nullable().describe('a unified diff; null: `reason` says why'),
      reason: z
        .enum(['binary', 'long', 'more', 'too-large'])
        .nullable()
        .describe(
          'why the patch is not here; binary: the file is no text; long, more: its patch is long, or comes after many others, and `…/diff/file` has it; too-large: it is not compared',
        ),
      content: z.object({ before: contentSide('it was added'), after: contentSide('it was deleted') }),
    }),
  ),
  more: count.describe('changed files after these'),
  comments: z.array(shownLineCommentSchema).describe('of the person on lines, oldest first'),
});
export type Diff = z.infer<typeof diffSchema>;

/** `GET …/tasks/{taskId}/diff/file` */
export const filePatchSchema = z.object({
  patch: z.string().nullable().describe('a part of the unified diff; null: `reason` says why'),
  reason: z
    .enum(['binary', 'too-large'])
    .nullable()
    .describe('binary: the file is no text; too-large: it is not compared; null: the patch is here'),
  next: count.nullable().describe('`from` of the next part; null: this is the last'),
});
export type FilePatch = z.infer<typeof filePatchSchema>;

/** `POST …/tasks/{taskId}/request/changes` */
export const wantChangesSchema = z
  .strictObject({
    note: z.string().trim().max(2_000).default('').describe('may be empty if there are comments'),
    comments: z
      .array(newLineCommentSchema)
      .max(LINE_COMMENT_LIMITS.atOnce)
      .default(() => [])
      .describe('on lines of the diff'),
  })
  .refine(({ note, comments }) => note !== '' || comments.length > 0, {
    path: ['note'],
    message: 'say what has to change, or comment on a line',
  });
/** `POST …/tasks/{taskId}/request/merge` */
export const mergeSchema = z.strictObject({
  head: commitIdSchema
    .optional()
    .describe('the commit that was looked at; the merge is refused if there is a newer one'),
});

/** `POST …/tasks/{taskId}/request/revert` */
export const revertSchema = z.strictObject({
  commit: commitIdSchema.describe('`merged` of the request, or `reverted` where that is to be taken back'),
});

/** `GET …/projects/{projectId}/checkouts` */
export const checkoutsSchema = z.object({
  checkouts: z.array(
    z.object({
      taskId: idOf<TaskId>(z.string()),
      agentId: common.agentId,
      folder: z.string(),
      branch: z.string(),
      bytes: count,
      state: z
        .enum(['in-use', 'clean', 'unsaved', 'unknown'])
        .describe(
          'in-use: an agent works in it; clean: everything in it is on the branch that the relay has; unsaved: something would be lost; unknown: it cannot be read, and counts as unsaved',
        ),
      unsaved: z.array(z.string()).describe('files and commits that only this checkout has'),
    }),
  ),
});
export type Checkouts = z.infer<typeof checkoutsSchema>;
export const removeCheckoutSchema = z.strictObject({
  lose: z.boolean().default(false).describe('also what only this checkout has is deleted'),
});

/** `GET …/projects/{projectId}/files` */
export const projectFilesSchema = z.object({
  files: z.array(z.object({ path: z.string(), bytes: count })).describe('by path'),
  more: count.describe('files that are not listed'),
});

export const forgeKindSchema = z.enum(['github', 'gitea']).describe('gitea: also Forgejo');
export type ForgeKind = z.infer<typeof forgeKindSchema>;
/** `PUT …/projects/{projectId}/token` */
export const putTokenSchema = z.strictObject({
  token: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .regex(/^[\x21-\x7e]+$/, 'must be one word without spaces')
    .describe('fetches and pushes the repository; it is stored sealed, and shown to nobody'),
  forge: forgeKindSchema.nullable().describe('where requests are opened; null: they are kept in Roost'),
});
/** `GET …/projects/{projectId}/token` */
export const tokenSchema = z.object({
  isSet: z.boolean(),
  forge: forgeKindSchema.nullable(),
});

/** `POST /v1/internal/spawn-executor` */
export const spawnExecutorSchema = z.strictObject({
  projectId: idOf<ProjectId>(projectIdSchema),
  taskId: idOf<TaskId>(z.string().min(1).max(LIMITS.id)),
  executionPrompt: z.string().trim().min(1).max(50_000).describe('the whole brief: the executor is told nothing else'),
});
/** What came of an executor. The relay takes it from git and from its own records. */
export const executedSchema = z.object({
  outcome: z.enum(['complete', 'blocked', 'failed', 'timeout']),
  why: z.string().nullable().describe('why it is not complete, as a sentence; null: it is'),
  proposal: z.string().nullable().describe('what the executor proposes where it stopped; null: nothing'),
  attempt: attemptSchema,
});
export type Executed = z.infer<typeof executedSchema>;
