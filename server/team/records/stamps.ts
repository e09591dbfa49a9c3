/**
 * The stamps of rows that are records. A row without a stamp was changed, and the change is not in
 * the event log yet.
 */
import { sql } from 'kysely';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import type { RecordStatus } from '../../../src/shared/protocol/records.ts';
import { isOneOf } from '../../store/dialect.ts';
import type { HomeStore } from '../../store/index.ts';
import { SCHEMA } from '../../store/tables.ts';

/** The column that names a row within its home, by table. */
const KEYS = {
  projects: 'project',
  tasks: 'task',
  attempts: 'attempt',
  routine_mappings: 'mapping',
  schedules: 'schedule',
  threads: 'thread',
  attached: 'server',
  configs: 'scope',
  memories: 'memory',
  exams: 'exam',
} as const;

const nameOf = (table: keyof typeof KEYS) => sql.table(`${SCHEMA}.${table}`);

interface RowsOf extends HomeStore {
  readonly table: keyof typeof KEYS;
}

/** Stamps a row whose record is in the log. A row that was changed meanwhile is announced again. */
export async function stampRow({ db, home, table }: RowsOf, id: string, version: number, at: Stamp): Promise<void> {
  await sql`update ${nameOf(table)} set stamp = ${at}
    where home = ${home} and ${sql.ref(KEYS[table])} = ${id} and stamp is null and version = ${version}`.execute(db);
}

/** The stamps of these rows by id. Null: the row has a change that is not in the log yet. */
export async function stampsOf(
  { db, home, table }: RowsOf,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await sql<{ id: string; stamp: string | null }>`
    select ${sql.ref(KEYS[table])} as id, stamp from ${nameOf(table)}
    where home = ${home} and ${isOneOf(KEYS[table], ids)}`.execute(db);
  return new Map(rows.map(({ id, stamp }) => [id, stamp]));
}

/** How a page's version compares with the row here. `stamp` undefined: there is no row. */
export const statusAt = (stamp: string | null | undefined, at: Stamp): RecordStatus => {
  if (stamp === undefined) return 'unknown';
  return stamp === null || stamp >= at ? 'known' : 'older';
};
