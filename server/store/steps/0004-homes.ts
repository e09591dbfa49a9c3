/** Homes: the relay's side of each household, and which of them a sign-in belongs to. */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const homes: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('homes')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('home', 'text', (column) => column.primaryKey())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('begun_at', 'bigint')
      .addColumn('household', 'text')
      .addUniqueConstraint('homes_household', ['relay', 'household'])
      .execute();
    await schema.alterTable('browsers').addColumn('home', 'text').execute();
    // Until now every browser of a relay was of its one household.
    await sql`insert into ${sql.id(SCHEMA, 'homes')} (relay, home, made_at, begun_at) select home, home, made_at, made_at from ${sql.id(SCHEMA, 'logs')}`.execute(
      db,
    );
    await sql`update ${sql.id(SCHEMA, 'browsers')} set home = relay`.execute(db);
  },
};
