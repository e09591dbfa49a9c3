/** Tasks of a project: reading, creating, rewriting and deleting them. */
import type { TaskId } from '../../../src/shared/domain/ids.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { columnOfKind, kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { waitsForItself } from '../../../src/shared/domain/task-cycles.ts';
import { wordsIn } from '../../../src/shared/domain/task-search.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { PROJECT_LIMITS, type ProjectValue, type Task, type TaskValue } from '../../../src/shared/protocol/projects.ts';
import type { ProjectsBase } from './base.ts';
import type { ChangedElsewhere, Projects, Refused } from './contract.ts';
import { readBoard, readUnprepared } from './board.ts';
import { edited, rewritten } from './edits.ts';
import { removedTask } from './forgetting.ts';
import { done, NO_PROJECT, NO_TASK, refuse } from './outcome.ts';
import { refuseBytes } from './room.ts';
import {
  columnsOf,
  hasTaskRow,
  json,
  projectValueOf,
  readProjectRow,
  readStates,
  readTaskRow,
  taskOf,
  type TaskRow,
  taskValueOf,
  UNCLAIMED,
} from './rows.ts';
import { searchTasks } from './search.ts';
import { isHeldBy } from './taking.ts';
import type { ChangeTask } from './task-changes.ts';

/** Why the task cannot have these fields. Null: it can. */
async function refuseTask(
  { db, home, now, setAside }: Pick<ProjectsBase, 'db' | 'home' | 'now' | 'setAside'>,
  project: ProjectValue,
  taskId: TaskId,
  { projectId, columnId, assignee, blockedBy }: TaskValue,
): Promise<Refused | null> {
  if (kindOfColumn(project, columnId) === null)
    return refuse('misfit', `The project has no column ${titled(columnId)}.`);
  if (assignee !== null && !project.agents.includes(assignee))
    return refuse('misfit', 'The agent that it is assigned to does not work on this project. Add it there first.');
  if (blockedBy.length === 0) return null;
  const all = await readStates(db, home, projectId, now(), setAside);
  const unknown = blockedBy.find((id) => !all.some((task) => task.taskId === id));
  if (unknown !== undefined) return refuse('misfit', `The project has no task ${titled(unknown)} to wait for.`);
  return waitsForItself(taskId, blockedBy, all)
    ? refuse('misfit', 'A task cannot wait for itself, or for one that waits for it.')
    : null;
}

type Tasks = Pick<
  Projects,
  'board' | 'changeTask' | 'createTask' | 'removeTask' | 'search' | 'task' | 'tasks' | 'unprepared' | 'update'
>;

export function createTasks(base: ProjectsBase, changing: ChangeTask): Tasks {
  const { db, home, now, newId, refuseForRoom, room, connected, changed, setAside, settings } = base;
  const searching = createLimiter(settings.searchesAtOnce);
  const shown = (row: TaskRow) => taskOf(row, now(), connected.restOf);

  const tasks: Tasks = {
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
      const shownTasks = setAside
        .read(
          'tasks',
          rows,
          ({ task }) => task,
          (row) => shown(row),
        )
        .filter(({ labels }) => label === null || labels.includes(label));
      return done({ tasks: shownTasks.slice(0, limit), more: shownTasks.length > limit });
    },
    async board(projectId, query) {
      if (!(await readProjectRow(db, home, projectId))) return NO_PROJECT;
      return done(await readBoard(db, { home, projectId, now: now(), restOf: connected.restOf, setAside }, query));
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
        const time = now();
        // A part of a part waits for the person. Otherwise agents could divide tasks without end.
        const isReady =
          project.subtasksReady && parent && isHeldBy(parent, by, time) && taskValueOf(parent).parentTaskId === null;
        const column = columnOfKind(project, fromWebhook?.column ?? (isAgents && isReady ? 'ready' : 'backlog'));
        const { columnId = column?.columnId ?? '', criteria, ...fields } = given;
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
        const misfit = (await refuseTask({ ...base, db: trx }, project, taskId, value)) ?? refuseBytes(room, value);
        if (misfit) return misfit;
        await trx
          .insertInto('tasks')
          .values({ home, task: taskId, project: projectId, ...columnsOf(value), ...UNCLAIMED, stamp: null })
          .execute();
        return null;
      });
      if (refused) return refused;
      changed(projectId);
      return await tasks.task(projectId, taskId);
    },
    changeTask: (by, projectId, taskId, { version, criteria, ...wanted }) =>
      changing<Refused | ChangedElsewhere<Task>>(projectId, taskId, async ({ trx, row, value, project }) => {
        if (version !== undefined && version !== row.version)
          return { ok: false, reason: 'changed-elsewhere', current: shown(row) };
        const fields = Object.fromEntries(Object.entries(wanted).filter(([, field]) => field !== undefined));
        const kept = criteria && rewritten(value.criteria, criteria, newId);
        const next: TaskValue = { ...value, ...fields, ...(kept ? { criteria: kept } : {}) };
        const written = edited(value, next, { time: now(), by });
        return (await refuseTask({ ...base, db: trx }, project, taskId, next)) ?? { value: written };
      }),
    async removeTask(projectId, taskId) {
      const outcome = await changing<Refused>(projectId, taskId, ({ value }) =>
        Promise.resolve({ value: removedTask({ ...value, updatedAt: now() }), claim: UNCLAIMED }),
      );
      return outcome.ok ? connected.onRemoved([]).then(() => done(null)) : outcome;
    },
    update: (projectId, taskId, change) =>
      changing<Refused>(projectId, taskId, ({ value, project }) => {
        const next = change({ value, project });
        if ('ok' in next) return Promise.resolve(next);
        const kept = { ...next.value, history: next.value.history.slice(-PROJECT_LIMITS.history) };
        const isAlways = next.isLimited !== true;
        return Promise.resolve({ value: kept, isAlways, ...(next.endsClaim ? { claim: UNCLAIMED } : {}) });
      }),
    unprepared: (projectId) => readUnprepared(db, home, projectId, setAside),
  };
  return tasks;
}
