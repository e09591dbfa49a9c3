/**
 * Texts of scheduled scripts that the person accepted or declined. The relay runs the accepted
 * text, whatever the file says.
 */
import type { Kysely, Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const scriptTexts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .withSchema(SCHEMA)
      .createTable('script_texts')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('schedule', 'text', (column) => column.notNull())
      .addColumn('sha256', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('text', 'bytea')
      .addColumn('answered_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('script_texts_pk', ['home', 'schedule', 'sha256'])
      .execute();
  },
};
