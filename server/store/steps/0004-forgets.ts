/** Requests to forget that are final. */
import { type Kysely, type Migration, sql } from 'kysely';
import { isEmbedded } from '../dialect.ts';
import { SCHEMA, type Tables } from '../tables.ts';

const TABLE = `
  create table roost.forgets (
    home text not null,
    forget text not null,
    value_json text not null,
    done boolean not null default false,
    constraint forgets_pk primary key (home, forget)
  )
`;

export const forgets: Migration = {
  async up(db: Kysely<Tables>) {
    await sql.raw(isEmbedded(db) ? TABLE.replaceAll(`${SCHEMA}.`, '') : TABLE).execute(db);
  },
};
