/**
 * Codes that a page shows for another device: whom each let in, and the offer to join that came by
 * it.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const deviceCodes: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('device_codes')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('code_hash', 'text', (column) => column.notNull())
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('guest', 'text')
      .addColumn('guest_is_new', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('offer', 'text')
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('device_codes_pk', ['relay', 'id'])
      .execute();
    await schema.alterTable('browsers').addColumn('guest_until', 'bigint').execute();
  },
};
