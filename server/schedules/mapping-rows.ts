/** Rows of mappings, and the routines and projects that they belong to. */
import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { MappingId, ProjectId, ScheduleId } from '../../src/shared/domain/ids.ts';
import type { Project } from '../../src/shared/protocol/projects.ts';
import { type Mapping, type MappingValue, mappingValueSchema } from '../../src/shared/protocol/routine-mappings.ts';
import type { ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import type { Tables } from '../store/tables.ts';
import { json } from './rows.ts';
import type { MappingOutcome, MappingsDeps, Where, Refused } from './mapping-contract.ts';

export const refuse = (reason: Refused['reason'], detail: string, field: Refused['field'] = null): Refused => ({
  ...{ ok: false, reason, detail, field },
});
export const done = <Value>(value: Value): { readonly ok: true; readonly value: Value } => ({ ok: true, value });

export const hashOf = (texts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32);
/** There is one mapping of a routine and a project, on every relay. */
export const mappingIdOf = (projectId: ProjectId, routineId: ScheduleId): MappingId => hashOf([projectId, routineId]);

export type MappingRow = Selectable<Tables['routine_mappings']>;
/** `removed` is a column of its own, so that one statement can remove rows. */
const storedSchema = mappingValueSchema.omit({ removed: true });
export type Stored = z.infer<typeof storedSchema>;
export const storedOf = (row: Pick<MappingRow, 'value_json'>): Stored => storedSchema.parse(JSON.parse(row.value_json));
export const valueOf = (row: MappingRow): MappingValue => ({ ...storedOf(row), removed: row.removed });

/** The columns of a row that follow from its value. */
export const columnsOf = (value: Stored) => ({
  project: value.projectId,
  schedule: value.routineId,
  agent_json: json(value.agentId),
  value_json: JSON.stringify(storedSchema.parse(value)),
});

export type MappingRows = ReturnType<typeof createMappingRows>;

export function createMappingRows(deps: MappingsDeps) {
  const { db, home, rows, projects, setAside = SETS_NOTHING_ASIDE } = deps;
  /** The rows that can be read. */
  const readable = (all: readonly MappingRow[]) =>
    setAside.read(
      'mappings',
      all,
      ({ mapping }) => mapping,
      (row) => ({ ...row, stored: storedOf(row) }),
    );
  const table = () => db.selectFrom('routine_mappings').selectAll().where('home', '=', home);

  async function assigned([projectId, agentId]: Where): Promise<MappingOutcome<Project>> {
    const project = await projects.read(projectId);
    if (!project.ok) return refuse('no-project', 'There is no such project.');
    return project.value.agents.includes(agentId)
      ? project
      : refuse('not-assigned', 'The agent does not work on this project. Add it to the project first.');
  }
  async function routineOf(scheduleId: ScheduleId): Promise<ScheduleOf<'routine'> | null> {
    const row = await rows.get(scheduleId);
    return row?.schedule.kind === 'routine' ? row.schedule : null;
  }
  function shown(row: MappingRow & { readonly stored: Stored }, routine: ScheduleOf<'routine'>): Mapping {
    const { mapping: mappingId, version, agreed } = row;
    return { ...row.stored, mappingId, version, name: routine.name, enabled: routine.enabled, waits: !agreed };
  }
  async function mappingsAt([projectId, agentId]: Where): Promise<readonly Mapping[]> {
    const mappings = await table()
      .where('project', '=', projectId)
      .where('agent_json', '=', json(agentId))
      .where('removed', '=', false)
      .orderBy('created_at')
      .orderBy('mapping')
      .execute();
    const all: Mapping[] = [];
    for (const row of readable(mappings)) {
      const routine = await routineOf(row.schedule);
      if (routine?.agentId === agentId) all.push(shown(row, routine));
    }
    return all;
  }
  return { readable, table, assigned, routineOf, shown, mappingsAt };
}
