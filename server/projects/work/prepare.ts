/** Prepares the place of work of a claimed task: its checkout, its branch, and its attempt. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { takesOneTask } from '../../../src/shared/domain/one-task.ts';
import { reviewsSince } from '../../../src/shared/domain/task-reviews.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import { CHECKOUTS_FOLDER } from '../../../src/shared/protocol/outward-texts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Caller } from '../../tools/index.ts';
import type { Holder } from '../board/index.ts';
import { CHECKOUT_LIMITS, type Place, type Repository } from '../checkouts/index.ts';
import { lastOf } from './forgetting.ts';
import { placeOf } from './checkout-list.ts';
import { placeText } from './means.ts';
import { copiesOf, filtersOf, instructionsOf, skillsOf } from './repository-words.ts';
import { failedSetupIn, hasSetUp, setupNote, setupText } from './setup.ts';
import type { WorkBase } from './base.ts';
import type { Receipts } from './receipts.ts';
import type { Settle } from './attempt-ends.ts';
import { environmentFor } from './attempt-commands.ts';

/** A readable part of a name of a branch or a folder. */
const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, CHECKOUT_LIMITS.slug)
    .replaceAll(/^-+|-+$/g, '') || 'task';

/** The last name of the folder in which an agent works on one task of a project after another. */
const SHARED_FOLDER = 'checkout';
const isSharedFolder = ({ folder }: Pick<Attempt, 'folder'>) => folder.endsWith(`/${SHARED_FOLDER}`);
const KEPT_NOTE = sentence`What was in no commit is on the branch now, as “Keep unfinished work”.`;

const NOT_BROUGHT =
  'The base branch has moved on. What others changed there is not in your checkout, and comes with the merge.';

/** How a place of work could be prepared. `text`: for the agent. */
interface Prepared {
  readonly ok: boolean;
  readonly text: string;
}

/** What the person asks for anew is counted anew. */
const ASKS_ANEW: readonly string[] = [
  'moved',
  'changes',
  'released',
  'started',
] satisfies Task['history'][number]['what'][];

/** Why there may be no further attempt at the task, as a sentence. Null: there may. */
function refuseTries(project: Project, task: Task, before: readonly Attempt[]): string | null {
  const since = task.history.findLast(({ by, what }) => by === PERSON && ASKS_ANEW.includes(what))?.time ?? 0;
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
  if (counted < project.attemptsPerTask || reviews.isLast) return null;
  const why = `There were ${counted} attempts, as many as the project allows.`;
  const failedSetup = failedSetupIn(task, before.at(-1), project.setup);
  return failedSetup === null ? why : `${why} ${failedSetup}`;
}

const wouldBeLost = ({ folder }: Place, left: readonly string[]) =>
  `The checkout has work that would be lost: ${left.slice(0, 20).map(titled).join(', ')}. Look into the folder ${titled(folder)}: commit it, or finish what git is in the middle of. Then claim the task again.`;

/** Where the work on a task goes on, or begins. */
interface Start {
  readonly place: Place;
  /** The commit that the checkout begins at. */
  readonly commit: string;
  /** The attempt in whose folder this one goes on. */
  readonly own: Attempt | undefined;
  /** Whether there is work on the task already. */
  readonly goesOn: boolean;
  readonly base: Awaited<ReturnType<Repository['base']>>;
}

async function startFor(
  { attempts }: WorkBase,
  repository: Repository,
  agentId: AgentId,
  { project, task, before }: { readonly project: Project; readonly task: Task; readonly before: readonly Attempt[] },
): Promise<Start> {
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
  const commit =
    goesOn && head !== null ? head : ((back && (await repository.reverted(base.commit, back, again))) ?? base.commit);
  const place: Place = { kind: project.kind, agentId, folder, branch, base: goesOn ? last.base : base.commit };
  return { place, commit, own, goesOn, base };
}

/** `prepare` in the order of the work on a task. */
export function createPrepare(base: WorkBase, { notWorkOf }: Receipts, settle: Settle) {
  const { projects, attempts, checkouts, repositories, inOrder, nameOf, noteOn, block, now } = base;

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

  async function prepareIn(holder: Holder, project: Project, task: Task, caller: Caller): Promise<Prepared> {
    const { agentId } = holder;
    const means = await base.means.of(caller);
    const held = await projects.heldBy(task.taskId);
    if (held?.agentId !== agentId) return { ok: false, text: 'The claim of the task has ended.' };
    const before = await attempts.list(task.taskId);
    const open = await attempts.openOf(task.taskId);
    if (open && open.attempt.agentId === agentId) return { ok: true, text: placeText(project, open.attempt, means) };
    if (open) await settle(open, 'lost', 'Another agent has claimed the task.');
    const refused = await checkouts.refuse(project.kind, agentId, project.checks.length > 0 || project.setup !== '');
    if (refused !== null) return { ok: false, text: refused };
    const tried = refuseTries(project, task, before);
    const spent = tried === null ? await base.limits.ofTask(project, task) : null;
    const why = tried ?? spent?.detail ?? null;
    if (why !== null) {
      await block(project, task, why);
      if (spent) await base.tellPerson(agentId, why);
      return { ok: false, text: `${why} The task is blocked until the human moves it.` };
    }
    const repository = await repositories.of(project.projectId, project);
    const begin = await startFor(base, repository, agentId, { project, task, before });
    const { place, commit: start, own, goesOn } = begin;
    const { branch, folder } = place;
    const isThere = own !== undefined && (await checkouts.exists(place));
    const by = await nameOf(agentId);
    if (isThere && own.taskId !== task.taskId) {
      const unsaved = await turnFrom(project, own, place, repository, start);
      if (unsaved !== null) return { ok: false, text: unsaved };
    }
    let others: readonly string[] = [];
    const last = lastOf(task, before);
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
    const isBehind = goesOn && (await repository.forkOf(begin.base.commit, start)) !== begin.base.commit;
    const brought = isBehind ? await checkouts.bring(place, repository, begin.base, start, { by, at: now() }) : [];
    const news = brought.length > 0 && project.kind === 'git' && !means.commits ? [NOT_BROUGHT] : brought;
    const attempt = await attempts.begin(holder, held.token, {
      ...{ projectId: project.projectId, taskId: task.taskId, kind: 'agent', model: null, startedAt: now() },
      ...{ branch, base: place.base, folder },
    });
    const ran = takesOneTask(project) ? await attempts.ofProject(project.projectId) : before;
    const isSetUp = isThere && hasSetUp(ran, { agentId, folder }, project.setup);
    if (!isSetUp && project.setup !== '') {
      const run = await checkouts.run(place, project.setup, await environmentFor(base, attempt));
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

  /** The one checkout of a project that takes one task at a time has the branch of one task. */
  return (holder: Holder, project: Project, task: Task, caller: Caller): Promise<Prepared> =>
    takesOneTask(project)
      ? inOrder(`checkout of ${holder.agentId} in ${project.projectId}`, () => prepareIn(holder, project, task, caller))
      : prepareIn(holder, project, task, caller);
}
