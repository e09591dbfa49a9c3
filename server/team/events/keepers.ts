/**
 * Where appended events are kept. On a Postgres server, which other processes write to as well: in
 * its tables, one statement for all that came together. On the embedded store, which is one
 * process's alone: in a journal, one flush, and in the tables a moment later, many at a time; until
 * then they are read from nowhere, so whoever reads the tables asks for `settled` before.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Db, Journal } from '../../store/index.ts';
import {
  insertEvents,
  insertNumbered,
  readAllTaken,
  readEvents,
  readHead,
  readTaken,
  type LogRow,
  type Numbered,
  type Write,
} from './log-rows.ts';
import { createReadRow } from './stored-rows.ts';

const KEEPER_SETTINGS = {
  /** ms that events lie in the journal alone, so that many come into the tables together. */
  tablesAfterMs: 100,
  /**
   * Events that do not wait for that, and about as many as come into the tables at once: each holds
   * the process up a little.
   */
  tablesMost: 256,
  /** ms after which what the tables did not take is tried again. */
  retryMs: 1_000,
} as const;

export interface Keeper {
  /** Highest id that was given, as of the opening. */
  readonly head: number;
  /**
   * Gives the events the next ids after `after`, in order, and keeps them; those of a client that
   * was taken before are left out. On disk when it resolves, with the ids, ascending. One at a
   * time. Null: others have written meanwhile, and what they wrote is to be read first.
   */
  insert(writes: readonly Write[], after: number): Promise<readonly number[] | null>;
  /**
   * The ids of what an `insert` has written whose answer did not come, behind `after`; null: it has
   * not.
   */
  find(writes: readonly Write[], after: number): Promise<readonly number[] | null>;
  /** Highest id that is given now, by whoever. */
  newest(): Promise<number>;
  /** Ids of client calls that were taken before, by their JSON text. */
  taken(clients: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Resolves when everything that was kept so far is in the tables. */
  flush(): Promise<void>;
  /** Events before this id have been dropped, and their clients with them. */
  dropped(before: number): void;
  /** Runs the statement of the next write once, without one. */
  warm(): Promise<void>;
  close(): Promise<void>;
}

export function createTableKeeper(db: Db, { log, head }: LogRow, now: () => number): Keeper {
  return {
    head,
    async insert(writes, after) {
      const ids = await insertEvents(db, log, writes, after, now());
      return ids.length === 0 && (await readHead(db, log)) !== after ? null : ids;
    },
    async find(writes, after) {
      const clients = writes.flatMap(({ client }) => (client === null ? [] : [client]));
      const taken = await readTaken(db, log, clients);
      const events = writes
        .filter(({ client }) => client === null || (taken.get(client) ?? 0) > after)
        .flatMap((write) => write.events);
      if (events.length === 0) return null;
      const there = await readEvents(db, log, after, (await readHead(db, log)) - after, createReadRow());
      const at = there.findIndex((_, i) => events.every((event, j) => isDeepStrictEqual(there[i + j]?.event, event)));
      return at < 0 ? null : there.slice(at, at + events.length).map(({ id }) => id);
    },
    newest: () => readHead(db, log),
    taken: (clients) => readTaken(db, log, clients),
    flush: () => Promise.resolve(),
    dropped: () => undefined,
    // On a server, which is no part of this process and has its plans itself.
    warm: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** What stands in a record: the writes that were acknowledged together. */
const recordSchema = z.object({
  first: z.number(),
  storedAt: z.number(),
  writes: z.array(z.object({ client: z.string().nullable(), events: z.array(z.looseObject({ kind: z.string() })) })),
});
type JournalRecord = z.infer<typeof recordSchema>;

function numbered({
  first,
  storedAt,
  writes,
}: {
  readonly first: number;
  readonly storedAt: number;
  readonly writes: readonly { readonly client: string | null; readonly events: readonly { readonly kind: string }[] }[];
}): Numbered[] {
  let next = first;
  return writes.map(({ client, events }) => {
    const write = {
      first: next,
      storedAt,
      client,
      events: events.map((event) => ({ kind: event.kind, text: JSON.stringify(event) })),
    };
    next += events.length;
    return write;
  });
}

export interface JournalKeeperDeps {
  readonly db: Db;
  readonly row: LogRow;
  readonly journal: Journal;
  readonly now: () => number;
}

/**
 * Puts what an earlier process left in the journal into the tables first. Rejects where they do not
 * take it.
 */
export async function openJournalKeeper({
  db,
  row: { log, head: head0 },
  journal,
  now,
}: JournalKeeperDeps): Promise<Keeper> {
  const { tablesAfterMs, tablesMost, retryMs } = KEEPER_SETTINGS;
  /** In the journal and not in the tables, in order. */
  let pending: Numbered[] = [];
  let pendingEvents = 0;
  let head = head0;
  let inTables = head0;
  let moving: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  function add(writes: readonly Numbered[]): void {
    for (const write of writes) {
      pending.push(write);
      pendingEvents += write.events.length;
      head += write.events.length;
    }
  }

  function moved(count: number): void {
    for (const { events } of pending.slice(0, count)) {
      inTables += events.length;
      pendingEvents -= events.length;
    }
    pending = pending.slice(count);
  }

  function groupSize(): number {
    let events = 0;
    const last = pending.findIndex((write) => (events += write.events.length) >= tablesMost);
    return last < 0 ? pending.length : last + 1;
  }

  async function moveSome(): Promise<void> {
    try {
      const count = groupSize();
      if (await insertNumbered(db, log, pending.slice(0, count))) return moved(count);
      // A commit that seemed to fail may be on disk all the same.
      const there = await readHead(db, log);
      const known = pending.filter(({ first }) => first <= there).length;
      if (known === 0)
        throw new Error(
          `The event log has ${there} events in its tables where ${inTables} were put: another process writes to it`,
        );
      moved(known);
    } finally {
      moving = null;
    }
  }

  async function move(upTo: number): Promise<void> {
    while (inTables < upTo) await (moving ??= moveSome());
  }

  /** What fails here shows where somebody asks for it; the journal has it. */
  function moveNow(): void {
    if (!moving) move(head).catch(() => moveLater(retryMs));
  }
  function moveLater(ms: number): void {
    timer ??= setTimeout(() => {
      timer = null;
      moveNow();
    }, ms).unref();
  }

  async function replay(): Promise<void> {
    for (const bytes of journal.found) {
      const record: JournalRecord = recordSchema.parse(JSON.parse(bytes.toString()));
      // Of what is in the tables already, nothing is left.
      const fresh = numbered(record).filter(({ first }) => first > head);
      const first = fresh[0]?.first ?? head + 1;
      if (first !== head + 1) throw new Error(`The journal of the event log goes on with event ${first} after ${head}`);
      add(fresh);
    }
    await move(head);
  }
  try {
    await replay();
  } catch (error) {
    await journal.close();
    throw error;
  }
  journal.beginAnew();
  let taken = await readAllTaken(db, log);
  /** A statement into the tables failed that may be on disk all the same. */
  let unsure = false;

  async function lookAgain(): Promise<void> {
    head = inTables = await readHead(db, log);
    taken = await readAllTaken(db, log);
    unsure = false;
  }

  /** What is larger than the journal, which is empty now. */
  async function intoTables(given: readonly Numbered[]): Promise<void> {
    unsure = true;
    if (!(await insertNumbered(db, log, given))) throw new Error('Another process writes to the event log');
    unsure = false;
    for (const { events } of given) head += events.length;
    inTables = head;
  }

  /**
   * Whether it is in the journal; where that is full, everything in it comes into the tables first.
   */
  async function journalled(record: Buffer): Promise<boolean> {
    if (await journal.write(record)) return true;
    await move(head);
    journal.beginAnew();
    return await journal.write(record);
  }

  return {
    head,
    async insert(all) {
      if (unsure) await lookAgain();
      const writes = all.filter(({ client }) => client === null || !taken.has(client));
      if (writes.length === 0) return [];
      const record = { first: head + 1, storedAt: now(), writes };
      const given = numbered(record);
      if (await journalled(Buffer.from(JSON.stringify(record)))) {
        add(given);
        if (pendingEvents >= tablesMost) moveNow();
        else moveLater(tablesAfterMs);
      } else await intoTables(given);
      for (const { client, first } of given) if (client !== null) taken.set(client, first);
      return Array.from({ length: head - record.first + 1 }, (_none, i) => record.first + i);
    },
    // Where an answer does not come, there is another process, and the store is a server.
    find: () => Promise.resolve(null),
    newest: () => Promise.resolve(head),
    taken: (clients) =>
      Promise.resolve(
        new Map(clients.flatMap((client) => (taken.has(client) ? [[client, taken.get(client) ?? 0] as const] : []))),
      ),
    flush: () => move(head),
    dropped(before) {
      for (const [client, id] of taken) {
        if (id >= before) break;
        taken.delete(client);
      }
    },
    // No log has such a head, so nothing is put anywhere.
    async warm() {
      await insertNumbered(db, log, [
        { first: -1, storedAt: 0, client: null, events: [{ kind: 'changed', text: '{}' }] },
      ]);
    },
    async close() {
      if (timer) clearTimeout(timer);
      // What the tables do not take now waits in the journal for the next start.
      await move(head).catch(() => undefined);
      await journal.close();
    },
  };
}
