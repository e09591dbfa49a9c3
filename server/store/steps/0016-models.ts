/** Models that pages have connected. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const models: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .createTable('model_connections')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('connection', 'text', (column) => column.notNull())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('model_connections_pk', ['home', 'connection'])
      .execute();
  },
};
