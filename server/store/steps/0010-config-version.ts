/**
 * By which a decision of the gate knows that nobody decided, and nobody set anything, since it read
 * what it stands on. The store counts changes of settings itself, so that no way of making one can
 * be forgotten.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const configVersion: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .alterTable('configs')
      .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    const configs = sql.id(SCHEMA, 'configs');
    const counted = sql.id(SCHEMA, 'config_counted');
    await sql`
      create function ${counted} () returns trigger language plpgsql as $$
      begin
        if new.scope = 'household' then
          new.version := new.version + 1;
        else
          insert into ${configs} as held (home, scope, config_json, stamp) values (new.home, 'household', '{}', '')
            on conflict (home, scope) do update set version = held.version + 1;
        end if;
        return new;
      end $$`.execute(db);
    await sql`create trigger config_counted before insert or update of config_json on ${configs}
      for each row execute function ${counted} ()`.execute(db);
  },
};
