/** What agents would change of their memory. */
import { type Kysely, type Migration, sql } from 'kysely';
import { isEmbedded } from '../dialect.ts';
import { SCHEMA, type Tables } from '../tables.ts';

const STATEMENTS: readonly string[] = [
  `
    create table roost.dreams (
      home text not null,
      dream text not null,
      agent_json text not null,
      night text,
      state text not null,
      value_json text not null,
      made_at bigint not null,
      changed_at bigint not null,
      constraint dreams_pk primary key (home, dream)
    )
  `,
  `create unique index dreams_of_night on roost.dreams (home, agent_json, night)`,
  `create index dreams_by_agent on roost.dreams (home, agent_json, made_at)`,
];

export const dreams: Migration = {
  async up(db: Kysely<Tables>) {
    for (const statement of STATEMENTS)
      await sql.raw(isEmbedded(db) ? statement.replaceAll(`${SCHEMA}.`, '') : statement).execute(db);
  },
};
