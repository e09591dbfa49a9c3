/** Files that agents keep. */
import { type Kysely, type Migration, sql } from 'kysely';
import { isEmbedded } from '../dialect.ts';
import { SCHEMA, type Tables } from '../tables.ts';

const STATEMENTS: readonly string[] = [
  `
    create table roost.memories (
      home text not null,
      memory text not null,
      agent_json text not null,
      path_json text not null,
      value_json text not null,
      bytes bigint not null,
      version bigint not null default 0,
      stamp text,
      removed boolean not null default false,
      constraint memories_pk primary key (home, memory)
    )
  `,
  `create unique index memories_of_path on roost.memories (home, agent_json, path_json) where (removed = false)`,
  `create index memories_unannounced on roost.memories (home) where (stamp is null)`,
];

export const memories: Migration = {
  async up(db: Kysely<Tables>) {
    for (const statement of STATEMENTS)
      await sql.raw(isEmbedded(db) ? statement.replaceAll(`${SCHEMA}.`, '') : statement).execute(db);
  },
};
