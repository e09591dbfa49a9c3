/**
 * Requests that ask the person to accept the work on a task: in Roost, and at a forge where the
 * project has one.
 *
 * Main types: `Requests`.
 *
 * Invariants:
 * - A request is open in Roost before the forge is asked. What the forge refuses is a field of the
 *   request, and stands in the way of nothing else.
 * - A merge names the commit that the person has seen, and a revert the commit that it takes back.
 */
import type { ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { columnOfKind, kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { MergeRequest } from '../../../src/shared/protocol/attempts.ts';
import { LINE_COMMENT_LIMITS, type NewLineComment } from '../../../src/shared/protocol/line-comments.ts';
import type { Project, ProjectValue, Task, TaskValue } from '../../../src/shared/protocol/projects.ts';
import type { TaskWork } from '../board/index.ts';
import type { Merged, Repository } from '../checkouts/index.ts';
import { keptComments, messageOf } from './line-comments.ts';
import { done, type Done, unable, unsaved } from './outcome.ts';
import { secretIn } from './repository-words.ts';
import { notRunNote } from './summary.ts';
import { createOpening, type RequestsDeps } from './opening.ts';

export interface Requests {
  /** Opens the request of a task, or brings the open one up to date. */
  request(
    by: string,
    project: Project,
    task: Task,
    words: { readonly title: string; readonly body: string },
  ): Promise<Done<MergeRequest>>;
  /** `head`: the commit that the person has looked at. */
  merge(projectId: ProjectId, taskId: TaskId, head: string | undefined): Promise<Done<Task>>;
  /** `comments`: on lines of the diff. They go to the agent together with the note. */
  wantChanges(
    projectId: ProjectId,
    taskId: TaskId,
    said: { readonly note: string; readonly comments: readonly NewLineComment[] },
  ): Promise<Done<Task>>;
  /** Takes a merge back, or its revert. `commit`: the last one of the two. */
  revert(projectId: ProjectId, taskId: TaskId, commit: string): Promise<Done<Task>>;
  closeRequest(projectId: ProjectId, taskId: TaskId): Promise<Done<Task>>;
  /** The person opens the request, or sends it to the forge again. */
  openRequest(projectId: ProjectId, taskId: TaskId): Promise<Done<Task>>;
  /** As `TaskWork.moved`. */
  moved: TaskWork['moved'];
}

/** For the agent: the request is open in Roost alone. */
export const inRoost = (forgeProblem: string) =>
  `The request is open in Roost, where the human sees it. It is not as it should be at the forge: ${forgeProblem}`;

const NO_MERGE = unable('no-request', 'This task is not merged.');
const NO_REQUEST = unable('no-request', 'No request of this task is open.');

/** The base branch before this commit. Null: the commit came from elsewhere. */
async function beforeMerge(
  repository: Pick<Repository, 'parentsOf'>,
  { mergedOnto, head, base }: MergeRequest,
  commit: string,
): Promise<string | null> {
  if (mergedOnto !== null) return mergedOnto;
  if (commit === head) return base;
  const [first = null, second] = await repository.parentsOf(commit);
  return second === head ? first : null;
}

/** What becomes of a task with its request. */
const ACTS = {
  merged: { what: 'merged', from: ['open'], to: 'done' },
  'changes-wanted': { what: 'changes', from: ['open'], to: 'ready' },
  closed: { what: 'closed', from: ['open'], to: null },
  reverted: { what: 'reverted', from: ['merged'], to: 'review' },
  restored: { what: 'merged', from: ['reverted'], to: 'done' },
} as const;
type Known = Partial<Pick<MergeRequest, 'merged' | 'mergedOnto' | 'reverted' | 'forgeProblem'>>;

/** Why nothing was merged. `conflict`: says it of these files. */
const refusalOf = (merged: Exclude<Merged, { kind: 'merged' }>, conflict: (files: string) => string) =>
  merged.kind === 'conflict'
    ? unable('merge-conflict', conflict(merged.files.map(titled).join(', ')))
    : unable('merge-refused', merged.why);

export function createRequests(deps: RequestsDeps): Requests {
  const { projects, attempts, repositories, taskOf, inOrder, now, logger } = deps;
  const { openRequest, forgeProblemOf } = createOpening(deps);
  /** Runs work on a task, one step after another. */
  const onTask = <Value>(
    projectId: ProjectId,
    taskId: TaskId,
    work: (at: { readonly project: Project; readonly task: Task }) => Promise<Done<Value>>,
  ): Promise<Done<Value>> =>
    inOrder(taskId, async () => {
      const at = await taskOf(projectId, taskId);
      return at.ok ? await work(at.value) : at;
    });

  /** Moves the task, and its request where it is in a state from which this follows. */
  async function settleRequest(
    projectId: ProjectId,
    taskId: TaskId,
    act: keyof typeof ACTS,
    note: string,
    known: Known = {},
    more: (value: TaskValue, project: ProjectValue) => Partial<TaskValue> = () => ({}),
  ): Promise<Done<Task>> {
    const { what, from, to } = ACTS[act];
    const state = act === 'restored' ? 'merged' : act;
    const saved = await projects.update(projectId, taskId, ({ value, project }) => {
      const columnId = to === null ? null : (columnOfKind(project, to)?.columnId ?? null);
      const follows = value.request !== null && (from as readonly string[]).includes(value.request.state);
      return {
        value: {
          ...value,
          ...(columnId === null ? {} : { columnId }),
          ...(follows && value.request !== null
            ? { request: { ...value.request, forgeProblem: null, ...known, state, updatedAt: now() } }
            : {}),
          ...more(value, project),
          unprepared: null,
          updatedAt: now(),
          history: [...value.history, { time: now(), by: PERSON, what, columnId, note }],
        },
        endsClaim: to !== null,
        isLimited: act === 'changes-wanted',
      };
    });
    return saved.ok ? done(saved.value) : unsaved(saved);
  }
  return {
    request: (by, project, task, words) =>
      inOrder(task.taskId, async () => {
        // What was committed since the last look belongs to the request.
        const open = await attempts.openOf(task.taskId);
        if (open) await deps.collect(project, open);
        return await openRequest(by, project, task, words);
      }),
    merge: (projectId, taskId, seen) =>
      onTask(projectId, taskId, async ({ project, task }) => {
        if (task.request?.state !== 'open') return NO_REQUEST;
        const repository = await repositories.of(projectId, project);
        const head = (await repository.headOf(task.request.branch)) ?? task.request.head;
        if (seen !== undefined && seen !== head)
          return unable('changed-elsewhere', 'The branch has newer commits than the ones that you looked at.');
        const secret = await secretIn(project, repository, { base: task.request.base, head });
        if (secret !== null) return unable('merge-refused', secret);
        const merged = await repository.merge(head, `Merge #${task.number} ${task.title}`);
        if (merged.kind !== 'merged')
          return refusalOf(merged, (files) => sentence`Both sides changed ${files}. Nothing was merged.`);
        const missing = await deps.missing(project, taskId, task);
        const known = { merged: merged.commit, mergedOnto: merged.onto, reverted: null };
        return await settleRequest(projectId, taskId, 'merged', notRunNote(merged.notRun), known, () => ({
          doneWithout: [...missing],
        }));
      }),
    revert: (projectId, taskId, commit) =>
      onTask(projectId, taskId, async ({ project, task }) => {
        const { request } = task;
        if (request?.state !== 'merged' && request?.state !== 'reverted') return NO_MERGE;
        const isBack = request.state === 'reverted';
        if ((isBack ? request.reverted : request.merged) !== commit)
          return unable('changed-elsewhere', 'Another commit is the last one of this task.');
        const repository = await repositories.of(projectId, project);
        const before = await beforeMerge(repository, request, commit);
        if (before === null)
          return unable('merge-refused', sentence`It was merged outside of Roost. Revert it in the repository.`);
        const words = isBack ? `Merge #${task.number} ${task.title} again` : `Revert #${task.number} ${task.title}`;
        const reverted = await repository.revert({ before, commit }, words);
        if (reverted.kind !== 'merged')
          return refusalOf(reverted, (files) => sentence`Later work changed ${files}, too. Nothing was reverted.`);
        const note = notRunNote(reverted.notRun);
        if (!isBack)
          return await settleRequest(projectId, taskId, 'reverted', note, {
            reverted: reverted.commit,
            mergedOnto: reverted.onto,
          });
        const missing = await deps.missing(project, taskId, task);
        const known = { merged: reverted.commit, mergedOnto: reverted.onto, reverted: null };
        return await settleRequest(projectId, taskId, 'restored', note, known, () => ({ doneWithout: [...missing] }));
      }),
    wantChanges: (projectId, taskId, { note, comments }) =>
      onTask(projectId, taskId, async ({ project, task }) => {
        if (task.request?.state !== 'open' && kindOfColumn(project, task.columnId) !== 'review') return NO_REQUEST;
        const kept =
          comments.length === 0
            ? ({ ok: true, value: [] } as const)
            : await keptComments(await repositories.of(projectId, project), comments, now());
        if (!kept.ok) return unable('misfit', kept.why);
        const worker = (await attempts.list(taskId)).at(-1)?.agentId ?? null;
        const settled = await settleRequest(projectId, taskId, 'changes-wanted', note, {}, (value) => ({
          lineComments: [
            ...value.lineComments.filter(({ commentId }) => !kept.value.some((each) => each.commentId === commentId)),
            ...kept.value,
          ].slice(-LINE_COMMENT_LIMITS.kept),
          assignee: worker !== null && project.agents.includes(worker) ? worker : value.assignee,
          criteria: value.criteria,
        }));
        if (settled.ok && worker !== null && project.agents.includes(worker))
          await deps.tellAgent(
            worker,
            messageOf(
              `About the task #${task.number} ${titled(task.title)} of the project ${titled(project.name)}, I ask for changes:`,
              { note, comments: kept.value },
            ),
          );
        return settled;
      }),
    closeRequest: (projectId, taskId) =>
      onTask(projectId, taskId, async ({ project, task }) => {
        if (task.request?.state !== 'open') return NO_REQUEST;
        const token = task.request.url === null ? null : await deps.tokens.of(projectId);
        const forgeProblem =
          token?.forge == null
            ? null
            : await deps.forges
                .close({ kind: token.forge, repository: project.repository, token: token.token }, task.request.branch)
                .then(() => null, forgeProblemOf);
        return await settleRequest(projectId, taskId, 'closed', '', { forgeProblem });
      }),
    openRequest: (projectId, taskId) =>
      onTask(projectId, taskId, async ({ project, task }) => {
        const opened = await openRequest(PERSON, project, task, null);
        if (!opened.ok) return opened;
        const after = await taskOf(projectId, taskId);
        return after.ok ? done(after.value.task) : after;
      }),
    async moved(project, task) {
      const by = task.history.at(-1)?.by ?? PERSON;
      const asked = await inOrder(task.taskId, () => openRequest(by, project, task, null)).catch((error: unknown) => {
        logger.error('The request of a task in review could not be opened.', { error });
        return unable('no-request', forgeProblemOf(error));
      });
      if (asked.ok) return asked.value.forgeProblem === null ? null : inRoost(asked.value.forgeProblem);
      return asked.reason === 'no-work' ? null : `The request could not be opened: ${asked.detail}`;
    },
  };
}
