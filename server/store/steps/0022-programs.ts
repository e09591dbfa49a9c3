/**
 * Agent programs that can be an agent's mind: `sealed` holds how each is started, and with what.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const programs: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .createTable('agent_programs')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('program', 'text', (column) => column.notNull())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('agent_programs_pk', ['home', 'program'])
      .execute();
  },
};
