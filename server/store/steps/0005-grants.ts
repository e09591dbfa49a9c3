/** What a credential lets its agent's client do beyond what all of them may. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const grants: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .alterTable('credentials')
      .addColumn('reads_soul', 'boolean', (column) => column.notNull().defaultTo(false))
      .execute();
  },
};
