/**
 * A household's sealed entries in the relay's store. An entry is acknowledged only after its
 * commit.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Entry, EntryKey, EntryStore } from '../../src/shared/protocol/sync/page.ts';
import { givenRows } from '../store/dialect.ts';
import type { Db } from '../store/index.ts';
import { SCHEMA } from '../store/tables.ts';
import { SYNC_LIMITS } from './settings.ts';

// The SQL of sealed entries. Every function takes the transaction or database in which it runs.

export interface HouseholdRef {
  /** The id of the relay. */
  readonly relay: string;
  readonly household: string;
}

interface RangeRow {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
}

/** Gapless runs of counters, by writer: within a run, counter and row number rise together. */
async function readRanges(db: Db, { relay, household }: HouseholdRef): Promise<readonly RangeRow[]> {
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

/** Rows of one statement: a store has a limit of parameters. */
const ROWS_AT_ONCE = 1_000;

interface EntryKeyRow {
  readonly writer: string;
  readonly counter: number;
}

/**
 * Inserts entries whose place is free, and returns which these were. No place may occur twice in
 * the list.
 */
async function insertEntries(
  db: Db,
  { relay, household }: HouseholdRef,
  entries: readonly Entry[],
  now: number,
): Promise<readonly EntryKeyRow[]> {
  const placed: EntryKeyRow[] = [];
  for (let i = 0; i < entries.length; i += ROWS_AT_ONCE) {
    const rows = entries
      .slice(i, i + ROWS_AT_ONCE)
      .map(({ writer, counter, sealed }) => ({ relay, household, writer, counter, sealed, arrived_at: now }));
    const inserted = await db
      .insertInto('entries')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['relay', 'household', 'writer', 'counter']).doNothing())
      .returning(['writer', 'counter'])
      .execute();
    placed.push(...inserted);
  }
  return placed;
}

/** Entries whose place holds other bytes, and how many. */
async function differing(
  db: Db,
  { relay, household }: HouseholdRef,
  entries: readonly Entry[],
): Promise<readonly (EntryKeyRow & { readonly bytes: number })[]> {
  const places = entries.map(({ writer, counter }) => ({ writer, counter }));
  const { rows } = await sql<EntryKeyRow & { sealed: Uint8Array }>`
    select entries.writer, entries.counter, entries.sealed
    from ${givenRows('given', { writer: 'text', counter: 'bigint' }, places)}
    join ${sql.table(`${SCHEMA}.entries`)} as entries
      on entries.relay = ${relay} and entries.household = ${household}
      and entries.writer = given.writer and entries.counter = given.counter`.execute(db);
  const given = new Map(entries.map((entry) => [nameOf(entry), entry.sealed]));
  return rows.flatMap((row) => {
    const { sealed, ...key } = row;
    const same = Buffer.compare(sealed, given.get(nameOf(row)) ?? sealed) === 0;
    return same ? [] : [{ ...key, bytes: sealed.length }];
  });
}

/** Overwrites existing places. */
async function overwrite(
  db: Db,
  { relay, household }: HouseholdRef,
  entries: readonly Entry[],
  now: number,
): Promise<void> {
  for (const { writer, counter, sealed } of entries)
    await db
      .updateTable('entries')
      .set({ sealed, arrived_at: now })
      .where('relay', '=', relay)
      .where('household', '=', household)
      .where('writer', '=', writer)
      .where('counter', '=', counter)
      .execute();
}

interface ReadRange {
  readonly writer: string;
  readonly from: number;
  readonly to: number;
  readonly newestFirst: boolean;
  readonly maxBytes: number;
  readonly maxRows: number;
}

/** In order, as many as fit into `maxBytes`, and at least the first. */
async function readEntries(db: Db, { relay, household }: HouseholdRef, range: ReadRange): Promise<readonly Entry[]> {
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
    .select(['writer', 'counter', 'sealed'])
    .where((eb) => eb.or([eb('up_to', '<=', range.maxBytes), eb('nth', '=', 1)]))
    .orderBy('nth')
    .execute();
  return rows.map(({ writer, counter, sealed }) => ({ writer, counter, sealed: new Uint8Array(sealed) }));
}

/** SHA-256, first 16 bytes as hex. */
const digestOf = (sealed: Uint8Array) => createHash('sha256').update(sealed).digest('hex').slice(0, 32);

/** Deletes an entry that still has this digest. Returns its size, or null where there is none. */
async function deleteEntry(
  db: Db,
  { relay, household }: HouseholdRef,
  { writer, counter }: EntryKeyRow,
  digest: string,
): Promise<number | null> {
  const place = { relay, household, writer, counter };
  const there = await db
    .selectFrom('entries')
    .select('sealed')
    .where((eb) => eb.and(place))
    .forUpdate()
    .executeTakeFirst();
  if (!there || digestOf(there.sealed) !== digest) return null;
  await db
    .deleteFrom('entries')
    .where((eb) => eb.and(place))
    .execute();
  return there.sealed.length;
}

/**
 * Adds to the household's byte count and returns the new one. The household's row stays locked
 * until the transaction ends.
 */
async function countBytes(db: Db, { relay, household }: HouseholdRef, more: number): Promise<number> {
  const { bytes } = await db
    .updateTable('households')
    .set({ bytes: sql<number>`bytes + ${more}` })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .returning('bytes')
    .executeTakeFirstOrThrow();
  return bytes;
}

/** The household's quota here is used up. The message is a sentence for people. */
export class HouseholdFull extends Error {
  override name = 'HouseholdFull';
}

interface EntryStoreDeps extends HouseholdRef {
  readonly db: Db;
  readonly now: () => number;
  /** Bytes of all entries together. */
  readonly mostBytes: number;
}

const GIGABYTE = 1_000_000_000;
const nameOf = ({ writer, counter }: EntryKey) => `${writer} ${counter}`;
const keyOf = ({ writer, counter }: EntryKey): EntryKey => ({ writer, counter });
const bytesOf = (entries: readonly Entry[]) => entries.reduce((sum, { sealed }) => sum + sealed.length, 0);

/**
 * One entry per place: the first that was given, or the last. Also returns entries for the same
 * place with other bytes.
 */
function onePerKey(
  entries: readonly Entry[],
  keepLast: boolean,
): { readonly kept: readonly Entry[]; readonly others: readonly EntryKey[] } {
  const kept = new Map<string, Entry>();
  const others: EntryKey[] = [];
  for (const entry of entries) {
    const before = kept.get(nameOf(entry));
    if (before && !keepLast && Buffer.compare(before.sealed, entry.sealed) !== 0) others.push(keyOf(entry));
    if (!before || keepLast) kept.set(nameOf(entry), entry);
  }
  return { kept: [...kept.values()], others };
}

/**
 * Its `put` rejects with `HouseholdFull`, and stores nothing, where the quota would be exceeded.
 */
export function createEntryStore({ db, now, mostBytes, relay, household }: EntryStoreDeps): EntryStore {
  const home: HouseholdRef = { relay, household };

  async function grow(trx: Db, more: number): Promise<void> {
    const bytes = await countBytes(trx, home, more);
    if (more > 0 && bytes > mostBytes)
      throw new HouseholdFull(
        `This household has no more room on the relay: it may keep ${mostBytes / GIGABYTE} GB. What is here stays; what is new stays on your devices. The relay’s owner can set --household-gb higher.`,
      );
  }

  return {
    async have() {
      const have = new Map<string, (readonly [number, number])[]>();
      for (const { writer, from, to } of await readRanges(db, home)) {
        const ranges = have.get(writer) ?? [];
        ranges.push([from, to]);
        have.set(writer, ranges);
      }
      return have;
    },
    async put(entries, { replace }) {
      if (entries.length === 0) return { stored: [], conflicts: [], refused: [] };
      const { kept, others } = onePerKey(entries, replace);
      return await db.transaction().execute(async (trx) => {
        const free = new Set((await insertEntries(trx, home, kept, now())).map(nameOf));
        const fresh = kept.filter((entry) => free.has(nameOf(entry)));
        const there = kept.filter((entry) => !free.has(nameOf(entry)));
        const differ = there.length === 0 ? [] : await differing(trx, home, there);
        if (!replace) {
          await grow(trx, bytesOf(fresh));
          return { stored: fresh.map(keyOf), conflicts: [...differ.map(keyOf), ...others], refused: [] };
        }
        const names = new Set(differ.map(nameOf));
        const changed = there.filter((entry) => names.has(nameOf(entry)));
        if (changed.length > 0) await overwrite(trx, home, changed, now());
        await grow(trx, bytesOf(fresh) + bytesOf(changed) - differ.reduce((sum, { bytes }) => sum + bytes, 0));
        return { stored: [...fresh, ...changed].map(keyOf), conflicts: [], refused: [] };
      });
    },
    read: (writer, from, to, { newestFirst, maxBytes }) =>
      readEntries(db, home, { writer, from, to, newestFirst, maxBytes, maxRows: SYNC_LIMITS.readRows }),
    drop: (key, digest) =>
      db.transaction().execute(async (trx) => {
        const bytes = await deleteEntry(trx, home, key, digest);
        if (bytes === null) return false;
        await countBytes(trx, home, -bytes);
        return true;
      }),
  };
}
