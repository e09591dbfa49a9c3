/**
 * By which call of the team a wake was asked: what one click woke is told together. Null: by none,
 * or by one of before.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const wakeCalls: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('wakes').addColumn('call_id', 'text').execute();
  },
};
