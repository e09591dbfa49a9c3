/** What quotas are counted by: each count reads only what it counts. */
import type { Kysely, Migration } from 'kysely';
import { sql } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const quotas: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createIndex('threads_by_creator')
      .on('threads')
      .columns(['home', 'created_by_json', 'created_at'])
      .execute();
    await schema
      .createIndex('threads_open')
      .on('threads')
      .columns(['home', 'created_by_json'])
      .where(sql.ref('closed_at'), 'is', null)
      .execute();
    await schema
      .createIndex('thread_messages_by_sender')
      .on('thread_messages')
      .columns(['home', 'from_json', 'sent_at'])
      .execute();
    await schema
      .createIndex('device_browsers_by_browser')
      .on('device_browsers')
      .columns(['relay', 'browser'])
      .execute();
    await schema
      .alterTable('offers')
      .addColumn('browser', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};
