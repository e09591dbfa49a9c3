/**
 * Of what is due without anybody there: the offset that a schedule was given, so that a look at the
 * clock reads only what is due; runs that somebody's wake began, in the same account as those that
 * were due; routines that agents have proposed; and the relay at which a schedule is due now, where
 * it is another.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const night: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema.alterTable('schedules').addColumn('given_offset', 'integer').addColumn('elsewhere', 'text').execute();
    await schema
      .alterTable('occurrences')
      .addColumn('kind', 'text', (column) => column.notNull().defaultTo(''))
      .addColumn('name_json', 'text')
      .execute();
    await schema
      .createTable('proposals')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('proposal', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('value_json', 'text', (column) => column.notNull())
      .addColumn('why_json', 'text', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('answer', 'text')
      .addColumn('answered_at', 'bigint')
      .addPrimaryKeyConstraint('proposals_pk', ['home', 'proposal'])
      .execute();
    await schema
      .createIndex('proposals_open')
      .on('proposals')
      .columns(['home', 'made_at'])
      .where(sql<boolean>`answer is null`)
      .execute();
  },
};
