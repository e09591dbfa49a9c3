/** The event log's SQL. Every function takes the transaction or database it runs in. */
import { type Insertable, sql } from 'kysely';
import { isRecord, parseJson } from '../../src/shared/domain/platform/json.ts';
import { blockSchema, usageSchema } from '../../src/shared/protocol/documents.ts';
import { eventSchema, type RoostEvent, type StoredEvent } from '../../src/shared/protocol/events.ts';
import { isOneOf, largerOf } from '../store/dialect.ts';
import { type Db, runTogether } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';

// Reads rows of the log. A row that does not fit its schema is repaired if only the model's own
// data in it is wrong. Otherwise the row is skipped, because one bad row must not block a
// household's log.

interface EventRow {
  readonly id: number;
  readonly event_json: string;
}

/** A skipped row. `why`: for the person who investigates it. */
export interface UnreadableRow {
  readonly id: number;
  readonly kind: string;
  readonly why: string;
}

/** Null: the row is skipped. */
type ReadRow = (row: EventRow) => StoredEvent | null;

const textOr = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise);
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);

/** A model may have sent a tool call without an id or a name. */
function mendedBlock(block: unknown): unknown {
  if (!isRecord(block) || block['kind'] !== 'tool') return block;
  return {
    ...block,
    toolUseId: textOr(block['toolUseId'], 'unnamed'),
    name: textOr(block['name'], 'unnamed'),
    input: block['input'] ?? null,
    result: textOrNull(block['result']),
    isError: block['isError'] === true,
  };
}

/** The event without its unreadable parts. No words are lost. */
function mended(event: Readonly<Record<string, unknown>>): unknown {
  const { usage, block, blocks, costMicroUsd: cost } = event;
  return {
    ...event,
    ...(usage !== undefined && !usageSchema.safeParse(usage).success ? { usage: null } : {}),
    ...(block === undefined ? {} : { block: mendedBlock(block) }),
    ...(Array.isArray(blocks)
      ? { blocks: blocks.map(mendedBlock).filter((each) => blockSchema.safeParse(each).success) }
      : {}),
    ...(cost !== undefined && !(Number.isSafeInteger(cost) && Number(cost) >= 0)
      ? { costMicroUsd: 0, estimated: true }
      : {}),
  };
}

/** `onUnreadable`: called once for each skipped row, however often it is read. */
export function createReadRow(onUnreadable: (row: UnreadableRow) => void = () => undefined): ReadRow {
  const reportedIds = new Set<number>();
  return ({ id, event_json: text }) => {
    const value = parseJson(text);
    const read = eventSchema.safeParse(value);
    if (read.success) return { id, event: read.data };
    const again = isRecord(value) ? eventSchema.safeParse(mended(value)) : read;
    if (again.success) return { id, event: again.data };
    if (!reportedIds.has(id)) {
      reportedIds.add(id);
      const kind = isRecord(value) ? textOr(value['kind'], 'none') : 'none';
      onUnreadable({ id, kind, why: value === undefined ? 'it is no JSON' : read.error.message });
    }
    return null;
  };
}

/** Kinds that begin or end a session. */
const BOUNDARIES = ['session-started', 'session-ended'] as const;
/** Kinds that carry the words of an answer. They do not change a snapshot. */
const WORDS = ['text', 'tool'] as const;
/** Kinds that do not change a snapshot. */
const ASIDE = [...WORDS, 'record'] as const;

export interface LogRow {
  readonly log: string;
  readonly head: number;
  readonly acked: number;
}

/** The log of this home in the store. Creates it if there is none. */
export async function openLogRow(db: Db, home: string, newLog: string, now: number): Promise<LogRow> {
  await db
    .insertInto('logs')
    .values({ home, log: newLog, head: 0, acked: 0, made_at: now })
    .onConflict((conflict) => conflict.column('home').doNothing())
    .execute();
  return await db
    .selectFrom('logs')
    .select(['log', 'head', 'acked'])
    .where('home', '=', home)
    .executeTakeFirstOrThrow();
}

/** Events that get consecutive ids. */
export interface Write {
  readonly events: readonly RoostEvent[];
  /**
   * JSON text of the client id, if the write must happen only once. Null: always written. No two
   * writes of a batch share one.
   */
  readonly client: string | null;
}

/** Rows of one statement: a store has a limit of parameters. */
const ROWS_AT_ONCE = 1_000;
const inParts = <Row>(rows: readonly Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / ROWS_AT_ONCE) }, (_none, i) =>
    rows.slice(i * ROWS_AT_ONCE, (i + 1) * ROWS_AT_ONCE),
  );

/**
 * Inserts events with the next ids, in order. Writes of a client id that was taken before are
 * skipped. Resolves with the ids, ascending.
 *
 * The log's row stays locked until the end, so that ids appear in commit order. If the head is not
 * `after`, nothing is written, because the writer has not read the events behind it.
 */
export async function insertEvents(
  db: Db,
  log: string,
  writes: readonly Write[],
  after: number,
  now: number,
): Promise<number[]> {
  const clients = writes.flatMap(({ client }) => (client === null ? [] : [client]));
  // Whoever takes a client id moves the head too. So what is read here holds where the head is
  // still `after`.
  const usedClients = clients.length === 0 ? new Map<string, number>() : await readTaken(db, log, clients);
  const claims: { log: string; client_json: string; event_id: number }[] = [];
  const events: Insertable<Tables['events']>[] = [];
  for (const write of writes) {
    if (write.client !== null && usedClients.has(write.client)) continue;
    if (write.client !== null) claims.push({ log, client_json: write.client, event_id: after + events.length + 1 });
    for (const event of write.events) {
      const id = after + events.length + 1;
      events.push({ log, id, kind: event.kind, event_json: JSON.stringify(event), stored_at: now });
    }
  }
  if (events.length === 0) return [];
  const moveHead = db
    .updateTable('logs')
    .set({ head: after + events.length })
    .where('log', '=', log)
    .where('head', '=', after);
  const inserts = [
    ...inParts(events).map((part) => db.insertInto('events').values(part)),
    ...inParts(claims).map((part) => db.insertInto('taken').values(part)),
  ];
  const changes = await runTogether(db, [moveHead, ...inserts], { ifFirstChanges: true });
  return changes === null ? [] : events.map(({ id }) => id);
}

export async function readHead(db: Db, log: string): Promise<number> {
  return (await db.selectFrom('logs').select('head').where('log', '=', log).executeTakeFirstOrThrow()).head;
}

const readAll = (rows: readonly EventRow[], read: ReadRow): StoredEvent[] => rows.flatMap((row) => read(row) ?? []);

/** At most `limit` readable events. Fewer: there are no more. */
export async function readEvents(
  db: Db,
  log: string,
  after: number,
  limit: number,
  read: ReadRow,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let last = after; ;) {
    const most = limit - events.length;
    const rows = await db
      .selectFrom('events')
      .select(['id', 'event_json'])
      .where('log', '=', log)
      .where('id', '>', last)
      .orderBy('id')
      .limit(most)
      .execute();
    events.push(...readAll(rows, read));
    last = rows.at(-1)?.id ?? last;
    if (rows.length < most || events.length === limit) return events;
  }
}

/**
 * The run id in an event. Parsed here, because Postgres fails on texts with characters it does not
 * support.
 */
function runIn(text: string): unknown {
  const event = parseJson(text);
  return isRecord(event) ? event['runId'] : undefined;
}

/** Id of the event that started the oldest live run. Null: no run is live. */
async function readOldestRun(db: Db, log: string): Promise<number | null> {
  const rows = await db
    .selectFrom('events')
    .select(['id', 'kind', 'event_json'])
    .where('log', '=', log)
    .where('kind', 'in', ['run-started', 'run-ended'])
    .orderBy('id')
    .execute();
  const open = new Map<unknown, number>();
  for (const { id, kind, event_json: text } of rows)
    if (kind === 'run-started') open.set(runIn(text), id);
    else open.delete(runIn(text));
  return open.size === 0 ? null : Math.min(...open.values());
}

/**
 * The events from which a snapshot is built: from the last end of a session, or from the start of
 * the oldest live run, without the words of answers.
 */
export async function readForSnapshot(db: Db, log: string, read: ReadRow): Promise<StoredEvent[]> {
  const lastEnd = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('id').as('id'))
    .where('log', '=', log)
    .where('kind', '=', 'session-ended')
    .executeTakeFirst();
  const from = Math.min(lastEnd?.id ?? 0, (await readOldestRun(db, log)) ?? Infinity);
  const rows = await db
    .selectFrom('events')
    .select(['id', 'event_json'])
    .where('log', '=', log)
    .where('id', '>=', from)
    .where('kind', 'not in', ASIDE)
    .orderBy('id')
    .execute();
  return readAll(rows, read);
}

/** The newest event with a time. Undefined: there is none. */
export async function readNewest(db: Db, log: string, read: ReadRow): Promise<StoredEvent | undefined> {
  for (let before = Infinity; ;) {
    const row = await db
      .selectFrom('events')
      .select(['id', 'event_json'])
      .where('log', '=', log)
      .where('kind', 'not in', WORDS)
      .$if(before !== Infinity, (query) => query.where('id', '<', before))
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!row) return undefined;
    const newest = read(row);
    if (newest) return newest;
    before = row.id;
  }
}

/** Event ids of those client ids that were taken before, by JSON text. */
export async function readTaken(db: Db, log: string, clients: readonly string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('taken')
    .select(['client_json', 'event_id'])
    .where('log', '=', log)
    .where(isOneOf('client_json', [...clients]))
    .execute();
  return new Map(rows.map((row) => [row.client_json, row.event_id]));
}

/** Raises the acknowledged id. Never lowers it. */
export async function raiseAcked(db: Db, log: string, upTo: number): Promise<number> {
  const { acked } = await db
    .updateTable('logs')
    .set({ acked: largerOf(sql.ref('acked'), sql`cast(${upTo} as bigint)`) })
    .where('log', '=', log)
    .returning('acked')
    .executeTakeFirstOrThrow();
  return acked;
}

/**
 * Deletes events that browsers have acknowledged, that are older than `before`, and that lie before
 * the last start or end of a session. The current session stays complete, and so does the last end,
 * which snapshots contain. `keepFrom`: start of the oldest live run.
 */
export async function prune(db: Db, log: string, before: number, keepFrom: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('events')
    .where('log', '=', log)
    .where('stored_at', '<', before)
    .where('id', '<', keepFrom)
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

/** Rows that are read at once. */
const PAGE = 500;

/**
 * Deletes events in which one of these texts stands and that are `over`, and the words of their
 * answers. An event that cannot be read goes too. Starts and ends of sessions stay.
 */
export async function removeEvents(
  db: Db,
  log: string,
  texts: readonly string[],
  isOver: (event: RoostEvent) => boolean,
): Promise<void> {
  const answers = new Set<unknown>();
  const read = createReadRow();
  for (let last = 0; ;) {
    const rows = await db
      .selectFrom('events')
      .select(['id', 'kind', 'event_json'])
      .where('log', '=', log)
      .where('id', '>', last)
      .where('kind', 'not in', BOUNDARIES)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    const over = rows.filter((row) => {
      if (WORDS.some((kind) => kind === row.kind) && answers.size > 0) {
        const words = parseJson(row.event_json);
        if (isRecord(words) && answers.has(words['messageId'])) return true;
      }
      if (!texts.some((text) => row.event_json.includes(text))) return false;
      const event = read(row)?.event;
      if (event && !isOver(event)) return false;
      if (event?.kind === 'answer-started') answers.add(event.messageId);
      return true;
    });
    if (over.length > 0)
      await db
        .deleteFrom('events')
        .where('log', '=', log)
        .where(
          'id',
          'in',
          over.map(({ id }) => id),
        )
        .execute();
    last = rows.at(-1)?.id ?? last;
    if (rows.length < PAGE) return;
  }
}

/**
 * Deletes the client ids of dropped events. A browser that has stored the result of its call does
 * not repeat the call.
 */
async function forgetTaken(db: Db, log: string): Promise<void> {
  await db
    .deleteFrom('taken')
    .where('log', '=', log)
    .where('event_id', '<', (eb) =>
      eb
        .selectFrom('events')
        .select((inner) => inner.fn.min('id').as('id'))
        .where('log', '=', log),
    )
    .execute();
}
