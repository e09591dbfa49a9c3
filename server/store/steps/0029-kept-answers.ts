/**
 * What came of calls that waited for the person, kept until it is used: pictures with the message
 * that tells of them, as long as that is there, and a yes to what a mind does by itself, by the
 * SHA-256 of what was asked.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const keptAnswers: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('inbox_attachments')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('message_json', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
      .addColumn('attachments_json', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('inbox_attachments_pk', ['home', 'message_json'])
      .addForeignKeyConstraint(
        'inbox_attachments_of',
        ['home', 'message_json'],
        'inbox',
        ['home', 'message_json'],
        (key) => key.onDelete('cascade'),
      )
      .execute();
    await schema.alterTable('tool_calls').addColumn('leave_hash', 'text').execute();
  },
};
