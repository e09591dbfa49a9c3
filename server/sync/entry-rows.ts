/** The SQL of sealed entries. Every function takes the transaction or database it runs in. */
import { sql } from 'kysely';
import type { Entry } from '../../src/shared/protocol/sync/page.ts';
import type { Db } from '../store/index.ts';
import { SCHEMA } from '../store/schema.ts';

export interface HouseholdRef {
  /** Names the relay. */
  readonly relay: string;
  readonly household: string;
}

export interface RangeRow {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Runs of counters without a gap, by writer: within a run, counter and row number rise together.
 */
export async function readRanges(db: Db, { relay, household }: HouseholdRef): Promise<readonly RangeRow[]> {
  const numbered = db
    .selectFrom('entries')
    .select([
      'writer',
      'counter',
      sql<number>`counter - row_number() over (partition by writer order by counter)`.as('island'),
    ])
    .where('relay', '=', relay)
    .where('household', '=', household);
  return await db
    .selectFrom(numbered.as('numbered'))
    .select((eb) => ['writer', eb.fn.min('counter').as('from'), eb.fn.max('counter').as('to')])
    .groupBy(['writer', 'island'])
    .orderBy('writer')
    .orderBy('from')
    .execute();
}

/**
 * The columns travel as arrays, the bytes as one, so that it is one statement with few parameters.
 * As base64, which the embedded store takes and gives in a tenth of the time of bytes; a subquery
 * that stands alone is worked out once. Name `sealed` once in a statement: it carries the bytes.
 */
function columnsOf(entries: readonly Entry[]) {
  const lengths = entries.map(({ sealed }) => sealed.length);
  let end = 1;
  const starts = lengths.map((length) => (end += length) - length);
  const bytes = Buffer.concat(entries.map(({ sealed }) => sealed)).toString('base64');
  const from = sql`from unnest(${entries.map(({ writer }) => writer)}::text[], ${entries.map(({ counter }) => counter)}::bigint[], ${starts}::int[], ${lengths}::int[])
    as given (writer, counter, start, length)`;
  return { from, sealed: sql`substring((select decode(${bytes}::text, 'base64')) from given.start for given.length)` };
}

export interface EntryKeyRow {
  readonly writer: string;
  readonly counter: number;
}

/**
 * Puts in those whose place is free, and answers which these were. No place may be among the
 * entries twice.
 */
export async function insertEntries(
  db: Db,
  { relay, household }: HouseholdRef,
  entries: readonly Entry[],
  now: number,
): Promise<readonly EntryKeyRow[]> {
  const { from, sealed } = columnsOf(entries);
  return await db
    .insertInto('entries')
    .columns(['relay', 'household', 'writer', 'counter', 'sealed', 'arrived_at'])
    .expression(
      sql`select ${relay}::text, ${household}::text, given.writer, given.counter, ${sealed}, ${now}::bigint ${from}`,
    )
    .onConflict((conflict) => conflict.columns(['relay', 'household', 'writer', 'counter']).doNothing())
    .returning(['writer', 'counter'])
    .execute();
}

/** Which of these places hold other bytes, and how many. */
export async function differing(
  db: Db,
  { relay, household }: HouseholdRef,
  entries: readonly Entry[],
): Promise<readonly (EntryKeyRow & { readonly bytes: number })[]> {
  const { from, sealed } = columnsOf(entries);
  const { rows } = await sql<EntryKeyRow & { bytes: number }>`
    select entries.writer, entries.counter, octet_length(entries.sealed) as bytes
    ${from}, ${sql.table(`${SCHEMA}.entries`)} as entries
    where entries.relay = ${relay} and entries.household = ${household} and entries.writer = given.writer and entries.counter = given.counter
      and entries.sealed <> ${sealed}`.execute(db);
  return rows;
}

/** Overwrites places that are there. */
export async function overwrite(
  db: Db,
  { relay, household }: HouseholdRef,
  entries: readonly Entry[],
  now: number,
): Promise<void> {
  const { from, sealed } = columnsOf(entries);
  await sql`
    update ${sql.table(`${SCHEMA}.entries`)} as entries set sealed = ${sealed}, arrived_at = ${now}
    ${from}
    where entries.relay = ${relay} and entries.household = ${household} and entries.writer = given.writer and entries.counter = given.counter`.execute(
    db,
  );
}

export interface ReadRange {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
  readonly newestFirst: boolean;
  readonly maxBytes: number;
  readonly maxRows: number;
}

/** In order, as many as `maxBytes` has room for, the first in any case. */
export async function readEntries(
  db: Db,
  { relay, household }: HouseholdRef,
  range: ReadRange,
): Promise<readonly Entry[]> {
  const direction = range.newestFirst ? 'desc' : 'asc';
  const near = db
    .selectFrom('entries')
    .select(['writer', 'counter', 'sealed'])
    .where('relay', '=', relay)
    .where('household', '=', household)
    .where('writer', '=', range.writer)
    .where('counter', '>=', range.from)
    .where('counter', '<=', range.to)
    .orderBy('counter', direction)
    .limit(range.maxRows);
  const summed = db
    .selectFrom(near.as('near'))
    .select(['writer', 'counter', 'sealed'])
    .select(
      sql<number>`sum(octet_length(sealed)) over (order by counter ${sql.raw(direction)} rows unbounded preceding)`.as(
        'up_to',
      ),
    )
    .select(sql<number>`row_number() over (order by counter ${sql.raw(direction)})`.as('nth'));
  const rows = await db
    .selectFrom(summed.as('summed'))
    .select(['writer', 'counter', sql<string>`encode(sealed, 'base64')`.as('base64')])
    .where((eb) => eb.or([eb('up_to', '<=', range.maxBytes), eb('nth', '=', 1)]))
    .orderBy('nth')
    .execute();
  return rows.map(({ writer, counter, base64 }) => ({
    writer,
    counter,
    sealed: new Uint8Array(Buffer.from(base64, 'base64')),
  }));
}

/**
 * Deletes an entry that still has this digest; answers with its size, null where there is none
 * such.
 */
export async function deleteEntry(
  db: Db,
  { relay, household }: HouseholdRef,
  { writer, counter }: EntryKeyRow,
  digest: string,
): Promise<number | null> {
  const gone = await db
    .deleteFrom('entries')
    .where('relay', '=', relay)
    .where('household', '=', household)
    .where('writer', '=', writer)
    .where('counter', '=', counter)
    .where(sql<string>`encode(substring(sha256(sealed) from 1 for 16), 'hex')`, '=', digest)
    .returning(sql<number>`octet_length(sealed)`.as('bytes'))
    .executeTakeFirst();
  return gone?.bytes ?? null;
}

/**
 * Counts the household's bytes up or down; answers how many there are now. The household's row
 * stays locked until the transaction ends.
 */
export async function countBytes(db: Db, { relay, household }: HouseholdRef, more: number): Promise<number> {
  const { bytes } = await db
    .updateTable('households')
    .set({ bytes: sql<number>`bytes + ${more}` })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .returning('bytes')
    .executeTakeFirstOrThrow();
  return bytes;
}
