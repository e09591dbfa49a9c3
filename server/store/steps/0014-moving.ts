/**
 * Of what is due at another relay of the household: whether this one asks for it. And runs by when
 * they began, for what they cost.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const moving: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .alterTable('schedules')
      .addColumn('wanted', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('since', 'bigint')
      .addColumn('turn', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await schema
      .createIndex('occurrences_begun')
      .on('occurrences')
      .columns(['home', 'started_at'])
      .where(sql<boolean>`started_at is not null`)
      .execute();
  },
};
