/**
 * Projects: boards of tasks that the person and agents write, and that agents claim and work on.
 *
 * `rows.ts` reads the tables, `records.ts` restores projects to a relay that has lost them, and
 * `tools.ts` has the tools of agents. The rules are in `src/shared/domain/projects.ts`.
 *
 * Main types: `Projects`, `Holder`.
 *
 * Invariants:
 * - One agent at most works on a task. A claim is one lease on the task's row, with a token that
 *   counts the claims. A renewal, or the end of a claim, names the token, so an old run cannot end
 *   a newer claim.
 * - A claim of a run ends with the run, and the task returns to the column from which it was taken.
 *   The claim of a relay that died ends with its lease.
 * - Agents change tasks that they have claimed. Only the person moves a task to `done`.
 * - Every change is on disk before the caller is answered and pages are notified.
 *
 * It does not know what an agent does with a task: files, branches and runs belong to other parts.
 */
import type { AgentId, ProjectId, RunId, TaskId } from '../../../src/shared/domain/ids.ts';
import {
  AGENTS_MOVE_TO,
  columnOfKind,
  DEFAULT_COLUMNS,
  kindOfColumn,
  refuseColumns,
} from '../../../src/shared/domain/projects.ts';
import { waitsForItself } from '../../../src/shared/domain/task-cycles.ts';
import { wordsIn } from '../../../src/shared/domain/task-search.ts';
import { takesOneTask } from '../../../src/shared/domain/one-task.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { createTimerSet } from '../../../src/shared/domain/platform/timers.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import {
  createProjectSchema,
  PROJECT_LIMITS,
  type ProjectValue,
  type Task,
  type TaskValue,
} from '../../../src/shared/protocol/projects.ts';
import { type Db, parseText } from '../../store/index.ts';
import type {
  ChangedElsewhere,
  EndedClaim,
  Outcome,
  ProjectRefusal,
  Projects,
  ProjectsDeps,
  Refused,
  RestOf,
  TaskWork,
} from './contract.ts';
import { edited, rewritten } from './edits.ts';
import { createProjectForgetting, removedProject, removedTask } from './forgetting.ts';
import { createReady } from './ready.ts';
import { createProjectRecords } from './records.ts';
import { readAssigned, readBoard, readClaimedIn, readCommandsOf, readProjects, readUnprepared } from './board.ts';
import {
  agreedTo,
  claimOf,
  columnsOf,
  hasTaskRow,
  json,
  projectValueOf,
  readProjectRow,
  readClaims,
  readStates,
  readTaskRow,
  runOf,
  taskOf,
  type TaskRow,
  taskValueOf,
  UNCLAIMED,
  withHistory,
} from './rows.ts';
import { createProjectRoom, refuseBytes } from './room.ts';
import { searchTasks } from './search.ts';
import { PROJECT_SETTINGS } from './settings.ts';
import {
  atWorkText,
  LOST,
  missingText,
  RUN_ENDED,
  refuseClaim,
  unmetCriteria,
  withFailedClaim,
  withoutClaim,
} from './taking.ts';
import { SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

export {
  type Attempts,
  type Began,
  createAttemptRecords,
  createAttempts,
  type Draft,
  type OpenAttempt,
  type Spent,
} from './attempts.ts';
export type { EndedClaim, HeldClaim, Holder, Projects, SpentUp, TaskWork } from './contract.ts';
export { type Comments, createComments } from './comments.ts';
export { attemptWithout, isProjectOf, REMOVED_BRANCH, taskWithout } from './forgetting.ts';
export { createProjectRoom, type ProjectRoom } from './room.ts';
export { createProjectRoutes } from './routes.ts';
export { createProjectTools } from './tools.ts';
export { claimTask } from './claiming.ts';
export { createTaskWords } from './task-words.ts';
export { grantedByProjects } from './grants.ts';
export { RUN_ENDED, unmetCriteria } from './taking.ts';
export { withHistory } from './rows.ts';

const refuse = (reason: ProjectRefusal, detail: string): Refused => ({ ok: false, reason, detail });
const NO_PROJECT = refuse('no-project', 'There is no such project.');
const NO_TASK = refuse('no-task', 'There is no such task in this project.');
const done = <Value>(value: Value): { readonly ok: true; readonly value: Value } => ({ ok: true, value });

export function createProjects({
  db,
  home,
  directory,
  log,
  tell,
  now,
  newId,
  timers: given,
  refuseForRoom,
  room = createProjectRoom({ db, home, elapsed: now }),
  logger,
  setAside = SETS_NOTHING_ASIDE,
  settings = PROJECT_SETTINGS,
}: ProjectsDeps): Projects {
  const timers = createTimerSet(given);
  const searching = createLimiter(settings.searchesAtOnce);
  const listeners: ((ended: EndedClaim) => void)[] = [];
  let work: TaskWork | null = null;
  let taken: Parameters<Projects['connectRoutines']>[0] = () => Promise.resolve([]);
  let onRemoved: (projectIds: readonly ProjectId[]) => Promise<void> = () => Promise.resolve();
  let restOf: RestOf = () => undefined;
  const shown = (row: TaskRow) => taskOf(row, now(), restOf);
  /** Agents with a project, as they were read last. */
  let assigned: { readonly at: number; readonly agents: Promise<ReadonlySet<AgentId>> } | null = null;
  function changed(projectId: ProjectId): void {
    assigned = null;
    tell({ kind: 'changed', time: now(), what: 'projects', agentId: null, projectId });
  }
  const failed = (what: string) => (error: unknown) => logger.error(what, { error });

  /** Why these agents cannot work on a project. Null: they can. */
  async function refuseAgents(agentIds: readonly AgentId[]): Promise<Refused | null> {
    if (agentIds.length === 0) return null;
    const all = await directory.all();
    const unknown = agentIds.find((id) => !all.some(({ agentId, retired }) => agentId === id && !retired));
    return unknown === undefined ? null : refuse('misfit', `There is no agent ${titled(unknown)}.`);
  }

  /** Why the task cannot have these fields. Null: it can. */
  async function refuseTask(
    within: Db,
    project: ProjectValue,
    projectId: ProjectId,
    taskId: TaskId,
    { columnId, assignee, blockedBy }: Pick<TaskValue, 'columnId' | 'assignee' | 'blockedBy'>,
  ): Promise<Refused | null> {
    if (kindOfColumn(project, columnId) === null)
      return refuse('misfit', `The project has no column ${titled(columnId)}.`);
    if (assignee !== null && !project.agents.includes(assignee))
      return refuse('misfit', 'The agent that it is assigned to does not work on this project. Add it there first.');
    if (blockedBy.length === 0) return null;
    const all = await readStates(within, home, projectId, now(), setAside);
    const unknown = blockedBy.find((id) => !all.some((task) => task.taskId === id));
    if (unknown !== undefined) return refuse('misfit', `The project has no task ${titled(unknown)} to wait for.`);
    return waitsForItself(taskId, blockedBy, all)
      ? refuse('misfit', 'A task cannot wait for itself, or for one that waits for it.')
      : null;
  }

  const writeTask = (within: Db, row: Pick<TaskRow, 'task'>, value: TaskValue, claim: object = {}) =>
    within
      .updateTable('tasks')
      .set((eb) => ({ ...columnsOf(value), ...claim, stamp: null, version: eb('version', '+', 1) }))
      .where('home', '=', home)
      .where('task', '=', row.task)
      .execute();

  /** `ended`: the row with the claim that this change ended. */
  interface Changing {
    readonly ok: true;
    readonly value: Task;
    readonly isChange: boolean;
    readonly ended: TaskRow | null;
    readonly project: ProjectValue;
  }
  /** Runs one change of a task, under a lock on its row. */
  async function changing<Refusal extends { readonly ok: false }>(
    projectId: ProjectId,
    taskId: TaskId,
    work: (at: {
      readonly trx: Db;
      readonly row: TaskRow;
      readonly value: TaskValue;
      readonly project: ProjectValue;
    }) => Promise<Refusal | { readonly value: TaskValue; readonly claim?: object; readonly isAlways?: boolean } | null>,
    /** Where it is true, no other task of the project is claimed meanwhile. */
    locksProject: (project: ProjectValue) => boolean = () => false,
  ): Promise<Outcome<Task> | Refusal> {
    await room.ready();
    const outcome = await db.transaction().execute(async (trx): Promise<Refused | Refusal | Changing> => {
      const before = await readProjectRow(trx, home, projectId);
      // The project before the task, as those do that change a project with its tasks.
      const isLocked = before !== null && locksProject(projectValueOf(before));
      const projectRow = isLocked ? await readProjectRow(trx, home, projectId, true) : before;
      if (!projectRow) return NO_PROJECT;
      const row = await readTaskRow(trx, home, projectId, taskId, true);
      if (!row) return NO_TASK;
      const value = taskValueOf(row);
      const change = await work({ trx, row, value, project: projectValueOf(projectRow) });
      if (change !== null && 'ok' in change) return change;
      // The end of a claim is always written. Otherwise nobody could take the task any more.
      const isEnd = row.holder_json !== null && change?.claim === UNCLAIMED;
      const full = change && refuseBytes(room, change.value, row.value_json);
      if (full && !change.isAlways && !isEnd) return full;
      if (change !== null)
        await writeTask(trx, row, change.value, { ...change.claim, ...agreedTo(value, change.value) });
      const after = (await readTaskRow(trx, home, projectId, taskId)) ?? row;
      const ended = row.holder_json !== null && after.holder_json === null ? row : null;
      return {
        ok: true,
        value: shown(after),
        isChange: change !== null,
        ended,
        project: projectValueOf(projectRow),
      };
    });
    if (!outcome.ok) return outcome;
    const { value, isChange, ended, project } = outcome;
    if (isChange) changed(projectId);
    const last = value.history.at(-1);
    if (ended?.holder_json != null && last)
      for (const listener of listeners)
        listener({
          ...{ projectId, taskId, last, token: ended.claim_token },
          agentId: parseText(ended.holder_json),
          kind: kindOfColumn(project, value.columnId),
        });
    return done(value);
  }

  const isHeldBy = (row: TaskRow, agentId: string) => claimOf(row, now())?.agentId === agentId;
  /** Why an agent may not change this task. Null: it may. The person always may. */
  const refuseOther = (row: TaskRow, by: string): Refused | null =>
    by === PERSON || isHeldBy(row, by)
      ? null
      : refuse('other-agent', 'You have not claimed this task. claim_task takes it, if nobody else has it.');

  const unclaimed = (row: TaskRow, project: ProjectValue, by: string, note: string) =>
    withoutClaim(row, project, { time: now(), by, note });
  // Claims end with their run, or with their lease.

  /** Renewals of this process, by task: the tokens of its claims. */
  const held = new Map<TaskId, number>();
  let stopRenewing: (() => void) | null = null;
  function renewLater(): void {
    stopRenewing ??= timers.after(settings.renewMs, () => {
      stopRenewing = null;
      void renew()
        .catch(failed('A claim of a task could not be renewed. The relay tries again.'))
        .finally(() => {
          if (held.size > 0) renewLater();
        });
    });
  }
  async function renew(): Promise<void> {
    for (const [taskId, token] of held) {
      const { numUpdatedRows } = await db
        .updateTable('tasks')
        .set({ lease_until: now() + settings.leaseMs })
        .where('home', '=', home)
        .where('task', '=', taskId)
        .where('claim_token', '=', token)
        .where('holder_json', 'is not', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n && held.get(taskId) === token) held.delete(taskId);
    }
  }

  /** Ends this claim, unless it has ended or the task was claimed again. */
  async function endClaim(row: Pick<TaskRow, 'project' | 'task' | 'claim_token'>, note: string): Promise<void> {
    held.delete(row.task);
    const end = () =>
      changing(row.project, row.task, ({ row: at, project }) =>
        Promise.resolve(
          at.holder_json === null || at.claim_token !== row.claim_token ? null : unclaimed(at, project, 'relay', note),
        ),
      );
    await setAside.each('claims', [row], ({ task }) => task, end);
  }
  async function endRun(runId: RunId, note: string): Promise<void> {
    const rows = await db
      .selectFrom('tasks')
      .select(['project', 'task', 'claim_token'])
      .where('home', '=', home)
      .where('run', '=', `run ${runId}`)
      .where('holder_json', 'is not', null)
      .execute();
    for (const row of rows) await endClaim(row, note);
  }
  const forgetting = createProjectForgetting({ db, home, changed, endClaim });
  let stopSweeping: (() => void) | null = null;
  /** Ends claims whose lease is over, and comes back when the next one may be. */
  async function sweep(): Promise<void> {
    const rows = await db
      .selectFrom('tasks')
      .select(['project', 'task', 'claim_token', 'lease_until'])
      .where('home', '=', home)
      .where('holder_json', 'is not', null)
      .orderBy('lease_until')
      .execute();
    for (const row of rows) if ((row.lease_until ?? 0) < now()) await endClaim(row, LOST);
    const next = rows.find(({ lease_until: until }) => (until ?? 0) >= now())?.lease_until;
    if (next != null) sweepLater(next - now() + 1);
  }
  /** Looks again within a lease, because a claim of another relay may be over before this one. */
  function sweepLater(ms: number): void {
    stopSweeping ??= timers.after(Math.min(ms, settings.leaseMs), () => {
      stopSweeping = null;
      void sweep().catch(
        failed('Claims that are over could not be ended. The next claim or list of ready tasks ends them.'),
      );
    });
  }
  const unsubscribe = log.subscribe(({ event }) => {
    if (event.kind === 'run-ended')
      void endRun(event.runId, event.outcome === 'crashed' ? LOST : RUN_ENDED).catch(
        failed('The claims of a run that ended could not be ended. They end with their lease.'),
      );
  });

  const readOne = async (id: ProjectId) => (await readProjects(db, home, setAside, id))[0] ?? null;

  const projects: Projects = {
    connect: (given) => void (work = given),
    connectRoutines: (given) => void (taken = given),
    connectRest: (given) => void (restOf = given),
    async agentStopped(agentId) {
      for (const projectId of await readClaimedIn(db, home, agentId)) changed(projectId);
    },
    onClaimEnded: (listener) => void listeners.push(listener),
    claims: (projectId) => readClaims(db, home, now(), { projectId }, setAside),
    async heldBy(taskId) {
      const [claim] = await readClaims(db, home, now(), { taskId }, setAside);
      return claim ? { agentId: claim.agentId, token: claim.token, run: claim.run } : null;
    },
    update: (projectId, taskId, change) =>
      changing<Refused>(projectId, taskId, ({ value, project }) => {
        const next = change({ value, project });
        if ('ok' in next) return Promise.resolve(next);
        const kept = { ...next.value, history: next.value.history.slice(-PROJECT_LIMITS.history) };
        const isAlways = next.isLimited !== true;
        return Promise.resolve({ value: kept, isAlways, ...(next.endsClaim ? { claim: UNCLAIMED } : {}) });
      }),
    list: () => readProjects(db, home, setAside),
    async read(projectId) {
      const project = await readOne(projectId);
      return project ? done(project) : NO_PROJECT;
    },
    async create(given) {
      const { columns = DEFAULT_COLUMNS, agents, ...fields } = createProjectSchema.parse(given);
      const wrong = refuseColumns(columns);
      if (wrong !== null) return refuse('misfit', wrong);
      const refused = await refuseAgents(agents);
      if (refused) return refused;
      const unfit = (await work?.examine(fields, null)) ?? null;
      if (unfit) return { ...refuse('misfit', unfit.why), field: unfit.field };
      const { count } = await db
        .selectFrom('projects')
        .select((eb) => eb.fn.countAll<string>().as('count'))
        .where('home', '=', home)
        .where('removed', '=', false)
        .executeTakeFirstOrThrow();
      if (Number(count) >= PROJECT_LIMITS.projects)
        return refuse('too-many', `There are ${count} projects, as many as a household has. Delete one that is over.`);
      const projectId = newId();
      const value: ProjectValue = {
        ...{ ...fields, agents: [...new Set(agents)], createdAt: now(), removed: false },
        columns: columns.map((column) => ({ ...column })),
      };
      await room.ready();
      const full = refuseBytes(room, value);
      if (full) return full;
      await db
        .insertInto('projects')
        .values({
          home,
          project: projectId,
          value_json: JSON.stringify(value),
          stamp: null,
          created_at: value.createdAt,
        })
        .execute();
      changed(projectId);
      return await projects.read(projectId);
    },
    async change(projectId, { version, ...wanted }) {
      const fields = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      const here = await readOne(projectId);
      if (!here) return NO_PROJECT;
      // An agent that was retired since may stay on the list.
      const refused = await refuseAgents((wanted.agents ?? []).filter((agentId) => !here.agents.includes(agentId)));
      if (refused) return refused;
      const { baseBranch = here.baseBranch, copy = here.copy } = wanted;
      const isExamined = baseBranch !== here.baseBranch || wanted.copy !== undefined;
      const unfit = isExamined ? await work?.examine({ ...here, baseBranch, copy }, projectId) : null;
      if (unfit) return { ...refuse('misfit', unfit.why), field: unfit.field };
      await room.ready();
      const outcome = await db.transaction().execute(async (trx): Promise<Refused | 'elsewhere' | null> => {
        const row = await readProjectRow(trx, home, projectId, true);
        if (!row) return NO_PROJECT;
        if (version !== undefined && version !== row.version) return 'elsewhere';
        const before = projectValueOf(row);
        const value: ProjectValue = { ...before, ...fields };
        const wrong = refuseColumns(value.columns);
        if (wrong !== null) return refuse('misfit', wrong);
        const full = refuseBytes(room, value, row.value_json);
        if (full) return full;
        await trx
          .updateTable('projects')
          .set((eb) => ({ value_json: JSON.stringify(value), stamp: null, version: eb('version', '+', 1) }))
          .where('home', '=', home)
          .where('project', '=', projectId)
          .execute();
        const gone = before.columns.filter(({ columnId }) => kindOfColumn(value, columnId) === null);
        const backlog = columnOfKind(value, 'backlog');
        if (gone.length === 0 || !backlog) return null;
        const left = await trx
          .selectFrom('tasks')
          .selectAll()
          .where('home', '=', home)
          .where('project', '=', projectId)
          .where('removed', '=', false)
          .where(
            'column_json',
            'in',
            gone.map(({ columnId }) => json(columnId)),
          )
          .forUpdate()
          .execute();
        for (const task of left)
          await writeTask(
            trx,
            task,
            withHistory(
              { ...taskValueOf(task), columnId: backlog.columnId },
              { time: now(), by: PERSON, what: 'moved', columnId: backlog.columnId, note: 'Its column was removed.' },
            ),
            UNCLAIMED,
          );
        return null;
      });
      if (outcome !== null && outcome !== 'elsewhere') return outcome;
      if (outcome === null) changed(projectId);
      const current = await readOne(projectId);
      if (!current) return NO_PROJECT;
      return outcome === null ? done(current) : { ok: false, reason: 'changed-elsewhere', current };
    },
    async remove(projectId, lose) {
      const lost = lose ? null : await work?.lostWith(projectId);
      if (lost != null) return refuse('unsaved', lost);
      const isThere = await db.transaction().execute(async (trx) => {
        const row = await readProjectRow(trx, home, projectId, true);
        if (!row) return false;
        const tasks = await trx
          .selectFrom('tasks')
          .selectAll()
          .where((eb) => eb.and({ home, project: projectId, removed: false }))
          .forUpdate()
          .execute();
        const readable = setAside.read(
          'tasks',
          tasks,
          ({ task }) => task,
          (row) => ({ row, value: taskValueOf(row) }),
        );
        for (const { row: task, value } of readable) await writeTask(trx, task, removedTask(value), UNCLAIMED);
        const value_json = JSON.stringify(removedProject(projectValueOf(row)));
        await trx
          .updateTable('projects')
          .set({ value_json, removed: true, stamp: null, version: row.version + 1 })
          .where('home', '=', home)
          .where('project', '=', projectId)
          .execute();
        return true;
      });
      if (!isThere) return NO_PROJECT;
      room.forget();
      changed(projectId);
      return onRemoved([projectId]).then(() => done(null));
    },
    async tasks(projectId, { column, assignee, label, after, limit }) {
      if (!(await readProjectRow(db, home, projectId))) return NO_PROJECT;
      const rows = await db
        .selectFrom('tasks')
        .selectAll()
        .where('home', '=', home)
        .where('project', '=', projectId)
        .where('removed', '=', false)
        .where('number', '>', after)
        .$if(column !== null, (query) => query.where('column_json', '=', json(column ?? '')))
        .$if(assignee !== null, (query) => query.where('assignee_json', '=', json(assignee ?? '')))
        .orderBy('number')
        // Labels are not a column of the table, so their tasks are selected here.
        .$if(label === null, (query) => query.limit(limit + 1))
        .execute();
      const found = setAside
        .read(
          'tasks',
          rows,
          ({ task }) => task,
          (row) => shown(row),
        )
        .filter(({ labels }) => label === null || labels.includes(label));
      return done({ tasks: found.slice(0, limit), more: found.length > limit });
    },
    async board(projectId, query) {
      if (!(await readProjectRow(db, home, projectId))) return NO_PROJECT;
      return done(await readBoard(db, { home, projectId, now: now(), restOf, setAside }, query));
    },
    async search(projectId, text) {
      if (!(await readProjectRow(db, home, projectId))) return NO_PROJECT;
      return done(await searching(() => searchTasks(db, { home, projectId, setAside }, wordsIn(text))));
    },
    async task(projectId, taskId) {
      const row = await readTaskRow(db, home, projectId, taskId);
      return row ? done(shown(row)) : (await readProjectRow(db, home, projectId)) ? NO_TASK : NO_PROJECT;
    },
    async createTask(by, projectId, task, fromWebhook) {
      const taskId = fromWebhook?.taskId ?? newId();
      const isPersons = by === PERSON;
      const isAgents = !isPersons && fromWebhook === undefined;
      const full = isPersons ? null : await refuseForRoom();
      if (full !== null) return refuse('too-many', full);
      await room.ready();
      const refused = await db.transaction().execute(async (trx): Promise<Refused | null> => {
        const row = await readProjectRow(trx, home, projectId, true);
        if (!row) return NO_PROJECT;
        const project = projectValueOf(row);
        if (isAgents && !project.agents.includes(by))
          return refuse('other-agent', 'You are not assigned to this project.');
        if (fromWebhook && (await hasTaskRow(trx, home, taskId))) return null;
        const used = await trx
          .selectFrom('tasks')
          .select((eb) => [
            eb.fn.max('number').filterWhere('project', '=', projectId).as('last'),
            eb.fn
              .countAll<string>()
              .filterWhere('project', '=', projectId)
              .filterWhere('removed', '=', false)
              .as('here'),
            eb.fn
              .countAll<string>()
              .filterWhere('created_by_json', '=', json(by))
              .filterWhere('created_at', '>', now() - settings.hourMs)
              .as('lately'),
          ])
          .where('home', '=', home)
          .executeTakeFirstOrThrow();
        if (Number(used.here) >= PROJECT_LIMITS.tasks)
          return refuse(
            'too-many',
            `The project has ${used.here} tasks, as many as it can have. Delete some that are over.`,
          );
        if (isAgents && Number(used.lately) >= settings.createdInAnHour)
          return refuse(
            'too-many',
            `You have created ${used.lately} tasks within an hour, which is the limit. Put what is left into one.`,
          );
        const { parentTaskId = null, ...given } = task;
        const parent = parentTaskId === null ? null : await readTaskRow(trx, home, projectId, parentTaskId);
        if (parentTaskId !== null && !parent)
          return refuse('misfit', `The project has no task ${titled(parentTaskId)} of which this is a part.`);
        // A part of a part waits for the person. Otherwise agents could divide tasks without end.
        const isReady =
          project.subtasksReady && parent && isHeldBy(parent, by) && taskValueOf(parent).parentTaskId === null;
        const column = columnOfKind(project, fromWebhook?.column ?? (isAgents && isReady ? 'ready' : 'backlog'));
        const { columnId = column?.columnId ?? '', criteria, ...fields } = given;
        const time = now();
        const value: TaskValue = {
          ...{
            ...fields,
            projectId,
            columnId,
            parentTaskId,
            number: (used.last ?? 0) + 1,
            createdAt: time,
            createdBy: by,
            updatedAt: time,
          },
          ...{ request: null, lineComments: [], doneWithout: [], unprepared: null },
          criteria: criteria.map(({ text }) => ({ criterionId: newId(), text, met: null })),
          history: [{ time, by, what: 'created', columnId, note: '' }],
          removed: false,
        };
        const misfit = (await refuseTask(trx, project, projectId, taskId, value)) ?? refuseBytes(room, value);
        if (misfit) return misfit;
        await trx
          .insertInto('tasks')
          .values({ home, task: taskId, project: projectId, ...columnsOf(value), ...UNCLAIMED, stamp: null })
          .execute();
        return null;
      });
      if (refused) return refused;
      changed(projectId);
      return await projects.task(projectId, taskId);
    },
    changeTask: (by, projectId, taskId, { version, criteria, ...wanted }) =>
      changing<Refused | ChangedElsewhere<Task>>(projectId, taskId, async ({ trx, row, value, project }) => {
        if (version !== undefined && version !== row.version)
          return { ok: false, reason: 'changed-elsewhere', current: shown(row) };
        const fields = Object.fromEntries(Object.entries(wanted).filter(([, field]) => field !== undefined));
        const kept = criteria && rewritten(value.criteria, criteria, newId);
        const next: TaskValue = { ...value, ...fields, ...(kept ? { criteria: kept } : {}) };
        const written = edited(value, next, { time: now(), by });
        return (await refuseTask(trx, project, projectId, taskId, next)) ?? { value: written };
      }),
    async removeTask(projectId, taskId) {
      const outcome = await changing<Refused>(projectId, taskId, ({ value }) =>
        Promise.resolve({ value: removedTask({ ...value, updatedAt: now() }), claim: UNCLAIMED }),
      );
      return outcome.ok ? onRemoved([]).then(() => done(null)) : outcome;
    },
    async move(by, projectId, taskId, { columnId, note, anyway = false, version }) {
      const missing = await missingFor(projectId, taskId, columnId);
      return await changing<Refused | ChangedElsewhere<Task>>(projectId, taskId, ({ row, value, project }) => {
        const kind = kindOfColumn(project, columnId);
        const unmet = missingText(project, missing);
        const refused =
          refuseOther(row, by) ??
          (kind === null
            ? refuse('misfit', `The project has no column ${titled(columnId)}.`)
            : by !== PERSON && !AGENTS_MOVE_TO.includes(kind)
              ? refuse('misfit', 'Only the human moves a task to done. Move it to review, and say what you did.')
              : kind === 'done' && !anyway && unmet !== null
                ? refuse('not-proven', unmet)
                : null);
        if (refused) return Promise.resolve(refused);
        if (version !== undefined && version !== row.version)
          return Promise.resolve({ ok: false, reason: 'changed-elsewhere', current: shown(row) });
        if (columnId === value.columnId) return Promise.resolve(null);
        const moved = withHistory(
          {
            ...value,
            columnId,
            doneWithout: kind === 'done' ? [...missing] : [],
            unprepared: by === PERSON ? null : value.unprepared,
          },
          { time: now(), by, what: 'moved', columnId, note },
        );
        return Promise.resolve({ value: moved, ...(kind === 'in_progress' ? {} : { claim: UNCLAIMED }) });
      });
    },
    meet: (by, projectId, taskId, criterionId, { met, evidence }) =>
      changing<Refused>(projectId, taskId, ({ row, value }) => {
        const refused = refuseOther(row, by);
        const criterion = value.criteria.find((each) => each.criterionId === criterionId);
        if (refused || !criterion)
          return Promise.resolve(refused ?? refuse('no-task', 'The task has no such criterion.'));
        const next = { ...criterion, met: met ? { time: now(), by, evidence } : null };
        const criteria = value.criteria.map((each) => (each === criterion ? next : each));
        return Promise.resolve({
          value: met
            ? withHistory(
                { ...value, criteria },
                { time: now(), by, what: 'met', columnId: null, note: criterion.text },
              )
            : { ...value, criteria, updatedAt: now() },
        });
      }),
    async claim(holder, projectId, taskId, columns) {
      await sweep();
      const { agentId } = holder;
      const run = runOf(holder);
      const leaseMs = 'runId' in holder ? settings.leaseMs : settings.clientLeaseMs;
      // Read before the transaction, which must not wait for a second connection.
      const names = new Map((await directory.all()).map((member) => [member.agentId, member.name]));
      const projectRow = await readProjectRow(db, home, projectId);
      const spent = projectRow && (await spentToday(projectRow));
      let token = 0;
      const take: Parameters<typeof changing<Refused>>[2] = async ({ trx, row, value, project }) => {
        const claim = claimOf(row, now());
        const lease = {
          holder_json: json(agentId),
          run,
          lease_until: now() + leaseMs,
          claim_token: row.claim_token + 1,
        };
        token = lease.claim_token;
        if (claim?.agentId === agentId) {
          await trx.updateTable('tasks').set(lease).where('home', '=', home).where('task', '=', taskId).execute();
          return null;
        }
        if (claim) {
          const name = titled(names.get(claim.agentId) ?? claim.agentId);
          return refuse('not-ready', `${name} works on this task since ${new Date(claim.since).toISOString()}.`);
        }
        const at = { agentId, now: now(), columns, setAside };
        const why = (await refuseClaim(trx, home, { ...project, projectId }, shown(row), at)) ?? spent;
        if (why !== null) return refuse('not-ready', typeof why === 'string' ? why : atWorkText(why, agentId, names));
        const columnId = columnOfKind(project, 'in_progress')?.columnId ?? value.columnId;
        return {
          value: withHistory({ ...value, columnId }, { time: now(), by: agentId, what: 'claimed', columnId, note: '' }),
          claim: { ...lease, claimed_at: now(), claimed_from_json: json(value.columnId) },
        };
      };
      const outcome = await changing<Refused>(projectId, taskId, take, takesOneTask);
      if (outcome.ok) {
        if ('runId' in holder) {
          held.set(taskId, token);
          renewLater();
        }
        sweepLater(leaseMs + 1);
      }
      return outcome;
    },
    failClaim: (agentId, projectId, taskId, why) =>
      changing<Refused>(projectId, taskId, ({ row, project }) =>
        Promise.resolve(isHeldBy(row, agentId) ? withFailedClaim(row, project, { time: now(), why, settings }) : null),
      ),
    unprepared: (projectId) => readUnprepared(db, home, projectId, setAside),
    async release(by, projectId, taskId, note) {
      const outcome = await changing<Refused>(projectId, taskId, ({ row, project }) => {
        if (row.holder_json === null) return Promise.resolve(null);
        return Promise.resolve(refuseOther(row, by) ?? unclaimed(row, project, by, note));
      });
      if (outcome.ok) held.delete(taskId);
      return outcome;
    },
    async isAssigned(agentId) {
      if (!assigned || Math.abs(now() - assigned.at) > settings.assignedMs)
        assigned = { at: now(), agents: readAssigned(db, home, setAside) };
      const { agents } = assigned;
      try {
        return (await agents).has(agentId);
      } catch (error) {
        if (assigned?.agents === agents) assigned = null;
        throw error;
      }
    },
    commandsOf: async (agentId) => ((await projects.isAssigned(agentId)) ? readCommandsOf(db, home, agentId) : []),
    ofAgent: async (agentId) =>
      (await readProjects(db, home, setAside)).filter(({ agents }) => agents.includes(agentId)),
    ...createReady({ db, home, directory, now, sweep, setAside, settings, work: () => work }),
    async called(credentialId) {
      await db
        .updateTable('tasks')
        .set({ lease_until: now() + settings.clientLeaseMs })
        .where('home', '=', home)
        .where('run', '=', `credential ${credentialId}`)
        .where('holder_json', 'is not', null)
        .where('lease_until', '>=', now())
        .execute();
    },
    onRemoved: (listener) => void (onRemoved = listener),
    forgetting,
    records: createProjectRecords({
      ...{ db, home, room, setAside, onRemoved: (projectIds) => onRemoved(projectIds) },
      ...{ now, changed: () => void (assigned = null) },
      examine: async (source) => (await work?.examine(source, null))?.why ?? null,
      taken: (id, project) => taken(id, project),
    }),
    recover: sweep,
    close() {
      unsubscribe();
      timers.close();
    },
  };

  /** Conditions of done that do not hold. None where the task does not move to done. */
  async function missingFor(projectId: ProjectId, taskId: TaskId, columnId: string) {
    const project = await readProjectRow(db, home, projectId);
    const task = await readTaskRow(db, home, projectId, taskId);
    if (!project || !task || kindOfColumn(projectValueOf(project), columnId) !== 'done') return [];
    return (
      (await work?.missing(projectValueOf(project), taskId, taskValueOf(task))) ?? unmetCriteria(taskValueOf(task))
    );
  }

  /** The project’s money for today is used up: a sentence. Null: it is not. */
  async function spentToday(row: NonNullable<Awaited<ReturnType<typeof readProjectRow>>>): Promise<string | null> {
    return (await work?.spentToday({ ...projectValueOf(row), projectId: row.project }))?.detail ?? null;
  }

  return projects;
}
