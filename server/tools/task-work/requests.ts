/**
 * Requests that ask the person to accept the work on a task: in Roost, and at a forge where the
 * project has one.
 *
 * Main types: `Requests`.
 *
 * Invariants:
 * - A request is open in Roost before the forge is asked. What the forge refuses is a field of the
 *   request, and stands in the way of nothing else.
 * - A merge names the commit that the person has seen.
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
import type { Repositories, Repository, Tokens } from '../checkouts/index.ts';
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

const NO_REQUEST = unable('no-request', 'No request of this task is open.');

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

  /** Changes a task whose request is open. */
  async function settleRequest(
    projectId: ProjectId,
    taskId: TaskId,
    how: {
      readonly state: 'merged' | 'changes-wanted' | 'closed';
      readonly note: string;
      readonly to: 'done' | 'ready' | null;
    },
    more: (value: TaskValue, project: ProjectValue) => Partial<TaskValue> = () => ({}),
    known: Pick<MergeRequest, 'merged' | 'forgeProblem'> = { merged: null, forgeProblem: null },
  ): Promise<Done<Task>> {
    const what = ({ merged: 'merged', 'changes-wanted': 'changes', closed: 'closed' } as const)[how.state];
    const saved = await projects.update(projectId, taskId, ({ value, project }) => {
      const columnId = how.to === null ? null : (columnOfKind(project, how.to)?.columnId ?? null);
      return {
        value: {
          ...value,
          ...(columnId === null ? {} : { columnId }),
          ...(value.request?.state === 'open'
            ? { request: { ...value.request, ...known, state: how.state, updatedAt: now() } }
            : {}),
          ...more(value, project),
          unprepared: null,
          updatedAt: now(),
          history: [...value.history, { time: now(), by: PERSON, what, columnId, note: how.note }],
        },
        endsClaim: how.to !== null,
        isLimited: how.state === 'changes-wanted',
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
        if (merged.kind === 'conflict')
          return unable(
            'merge-conflict',
            sentence`Both sides changed ${merged.files.map(titled).join(', ')}. Nothing was merged.`,
          );
        if (merged.kind === 'refused') return unable('merge-refused', merged.why);
        const missing = await deps.missing(project, taskId, task);
        const how = { state: 'merged', note: notRunNote(merged.notRun), to: 'done' } as const;
        return await settleRequest(projectId, taskId, how, () => ({ doneWithout: [...missing] }), {
          merged: merged.commit,
          forgeProblem: null,
        });
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
        const how = { state: 'changes-wanted', note, to: 'ready' } as const;
        const settled = await settleRequest(projectId, taskId, how, (value) => ({
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
        const how = { state: 'closed', note: '', to: null } as const;
        return await settleRequest(projectId, taskId, how, undefined, { merged: null, forgeProblem });
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
