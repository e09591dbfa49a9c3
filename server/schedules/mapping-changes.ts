/** Mappings as the person lists, adds, changes and removes them. */
import { sql } from 'kysely';
import type { MappingId, ProjectId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { kindOfColumn } from '../../src/shared/domain/projects.ts';
import { titled } from '../../src/shared/domain/quoting.ts';
import type { Project } from '../../src/shared/protocol/projects.ts';
import { type Mapping, MOST_MAPPINGS } from '../../src/shared/protocol/routine-mappings.ts';
import { isOneOf } from '../store/dialect.ts';
import type { Mappings, MappingsDeps, Where, Refused, AskedProjects } from './mapping-contract.ts';
import { columnsOf, mappingIdOf, type MappingRows, refuse, done, type Stored, storedOf } from './mapping-rows.ts';

const NO_MAPPING = refuse('no-mapping', 'This routine does not work on the project.');

export function createMappingChanges(
  deps: MappingsDeps,
  { table, readable, assigned, routineOf, mappingsAt }: MappingRows,
): Pick<Mappings, 'list' | 'add' | 'change' | 'remove' | 'projectsOf' | 'shownOf' | 'agree'> {
  const { db, home, projects, now } = deps;
  async function one(at: Where, mappingId: MappingId): Promise<Mapping | null> {
    return (await mappingsAt(at)).find((each) => each.mappingId === mappingId) ?? null;
  }

  function refuseFields(
    project: Project,
    {
      columnIds,
      toolOverrides,
    }: {
      readonly columnIds?: readonly string[] | null | undefined;
      readonly toolOverrides?: readonly string[] | null | undefined;
    },
  ): Refused | null {
    const column = (columnIds ?? []).find((columnId) => kindOfColumn(project, columnId) === null);
    if (column !== undefined) return refuse('misfit', `The project has no column ${titled(column)}.`, 'columnIds');
    const known = new Set(deps.tools.all().map(({ name }) => name));
    const tool = (toolOverrides ?? []).find((name) => !known.has(name));
    return tool === undefined ? null : refuse('misfit', `There is no tool called ${titled(tool)}.`, 'toolOverrides');
  }

  return {
    async list(...at) {
      const project = await assigned(at);
      return project.ok ? done(await mappingsAt(at)) : project;
    },
    async add(at, { routineId, ...fields }) {
      const project = await assigned(at);
      if (!project.ok) return project;
      const [projectId, agentId] = at;
      const routine = await routineOf(routineId);
      if (!routine) return refuse('unknown-schedule', 'There is no such routine. It may have been removed.');
      if (routine.agentId !== agentId) return refuse('misfit', 'It is a routine of another agent.', 'routineId');
      const misfit = refuseFields(project.value, fields);
      if (misfit) return misfit;
      const mappingId = mappingIdOf(projectId, routineId);
      const others = await table()
        .where('schedule', '=', routineId)
        .where('removed', '=', false)
        .where('mapping', '<>', mappingId)
        .execute();
      if (others.length >= MOST_MAPPINGS)
        return refuse('too-many', `The routine works on ${others.length} projects, as many as it can.`);
      const value: Stored = { projectId, routineId, agentId, ...fields, createdAt: now() };
      const own = { ...columnsOf(value), agreed: true, created_at: value.createdAt, stamp: null, removed: false };
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('routine_mappings')
        .values({ home, mapping: mappingId, ...own })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'mapping'])
            .doUpdateSet({ ...own, version: sql<number>`routine_mappings.version + 1` })
            .where('routine_mappings.removed', '=', true),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n)
        return refuse('mapped-already', 'The routine works on this project already.');
      deps.onChange(agentId);
      const mapping = await one(at, mappingId);
      return mapping ? done(mapping) : NO_MAPPING;
    },
    async change(at, mappingId, { version, ...wanted }) {
      const project = await assigned(at);
      if (!project.ok) return project;
      const before = await one(at, mappingId);
      if (!before) return NO_MAPPING;
      const misfit = refuseFields(project.value, wanted);
      if (misfit) return misfit;
      const isChanged = await db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('routine_mappings')
          .selectAll()
          .where('home', '=', home)
          .where('mapping', '=', mappingId)
          .where('removed', '=', false)
          .forUpdate()
          .executeTakeFirst();
        if (!row || (version !== undefined && version !== row.version)) return false;
        const fields = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
        await trx
          .updateTable('routine_mappings')
          .set((eb) => ({
            ...columnsOf({ ...storedOf(row), ...fields }),
            ...{ agreed: true, stamp: null, version: eb('version', '+', 1) },
          }))
          .where('home', '=', home)
          .where('mapping', '=', mappingId)
          .execute();
        return true;
      });
      const current = await one(at, mappingId);
      if (!current) return NO_MAPPING;
      if (!isChanged) return { ok: false, reason: 'changed-elsewhere', current };
      deps.onChange(at[1]);
      return done(current);
    },
    async remove(at, mappingId) {
      const project = await assigned(at);
      if (!project.ok) return project;
      if (!(await one(at, mappingId))) return NO_MAPPING;
      await db
        .updateTable('routine_mappings')
        .set((eb) => ({ removed: true, agreed: true, stamp: null, version: eb('version', '+', 1) }))
        .where('home', '=', home)
        .where('mapping', '=', mappingId)
        .where('removed', '=', false)
        .execute();
      deps.onChange(at[1]);
      return done(null);
    },
    async projectsOf(scheduleIds) {
      const projectIds = await table()
        .where(isOneOf('schedule', [...scheduleIds]))
        .where('removed', '=', false)
        .orderBy('created_at')
        .orderBy('mapping')
        .execute();
      const of = new Map<ScheduleId, ProjectId[]>();
      for (const { schedule, project } of projectIds) of.set(schedule, [...(of.get(schedule) ?? []), project]);
      return of;
    },
    async shownOf(scheduleId) {
      const mappings = await table()
        .where('schedule', '=', scheduleId)
        .where('removed', '=', false)
        .orderBy('mapping')
        .execute();
      const all: AskedProjects = [];
      for (const { stored } of readable(mappings)) {
        const { columnIds, toolOverrides, separate, projectId } = stored;
        const project = await projects.read(projectId);
        all.push({ name: project.ok ? project.value.name : projectId, columnIds, toolOverrides, separate });
      }
      return all;
    },
    async agree(scheduleId) {
      await db
        .updateTable('routine_mappings')
        .set({ agreed: true })
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .execute();
    },
  };
}
