/** Dreams that are left with a model server, which answers later. */
import { type Kysely, type Migration, sql } from 'kysely';
import { isEmbedded } from '../dialect.ts';
import { SCHEMA, type Tables } from '../tables.ts';

const STATEMENT = `alter table roost.dreams add column batch_json text`;

export const dreamBatches: Migration = {
  async up(db: Kysely<Tables>) {
    await sql.raw(isEmbedded(db) ? STATEMENT.replaceAll(`${SCHEMA}.`, '') : STATEMENT).execute(db);
  },
};
