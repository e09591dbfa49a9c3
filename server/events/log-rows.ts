/** The event log's SQL. Every function takes the transaction or database it runs in. */
import { sql } from 'kysely';
import { eventSchema, type RoostEvent, type StoredEvent } from '../../src/protocol/events.ts';
import type { Db } from '../store/index.ts';

/** The kinds that say that a session began or ended. */
const BOUNDARIES = ['session-started', 'session-ended'] as const;
/** These carry the words of an answer and change nothing in a snapshot. */
const WORDS = ['text', 'tool'] as const;

export interface LogRow {
  readonly log: string;
  readonly head: number;
  readonly acked: number;
}

/** The log of this relay in this store; made, with a name of its own, where there is none. */
export async function openLogRow(db: Db, relay: string, newLog: string, now: number): Promise<LogRow> {
  await db
    .insertInto('logs')
    .values({ relay, log: newLog, head: 0, acked: 0, made_at: now })
    .onConflict((conflict) => conflict.column('relay').doNothing())
    .execute();
  return await db.selectFrom('logs').select(['log', 'head', 'acked']).where('relay', '=', relay).executeTakeFirstOrThrow();
}

/** Takes the next `count` ids. The row stays locked until the transaction ends: ids appear in the order of commits. */
export async function takeIds(db: Db, log: string, count: number): Promise<{ first: number }> {
  const { head } = await db
    .updateTable('logs')
    .set({ head: sql<number>`head + ${count}` })
    .where('log', '=', log)
    .returning('head')
    .executeTakeFirstOrThrow();
  return { first: head - count + 1 };
}

/** Locks the log for the rest of the transaction, without taking ids. */
export async function lockLog(db: Db, log: string): Promise<void> {
  await db.selectFrom('logs').select('head').where('log', '=', log).forUpdate().executeTakeFirstOrThrow();
}

/** One insert, whatever the number of events: the columns travel as arrays. */
export async function insertEvents(db: Db, log: string, stored: readonly StoredEvent[], now: number): Promise<void> {
  const ids = stored.map(({ id }) => id);
  const kinds = stored.map(({ event }) => event.kind);
  const texts = stored.map(({ event }) => JSON.stringify(event));
  await db
    .insertInto('events')
    .columns(['log', 'id', 'kind', 'event_json', 'stored_at'])
    .expression(
      sql`select ${log}::text, row.id, row.kind, row.event_json, ${now}::bigint
          from unnest(${ids}::bigint[], ${kinds}::text[], ${texts}::text[]) as row (id, kind, event_json)`,
    )
    .execute();
}

const parseRow = (row: { id: number; event_json: string }): StoredEvent => {
  const event: RoostEvent = eventSchema.parse(JSON.parse(row.event_json));
  return { id: row.id, event };
};

export async function readEvents(db: Db, log: string, after: number, limit: number): Promise<StoredEvent[]> {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'event_json'])
    .where('log', '=', log)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(parseRow);
}

/** The events that a snapshot is a fold of: from the last end of a session on, without the words of answers. */
export async function readForSnapshot(db: Db, log: string): Promise<StoredEvent[]> {
  const lastEnd = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('id').as('id'))
    .where('log', '=', log)
    .where('kind', '=', 'session-ended')
    .executeTakeFirst();
  const rows = await db
    .selectFrom('events')
    .select(['id', 'event_json'])
    .where('log', '=', log)
    .where('id', '>=', lastEnd?.id ?? 0)
    .where('kind', 'not in', WORDS)
    .orderBy('id')
    .execute();
  return rows.map(parseRow);
}

/** The newest event that has a time; undefined where there is none. */
export async function readNewest(db: Db, log: string): Promise<StoredEvent | undefined> {
  const row = await db.selectFrom('events').select(['id', 'event_json']).where('log', '=', log).where('kind', 'not in', WORDS).orderBy('id', 'desc').limit(1).executeTakeFirst();
  return row && parseRow(row);
}

/** Ids of client calls that were taken before, by their JSON text. */
export async function readTaken(db: Db, log: string, clients: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('taken')
    .select(['client_json', 'event_id'])
    .where('log', '=', log)
    .where('client_json', '=', sql<string>`any(${[...clients]}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.client_json, row.event_id]));
}

/** Raises what browsers have stored; never lowers it. */
export async function raiseAcked(db: Db, log: string, upTo: number): Promise<number> {
  const { acked } = await db
    .updateTable('logs')
    .set({ acked: sql<number>`greatest(acked, least(${upTo}::bigint, head))` })
    .where('log', '=', log)
    .returning('acked')
    .executeTakeFirstOrThrow();
  return acked;
}

/**
 * Drops what browsers have, is older than `before`, and lies before the last start or end of a session:
 * the running session stays whole, and so does the last end, which snapshots tell.
 */
export async function prune(db: Db, log: string, before: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('events')
    .where('log', '=', log)
    .where('stored_at', '<', before)
    .where('id', '<=', (eb) => eb.selectFrom('logs').select('acked').where('log', '=', log))
    .where('id', '<', (eb) =>
      eb
        .selectFrom('events as boundary')
        .select((inner) => inner.fn.max('boundary.id').as('id'))
        .where('boundary.log', '=', log)
        .where('boundary.kind', 'in', BOUNDARIES),
    )
    .executeTakeFirst();
  if (numDeletedRows > 0n) await forgetTaken(db, log);
  return Number(numDeletedRows);
}

/** A browser that has stored what its call became does not make the call again: the client ids of dropped events go with them. */
async function forgetTaken(db: Db, log: string): Promise<void> {
  await db
    .deleteFrom('taken')
    .where('log', '=', log)
    .where('event_id', '<', (eb) => eb.selectFrom('events').select((inner) => inner.fn.min('id').as('id')).where('log', '=', log))
    .execute();
}
