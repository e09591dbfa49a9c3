/**
 * What a browser shows besides its cookie. One that was let in before has none, and opens a link
 * again.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const pageKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('browsers').addColumn('key_hash', 'text').execute();
  },
};
