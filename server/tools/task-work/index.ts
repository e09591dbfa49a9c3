/**
 * Work on tasks: the checkout of a claim, the attempt with its receipt, the request that asks the
 * person to accept the work, and the merge.
 *
 * `requests.ts` has the requests, `executor.ts` runs executors, `tools.ts` has the tools of agents,
 * `routes.ts` answers the page. Claims and columns are in server/team/projects, files and git in
 * server/tools/checkouts.
 *
 * Main types: `OpenTaskWork`.
 *
 * Invariants:
 * - An attempt begins with a claim and ends with it. Its receipt comes from git and from commands
 *   that ran, never from what an agent says.
 * - A task has one branch. Everybody who works on it goes on there.
 * - Nothing is merged that the person has not seen: a merge names the commit.
 *
 * It does not know what a column means beyond its kind, or how a sandbox works.
 */
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { createQueues } from '../../../src/shared/domain/platform/queue.ts';
import { takesOneTask } from '../../../src/shared/domain/one-task.ts';
import { columnOfKind } from '../../../src/shared/domain/projects.ts';
import { reviewsSince } from '../../../src/shared/domain/task-reviews.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import {
  ATTEMPT_LIMITS,
  type Attempt,
  type Diff,
  type DoneNeeds,
  type FilePatch,
  type ProjectSpent,
  type Receipt,
} from '../../../src/shared/protocol/attempts.ts';
import { CHECKOUTS_FOLDER } from '../../../src/shared/protocol/outward-texts.ts';
import {
  type FoundAnywhere,
  PROJECT_LIMITS,
  type Project,
  type ProjectValue,
  type Task,
  type TaskValue,
} from '../../../src/shared/protocol/projects.ts';
import type { Caller, CommandOf, Directory } from '../../contracts/index.ts';
import type { Logger } from '../../platform/logger.ts';
import {
  type Attempts,
  type Draft,
  type EndedClaim,
  type Holder,
  type OpenAttempt,
  type Projects,
  RUN_ENDED,
  type TaskWork,
  unmetCriteria,
  withHistory,
} from '../../team/projects/index.ts';
import {
  CHECKOUT_LIMITS,
  type Checkouts,
  type NotWork,
  type Place,
  type Repositories,
  type Repository,
  type Tokens,
} from '../checkouts/index.ts';
import { type Forges } from './forge.ts';
import { createWorkForgetting, lastOf, type Worked, type WorkForgetting } from './forgetting.ts';
import { endedSince } from './ended.ts';
import { createFind, type FindDeps } from './find.ts';
import type { WorkLimits } from './limits.ts';
import { type FromWhere, shownComments, toldComments } from './line-comments.ts';
import { approvalsIn, type AskedSince, refusedIn } from './approvals.ts';
import { type CheckoutList, createCheckoutList, namesFolder, placeOf } from './checkout-list.ts';
import { createCommitLeft } from './commit-left.ts';
import { type Means, placeText } from './means.ts';
import { done, type Done, isFault, NO_WORK, unable } from './outcome.ts';
import { createRequests, type Requests } from './requests.ts';
import { createProjectFiles, type ProjectFiles } from './project-files.ts';
import { copiesOf, filtersOf, instructionsOf, secretIn, skillsOf, untrackedIn } from './repository-words.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';
import { failedSetupIn, hasSetUp, setupNote, setupText } from './setup.ts';
import { commitText, notReady, spentBy, toldOf, uncommittedIn } from './summary.ts';

export interface OpenTaskWork extends TaskWork, ProjectFiles, CheckoutList, WorkForgetting, Omit<Requests, 'moved'> {
  /** Tasks and files of all projects with these words. */
  find(text: string): Promise<FoundAnywhere>;
  attempts(projectId: ProjectId, taskId: TaskId): Promise<Done<readonly Attempt[]>>;
  /** Attempts of all projects that ended after this time, newest first. */
  ended(since: number): ReturnType<typeof endedSince>;
  /** What the attempts of a project have cost. */
  spent(projectId: ProjectId): Promise<Done<ProjectSpent['attempts']>>;
  /** A page of the changed files, from the one with this number on. */
  diff(projectId: ProjectId, taskId: TaskId, from: number): Promise<Done<Diff>>;
  /** The patch of one file of a diff, from this byte on. */
  filePatch(
    projectId: ProjectId,
    taskId: TaskId,
    file: { readonly before: string | null; readonly after: string | null; readonly from: number },
  ): Promise<Done<FilePatch>>;
  /**
   * Commits what the checkout of a task has in no commit, where this caller may run no git.
   * Resolves with what could not be committed, as a sentence. Null: everything could be.
   */
  commit(project: Project, task: Task, caller: Caller): Promise<string | null>;
  /** What the attempt of this task that is under way has come to now, with its checks. */
  found(project: Project, task: Task): Promise<Receipt | null>;
  /** Calls the listener for each task that an agent has moved to review. */
  onReview(listener: (project: Project, task: Task) => void): void;
  /** Variables for the commands of an agent, or an executor, that works on a task. */
  environmentOf(by: CommandOf): Promise<Readonly<Record<string, string>>>;
  /** The agent is about to do something there: a path, or a command. */
  touches(by: CommandOf, text: string): Promise<void>;
  /** A command has ended. */
  ran(by: CommandOf, command: Receipt['commands'][number]): void;
  /** A limit of the project is reached: ends the work on this task, and tells the person. */
  stop(
    kind: 'task' | 'day',
    at: { readonly projectId: ProjectId; readonly taskId: TaskId; readonly agentId: AgentId },
    why: string,
  ): Promise<void>;
  /** Ends attempts whose claim is over. Called once, before anybody works. */
  recover(): Promise<void>;
  /** Resolves when every attempt that ended is written. */
  close(): Promise<void>;
}

export interface TaskWorkDeps extends Pick<FindDeps, 'workspaces'> {
  readonly projects: Projects;
  readonly attempts: Attempts;
  readonly checkouts: Checkouts;
  readonly repositories: Repositories;
  readonly tokens: Tokens;
  readonly forges: Forges;
  readonly limits: WorkLimits;
  readonly means: Means;
  readonly directory: Pick<Directory, 'all'>;
  readonly approvals: { askedSince: AskedSince };
  /** Ends the commands of an agent whose run is over. */
  readonly endCommandsOf: (agentId: AgentId) => Promise<void>;
  /** Tells the person that a limit of a project stopped a task. */
  readonly tellPerson: (agentId: AgentId, text: string) => Promise<void>;
  /** Leaves a message of the person for the agent. */
  readonly tellAgent: (agentId: AgentId, text: string) => Promise<void>;
  /** The agent works on this attempt now. What it uses counts to it. */
  readonly onTurn: (attemptId: string) => void;
  /** No other process can have this store open. */
  readonly alone: boolean;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/** A readable part of a name of a branch or a folder. */
const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, CHECKOUT_LIMITS.slug)
    .replaceAll(/^-+|-+$/g, '') || 'task';

/** The last name of the folder in which an agent works on one task of a project after another. */
const SHARED_FOLDER = 'checkout';
const isSharedFolder = ({ folder }: Pick<Attempt, 'folder'>) => folder.endsWith(`/${SHARED_FOLDER}`);
const KEPT_NOTE = sentence`What was in no commit is on the branch now, as “Keep unfinished work”.`;

const NOT_BROUGHT =
  'The base branch has moved on. What others changed there is not in your checkout, and comes with the merge.';

export function createTaskWork(deps: TaskWorkDeps): OpenTaskWork {
  const { projects, attempts, checkouts, repositories, directory, now, logger } = deps;
  /** Work on one task, one step after another. */
  const inOrder = createQueues<string>();
  const reviewListeners: ((project: Project, task: Task) => void)[] = [];
  const running = new Set<Promise<void>>();
  let closed = false;

  const nameOf = async (agentId: AgentId) =>
    (await directory.all()).find((member) => member.agentId === agentId)?.name ?? agentId;

  async function taskOf(projectId: ProjectId, taskId: TaskId): Promise<Done<{ project: Project; task: Task }>> {
    const [project, task] = [await projects.read(projectId), await projects.task(projectId, taskId)];
    if (!project.ok) return unable('no-project', project.detail);
    return task.ok ? done({ project: project.value, task: task.value }) : unable('no-task', task.detail);
  }

  const environment = ({
    project,
    task,
    ports,
  }: {
    project: Pick<Project, 'projectId'>;
    task: Task;
    ports: number;
  }) => ({
    PORT: String(CHECKOUT_LIMITS.firstPort + ports * CHECKOUT_LIMITS.portsEach),
    ROOST_TASK: `${project.projectId}/${task.taskId}`,
  });
  /** The lowest range of ports that no attempt under way has. */
  const portsOf = async (task: Pick<Task, 'taskId'>) => {
    const all = (await attempts.open()).map(({ attempt }) => attempt.taskId).toSorted();
    return Math.max(0, all.indexOf(task.taskId)) % CHECKOUT_LIMITS.portRanges;
  };

  /** The one checkout of a project that takes one task at a time has the branch of one task. */
  const prepare: typeof prepareIn = (holder, project, task, caller) =>
    takesOneTask(project)
      ? inOrder(`checkout of ${holder.agentId} in ${project.projectId}`, () => prepareIn(holder, project, task, caller))
      : prepareIn(holder, project, task, caller);
  async function prepareIn(
    holder: Holder,
    project: Project,
    task: Task,
    caller: Caller,
  ): Promise<{ ok: boolean; text: string }> {
    const { agentId } = holder;
    const means = await deps.means.of(caller);
    const held = await projects.heldBy(task.taskId);
    if (held?.agentId !== agentId) return { ok: false, text: 'The claim of the task has ended.' };
    const before = await attempts.list(task.taskId);
    const open = await attempts.openOf(task.taskId);
    if (open && open.attempt.agentId === agentId) return { ok: true, text: placeText(project, open.attempt, means) };
    if (open) await settle({ ...open, claimToken: open.claimToken }, 'lost', 'Another agent has claimed the task.');
    const refused = await checkouts.refuse(project.kind, agentId, project.checks.length > 0 || project.setup !== '');
    if (refused !== null) return { ok: false, text: refused };
    // What the person asks for anew is counted anew.
    const asks: readonly string[] = [
      'moved',
      'changes',
      'released',
      'started',
    ] satisfies Task['history'][number]['what'][];
    const since = task.history.findLast(({ by, what }) => by === PERSON && asks.includes(what))?.time ?? 0;
    const reviews = reviewsSince(project, task.history, since);
    const tries = before.filter(
      (attempt, i) =>
        attempt.kind === 'agent' &&
        attempt.startedAt > since &&
        // One that was handed on with new work is no failure.
        (attempt.outcome !== 'released' || attempt.head === null || attempt.head === before[i - 1]?.head),
    ).length;
    // A review is no try. Each agent makes one of the same work at most.
    const counted = tries - reviews.count;
    if (counted >= project.attemptsPerTask && !reviews.isLast) {
      const failedSetup = failedSetupIn(task, before.at(-1), project.setup);
      const why = [
        `There were ${counted} attempts, as many as the project allows.`,
        ...(failedSetup === null ? [] : [failedSetup]),
      ].join(' ');
      await block(project, task, why);
      return { ok: false, text: `${why} The task is blocked until the human moves it.` };
    }
    const spent = await deps.limits.ofTask(project, task);
    if (spent) {
      await block(project, task, spent.detail);
      await deps.tellPerson(agentId, spent.detail);
      return { ok: false, text: `${spent.detail} The task is blocked until the human moves it.` };
    }
    const repository = await repositories.of(project.projectId, project);
    const base = await repository.base();
    const last = lastOf(task, before);
    const branch = last?.branch ?? `feat/${task.number}-${slugOf(task.title)}`;
    // Work that was merged is over: what is asked for after that begins at the base.
    const isMerged =
      (task.request?.state === 'merged' || task.request?.state === 'reverted') &&
      (before.at(-1)?.startedAt ?? 0) < task.request.updatedAt;
    const head = last && !isMerged ? await repository.headOf(branch) : null;
    const goesOn = last !== undefined && head !== null;
    const isShared = takesOneTask(project);
    /** The attempt in whose folder this one goes on. */
    const own = isShared
      ? (await attempts.ofProject(project.projectId)).findLast(
          (attempt) => attempt.agentId === agentId && isSharedFolder(attempt),
        )
      : before.findLast((attempt) => attempt.agentId === agentId && goesOn && !isSharedFolder(attempt));
    const top = `${CHECKOUTS_FOLDER}/${slugOf(project.name)}-${project.projectId.slice(0, 4)}`;
    const fresh = isShared ? `${top}/${SHARED_FOLDER}` : `${top}/${task.number}-${slugOf(task.title)}`;
    // An earlier checkout of a merged task stays where it is.
    const isTaken = !isShared && own === undefined && before.some((attempt) => attempt.agentId === agentId);
    const folder = own?.folder ?? (isTaken ? `${fresh}-${before.length + 1}` : fresh);
    const back =
      isMerged && task.request?.reverted != null && task.request.mergedOnto !== null
        ? { before: task.request.mergedOnto, commit: task.request.reverted }
        : null;
    const again = `Bring back #${task.number} ${task.title}`;
    const start =
      goesOn && head !== null ? head : ((back && (await repository.reverted(base.commit, back, again))) ?? base.commit);
    const place: Place = { kind: project.kind, agentId, folder, branch, base: goesOn ? last.base : base.commit };
    const isThere = own !== undefined && (await checkouts.exists(place));
    const by = await nameOf(agentId);
    if (isThere && own.taskId !== task.taskId) {
      const unsaved = await turnFrom(project, own, place, repository, start);
      if (unsaved !== null) return { ok: false, text: unsaved };
    }
    let others: readonly string[] = [];
    const isLast = last === undefined || last.agentId === agentId || (own?.head ?? own?.base) === start;
    if (isThere && own.taskId === task.taskId && !isLast) {
      const caught = await catchUp(project, own, place, repository, start);
      if (!caught.ok) return caught;
      others = caught.news;
    }
    let setup = '';
    if (!isThere) {
      const copies = await copiesOf(project, repository, start);
      await repository.noteCopied(copies);
      const paths = copies.map(({ path }) => path);
      await checkouts.fill(place, repository, start, by, paths);
      await checkouts.copy(place, copies);
    }
    const isBehind = goesOn && (await repository.forkOf(base.commit, start)) !== base.commit;
    const brought = isBehind ? await checkouts.bring(place, repository, base, start, { by, at: now() }) : [];
    const news = brought.length > 0 && project.kind === 'git' && !means.commits ? [NOT_BROUGHT] : brought;
    const attempt = await attempts.begin(holder, held.token, {
      ...{ projectId: project.projectId, taskId: task.taskId, kind: 'agent', model: null, startedAt: now() },
      ...{ branch, base: place.base, folder },
    });
    const ran = isShared ? await attempts.ofProject(project.projectId) : before;
    const isSetUp = isThere && hasSetUp(ran, { agentId, folder }, project.setup);
    if (!isSetUp && project.setup !== '') {
      const run = await checkouts.run(place, project.setup, environment({ project, task, ports: await portsOf(task) }));
      await attempts.ran(attempt.attemptId, { command: run.command, code: run.code, ms: run.ms });
      setup = setupText(project.setup, run, isThere);
      if (run.code !== 0) await noteOn(project, task, setupNote(project.setup, run), 'setup');
    }
    return {
      ok: true,
      text: [
        placeText(project, attempt, means),
        ...others,
        ...news,
        ...(setup === '' ? [] : [setup]),
        ...(await filtersOf(repository, start)),
        ...(await instructionsOf(repository, start)),
        ...(await skillsOf(repository, start)),
      ].join('\n'),
    };
  }
  /**
   * Puts the branch of `place` into the checkout in which an earlier task was worked on. Its work
   * is committed and taken over first. Resolves with why not, as a sentence. Null: it is done.
   */
  async function turnFrom(
    project: Project,
    earlier: Attempt,
    place: Place,
    repository: Repository,
    start: string,
  ): Promise<string | null> {
    // The end of its claim is written first.
    await inOrder(earlier.taskId, () => Promise.resolve());
    const open = await attempts.openOf(earlier.taskId);
    if (open?.attempt.agentId === earlier.agentId) await settle(open, 'lost', 'Its checkout is used for another task.');
    const before = placeOf(project, earlier);
    const kept = await checkouts.keep(before, project.copy);
    if (!kept.ok) return wouldBeLost(place, kept.left);
    const said = { by: await nameOf(earlier.agentId), at: now() };
    await checkouts.collect(before, repository, said, await notWorkOf(project, earlier, repository));
    await checkouts.turn(place, repository, start);
    if (kept.isNew) await noteOn(project, earlier, KEPT_NOTE);
    return null;
  }
  /** Writes a note of the relay into the history of a task. */
  async function noteOn(
    { projectId }: Pick<Project, 'projectId'>,
    { taskId }: Pick<Task, 'taskId'>,
    note: string,
    what: 'edited' | 'setup' = 'edited',
  ): Promise<void> {
    const entry = { time: now(), by: 'relay', what, columnId: null, note };
    await projects.update(projectId, taskId, ({ value }) => ({ value: withHistory(value, entry) }));
  }
  const wouldBeLost = ({ folder }: Place, left: readonly string[]) =>
    `The checkout has work that would be lost: ${left.slice(0, 20).map(titled).join(', ')}. Look into the folder ${titled(folder)}: commit it, or finish what git is in the middle of. Then claim the task again.`;
  /**
   * Brings a checkout to `start`, because other agents went on with its task. `own`: the attempt
   * that worked there last. Without this, its commits would replace theirs.
   */
  async function catchUp(
    project: Project,
    own: Attempt,
    place: Place,
    repository: Repository,
    start: string,
  ): Promise<{ readonly ok: true; readonly news: readonly string[] } | { readonly ok: false; readonly text: string }> {
    if (project.kind === 'folder') {
      const said = { by: await nameOf(own.agentId), at: now() };
      const theirs = { branch: place.branch, commit: start };
      return { ok: true, news: await checkouts.bring(place, repository, theirs, own.head ?? own.base, said) };
    }
    const kept = await checkouts.keep(place, project.copy);
    if (!kept.ok) return { ok: false, text: wouldBeLost(place, kept.left) };
    await checkouts.turn(place, repository, start);
    const news = 'Somebody else went on with it since. The checkout is at their last commit.';
    const mine = 'What you had in no commit is on a branch below kept/.';
    return { ok: true, news: kept.isNew ? [news, mine] : [news] };
  }

  /** Moves a task to the blocked column, and says why. Its claim ends. */
  async function block(project: Project, task: Pick<Task, 'taskId'>, why: string): Promise<void> {
    const column = columnOfKind(project, 'blocked') ?? columnOfKind(project, 'backlog');
    await projects.update(project.projectId, task.taskId, ({ value }) => ({
      value: {
        ...value,
        columnId: column?.columnId ?? value.columnId,
        history: [
          ...value.history,
          { time: now(), by: 'relay', what: 'moved' as const, columnId: column?.columnId ?? null, note: why },
        ],
        updatedAt: now(),
      },
      endsClaim: true,
    }));
  }

  /** Where the changes of a task begin: what it took over from the base branch is not its own. */
  async function startOf(
    repository: Repository,
    { base }: Pick<Attempt, 'base'>,
    head: string | null,
  ): Promise<string> {
    const known = await repository.knownBase();
    if (known === null || head === null) return base;
    const fork = await repository.forkOf(known, head);
    return fork === head ? base : fork;
  }

  /** The two commits between which the work on a task is shown. */
  async function rangeOf(repository: Repository, { request }: Task, last: Worked): Promise<FromWhere> {
    const asked = request?.branch === last.branch ? request : null;
    if (asked?.state === 'merged') return { base: asked.base, head: asked.head };
    const head = (await repository.headOf(last.branch)) ?? last.base;
    return { base: await startOf(repository, last, head), head };
  }
  /** The person's comments on lines as text for an agent. */
  async function toldOn(project: Project, task: Task, all: readonly Attempt[]): Promise<readonly string[]> {
    const last = all.at(-1);
    if (!last || task.lineComments.length === 0) return [];
    const newest = task.lineComments.slice(-TASK_WORK_SETTINGS.lineCommentsTold);
    const shown = await (async () => {
      try {
        const repository = await repositories.of(project.projectId, project);
        return await shownComments(repository, newest, await rangeOf(repository, task, last));
      } catch (error) {
        if (!isFault(error)) throw error;
        return newest;
      }
    })();
    return toldComments(shown, task.lineComments.length - newest.length);
  }

  /** What the relay put into a checkout: copied files, and branches of other tasks. */
  async function notWorkOf(
    project: Project,
    { folder, branch, agentId, base }: Attempt,
    repository: Repository,
  ): Promise<NotWork> {
    const copied = await untrackedIn(repository, base, project);
    const inFolder = takesOneTask(project)
      ? (await attempts.ofProject(project.projectId)).filter((one) => one.agentId === agentId && one.folder === folder)
      : [];
    const branches = new Set(inFolder.map((one) => one.branch));
    branches.delete(branch);
    return { copied, branches: [...branches] };
  }
  /** The receipt of an attempt as it is now. */
  async function receiptOf(
    project: Project,
    { attempt, commands, draft }: Pick<OpenAttempt, 'attempt' | 'commands' | 'draft'>,
  ): Promise<{ readonly head: string | null; readonly receipt: Receipt }> {
    const repository = await repositories.of(project.projectId, project);
    const place = placeOf(project, attempt);
    const said = { by: await nameOf(attempt.agentId), at: now() };
    const notWork = await notWorkOf(project, attempt, repository);
    const { head, uncommitted, elsewhere } = await checkouts.collect(place, repository, said, notWork);
    const to = head ?? attempt.base;
    const from = await startOf(repository, attempt, head);
    const changes = await repository.changes(from, to);
    const commits = await repository.commits(from, to);
    // What an earlier attempt has rewritten is in its own receipt.
    const earlier = (await attempts.list(attempt.taskId)).filter(({ attemptId }) => attemptId !== attempt.attemptId);
    const known = new Set(earlier.flatMap((each) => each.receipt?.rewritten.map(({ ref }) => ref) ?? []));
    const rewritten = (await repository.rewritten(attempt.branch)).filter(({ ref }) => !known.has(ref));
    const receipt: Receipt = {
      commands: commands.slice(-ATTEMPT_LIMITS.commands).map((each) => ({ ...each })),
      moreCommands: Math.max(0, commands.length - ATTEMPT_LIMITS.commands),
      files: [...changes.list],
      moreFiles: changes.more,
      commits: [...commits.list],
      moreCommits: commits.more,
      uncommitted: [...uncommitted],
      elsewhere: [...elsewhere],
      rewritten: rewritten.slice(-ATTEMPT_LIMITS.commits),
      checks: draft !== null && draft.head === head ? [...draft.checks] : [],
      ...{ pushes: [], approvals: await approvalsIn(deps.approvals, attempt) },
      ...(attempt.spent ?? { tokens: null, costMicroUsd: 0, estimated: false }),
    };
    return { head, receipt };
  }

  /** Ends an attempt. What cannot be found out is said in its note. */
  async function settle(
    open: OpenAttempt,
    outcome: Attempt['outcome'],
    note: string,
    noteBy: Attempt['noteBy'] = 'relay',
  ): Promise<void> {
    const { attempt } = open;
    const project = await projects.read(attempt.projectId);
    let result: { readonly head: string | null; readonly receipt: Receipt } | null = null;
    let why = note;
    if (project.ok)
      try {
        result = await receiptOf(project.value, open);
      } catch (error) {
        if (!isFault(error)) throw error;
        why = `${note} ${error instanceof Error ? error.message : ''}`.trim();
      }
    const refused = refusedIn(result?.receipt);
    // What the agent was refused stands in the way, whatever it says of its work.
    const isBlocked = refused !== null && (outcome === 'review' || outcome === 'ended' || outcome === 'released');
    if (isBlocked) why = `${refused} ${why}`.trim();
    await attempts.end(attempt.attemptId, {
      outcome: isBlocked ? 'blocked' : outcome,
      ...{ head: result?.head ?? null, receipt: result?.receipt ?? null, note: why.slice(0, 2_000) },
      noteBy: why === note ? noteBy : 'relay',
    });
  }

  function outcomeOf({ last, kind }: EndedClaim): NonNullable<Attempt['outcome']> {
    if (last.what === 'released') return last.by !== 'relay' ? 'released' : last.note === RUN_ENDED ? 'ended' : 'lost';
    return kind === 'review' || kind === 'done' || kind === 'blocked' ? kind : 'released';
  }
  projects.onClaimEnded((ended) => {
    const work = inOrder(ended.taskId, async () => {
      const all = await attempts.open(ended.agentId);
      const open = all.filter(
        ({ attempt, claimToken }) => attempt.taskId === ended.taskId && claimToken <= ended.token,
      );
      if (open.length === 0) return;
      const outcome = outcomeOf(ended);
      // What a run has left running ends before somebody else takes the task.
      if (outcome === 'ended' || outcome === 'lost') await deps.endCommandsOf(ended.agentId);
      const { by, note } = ended.last;
      const noteBy = by === PERSON ? 'human' : by === 'relay' ? 'relay' : 'agent';
      for (const each of open) await settle(each, each.attempt.kind === 'agent' ? outcome : 'lost', note, noteBy);
    }).catch((error: unknown) =>
      logger.error('The end of an attempt at a task could not be written. The relay’s next start writes it.', {
        error,
      }),
    );
    running.add(work);
    void work.finally(() => running.delete(work));
  });
  /** Collects, runs the checks, and remembers what they said of this commit. */
  async function found(project: Project, task: Task): Promise<Receipt | null> {
    const open = await attempts.openOf(task.taskId);
    if (!open) return null;
    const { head, receipt } = await receiptOf(project, open);
    if (project.checks.length === 0 || receipt.checks.length > 0) return receipt;
    const repository = await repositories.of(project.projectId, project);
    const checks = await checkouts.check(placeOf(project, open.attempt), repository, head ?? open.attempt.base, {
      ...{ setup: project.setup, checks: project.checks },
      copies: await copiesOf(project, repository, head ?? open.attempt.base),
    });
    const draft: Draft = { head, checks: checks.map((check) => ({ ...check })) };
    await attempts.found(open.attempt.attemptId, draft);
    return { ...receipt, checks: draft.checks };
  }

  /** By agent: the attempt in whose checkout it did something last. */
  const current = new Map<AgentId, string>();
  /** The attempts of an agent, or of its executor. The one that it works on comes last. */
  async function attemptsAt({ agentId, executor }: CommandOf): Promise<readonly OpenAttempt[]> {
    const own = (await attempts.open(agentId)).filter(({ attempt }) =>
      executor === null ? attempt.kind === 'agent' : attempt.runId === executor,
    );
    const isCurrent = ({ attempt }: OpenAttempt) => attempt.attemptId === current.get(agentId);
    return own.toSorted(
      (one, other) =>
        Number(isCurrent(one)) - Number(isCurrent(other)) || one.attempt.startedAt - other.attempt.startedAt,
    );
  }
  /** The attempt whose checkout a path or a command names. Otherwise the one worked on last. */
  async function attemptOf(by: CommandOf, text: string): Promise<OpenAttempt | undefined> {
    const all = await attemptsAt(by);
    return all.findLast(({ attempt }) => namesFolder(text, attempt.folder)) ?? all.at(-1);
  }

  /** As `secretIn`, for the attempt that is under way. */
  async function secretOf(project: Project, { taskId }: Task, { commits }: Receipt): Promise<string | null> {
    const [open, head] = [await attempts.openOf(taskId), commits.at(-1)?.commit ?? null];
    if (!open || head === null || project.copy.length === 0) return null;
    const repository = await repositories.of(project.projectId, project);
    return await secretIn(project, repository, { base: await startOf(repository, open.attempt, head), head });
  }

  /** What of a receipt and a task does not hold, as the project asks for it. */
  function lacks(
    project: Pick<ProjectValue, 'checks'>,
    task: Pick<TaskValue, 'criteria'>,
    receipt: Receipt | null,
  ): (keyof DoneNeeds)[] {
    const hasChange = receipt !== null && receipt.files.length + receipt.commits.length > 0;
    const passed = receipt !== null && receipt.checks.length > 0 && receipt.checks.every(({ code }) => code === 0);
    return [
      ...(hasChange ? [] : (['change'] as const)),
      ...(project.checks.length === 0 || passed ? [] : (['checks'] as const)),
      ...unmetCriteria(task),
    ];
  }

  const missing: TaskWork['missing'] = async (project, taskId, task) => {
    const all = await attempts.list(taskId);
    return all.length === 0
      ? unmetCriteria(task)
      : lacks(project, task, all.findLast(({ receipt }) => receipt !== null)?.receipt ?? null);
  };
  const commitLeft = createCommitLeft({ ...deps, notWorkOf });
  const requests = createRequests({
    ...deps,
    ...{ taskOf, inOrder, startOf, missing },
    async collect(project, open) {
      await receiptOf(project, open);
    },
  });

  const work: OpenTaskWork = {
    find: createFind(deps),
    ...requests,
    examine: repositories.examine,
    spentToday: (project) => deps.limits.ofDay(project),
    lacking: (agentId, project) => deps.means.lacking(agentId, project),
    commit: commitLeft,
    async begin(holder, project, task, caller) {
      try {
        const place = await inOrder(task.taskId, () => prepare(holder, project, task, caller));
        if (place.ok && task.unprepared !== null)
          await projects.update(project.projectId, task.taskId, ({ value }) => ({
            value: { ...value, unprepared: null },
          }));
        return place;
      } catch (error) {
        if (isFault(error)) return { ok: false, text: error instanceof Error ? error.message : String(error) };
        // The claim ends, too. Otherwise the run's end would free the task, and the next run pay
        // again.
        logger.error('The place of work of a task could not be prepared.', { error });
        const isFull =
          error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
        return {
          ok: false,
          text: isFull
            ? sentence`The disk of the relay’s machine is full.`
            : sentence`The relay had an error. The relay’s log says more.`,
        };
      }
    },
    async finish(project, task, caller) {
      try {
        return await inOrder(task.taskId, async () => {
          const left = await commitLeft(project, task, caller);
          if (left !== null) return left;
          const receipt = await found(project, task);
          if (!receipt) return null;
          const missing = lacks(project, task, receipt).filter((need) => project.doneNeeds[need]);
          const failed = receipt.checks.filter(({ code }) => code !== 0);
          const refused = refusedIn(receipt);
          const secret = await secretOf(project, task, receipt);
          const said = [
            ...(refused === null
              ? []
              : [`${refused} Move the task to blocked, and say what is done and what is left.`]),
            ...(receipt.uncommitted.length > 0 ? [uncommittedIn(project, receipt)] : []),
            ...(receipt.elsewhere.length > 0
              ? [
                  `These commits are not on the task’s branch: ${receipt.elsewhere.map(commitText).join(', ')}. Put them there by git merge or git cherry-pick, or delete the branch or the stash that has them.`,
                ]
              : []),
            ...(secret === null ? [] : [secret]),
            ...(missing.includes('change') ? ['Nothing was changed yet.'] : []),
            ...(missing.includes('checks')
              ? failed.map(({ command, code, output }) =>
                  writeSaid({ head: `The check ${titled(command)} ended with ${code ?? 'no status'}:`, text: output }),
                )
              : []),
            ...(missing.includes('criteria')
              ? ['Not every criterion is met. meet_criterion says that one is, and what shows it.']
              : []),
          ];
          if (said.length === 0) return null;
          const note = notReady(project, receipt, { missing, refused, secret });
          if (note !== null && task.history.at(-1)?.note !== note) await noteOn(project, task, note);
          return said.join('\n');
        });
      } catch (error) {
        if (!isFault(error)) throw error;
        return error instanceof Error ? error.message : String(error);
      }
    },
    async moved(project, task) {
      const problem = await requests.moved(project, task);
      for (const listener of reviewListeners) listener(project, task);
      return problem;
    },
    async told(project, task, nameOf) {
      const all = await attempts.list(task.taskId);
      const comments = await toldOn(project, task, all);
      return [toldOf(all, nameOf), ...comments].filter((part) => part !== '').join('\n');
    },
    missing,
    found,
    onReview: (listener) => void reviewListeners.push(listener),
    async attempts(projectId, taskId) {
      const at = await taskOf(projectId, taskId);
      return at.ok ? done(await attempts.list(taskId)) : at;
    },
    ended: (since) => endedSince(deps, since),
    async spent(projectId) {
      const project = await projects.read(projectId);
      if (!project.ok) return unable('no-project', project.detail);
      return done(spentBy(await attempts.ofProject(projectId)));
    },
    async diff(projectId, taskId, from) {
      const at = await taskOf(projectId, taskId);
      if (!at.ok) return at;
      const { project, task } = at.value;
      const last = lastOf(task, await attempts.list(taskId));
      if (!last) return NO_WORK;
      const repository = await repositories.of(projectId, project);
      const { base, head } = await rangeOf(repository, task, last);
      if (!(await repository.has(head))) return unable('no-work', 'The commits of this task are not on this relay.');
      const [{ files, more }, { list }] = await Promise.all([
        repository.diff(base, head, from),
        repository.commits(base, head),
      ]);
      const comments = [...(await shownComments(repository, task.lineComments, { base, head }))];
      return done({ branch: last.branch, base, head, commits: [...list], files, more, comments });
    },
    async filePatch(projectId, taskId, { before, after, from }) {
      const at = await taskOf(projectId, taskId);
      if (!at.ok) return at;
      const repository = await repositories.of(projectId, at.value.project);
      const patch = await repository.patch(before, after, from);
      return patch ? done(patch) : unable('no-such-file', 'The project has no such content.');
    },
    ...createProjectFiles({ projects, repositories, now }),
    ...createWorkForgetting({ projects, attempts, checkouts, repositories, nameOf }),
    ...createCheckoutList({ projects, attempts, checkouts, repositories, taskOf, inOrder }),
    async environmentOf(by) {
      const open = (await attemptsAt(by)).at(-1);
      if (!open) return {};
      const { projectId, taskId } = open.attempt;
      return {
        PORT: String(CHECKOUT_LIMITS.firstPort + (await portsOf({ taskId })) * CHECKOUT_LIMITS.portsEach),
        ROOST_TASK: `${projectId}/${taskId}`,
      };
    },
    ran(by, command) {
      const noted = (async () => {
        const open = await attemptOf(by, command.command);
        if (open) await attempts.ran(open.attempt.attemptId, command);
      })().catch((error: unknown) => logger.warn('A command of an attempt could not be noted.', { error }));
      running.add(noted);
      void noted.finally(() => running.delete(noted));
    },
    async touches(by, text) {
      const open = await attemptOf(by, text);
      if (!open || by.executor !== null || current.get(by.agentId) === open.attempt.attemptId) return;
      current.set(by.agentId, open.attempt.attemptId);
      deps.onTurn(open.attempt.attemptId);
    },
    async stop(kind, { projectId, taskId, agentId }, why) {
      const at = await taskOf(projectId, taskId);
      if (!at.ok) return;
      if (kind === 'task') await block(at.value.project, at.value.task, why);
      else await projects.release(agentId, projectId, taskId, why.slice(0, PROJECT_LIMITS.note));
      await deps.tellPerson(agentId, why);
    },
    async recover() {
      for (const { attempt, claimToken } of await attempts.open())
        await inOrder(attempt.taskId, async () => {
          const held = await projects.heldBy(attempt.taskId);
          // Nobody waits for an executor of an earlier process.
          const goesOn = held?.token === claimToken && !(deps.alone && attempt.kind === 'executor');
          const open = (await attempts.open(attempt.agentId)).find(
            (each) => each.attempt.attemptId === attempt.attemptId,
          );
          if (open && !goesOn) await settle(open, 'lost', sentence`The relay ended in the middle of it.`);
        });
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all(running);
    },
  };

  projects.connect(work);
  return work;
}
