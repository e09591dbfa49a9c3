/** Projects as a whole: their fields and columns, and the tasks that a change of columns moves. */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { columnOfKind, DEFAULT_COLUMNS, kindOfColumn, refuseColumns } from '../../../src/shared/domain/projects.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { createProjectSchema, PROJECT_LIMITS, type ProjectValue } from '../../../src/shared/protocol/projects.ts';
import type { ProjectsBase } from './base.ts';
import type { Projects, Refused } from './contract.ts';
import { readProjects } from './board.ts';
import { removedProject, removedTask } from './forgetting.ts';
import { done, NO_PROJECT, refuse } from './outcome.ts';
import { refuseBytes } from './room.ts';
import { json, projectValueOf, readProjectRow, taskValueOf, UNCLAIMED, withHistory } from './rows.ts';
import { writeTask } from './task-changes.ts';

/** Why these agents cannot work on a project. Null: they can. */
async function refuseAgents(
  directory: ProjectsBase['directory'],
  agentIds: readonly AgentId[],
): Promise<Refused | null> {
  if (agentIds.length === 0) return null;
  const all = await directory.all();
  const unknown = agentIds.find((id) => !all.some(({ agentId, retired }) => agentId === id && !retired));
  return unknown === undefined ? null : refuse('misfit', `There is no agent ${titled(unknown)}.`);
}

export function createBoards({
  db,
  home,
  directory,
  now,
  newId,
  room,
  connected,
  changed,
  setAside,
}: ProjectsBase): Pick<Projects, 'list' | 'read' | 'create' | 'change' | 'remove'> {
  const readOne = async (id: ProjectId) => (await readProjects(db, home, setAside, id))[0] ?? null;

  const boards: ReturnType<typeof createBoards> = {
    list: () => readProjects(db, home, setAside),
    async read(projectId) {
      const project = await readOne(projectId);
      return project ? done(project) : NO_PROJECT;
    },
    async create(values) {
      const { columns = DEFAULT_COLUMNS, agents, ...fields } = createProjectSchema.parse(values);
      const wrong = refuseColumns(columns);
      if (wrong !== null) return refuse('misfit', wrong);
      const refused = await refuseAgents(directory, agents);
      if (refused) return refused;
      const unfit = (await connected.work?.examine(fields, null)) ?? null;
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
      return await boards.read(projectId);
    },
    async change(projectId, { version, ...wanted }) {
      const fields = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      const here = await readOne(projectId);
      if (!here) return NO_PROJECT;
      // An agent that was retired since may stay on the list.
      const refused = await refuseAgents(
        directory,
        (wanted.agents ?? []).filter((agentId) => !here.agents.includes(agentId)),
      );
      if (refused) return refused;
      const { baseBranch = here.baseBranch, copy = here.copy } = wanted;
      const isExamined = baseBranch !== here.baseBranch || wanted.copy !== undefined;
      const unfit = isExamined ? await connected.work?.examine({ ...here, baseBranch, copy }, projectId) : null;
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
        const removedColumns = before.columns.filter(({ columnId }) => kindOfColumn(value, columnId) === null);
        const backlog = columnOfKind(value, 'backlog');
        if (removedColumns.length === 0 || !backlog) return null;
        const movedTasks = await trx
          .selectFrom('tasks')
          .selectAll()
          .where('home', '=', home)
          .where('project', '=', projectId)
          .where('removed', '=', false)
          .where(
            'column_json',
            'in',
            removedColumns.map(({ columnId }) => json(columnId)),
          )
          .forUpdate()
          .execute();
        for (const task of movedTasks)
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
      const lost = lose ? null : await connected.work?.lostWith(projectId);
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
      return connected.onRemoved([projectId]).then(() => done(null));
    },
  };
  return boards;
}
