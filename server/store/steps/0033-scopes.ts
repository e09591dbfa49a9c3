/**
 * What an application's credential lets it do. Those that were made before may do what they could.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const scopes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('credentials').addColumn('scopes_json', 'text').execute();
    await sql`
      update ${sql.table(`${SCHEMA}.credentials`)} set scopes_json = '["read","sleep","wake"]' where agent_json = 'null'`.execute(
      db,
    );
  },
};
