/** Attempts at tasks, and tokens for repositories. */
import { sql, type Kysely, type Migration } from 'kysely';

const STATEMENTS: readonly string[] = [
  `
    create table roost.attempts (
      home text not null,
      attempt text not null,
      project text not null,
      task text not null,
      claim_token bigint not null,
      agent_json text not null,
      run text,
      is_open boolean not null,
      started_at bigint not null,
      value_json text not null,
      commands_json text not null default '[]',
      draft_json text,
      version bigint not null default 0,
      stamp text,
      constraint attempts_pk primary key (home, attempt)
    )
  `,
  `
    create table roost.project_tokens (
      home text not null,
      project text not null,
      forge text,
      sealed bytea not null,
      constraint project_tokens_pk primary key (home, project)
    )
  `,
  `create index attempts_of_task on roost.attempts (home, task, started_at)`,
  `create index attempts_open on roost.attempts (home) where (is_open)`,
  `create index attempts_unannounced on roost.attempts (home) where (stamp is null)`,
];

export const attempts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
