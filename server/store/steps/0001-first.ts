/** The event log, the inbox, and who is let in. */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const first: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('logs')
      .addColumn('home', 'text', (column) => column.primaryKey())
      .addColumn('log', 'text', (column) => column.notNull().unique())
      .addColumn('head', 'bigint', (column) => column.notNull())
      .addColumn('acked', 'bigint', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .createTable('events')
      .addColumn('log', 'text', (column) => column.notNull())
      .addColumn('id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('event_json', 'text', (column) => column.notNull())
      .addColumn('stored_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('events_pk', ['log', 'id'])
      .execute();
    // The fold at start, and what pruning must keep, begin at a session's start or end.
    await schema
      .createIndex('events_boundaries')
      .on('events')
      .columns(['log', 'id'])
      .where(sql.ref('kind'), 'in', sql`('session-started', 'session-ended')`)
      .execute();
    // So does whatever run is under way.
    await schema
      .createIndex('events_runs')
      .on('events')
      .columns(['log', 'kind', 'id'])
      .where(sql.ref('kind'), 'in', sql`('run-started', 'run-ended')`)
      .execute();
    await schema
      .createTable('taken')
      .addColumn('log', 'text', (column) => column.notNull())
      .addColumn('client_json', 'text', (column) => column.notNull())
      .addColumn('event_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('taken_pk', ['log', 'client_json'])
      .execute();
    await schema
      .createTable('inbox')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('message_json', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('text_json', 'text', (column) => column.notNull())
      .addColumn('sent_at', 'bigint', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
      .addColumn('read_session_json', 'text')
      .addColumn('read_at', 'bigint')
      .addPrimaryKeyConstraint('inbox_pk', ['home', 'message_json'])
      .execute();
    await schema
      .createIndex('inbox_waiting')
      .on('inbox')
      .columns(['home', 'agent_json', 'sent_at', 'sequence'])
      .where(sql.ref('read_at'), 'is', null)
      .execute();
    await schema
      .createTable('codes')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('code_hash', 'text', (column) => column.primaryKey())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .createTable('browsers')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.primaryKey())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
