/**
 * Where push services reach whoever runs the relay, and with which status one has refused the last
 * push to a device.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const pushContact: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('push_contacts')
      .addColumn('home', 'text', (column) => column.primaryKey())
      .addColumn('mail', 'text', (column) => column.notNull())
      .execute();
    await schema.alterTable('notification_devices').addColumn('refused', 'integer').execute();
  },
};
