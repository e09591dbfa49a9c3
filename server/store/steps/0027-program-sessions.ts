/**
 * Sessions of agent programs that ended with their agent’s own, one for each agent: its next wake
 * may go on with it.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const programSessions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .createTable('program_sessions')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('sealed', 'bytea', (column) => column.notNull())
      .addColumn('ended_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('program_sessions_pk', ['home', 'agent_json'])
      .execute();
  },
};
