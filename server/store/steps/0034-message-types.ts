/** What a message in an inbox is for. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const messageTypes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('inbox').addColumn('message_type', 'text').execute();
  },
};
