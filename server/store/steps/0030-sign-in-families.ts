/** Which sign-ins were given beside another one: they end with it. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const signInFamilies: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('browsers').addColumn('family', 'text').execute();
  },
};
