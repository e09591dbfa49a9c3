/** Hooks, and the deliveries that they have taken. */
import { sql, type Kysely, type Migration } from 'kysely';

const STATEMENTS: readonly string[] = [
  `
    create table roost.hooks (
      home text not null,
      hook text not null,
      name_json text not null,
      target_json text not null,
      secret_hash text not null unique,
      hint text not null,
      sealed_signing bytea,
      created_at bigint not null,
      used_at bigint,
      constraint hooks_pk primary key (home, hook)
    )
  `,
  `
    create table roost.hook_deliveries (
      home text not null,
      hook text not null,
      delivery_hash text not null,
      taken_at bigint not null,
      task text not null,
      done boolean not null default false,
      constraint hook_deliveries_pk primary key (home, hook, delivery_hash),
      constraint hook_deliveries_of foreign key (home, hook) references roost.hooks(home, hook) on delete cascade
    )
  `,
  `create index hook_deliveries_lately on roost.hook_deliveries (home, hook, taken_at)`,
];

export const hooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
