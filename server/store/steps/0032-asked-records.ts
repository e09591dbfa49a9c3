/**
 * What came as a record and waits for the person's yes; and of what is scheduled, what they have
 * agreed to. What is due here already was set or brought here by them.
 */
import { createHash } from 'node:crypto';
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const askedRecords: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('asked_records')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('record_json', 'text', (column) => column.notNull())
      .addColumn('part_json', 'text', (column) => column.notNull())
      .addColumn('stamp', 'text', (column) => column.notNull())
      .addColumn('value_json', 'text', (column) => column.notNull())
      .addColumn('declined', 'boolean', (column) => column.notNull().defaultTo(false))
      .addPrimaryKeyConstraint('asked_records_pk', ['home', 'type', 'record_json', 'part_json'])
      .execute();
    await schema.alterTable('schedules').addColumn('agreed', 'text').execute();
    const schedules = sql.table(`${SCHEMA}.schedules`);
    const { rows } = await sql<{ home: string; schedule: string; value_json: string }>`
      select home, schedule, value_json from ${schedules} where elsewhere is null and not removed`.execute(db);
    for (const { home, schedule, value_json } of rows)
      await sql`
        update ${schedules} set agreed = ${agreedTo(value_json)} where home = ${home} and schedule = ${schedule}`.execute(
        db,
      );
  },
};

/** As `agreementOf` in server/schedules/agreed.ts wrote it first. */
function agreedTo(json: string): string {
  const schedule = Object.entries(JSON.parse(json) as Record<string, unknown>);
  const words = Object.fromEntries(schedule.filter(([field]) => field !== 'enabled' && field !== 'color'));
  const isOff = schedule.some(([field, value]) => field === 'enabled' && value === false);
  return `${isOff ? 'off' : 'on'} ${createHash('sha256').update(JSON.stringify(words, sorted)).digest('hex')}`;
}
const sorted = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value;
