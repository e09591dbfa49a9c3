/** What copies of agents answered before a change. */
import { type Kysely, type Migration, sql } from 'kysely';
import { isEmbedded } from '../dialect.ts';
import { SCHEMA, type Tables } from '../tables.ts';

const STATEMENTS: readonly string[] = [
  `
    create table roost.exams (
      home text not null,
      exam text not null,
      agent_json text not null,
      state text not null,
      value_json text not null,
      made_at bigint not null,
      changed_at bigint not null,
      stamp text,
      version integer not null default 0,
      constraint exams_pk primary key (home, exam)
    )
  `,
  `create index exams_by_agent on roost.exams (home, agent_json, made_at)`,
  `create unique index exams_open on roost.exams (home, agent_json) where state in ('running', 'answered')`,
];

export const exams: Migration = {
  async up(db: Kysely<Tables>) {
    for (const statement of STATEMENTS)
      await sql.raw(isEmbedded(db) ? statement.replaceAll(`${SCHEMA}.`, '') : statement).execute(db);
  },
};
