/** What is held for requests under way, so that a process that is killed does not take it along. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const reserves: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('reserves')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('reserve', 'text', (column) => column.notNull())
      .addColumn('reserve_json', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('reserves_pk', ['home', 'reserve'])
      .execute();
    // Nobody read it: a device's id is of its keys, and whoever registers shows them.
    await schema.alterTable('devices').dropColumn('device_key').execute();
    await schema.alterTable('usage').addColumn('reserve', 'text').execute();
  },
};
