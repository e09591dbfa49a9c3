/**
 * What is scheduled, in the words of the wire: `catch_up` and `on_failure`. Every page is told of
 * it anew, in those words.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

/** A quote within somebody's text is written as `\"` there, so only names of fields are found. */
const renamed = sql`replace(replace(value_json, '"catchUp":', '"catch_up":'), '"onFailure":', '"on_failure":')`;

export const scheduleWords: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`
      update ${sql.table(`${SCHEMA}.schedules`)} set value_json = ${renamed}, stamp = null, changes = changes + 1
      where value_json <> ${renamed}`.execute(db);
    await sql`update ${sql.table(`${SCHEMA}.proposals`)} set value_json = ${renamed}`.execute(db);
  },
};
