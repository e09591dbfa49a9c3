/** What the person’s yes to a call is to, and what they have let for always with a command. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const callContents: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .alterTable('tool_calls')
      .addColumn('pin', 'text')
      .addColumn('content_json', 'text')
      .addColumn('before_json', 'text')
      .execute();
    await schema
      .createTable('command_contents')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('command_hash', 'text', (column) => column.notNull())
      .addColumn('agreed_json', 'text', (column) => column.notNull())
      .addColumn('agreed_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('command_contents_pk', ['home', 'agent_json', 'command_hash'])
      .execute();
  },
};
