/**
 * Attached servers are records: each change of one is told under a stamp, and one that was taken
 * away leaves a row that says so.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const attachedRecords: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .alterTable('attached')
      .addColumn('stamp', 'text')
      .addColumn('removed', 'boolean', (column) => column.notNull().defaultTo(false))
      .execute();
  },
};
