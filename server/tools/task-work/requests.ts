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
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { columnOfKind, kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { ATTEMPT_LIMITS, type Attempt, type MergeRequest } from '../../../src/shared/protocol/attempts.ts';
import { LINE_COMMENT_LIMITS, type NewLineComment } from '../../../src/shared/protocol/line-comments.ts';
import type { Project, ProjectValue, Task, TaskValue } from '../../../src/shared/protocol/projects.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Attempts, OpenAttempt, Projects, TaskWork } from '../../team/projects/index.ts';
import type { Merged, Repositories, Repository, Tokens } from '../checkouts/index.ts';
import type { Forges } from './forge.ts';
import { keptComments, messageOf } from './line-comments.ts';
import { done, type Done, isFault, NO_WORK, unable, unsaved } from './outcome.ts';
import { secretIn } from './repository-words.ts';
import { notRunNote } from './summary.ts';

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

export interface RequestsDeps {
  readonly projects: Pick<Projects, 'update'>;
  readonly attempts: Pick<Attempts, 'list' | 'openOf'>;
  readonly repositories: Pick<Repositories, 'of'>;
  readonly tokens: Pick<Tokens, 'of'>;
  readonly forges: Forges;
  readonly missing: TaskWork['missing'];
  /** Takes what was committed in the checkout of an attempt into the relay's repository. */
  readonly collect: (project: Project, open: OpenAttempt) => Promise<void>;
  /** The commit where the changes of a task begin. */
  readonly startOf: (repository: Repository, attempt: Pick<Attempt, 'base'>, head: string | null) => Promise<string>;
  readonly taskOf: (
    projectId: ProjectId,
    taskId: TaskId,
  ) => Promise<Done<{ readonly project: Project; readonly task: Task }>>;
  /** Runs work on one task, one step after another. */
  readonly inOrder: <Result>(taskId: TaskId, work: () => Promise<Result>) => Promise<Result>;
  /** Leaves a message of the person for the agent. */
  readonly tellAgent: (agentId: AgentId, text: string) => Promise<void>;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
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

export function createRequests(deps: RequestsDeps): Requests {
  const { projects, attempts, repositories, taskOf, inOrder, now, logger } = deps;

  /**
   * Opens the request in Roost, then at the forge. What the forge refuses is noted at the request,
   * so the person can merge, or ask for changes, whatever the forge does. `words` null: an earlier
   * request keeps its own, and a new one has the task's.
   */
  async function openRequest(
    by: string,
    project: Project,
    task: Task,
    words: { readonly title: string; readonly body: string } | null,
  ): Promise<Done<MergeRequest>> {
    const last = (await attempts.list(task.taskId)).at(-1);
    if (!last) return NO_WORK;
    const repository = await repositories.of(project.projectId, project);
    const head = await repository.headOf(last.branch);
    const from = await deps.startOf(repository, last, head);
    if (head === null || head === from) return unable('no-work', 'The branch of the task has no change yet.');
    const secret = await secretIn(project, repository, { base: from, head });
    if (secret !== null) return unable('merge-refused', secret);
    const before = task.request?.branch === last.branch ? task.request : null;
    const isOpen = before?.state === 'open';
    const goesOn = before !== null && (isOpen || before.state === 'changes-wanted');
    const { title, body } = words ?? (goesOn ? before : { title: task.title, body: task.description });
    const request: MergeRequest = {
      title: title.slice(0, ATTEMPT_LIMITS.title),
      body: body.slice(0, ATTEMPT_LIMITS.body),
      by: words === null && goesOn ? before.by : by,
      state: 'open',
      branch: last.branch,
      base: from,
      head,
      merged: null,
      mergedOnto: null,
      reverted: null,
      url: task.request?.url ?? null,
      forgeProblem: null,
      openedAt: isOpen ? before.openedAt : now(),
      updatedAt: now(),
    };
    const saved = await projects.update(project.projectId, task.taskId, ({ value }) => ({
      isLimited: true,
      value: {
        ...value,
        request,
        updatedAt: now(),
        history: isOpen
          ? value.history
          : [...value.history, { time: now(), by, what: 'requested' as const, columnId: null, note: '' }],
      },
    }));
    if (!saved.ok) return unsaved(saved);
    const atForge = await publish(project, repository, request);
    if (atForge === null) return done(request);
    const noted = { ...request, ...atForge };
    await projects.update(project.projectId, task.taskId, ({ value }) => ({ value: { ...value, request: noted } }));
    return done(noted);
  }
  /** Pushes the branch, and opens the request at the forge. Null: the project has none. */
  async function publish(
    project: Project,
    repository: Repository,
    { branch, title, body, url }: MergeRequest,
  ): Promise<Pick<MergeRequest, 'url' | 'forgeProblem'> | null> {
    const token = project.kind === 'git' ? await deps.tokens.of(project.projectId) : null;
    if (token?.forge == null) return null;
    const forge = { kind: token.forge, repository: project.repository, token: token.token };
    try {
      const { branch: base } = await repository.base();
      await repository.push(branch);
      return { url: await deps.forges.open(forge, { branch, base, title, body }), forgeProblem: null };
    } catch (error) {
      return { url, forgeProblem: forgeProblemOf(error) };
    }
  }
  function forgeProblemOf(error: unknown): string {
    if (isFault(error) && error instanceof Error) return error.message.slice(0, ATTEMPT_LIMITS.forgeProblem);
    logger.error('A request could not be sent to its forge.', { error });
    return sentence`The relay had an error. The relay’s log says more.`;
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
  /** Why nothing was merged. `conflict`: says it of these files. */
  const refusalOf = (merged: Exclude<Merged, { kind: 'merged' }>, conflict: (files: string) => string) =>
    merged.kind === 'conflict'
      ? unable('merge-conflict', conflict(merged.files.map(titled).join(', ')))
      : unable('merge-refused', merged.why);

  return {
    request: (by, project, task, words) =>
      inOrder(task.taskId, async () => {
        // What was committed since the last look belongs to the request.
        const open = await attempts.openOf(task.taskId);
        if (open) await deps.collect(project, open);
        return await openRequest(by, project, task, words);
      }),
    merge: (projectId, taskId, seen) =>
      inOrder(taskId, async () => {
        const at = await taskOf(projectId, taskId);
        if (!at.ok) return at;
        const { project, task } = at.value;
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
      inOrder(taskId, async () => {
        const at = await taskOf(projectId, taskId);
        if (!at.ok) return at;
        const { project, task } = at.value;
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
      inOrder(taskId, async () => {
        const at = await taskOf(projectId, taskId);
        if (!at.ok) return at;
        const { project, task } = at.value;
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
      inOrder(taskId, async () => {
        const at = await taskOf(projectId, taskId);
        if (!at.ok) return at;
        const { project, task } = at.value;
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
      inOrder(taskId, async () => {
        const at = await taskOf(projectId, taskId);
        if (!at.ok) return at;
        const opened = await openRequest(PERSON, at.value.project, at.value.task, null);
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
