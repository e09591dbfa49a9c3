/** Hooks, the deliveries that they have taken, and when each task was changed last. */
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
  `alter table roost.tasks add column changed_at bigint not null default 0`,
  // One clock for all relays on this store. The renewal of a lease is no change.
  `
    create or replace function roost.task_changed() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' or new.version <> old.version or new.claimed_at is distinct from old.claimed_at then
        new.changed_at := (extract(epoch from clock_timestamp()) * 1000)::bigint;
      end if;
      return new;
    end $$
  `,
  `create trigger task_changed before insert or update on roost.tasks for each row execute function roost.task_changed()`,
  `create index tasks_changed on roost.tasks (home, project, changed_at)`,
];

export const hooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
