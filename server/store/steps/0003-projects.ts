/** Projects and their tasks. */
import { sql, type Kysely, type Migration } from 'kysely';

const STATEMENTS: readonly string[] = [
  `
    create table roost.projects (
      home text not null,
      project text not null,
      value_json text not null,
      version bigint not null default 0,
      stamp text,
      created_at bigint not null,
      removed boolean not null default false,
      constraint projects_pk primary key (home, project)
    )
  `,
  `create index projects_unannounced on roost.projects (home) where (stamp is null)`,
  `
    create table roost.tasks (
      home text not null,
      task text not null,
      project text not null,
      number integer not null,
      column_json text not null,
      assignee_json text,
      priority text not null,
      blocked_json text not null,
      created_by_json text not null,
      created_at bigint not null,
      value_json text not null,
      version bigint not null default 0,
      stamp text,
      removed boolean not null default false,
      holder_json text,
      run text,
      claimed_at bigint,
      claimed_from_json text,
      claim_token bigint not null default 0,
      lease_until bigint,
      constraint tasks_pk primary key (home, task)
    )
  `,
  `create index tasks_in_order on roost.tasks (home, project, number) where (not removed)`,
  `create index tasks_claimed on roost.tasks (home, lease_until) where (holder_json is not null)`,
  `create index tasks_by_creator on roost.tasks (home, created_by_json, created_at)`,
  `create index tasks_unannounced on roost.tasks (home) where (stamp is null)`,
];

export const projects: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
