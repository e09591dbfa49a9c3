/**
 * Of scripts under way: the group of processes that one is, so that a relay that finds it left
 * behind can end it.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const scriptGroups: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('occurrences').addColumn('group_json', 'text').execute();
  },
};
