/** Calls of tools: those that wait for the person, and the account of all. */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const hands: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('tool_calls')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('call', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('session', 'text')
      .addColumn('run', 'text')
      .addColumn('place', 'text', (column) => column.notNull())
      .addColumn('tool', 'text', (column) => column.notNull())
      .addColumn('input_json', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('allowed_by', 'text')
      .addColumn('asked_at', 'bigint', (column) => column.notNull())
      .addColumn('answered_at', 'bigint')
      .addColumn('ended_at', 'bigint')
      .addColumn('told_at', 'bigint')
      .addColumn('words_json', 'text')
      .addColumn('outcome_json', 'text')
      .addColumn('is_error', 'boolean', (column) => column.notNull().defaultTo(false))
      .addColumn('bytes', 'bigint')
      .addColumn('later', 'boolean', (column) => column.notNull().defaultTo(false))
      .addPrimaryKeyConstraint('tool_calls_pk', ['home', 'call'])
      .execute();
    await schema.createIndex('tool_calls_order').on('tool_calls').columns(['home', 'sequence']).execute();
    await schema
      .createIndex('tool_calls_open')
      .on('tool_calls')
      .columns(['home', 'sequence'])
      .where(sql<boolean>`state in ('asked', 'running')`)
      .execute();
  },
};
