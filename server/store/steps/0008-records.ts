/**
 * Under which stamp a row was told in the event log. What was there before has none, and is told
 * once.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const records: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema.alterTable('configs').addColumn('stamp', 'text').execute();
    await schema
      .alterTable('threads')
      .addColumn('stamp', 'text')
      .addColumn('changes', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema
      .createIndex('threads_unannounced')
      .on('threads')
      .columns(['home'])
      .where(sql<boolean>`stamp is null`)
      .execute();
    await schema
      .alterTable('thread_messages')
      .addColumn('announced', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('restored', 'boolean', (column) => column.notNull().defaultTo(false))
      .execute();
    await schema
      .createIndex('thread_messages_unannounced')
      .on('thread_messages')
      .columns(['home'])
      .where(sql<boolean>`not announced`)
      .execute();
    await schema
      .createIndex('thread_messages_by_id')
      .on('thread_messages')
      .columns(['home', 'thread', 'message'])
      .execute();
  },
};
