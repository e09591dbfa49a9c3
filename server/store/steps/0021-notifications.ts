/** What the person is to be told, which devices are told, and what is under way to each. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const notifications: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('notification_devices')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('browser', 'text', (column) => column.notNull())
      .addColumn('device', 'text', (column) => column.notNull())
      .addColumn('choice_json', 'text', (column) => column.notNull())
      .addColumn('sealed', 'bytea')
      .addColumn('used_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('notification_devices_pk', ['home', 'browser'])
      .execute();
    await schema
      .createTable('notifications')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('value_json', 'text', (column) => column.notNull())
      .addColumn('raised_at', 'bigint', (column) => column.notNull())
      .addColumn('closed_at', 'bigint')
      .addPrimaryKeyConstraint('notifications_pk', ['home', 'key'])
      .execute();
    await schema
      .createTable('notification_sends')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('browser', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('tries', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('notification_sends_pk', ['home', 'key', 'browser'])
      .execute();
  },
};
