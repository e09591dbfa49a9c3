/**
 * Forgets agents and removed projects: in every table, as `FORGETTING` says, and in what lies
 * outside of the store. Also removes what an agent has left here after it has moved away or was
 * retired.
 */
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import type { AgentId, ProjectId, ThreadId } from '../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { documentsOf, stampOf } from '../../src/shared/protocol/intake.ts';
import { namesSource } from '../../src/shared/domain/forgetting.ts';
import { isCovered } from '../../src/shared/protocol/documents/kinds.ts';
import { parseStamp } from '../../src/shared/domain/stamp.ts';
import type { FinalForget } from '../../src/shared/protocol/forgets.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import type { RelayRecord } from '../../src/shared/protocol/records.ts';
import type { Credentials } from '../access/index.ts';
import type { HomeNotifications } from '../notifications/index.ts';
import type { Webhooks } from '../webhooks/index.ts';
import type { Logger } from '../platform/logger.ts';
import { forgetRows, type Rewrites } from '../store/forgetting.ts';
import { emptyLog } from '../store/dialect.ts';
import { forgetItems, forgetSaid, type Said } from '../store/said.ts';
import type { HomeStore } from '../store/index.ts';
import type { OpenEventLog } from '../log/index.ts';
import { scopeOf } from '../team/gate/index.ts';
import { attemptWithout, isProjectOf, REMOVED_BRANCH, taskWithout } from '../projects/board/index.ts';
import { DELETED_THREAD } from '../team/threads/index.ts';
import { forgetAsked } from '../team/records/index.ts';
import type { Histories } from '../files/history/index.ts';
import type { Workspaces } from '../files/workspaces/index.ts';
import type { Team } from './team.ts';

interface Deps
  extends
    HomeStore,
    Pick<
      Team,
      | 'attempts'
      | 'approvals'
      | 'configs'
      | 'snapshots'
      | 'directory'
      | 'dreams'
      | 'endCommandsOf'
      | 'forgets'
      | 'memories'
      | 'projects'
      | 'records'
      | 'schedules'
      | 'taskWork'
      | 'threads'
    > {
  readonly log: OpenEventLog;
  readonly credentials: Pick<Credentials, 'list' | 'revoke'>;
  readonly webhooks: Pick<Webhooks, 'recover'>;
  readonly notifications: Pick<HomeNotifications, 'forget'>;
  readonly workspaces: Pick<Workspaces, 'forget'>;
  readonly histories: Pick<Histories, 'forget'>;
  readonly logger: Pick<Logger, 'error'>;
  /** ms since the epoch */
  readonly now: () => number;
}

export interface Forgetting {
  /**
   * The person requested it twice and waited. Nothing may remain that a page, a program or a folder
   * would show.
   */
  agents(agentIds: readonly AgentId[]): Promise<void>;
  /** Removes what requests to forget cover that are not carried out yet. */
  said(): Promise<void>;
  /** Goes on with removed projects and requests of which something was left. Called once. */
  recover(): Promise<void>;
  /** Records were restored, and may have brought back what was forgotten. */
  restored(): void;
}

/** Whether the record says something in the name of these agents, or is about one of them. */
function isRecordOf(record: RelayRecord, goneIds: ReadonlySet<AgentId>): boolean {
  switch (record.type) {
    case 'limits':
    case 'memory':
    case 'exam':
    case 'routine-mapping':
      return record.value.agentId !== null && goneIds.has(record.value.agentId);
    case 'schedule':
      return goneIds.has(record.value.schedule.agentId);
    case 'thread-message':
      return goneIds.has(record.value.from);
    case 'thread':
      return record.value.closed !== null && goneIds.has(record.value.closed.by);
    case 'project':
      return isProjectOf(record.value, goneIds);
    case 'task':
      return taskWithout(record.value, goneIds) !== null;
    case 'attempt':
      return goneIds.has(record.value.agentId) || attemptWithout(record.value, goneIds) !== null;
    case 'prices':
    case 'attached-server':
      return false;
    default:
      return record satisfies never;
  }
}

/**
 * A newer event says the same of what is left, so pages that have not stored this one lack nothing.
 */
const isEventOf =
  (gone: ReadonlySet<AgentId>) =>
  (event: RoostEvent): boolean =>
    event.kind === 'record'
      ? isRecordOf(event.record, gone)
      : 'agentId' in event && event.agentId !== null && gone.has(event.agentId);

/** The same for what was said. Nobody needs the words of an answer before its message any more. */
function isSaidIn(event: RoostEvent, forgets: readonly FinalForget[]): boolean {
  const docs = documentsOf({ id: 0, event });
  if (docs.length > 0) return docs.some((doc) => forgets.some((forget) => isCovered(doc, forget)));
  if (event.kind !== 'answer-started') return false;
  const answer = { type: 'message', at: stampOf(0, event), agentId: event.agentId };
  return forgets.some((forget) => isCovered(answer, forget));
}
const saidIn = ({ target, at }: FinalForget, everybody: readonly AgentId[]): Said => ({
  agentIds: target.kind === 'items' ? [] : target.agentId === null ? everybody : [target.agentId],
  from: target.kind === 'span' ? target.from : 0,
  to: target.kind === 'span' ? target.to : (parseStamp(at)?.time ?? 0),
});

/** Whether the record is of one of these projects, and not the last word on it. */
function isOfProject(
  record: RelayRecord,
  { projects, threads }: { readonly projects: ReadonlySet<ProjectId>; readonly threads: ReadonlySet<ThreadId> },
): boolean {
  switch (record.type) {
    case 'project':
      return projects.has(record.id) && !record.value.removed;
    case 'task':
      return projects.has(record.value.projectId) && !record.value.removed;
    case 'attempt':
      return projects.has(record.value.projectId) && record.value.branch !== REMOVED_BRANCH;
    case 'thread':
      return threads.has(record.id) && record.value.title !== DELETED_THREAD;
    case 'thread-message':
      return threads.has(record.value.threadId);
    default:
      return false;
  }
}

/** Follows the team and the projects. */
export function createForgetting(deps: Deps): Forgetting {
  const { db, home, log, attempts, approvals, configs, snapshots, credentials, directory, projects, logger } = deps;

  /** Runs each step by itself, so that a failure does not stop the others. False: one failed. */
  async function each(steps: readonly (() => Promise<unknown> | undefined)[], failed: string): Promise<boolean> {
    let isDone = true;
    for (const step of steps)
      try {
        await step();
      } catch (error) {
        isDone = false;
        logger.error(failed, { error });
      }
    return isDone;
  }

  /** Removes the data of agents that have moved away, and stops the schedules of retired ones. */
  async function removeDeparted(): Promise<void> {
    const members = await directory.all();
    const here = new Set(members.filter(({ retired }) => !retired).map(({ agentId }) => agentId));
    const gone = await snapshots.keepOnly(here);
    await approvals.keepOnly(here);
    for (const agentId of gone)
      if (members.some((member) => member.agentId === agentId)) await deps.schedules.stopAll(agentId);
  }
  log.subscribe(({ event }) => {
    if (event.kind !== 'changed' || event.what !== 'team') return;
    removeDeparted().catch((error: unknown) =>
      logger.error('Agent snapshots could not be released. The relay tries again at the next change.', { error }),
    );
  });

  const always = {
    webhooks: () => deps.webhooks.recover(),
    notifications: (ids: readonly string[]) => deps.notifications.forget(ids),
  };
  const ofAgents: Rewrites<'agent'> = {
    ...always,
    async configs(agentIds) {
      for (const scope of agentIds.map(scopeOf))
        await configs.changing(scope, () =>
          db.deleteFrom('configs').where('home', '=', home).where('scope', '=', scope).execute(),
        );
    },
    attempts: (agentIds) => attempts.forgetAgents(agentIds),
    projects: (agentIds) => projects.forgetting.agents(agentIds),
    threads: (agentIds) => deps.threads.forgetting.agents(agentIds),
    asked: (agentIds) => forgetAsked({ db, home }, { agentIds }),
    async events(agentIds) {
      // What is left of records is announced first.
      await deps.records.recover();
      await log.remove(
        agentIds.map((id) => JSON.stringify(id)),
        isEventOf(new Set(agentIds)),
      );
    },
  };
  async function stop(agentIds: readonly AgentId[]): Promise<void> {
    for (const credential of await credentials.list())
      if (credential.agentId !== null && agentIds.includes(credential.agentId))
        await credentials.revoke(credential.credentialId);
    // Switched off first, so that the clock starts nothing meanwhile.
    for (const agentId of agentIds) await deps.schedules.stopAll(agentId);
  }

  const ofProjects: Rewrites<'project'> = {
    ...always,
    attempts: (projectIds) => attempts.forgetProjects(projectIds),
    projects: (projectIds) => projects.forgetting.projects(projectIds),
    threads: (projectIds) => deps.threads.forgetting.projects(projectIds),
    asked: (projectIds) => forgetAsked({ db, home }, { projectIds }),
    async events(projectIds) {
      await deps.records.recover();
      await removeEvents(new Set(projectIds), await deps.threads.forgetting.ofProjects(projectIds));
    },
  };
  const removeEvents = (ofProject: ReadonlySet<ProjectId>, threads: ReadonlySet<ThreadId>) =>
    log.remove(
      [...ofProject, ...threads].map((id) => JSON.stringify(id)),
      (event) => event.kind === 'record' && isOfProject(event.record, { projects: ofProject, threads }),
    );
  const removeProjects = (projectIds: readonly ProjectId[]) =>
    each(
      [
        () => deps.taskWork?.work.forgetProjects(projectIds),
        () => forgetRows(db, home, 'project', projectIds, ofProjects),
      ],
      'Data of a removed project could not be deleted. The relay tries again at its next start.',
    );
  const removeComments = () =>
    each(
      [
        async () => {
          const threads = await deps.threads.forgetting.removedTasks();
          if (threads.size === 0) return;
          await deps.records.recover();
          await removeEvents(new Set(), threads);
        },
      ],
      'Comments on a removed task could not be deleted. The relay tries again at its next start.',
    );
  projects.onRemoved(async (projectIds) => {
    if (projectIds.length > 0) await removeProjects(projectIds);
    await removeComments();
  });

  const inTurn = createQueue();
  async function forgetPending(): Promise<void> {
    const due = await deps.forgets.pending();
    if (due.length === 0) return;
    const everybody = [LEAD_ID, ...(await directory.all()).map(({ agentId }) => agentId)];
    const all = due.map((forget) => saidIn(forget, everybody));
    const isOfItems = due.some(({ target }) => target.kind === 'items');
    const agentIds = isOfItems ? everybody : [...new Set(all.flatMap((each) => each.agentIds))];
    const isDone = await each(
      [
        () => deps.dreams.cancelOf(agentIds),
        () => deps.memories.forget(),
        ...all.map((each) => () => forgetSaid(db, home, each)),
        async () => {
          const items = due.filter(({ target }) => target.kind === 'items');
          if (items.length > 0) await forgetItems(db, home, (id) => items.some((forget) => namesSource(forget, id)));
        },
        () => deps.notifications.forget(agentIds),
        async () => {
          await deps.records.recover();
          await log.remove(
            agentIds.map((id) => JSON.stringify(id)),
            (event) => isSaidIn(event, due),
          );
        },
      ],
      'Something that was forgotten could not be removed. The relay tries again when a page asks, or at its next start.',
    );
    if (isDone) await deps.forgets.markDone(due);
    await emptyLog(db);
    // A page leaves new agent snapshots.
    await log.append([{ kind: 'changed', time: deps.now(), what: 'schedules', agentId: null }]);
  }

  /** Agents of which no row is left here. */
  const forgotten = new Set<AgentId>();
  return {
    async agents(agentIds) {
      const everybody = agentIds.filter((id) => id !== LEAD_ID);
      const due = everybody.filter((id) => !forgotten.has(id));
      const rows = [
        ...due.map((agentId) => () => deps.endCommandsOf(agentId)),
        () => stop(due),
        () => deps.dreams.cancelOf(due),
        () => deps.taskWork?.work.forgetAgents(due),
        () => forgetRows(db, home, 'agent', due, ofAgents),
      ];
      // Looked for each time: a restored home may have brought a folder back.
      const folders = everybody.flatMap((agentId) => [
        () => deps.workspaces.forget(agentId),
        () => deps.histories.forget(agentId),
      ]);
      const isDone = await each(
        due.length === 0 ? folders : [...rows, ...folders],
        'Data of a forgotten agent could not be removed. The relay tries again when a page reports the team.',
      );
      if (isDone) for (const agentId of due) forgotten.add(agentId);
    },
    said: () => inTurn(forgetPending),
    async recover() {
      await inTurn(forgetPending);
      const removed = await projects.forgetting.removed();
      if (removed.length > 0) await removeProjects(removed);
      await removeComments();
    },
    restored: () => forgotten.clear(),
  };
}
