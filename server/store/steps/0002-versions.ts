/**
 * One `version` in every record that can be changed: the count of its changes. In `configs` that
 * name stood for the count that the gate's decisions are made against, which is `decisions` now.
 */
import { sql, type Kysely, type Migration } from 'kysely';

const STATEMENTS: readonly string[] = [
  `alter table roost.schedules rename column changes to version`,
  `alter table roost.threads rename column changes to version`,
  `alter table roost.attached add column version bigint not null default 0`,
  `alter table roost.configs rename column version to decisions`,
  `alter table roost.configs add column version bigint not null default 0`,
  // An empty stamp: nothing was set, and the row is only there to be counted on.
  `update roost.configs set version = 1 where stamp is distinct from ''`,
  `
    create or replace function roost.config_counted() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' then
        new.version := old.version + 1;
      elsif new.stamp is distinct from '' then
        new.version := 1;
      end if;
      if new.scope = 'household' then
        new.decisions := new.decisions + 1;
      else
        insert into roost.configs as held (home, scope, config_json, stamp) values (new.home, 'household', '{}', '')
          on conflict (home, scope) do update set decisions = held.decisions + 1;
      end if;
      return new;
    end $$
  `,
];

export const versions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
