/**
 * Of a home's clock: where its folder lies, and under which name it is known to other relays; both
 * change with a copy of the folder.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const places: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .alterTable('clocks')
      .addColumn('place', 'text')
      .addColumn('site', 'text')
      .addColumn('copied_from', 'text')
      .execute();
  },
};
