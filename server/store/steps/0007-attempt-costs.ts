/** What an attempt has used so far. */
import { sql, type Kysely, type Migration } from 'kysely';

export const attemptCosts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('alter table roost.attempts add column spent_json text').execute(db);
  },
};
