/**
 * Where Postgres and SQLite differ. Queries are written once, for both. Each difference has a name
 * here, and a query uses the name.
 *
 * What needs no name, because one form means the same on both: `cast(x as bigint)`, `substr`,
 * `octet_length`, `is distinct from`, `filter (where …)`, window functions, `returning` of the
 * changed table's own columns, `on conflict`, `update … from`, row values.
 *
 * What `compilers.ts` does for SQLite by itself:
 * - Names have no schema there: the file has one.
 * - Row locks (`for update`, `skip locked`) are left out: a transaction has the only connection.
 *
 * What neither form may use: writing inside `with`, `distinct on`, `lateral`, columns of another
 * table in `returning`. A computed boolean is 0 or 1 on SQLite: its type is `SqlBool`.
 */
import { type Expression, type Kysely, type RawBuilder, sql, SqliteAdapter, type SqlBool } from 'kysely';
import type { Tables } from './tables.ts';

// An expression with two forms is a raw node that begins with a mark and has both as parameters.
// Kysely's plugins see both forms, and each compiler writes its own: see `compilers.ts`.

/** The text in this template is `MARK`. */
const differs = <Value>(postgres: RawBuilder<unknown>, sqlite: RawBuilder<unknown>) =>
  sql<Value>`/* one of two forms */${postgres}${sqlite}`;

type Column = Expression<unknown> | string;
const columnOf = (column: Column) => (typeof column === 'string' ? sql.ref(column) : column);

// Lists of values, as one parameter.

type Listed = string | number;

const arrayOf = (values: readonly Listed[]) =>
  typeof values[0] === 'number' ? sql`${values}::bigint[]` : sql`${values}::text[]`;
const listOf = (values: readonly Listed[]) => sql`(select value from json_each(${JSON.stringify(values)}))`;

/** The column has one of these values. */
export const isOneOf = (column: Column, values: readonly Listed[]): RawBuilder<SqlBool> =>
  differs(sql`${columnOf(column)} = any(${arrayOf(values)})`, sql`${columnOf(column)} in ${listOf(values)}`);

/** The column has none of these values, and is not null. */
export const isNoneOf = (column: Column, values: readonly Listed[]): RawBuilder<SqlBool> =>
  differs(
    sql`${columnOf(column)} <> all(${arrayOf(values)})`,
    sql`(${columnOf(column)} is not null and ${columnOf(column)} not in ${listOf(values)})`,
  );

/** The types of columns of given rows. */
type GivenType = 'text' | 'bigint';

/**
 * Rows given as values: a table for `from`. Every row has the same columns, named with their types.
 */
export function givenRows(
  name: string,
  columns: Readonly<Record<string, GivenType>>,
  rows: readonly Readonly<Record<string, Listed | null>>[],
): RawBuilder<unknown> {
  const names = Object.keys(columns);
  const arrays = names.map((column) => sql`${rows.map((row) => row[column])}::${sql.raw(columns[column] ?? 'text')}[]`);
  const texts = JSON.stringify(rows.map((row) => names.map((column) => row[column])));
  const fields = names.map((column, i) => sql`value ->> ${sql.lit(i)} as ${sql.id(column)}`);
  return differs(
    sql`unnest(${sql.join(arrays)}) as ${sql.id(name)} (${sql.join(names.map((column) => sql.id(column)))})`,
    sql`(select ${sql.join(fields)} from json_each(${texts})) as ${sql.id(name)}`,
  );
}

/** How many of the ascending bounds are at most the column's value. */
export const bucketOf = (column: Column, bounds: readonly number[]): RawBuilder<number> =>
  differs(
    sql`width_bucket(${columnOf(column)}, ${bounds}::bigint[])`,
    sql`(select count(*) from json_each(${JSON.stringify(bounds)}) where value <= ${columnOf(column)})`,
  );

// Texts.

/** Texts are compared by their bytes, whatever the locale of the database. */
export const isBefore = (column: Column, text: Expression<unknown> | string): RawBuilder<SqlBool> =>
  differs(sql`${columnOf(column)} collate "C" < ${text}`, sql`${columnOf(column)} < ${text}`);

export const isAtMost = (column: Expression<unknown>, text: Expression<unknown>): RawBuilder<SqlBool> =>
  differs(sql`${column} collate "C" <= ${text}`, sql`${column} <= ${text}`);

/** The part stands somewhere in the text. */
export const contains = (text: Column, part: string): RawBuilder<SqlBool> =>
  differs(sql`strpos(${columnOf(text)}, ${part}) > 0`, sql`instr(${columnOf(text)}, ${part}) > 0`);

/** Lower case of ASCII letters alone, whatever the locale of the database. */
export const asciiLower = (text: Column): RawBuilder<string> =>
  differs(sql`lower(${columnOf(text)} collate "C")`, sql`lower(${columnOf(text)})`);

/**
 * A whole number of up to 15 digits in a JSON text, by the name of its field. On Postgres it is
 * read by a regular expression: the text may hold a character that Postgres' own JSON refuses.
 * Quotation marks within texts are escaped, so the pattern cannot match there.
 */
export const countIn = (json: Column, field: string): RawBuilder<number> =>
  differs(
    sql`cast(substring(${columnOf(json)} from ${`"${field}":([0-9]{1,15})[,}]`}) as bigint)`,
    sql`(${columnOf(json)} ->> ${field})`,
  );

// Numbers and booleans.

export const largerOf = (one: Expression<unknown>, other: Expression<unknown>): RawBuilder<number> =>
  differs(sql`greatest(${one}, ${other})`, sql`max(${one}, ${other})`);

/**
 * The sum of a column, at most the largest safe integer. SQLite fails where a sum of whole numbers
 * exceeds 64 bits, and `total` does not.
 */
export const cappedSum = (column: Column): RawBuilder<number> =>
  differs(
    sql`cast(least(coalesce(sum(${columnOf(column)}), 0), ${sql.lit(Number.MAX_SAFE_INTEGER)}) as bigint)`,
    sql`cast(min(total(${columnOf(column)}), ${sql.lit(Number.MAX_SAFE_INTEGER)}) as integer)`,
  );

/** Whether the condition holds for any row of a group. */
export const anyTrue = (condition: Expression<unknown>): RawBuilder<SqlBool> =>
  differs(sql`bool_or(${condition})`, sql`max(${condition})`);

// Time and locks.

/** The time of the database, in ms since the epoch. */
export const STORE_NOW: RawBuilder<number> = differs(
  sql`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
  sql`cast(round(unixepoch('subsec') * 1000) as integer)`,
);

/** Whether this is the embedded store. */
export const isEmbedded = (db: Kysely<Tables>): boolean => db.getExecutor().adapter instanceof SqliteAdapter;

/**
 * Waits until no other transaction holds the lock of this name, and holds it until the end of this
 * transaction. In the embedded store every transaction is alone anyway.
 */
export async function lockNamed(transaction: Kysely<Tables>, name: string): Promise<void> {
  if (isEmbedded(transaction)) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}

/**
 * The file of the embedded store overwrites deleted rows, but its log keeps them until it is
 * emptied. A server cleans up by itself.
 */
export const emptyLog = async (db: Kysely<Tables>): Promise<void> => {
  await differs(sql`select 1`, sql`pragma wal_checkpoint(truncate)`).execute(db);
};
