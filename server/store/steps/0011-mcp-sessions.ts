/** Sessions of MCP clients, where several processes share a store: they are counted together. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const mcpSessions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .createTable('mcp_sessions')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('credential', 'text', (column) => column.notNull())
      .addColumn('session', 'text', (column) => column.notNull())
      .addColumn('used_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('mcp_sessions_pk', ['home', 'credential', 'session'])
      .execute();
  },
};
