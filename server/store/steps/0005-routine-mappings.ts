/** Mappings of routines to projects. */
import { sql, type Kysely, type Migration } from 'kysely';

const STATEMENTS: readonly string[] = [
  `
    create table roost.routine_mappings (
      home text not null,
      mapping text not null,
      project text not null,
      schedule text not null,
      agent_json text not null,
      value_json text not null,
      agreed boolean not null,
      version bigint not null default 0,
      stamp text,
      created_at bigint not null,
      removed boolean not null default false,
      constraint routine_mappings_pk primary key (home, mapping)
    )
  `,
  `create index routine_mappings_of_schedule on roost.routine_mappings (home, schedule) where (not removed)`,
  `create index routine_mappings_of_project on roost.routine_mappings (home, project) where (not removed)`,
  `create index routine_mappings_unannounced on roost.routine_mappings (home) where (stamp is null)`,
];

export const routineMappings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
