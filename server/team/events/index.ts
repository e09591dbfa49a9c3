/**
 * The durable event log on the store, one per home. See `EventLog` in contracts.ts for what it
 * promises.
 *
 * It knows the head and the snapshot in memory because one relay at a time runs on a home. On a
 * Postgres server another may have come meanwhile, where this one was believed dead: so nothing is
 * written behind events that were not read, and what the other has ended is not ended again.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import {
  type EventOf,
  eventSchema,
  type RoostEvent,
  type Snapshot,
  type StoredEvent,
} from '../../../src/shared/protocol/events.ts';
import { createClock, RELAY_NODE, type Stamp } from '../../../src/shared/domain/stamp.ts';
import { stampOf } from '../../../src/shared/protocol/intake.ts';
import { applyEvent, NO_SESSION } from '../../../src/shared/protocol/live.ts';
import {
  ALWAYS_THERE,
  type Database,
  type Db,
  enduring,
  isAway,
  type Journal,
  type OpenJournal,
} from '../../store/index.ts';
import { type EventLog, UnfitEvents } from '../../contracts/index.ts';
import type { Logger } from '../../platform/logger.ts';
import {
  createReadRow,
  insertEvents,
  insertNumbered,
  type LogRow,
  type Numbered,
  openLogRow,
  prune,
  raiseAcked,
  readAllTaken,
  readEvents,
  readForSnapshot,
  readHead,
  readNewest,
  readTaken,
  type UnreadableRow,
  type Write,
} from './log-rows.ts';
import { createCommits } from './commits.ts';
export type { UnreadableRow } from './log-rows.ts';

// Where appended events are kept. On a Postgres server, which other processes write to as well: in
// its tables, one statement for all that came together. On the embedded store, which is one
// process's alone: in a journal, one flush, and in the tables a moment later, many at a time; until
// then they are read from nowhere, so whoever reads the tables asks for `settled` before.

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

interface Keeper {
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

function createTableKeeper(db: Db, { log, head }: LogRow, now: () => number): Keeper {
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

interface JournalKeeperDeps {
  readonly db: Db;
  readonly row: LogRow;
  readonly journal: Journal;
  readonly now: () => number;
}

/**
 * Puts what an earlier process left in the journal into the tables first. Rejects where they do not
 * take it.
 */
async function openJournalKeeper({ db, row: { log, head: head0 }, journal, now }: JournalKeeperDeps): Promise<Keeper> {
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

export const EVENT_LOG_DEFAULTS = {
  /**
   * ms after a commit that words of a stream wait for company before they are committed; those of
   * one answer become one event.
   */
  windowMs: 20,
  /** ms that events which a browser has stored are kept nevertheless. */
  retentionMs: 24 * 3_600_000,
  /** ms between two looks for events to drop. */
  pruneEveryMs: 60_000,
  /**
   * Characters of answers that are held in memory while the database is away. Beyond it the answers
   * are stopped.
   */
  heldMost: 8_000_000,
} as const;

interface EventLogDeps {
  readonly db: Db;
  /** Left out: it can always be reached. */
  readonly database?: Pick<Database, 'state' | 'untilThere'>;
  /** As much waits for the database as may: nothing more is to be said. */
  readonly onHeldMost?: () => void;
  /**
   * For the embedded store: see `createTableKeeper`. Null, or left out: every commit goes into the
   * tables at once.
   */
  readonly openJournal?: OpenJournal | null;
  /** Names the home: each home has its own log in a shared store. */
  readonly home: string;
  readonly now: () => number;
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId: () => string;
  /** Called where a subscriber throws; the others are called all the same. */
  readonly onListenerError: (error: unknown) => void;
  /** Called once for each row that cannot be read, and is left out wherever the log is read. */
  readonly onUnreadable?: (row: UnreadableRow) => void;
  readonly windowMs?: number;
  readonly retentionMs?: number;
  readonly pruneEveryMs?: number;
  readonly heldMost?: number;
}

/** With `close`, which resolves when everything appended is on disk. */
export interface OpenEventLog extends EventLog {
  /** Runs the statement of its next write once, without one. */
  warm(): Promise<void>;
  close(): Promise<void>;
}

type Written =
  | { readonly repeated: false; readonly stored: readonly StoredEvent[] }
  | { readonly repeated: true; readonly eventId: number };

/**
 * Throws where one of them does not fit its own schema: read back, it would fit no more than now.
 */
function checkFit(events: readonly RoostEvent[]): void {
  const unfit = events.flatMap((event) => {
    const { error } = eventSchema.safeParse(event);
    return error ? [{ event, why: error.message }] : [];
  });
  if (unfit.length === 0) return;
  const bad = new Set(unfit.map(({ event }) => event));
  throw new UnfitEvents(
    unfit.map(({ event, why }) => ({ kind: event.kind, why })),
    events.filter((event) => !bad.has(event)),
  );
}

/** Some writes as they are given to the keeper: with their stamps, each client once. */
interface Attempt {
  readonly writes: readonly Write[];
  readonly firsts: ReadonlyMap<Write, Write>;
  readonly all: readonly Write[];
  readonly clients: readonly string[];
}

export async function openEventLog(deps: EventLogDeps): Promise<OpenEventLog> {
  const { db, home, now, elapsed = now, newId, onListenerError, database = ALWAYS_THERE } = deps;
  const { windowMs, retentionMs, pruneEveryMs, heldMost } = { ...EVENT_LOG_DEFAULTS, ...deps };
  const row = await openLogRow(db, home, newId(), now());
  const { log } = row;
  const journal = (await deps.openJournal?.(log)) ?? null;
  const keeper = journal ? await openJournalKeeper({ db, row, journal, now }) : createTableKeeper(db, row, now);
  let head = keeper.head;
  const readRow = createReadRow(deps.onUnreadable);
  const recent = await readForSnapshot(db, log, readRow);
  const rebuilt = recent.reduce(applyEvent, NO_SESSION);
  let snapshot: Snapshot = { ...rebuilt, upTo: head };
  let lastPrune = -Infinity;
  const clock = createClock({ now, node: RELAY_NODE });
  const newest = await readNewest(db, log, readRow);
  // The newest may be a whole answer, whose stamp is of its beginning.
  for (const { id, event } of newest ? [...recent, newest] : recent)
    if ('time' in event) clock.follow(stampOf(id, event));
  const listeners = createListeners<[StoredEvent]>(onListenerError);

  /**
   * Of answers that are being written, from when they began: a whole answer stands there, above
   * what was written meanwhile.
   */
  const begun = new Map(
    snapshot.answering.flatMap(({ messageId, at }) => (at === undefined ? [] : [[messageId, at] as const])),
  );
  /**
   * In the order of ids: whatever the wall clock does, what begins later has the later stamp. What
   * of it is kept is known only when it is written: until then `beginning` has what the batch
   * itself began or ended.
   */
  function stamped(event: RoostEvent, beginning: Map<string, Stamp | null>): RoostEvent {
    if (!('time' in event)) return event;
    const at = clock.next();
    if (event.kind === 'answer-started') beginning.set(event.messageId, at);
    if (event.kind !== 'message') return { ...event, at };
    const stood = beginning.has(event.messageId) ? beginning.get(event.messageId) : begun.get(event.messageId);
    beginning.set(event.messageId, null);
    return stood ? { ...event, at: stood, completedAt: at } : { ...event, at };
  }
  function noteBegun({ event }: StoredEvent): void {
    if (event.kind === 'answer-started' && event.at !== undefined) begun.set(event.messageId, event.at);
    else if (event.kind === 'message') begun.delete(event.messageId);
  }

  function publish(stored: readonly StoredEvent[]): void {
    for (const item of stored) {
      head = item.id;
      noteBegun(item);
      snapshot = applyEvent(snapshot, item);
      listeners.tell(item);
    }
  }

  /** Runs, answers and sessions that another process has ended. */
  const elsewhere = new Set<string>();
  function notEndedElsewhere(event: RoostEvent): boolean {
    switch (event.kind) {
      case 'run-ended':
        return !elsewhere.has(event.runId);
      case 'session-ended':
        return !elsewhere.has(event.sessionId);
      case 'text':
      case 'tool':
      case 'message':
        return !elsewhere.has(event.messageId);
      case 'answer-started':
        return event.runId === undefined || !elsewhere.has(event.runId);
      default:
        return true;
    }
  }
  /**
   * Reads what others have written behind the head, or this process where it did not hear that it
   * was kept.
   */
  async function catchUp(): Promise<void> {
    const newest = await keeper.newest();
    if (newest <= head) return;
    const stored = await read(head, newest - head);
    for (const { id, event } of stored) {
      if (event.kind === 'run-ended') elsewhere.add(event.runId);
      if (event.kind === 'session-ended') elsewhere.add(event.sessionId);
      if (event.kind === 'message' && event.role === 'assistant') elsewhere.add(event.messageId);
      if ('time' in event) clock.follow(stampOf(id, event));
    }
    publish(stored);
  }

  function prepare(given: readonly Write[]): Attempt {
    const writes =
      elsewhere.size === 0
        ? given
        : given.map(({ client, events }) => ({ client, events: events.filter(notEndedElsewhere) }));
    const claimed = new Set<string>();
    const beginning = new Map<string, Stamp | null>();
    const firsts = new Map<Write, Write>();
    for (const write of writes) {
      if (write.client !== null && claimed.has(write.client)) continue;
      if (write.client !== null) claimed.add(write.client);
      firsts.set(write, { client: write.client, events: write.events.map((event) => stamped(event, beginning)) });
    }
    return { writes, firsts, all: [...firsts.values()], clients: [...claimed] };
  }

  /**
   * Every write with its ids, in order; a client id that was taken before, also in this batch, gets
   * its old one.
   */
  async function outcomeOf({ writes, firsts, all, clients }: Attempt, ids: readonly number[]): Promise<Written[]> {
    let next = ids[0] ?? Infinity;
    // Where everything was written, nothing had been taken before.
    const whole = ids.length === all.reduce((sum, { events }) => sum + events.length, 0);
    const taken =
      whole && all.length === writes.length
        ? new Map<string, number>()
        : await enduring(database, () => keeper.taken(clients));
    return writes.map((write) => {
      const before = write.client === null ? undefined : taken.get(write.client);
      const first = firsts.get(write);
      if (first === undefined || (before !== undefined && before !== next))
        return { repeated: true, eventId: before ?? 0 };
      return { repeated: false, stored: first.events.map((event) => ({ id: next++, event })) };
    });
  }

  async function writeAll(given: readonly Write[]): Promise<Written[]> {
    /** Sent, and their answers did not come. */
    const inDoubt: Attempt[] = [];
    async function found(): Promise<Written[] | null> {
      for (const attempt of inDoubt) {
        const ids = await enduring(database, () => keeper.find(attempt.all, head));
        if (ids) return await outcomeOf(attempt, ids);
      }
      return null;
    }
    for (;;) {
      const attempt = prepare(given);
      const isEmpty = attempt.all.every(({ events }) => events.length === 0);
      try {
        const ids = isEmpty ? [] : await keeper.insert(attempt.all, head);
        if (ids) return await outcomeOf(attempt, ids);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (error.sent === 'in-doubt') inDoubt.push(attempt);
        await database.untilThere();
      }
      const there = await found();
      if (there) return there;
      // Others have written meanwhile; what comes behind that is stamped anew.
      await enduring(database, catchUp);
    }
  }

  /**
   * Words that wait for their commit, by answer: what is said next stands in one event with them.
   */
  const gathering = new Map<string, { readonly events: [EventOf<'text'>]; readonly written: Promise<Written> }>();
  function addWords(event: EventOf<'text'>): Promise<Written> {
    const before = gathering.get(event.messageId);
    if (before) {
      const [words] = before.events;
      before.events[0] = { ...words, text: words.text + event.text };
      return before.written;
    }
    const events: [EventOf<'text'>] = [event];
    const written = commits.add({ events, client: null }, true);
    gathering.set(event.messageId, { events, written });
    return written;
  }
  let held = 0;
  function count(events: readonly RoostEvent[]): void {
    if (database.state().kind === 'there') held = 0;
    else if (held <= heldMost) {
      for (const event of events)
        held += event.kind === 'text' ? event.text.length : event.kind === 'tool' ? JSON.stringify(event).length : 0;
      if (held > heldMost) deps.onHeldMost?.();
    }
  }
  function add(events: readonly RoostEvent[]): Promise<Written> {
    count(events);
    const [first] = events;
    if (first?.kind === 'text' && events.length === 1) return addWords(first);
    // What is said after this comes after it.
    gathering.clear();
    return commits.add(
      { events, client: null },
      events.every(({ kind }) => kind === 'text'),
    );
  }

  async function read(after: number, limit: number): Promise<StoredEvent[]> {
    await keeper.flush();
    return await readEvents(db, log, after, limit, readRow);
  }

  const commits = createCommits<Write, Written>({
    windowMs,
    elapsed,
    async commit(writes) {
      gathering.clear();
      const results = await writeAll(writes);
      const stored = results.flatMap((result) => (result.repeated ? [] : result.stored));
      const first = stored[0]?.id ?? head + 1;
      // An earlier commit that seemed to fail (the connection broke before the answer) may be on
      // disk all the same.
      if (first > head + 1) publish(await enduring(database, () => read(head, first - head - 1)));
      // Listeners hear of it before whoever appended goes on: nobody answers ahead of the stream.
      publish(stored);
      return results;
    },
  });

  return {
    id: log,
    head: () => head,
    snapshot: () => snapshot,
    read,
    async append(events) {
      if (events.length === 0) return [];
      checkFit(events);
      const written = await add(events);
      return written.repeated ? [] : written.stored;
    },
    async appendOnce(clientId, events) {
      if (events.length === 0) throw new Error('appendOnce needs an event to answer with');
      checkFit(events);
      gathering.clear();
      const written = await commits.add({ events, client: JSON.stringify(clientId) }, false);
      if (written.repeated) return { eventId: written.eventId, repeated: true };
      return { eventId: written.stored[0]?.id ?? 0, repeated: false };
    },
    async written(clientId) {
      const client = JSON.stringify(clientId);
      return (await keeper.taken([client])).get(client) ?? null;
    },
    follow: (stamp) => clock.follow(stamp),
    isAhead: (stamp) => clock.isAhead(stamp),
    subscribe: listeners.subscribe,
    async ack(upTo) {
      await raiseAcked(db, log, Math.min(upTo, head));
      if (elapsed() - lastPrune < pruneEveryMs) return;
      lastPrune = elapsed();
      const keepFrom = Math.min(head + 1, ...snapshot.runs.map(({ startedBy }) => startedBy));
      if ((await prune(db, log, now() - retentionMs, keepFrom)) === 0) return;
      const [oldest] = await readEvents(db, log, 0, 1, readRow);
      if (oldest) keeper.dropped(oldest.id);
    },
    warm: () => keeper.warm(),
    async close() {
      await commits.flush();
      await keeper.close();
    },
  };
}

interface TellDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Says to pages, without waiting for it, that something has changed which they ask for by a call of
 * its own.
 */
export const createTell =
  ({ log, logger }: TellDeps) =>
  (event: RoostEvent): void =>
    void log.append([event]).catch((error: unknown) =>
      logger.error('a change could not be told; the page shows it when it asks again', {
        event,
        error: String(error),
      }),
    );
