/**
 * When the next device is told of a notification: which one that is, is known only then. Null:
 * nobody more is told.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const notificationOrder: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('notifications').addColumn('next_at', 'bigint').execute();
  },
};
