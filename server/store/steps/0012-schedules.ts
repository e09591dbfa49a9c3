/**
 * What is due without anybody there: schedules, an account of every moment that came, and what
 * agents need to be at work alone.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const schedules: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('schedules')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('schedule', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('name_json', 'text', (column) => column.notNull())
      .addColumn('value_json', 'text', (column) => column.notNull())
      .addColumn('stamp', 'text')
      .addColumn('changes', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('removed', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('judged_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint')
      .addColumn('paused_why', 'text')
      .addPrimaryKeyConstraint('schedules_pk', ['home', 'schedule'])
      .execute();
    await schema
      .createIndex('schedules_due')
      .on('schedules')
      .columns(['home', 'due_at'])
      .where(sql<boolean>`due_at is not null`)
      .execute();
    await schema
      .createIndex('schedules_named')
      .unique()
      .on('schedules')
      .columns(['home', 'agent_json', 'name_json'])
      .where(sql<boolean>`not removed`)
      .execute();
    await schema
      .createIndex('schedules_untold')
      .on('schedules')
      .columns(['home'])
      .where(sql<boolean>`stamp is null`)
      .execute();
    await schema
      .createTable('occurrences')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('schedule', 'text', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('late', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('not_before', 'bigint', (column) => column.notNull())
      .addColumn('token', 'text')
      .addColumn('lease_until', 'bigint')
      .addColumn('run', 'text')
      .addColumn('started_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addColumn('detail_json', 'text')
      .addPrimaryKeyConstraint('occurrences_pk', ['home', 'schedule', 'due_at'])
      .execute();
    await schema
      .createIndex('occurrences_open')
      .on('occurrences')
      .columns(['home', 'not_before'])
      .where(sql<boolean>`ended_at is null`)
      .execute();
    await schema
      .createIndex('occurrences_ended')
      .on('occurrences')
      .columns(['home', 'ended_at'])
      .where(sql<boolean>`ended_at is not null`)
      .execute();
    await schema
      .createTable('standing_copies')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('left_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('standing_copies_pk', ['home', 'agent_json'])
      .execute();
    await schema
      .createTable('clocks')
      .addColumn('home', 'text', (column) => column.primaryKey())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('stopped_at', 'bigint')
      .execute();
  },
};
