/**
 * Synchronisation: households and their devices, renewed keys, offers to join, and sealed entries.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const sync: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('households')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('household', 'text', (column) => column.notNull())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('auth_key', 'text', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addColumn('recovery', 'text')
      .addColumn('recovery_box', 'text')
      .addColumn('recovery_epoch', 'integer')
      .addPrimaryKeyConstraint('households_pk', ['relay', 'household'])
      .execute();
    await schema.createIndex('households_recovery').unique().on('households').columns(['relay', 'recovery']).execute();

    await schema
      .createTable('devices')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('household', 'text', (column) => column.notNull())
      .addColumn('device', 'text', (column) => column.notNull())
      .addColumn('device_key', 'text')
      .addColumn('added_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('removed_at', 'bigint')
      .addPrimaryKeyConstraint('devices_pk', ['relay', 'household', 'device'])
      .execute();
    await schema
      .createTable('device_browsers')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('household', 'text', (column) => column.notNull())
      .addColumn('device', 'text', (column) => column.notNull())
      .addColumn('browser', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('device_browsers_pk', ['relay', 'household', 'device', 'browser'])
      .execute();

    await schema
      .createTable('rotations')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('household', 'text', (column) => column.notNull())
      .addColumn('epoch', 'integer', (column) => column.notNull())
      .addColumn('auth_key', 'text', (column) => column.notNull())
      .addColumn('rotated_at', 'bigint', (column) => column.notNull())
      .addColumn('boxes_json', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('rotations_pk', ['relay', 'household', 'epoch'])
      .execute();

    await schema
      .createTable('offers')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('offer', 'text', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('offers_pk', ['relay', 'offer'])
      .execute();
    await schema
      .createTable('offer_slots')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('offer', 'text', (column) => column.notNull())
      .addColumn('slot', 'text', (column) => column.notNull())
      .addColumn('data', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('offer_slots_pk', ['relay', 'offer', 'slot'])
      .execute();

    await schema
      .createTable('entries')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('household', 'text', (column) => column.notNull())
      .addColumn('writer', 'text', (column) => column.notNull())
      .addColumn('counter', 'bigint', (column) => column.notNull())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('arrived_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('entries_pk', ['relay', 'household', 'writer', 'counter'])
      .execute();
    // Ciphertext does not get smaller; trying costs time with every entry.
    await sql`alter table ${sql.table(`${SCHEMA}.entries`)} alter column sealed set storage external`.execute(db);
  },
};
