/**
 * When something was scheduled, and when it was changed last. Of what was there before neither is
 * known.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const scheduleTimes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .alterTable('schedules')
      .addColumn('created_at', 'bigint')
      .addColumn('updated_at', 'bigint')
      .execute();
  },
};
