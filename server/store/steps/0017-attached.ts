/**
 * MCP servers that the person has attached: how each is reached lies sealed; `value_json` holds
 * what of it agents may use.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const attached: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .createTable('attached')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('server', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('value_json', 'text', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('attached_pk', ['home', 'server'])
      .addUniqueConstraint('attached_names', ['home', 'name'])
      .execute();
  },
};
