/** What tool servers ask the person stands among the calls that wait for them. */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const serverQuestions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.withSchema(SCHEMA).alterTable('tool_calls').addColumn('question_json', 'text').execute();
  },
};
