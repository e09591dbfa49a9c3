/**
 * The durable event log, one per home.
 *
 * The head and the snapshot are kept in memory, because one relay at a time runs on a home. On a
 * Postgres server another relay may have taken over when this one was believed dead. So nothing is
 * written after events that this process has not read, and nothing is ended that the other has
 * already ended.
 */
import { isDeepStrictEqual } from 'node:util';
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import {
  type EventOf,
  eventSchema,
  type RoostEvent,
  type Snapshot,
  type StoredEvent,
} from '../../src/shared/protocol/events.ts';
import type { Stamp } from '../../src/shared/domain/stamp.ts';
import { applyEvent, NO_SESSION } from '../../src/shared/protocol/live.ts';
import { ALWAYS_THERE, type Database, type Db, enduring, type HomeStore, isAway } from '../store/index.ts';
import type { Logger } from '../platform/logger.ts';
import {
  createReadRow,
  insertEvents,
  openLogRow,
  prune,
  raiseAcked,
  readEvents,
  readForSnapshot,
  readHead,
  readNewest,
  readTaken,
  removeEvents,
  type UnreadableRow,
  type Write,
} from './log-rows.ts';
import { createCommits } from './commits.ts';
import { createStamps } from './stamps.ts';

/** Events that do not fit their own schema. The whole append is refused. */
export class UnfitEvents extends Error {
  override readonly name = 'UnfitEvents';
  /** The valid events of the same append. */
  readonly fit: readonly RoostEvent[];
  constructor(unfit: readonly { readonly kind: string; readonly why: string }[], fit: readonly RoostEvent[]) {
    super(`Events that do not fit their schema: ${unfit.map(({ kind, why }) => `${kind}: ${why}`).join('; ')}`);
    this.fit = fit;
  }
}

/**
 * The durable, append-only log of events. An event is written here before anybody is answered or
 * shown it.
 */
export interface EventLog {
  /** The id of this log. Another home has another id. */
  readonly id: string;
  /**
   * Resolves when the events are on disk, in order. Appends that come close together share one
   * commit. Rejects with `UnfitEvents`.
   */
  append(events: readonly RoostEvent[]): Promise<readonly StoredEvent[]>;
  /**
   * As `append`, once per `clientId`. A repeat writes nothing, also after a restart. It returns the
   * id of the first event that the first call wrote.
   */
  appendOnce(clientId: string, events: readonly RoostEvent[]): Promise<{ eventId: number; repeated: boolean }>;
  /** Later appends get stamps after this one. */
  follow(stamp: Stamp): void;
  /**
   * Whether this stamp is further ahead of the wall clock, and of the whole log, than a clock may
   * be.
   */
  isAhead(stamp: Stamp): boolean;
  /** The event id that an earlier `appendOnce` with this `clientId` wrote, or null. */
  written(clientId: string): Promise<number | null>;
  /** Stored events with id > `after`, oldest first, at most `limit`. */
  read(after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Called for each event, in order, after it is on disk. Returns a function that unsubscribes. */
  subscribe(listener: (stored: StoredEvent) => void): () => void;
  /** Highest id on disk, 0 in an empty log. */
  head(): number;
  /**
   * A browser has stored all events up to this id. The log may drop them once they are old enough.
   */
  ack(upTo: number): Promise<void>;
  /** The running session as a fold over the log, as of `head()`. */
  snapshot(): Snapshot;
}
export type { UnreadableRow } from './log-rows.ts';

// Where appended events are stored. Other processes write to a Postgres server too, so the writer
// says which events it has read.

interface EventStore {
  /**
   * Writes the events with the next ids after `after`, in order. Writes of a client id that was
   * taken before are skipped. Resolves with the ids, ascending, when they are on disk. Calls must
   * not overlap. Null: another process has written meanwhile, and its events must be read first.
   */
  insert(writes: readonly Write[], after: number): Promise<readonly number[] | null>;
  /** Ids of an `insert` after `after` whose answer was lost. Null: it was not written. */
  find(writes: readonly Write[], after: number): Promise<readonly number[] | null>;
  /** Highest id now, whichever process wrote it. */
  newest(): Promise<number>;
  /** Event ids of client ids that were taken before, by the JSON text of the client id. */
  taken(clients: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

const createEventStore = (db: Db, log: string, now: () => number): EventStore => ({
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
});

export const EVENT_LOG_DEFAULTS = {
  /** ms after a commit that streamed words wait for more. Words of one answer become one event. */
  windowMs: 20,
  /** ms that an event is stored at least, even if a browser has acknowledged it. */
  retentionMs: 24 * 3_600_000,
  /** ms between two prunings. */
  pruneEveryMs: 60_000,
  /**
   * Characters of answers that are held in memory while the database is unreachable. Beyond that,
   * the answers are stopped.
   */
  heldMost: 8_000_000,
} as const;

interface EventLogDeps extends HomeStore {
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'state' | 'untilThere'>;
  /** Called when `heldMost` is reached: answers must stop. */
  readonly onHeldMost?: () => void;
  readonly now: () => number;
  /** Monotonic time in ms, for spans. Left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId: () => string;
  /** Called when a subscriber throws. The others are still called. */
  readonly onListenerError: (error: unknown) => void;
  /** Called once for each unreadable row. Such rows are left out of every read. */
  readonly onUnreadable?: (row: UnreadableRow) => void;
  readonly windowMs?: number;
  readonly retentionMs?: number;
  readonly pruneEveryMs?: number;
  readonly heldMost?: number;
}

/** `close` resolves when everything appended is on disk. */
export interface OpenEventLog extends EventLog {
  /** Deletes stored events in which one of these texts stands, and that are over. */
  remove(texts: readonly string[], isOver: (event: RoostEvent) => boolean): Promise<void>;
  close(): Promise<void>;
}

type Written =
  | { readonly repeated: false; readonly stored: readonly StoredEvent[] }
  | { readonly repeated: true; readonly eventId: number };

/** Throws if an event does not fit its own schema, because it could not be read back either. */
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

/** Writes as they are passed to the store: stamped, and each client id once. */
interface Attempt {
  readonly writes: readonly Write[];
  readonly firsts: ReadonlyMap<Write, Write>;
  readonly all: readonly Write[];
  readonly clients: readonly string[];
}

/** `elsewhere`: runs, answers and sessions that another process has ended. */
function notEnded(event: RoostEvent, elsewhere: ReadonlySet<string>): boolean {
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

/** Streamed words that wait for their commit. Further words of an answer join its event. */
function createWords(commit: (events: readonly RoostEvent[]) => Promise<Written>) {
  const gathering = new Map<string, { readonly events: [EventOf<'text'>]; readonly written: Promise<Written> }>();
  return {
    add(event: EventOf<'text'>): Promise<Written> {
      const before = gathering.get(event.messageId);
      if (before) {
        const [words] = before.events;
        before.events[0] = { ...words, text: words.text + event.text };
        return before.written;
      }
      const events: [EventOf<'text'>] = [event];
      const written = commit(events);
      gathering.set(event.messageId, { events, written });
      return written;
    },
    clear: () => gathering.clear(),
  };
}

export async function openEventLog(deps: EventLogDeps): Promise<OpenEventLog> {
  const { db, home, now, elapsed = now, newId, onListenerError, database = ALWAYS_THERE } = deps;
  const { windowMs, retentionMs, pruneEveryMs, heldMost } = { ...EVENT_LOG_DEFAULTS, ...deps };
  const row = await openLogRow(db, home, newId(), now());
  const { log } = row;
  const store = createEventStore(db, log, now);
  let head = row.head;
  const readRow = createReadRow(deps.onUnreadable);
  const recent = await readForSnapshot(db, log, readRow);
  const rebuilt = recent.reduce(applyEvent, NO_SESSION);
  let snapshot: Snapshot = { ...rebuilt, upTo: head };
  let lastPrune = -Infinity;
  const stamps = createStamps(now, snapshot);
  const newest = await readNewest(db, log, readRow);
  // The newest event may be a whole answer, whose stamp is that of its beginning.
  for (const stored of newest ? [...recent, newest] : recent) stamps.followEvent(stored);
  const listeners = createListeners<[StoredEvent]>(onListenerError);

  function publish(stored: readonly StoredEvent[]): void {
    for (const item of stored) {
      head = item.id;
      stamps.written(item);
      snapshot = applyEvent(snapshot, item);
      listeners.tell(item);
    }
  }

  /** Runs, answers and sessions that another process has ended. */
  const elsewhere = new Set<string>();
  /**
   * Reads the events after the head. Another process wrote them, or this one did and lost the
   * answer.
   */
  async function catchUp(): Promise<void> {
    const newest = await store.newest();
    if (newest <= head) return;
    const stored = await read(head, newest - head);
    for (const item of stored) {
      const { event } = item;
      if (event.kind === 'run-ended') elsewhere.add(event.runId);
      if (event.kind === 'session-ended') elsewhere.add(event.sessionId);
      if (event.kind === 'message' && event.role === 'assistant') elsewhere.add(event.messageId);
      stamps.followEvent(item);
    }
    publish(stored);
  }

  function prepare(given: readonly Write[]): Attempt {
    const writes =
      elsewhere.size === 0
        ? given
        : given.map(({ client, events }) => ({ client, events: events.filter((event) => notEnded(event, elsewhere)) }));
    const claimed = new Set<string>();
    const beginning = new Map<string, Stamp | null>();
    const firsts = new Map<Write, Write>();
    for (const write of writes) {
      if (write.client !== null && claimed.has(write.client)) continue;
      if (write.client !== null) claimed.add(write.client);
      firsts.set(write, {
        client: write.client,
        events: write.events.map((event) => stamps.stamped(event, beginning)),
      });
    }
    return { writes, firsts, all: [...firsts.values()], clients: [...claimed] };
  }

  /**
   * The result of each write, in order. A client id that was taken before, or earlier in this
   * batch, gets its first id.
   */
  async function outcomeOf({ writes, firsts, all, clients }: Attempt, ids: readonly number[]): Promise<Written[]> {
    let next = ids[0] ?? Infinity;
    // If all events were written, no client id had been taken.
    const whole = ids.length === all.reduce((sum, { events }) => sum + events.length, 0);
    const taken =
      whole && all.length === writes.length
        ? new Map<string, number>()
        : await enduring(database, () => store.taken(clients));
    return writes.map((write) => {
      const before = write.client === null ? undefined : taken.get(write.client);
      const first = firsts.get(write);
      if (first === undefined || (before !== undefined && before !== next))
        return { repeated: true, eventId: before ?? 0 };
      return { repeated: false, stored: first.events.map((event) => ({ id: next++, event })) };
    });
  }

  async function writeAll(writes: readonly Write[]): Promise<Written[]> {
    /** Attempts that were sent and whose answers were lost. */
    const inDoubt: Attempt[] = [];
    async function found(): Promise<Written[] | null> {
      for (const attempt of inDoubt) {
        const ids = await enduring(database, () => store.find(attempt.all, head));
        if (ids) return await outcomeOf(attempt, ids);
      }
      return null;
    }
    for (;;) {
      const attempt = prepare(writes);
      const isEmpty = attempt.all.every(({ events }) => events.length === 0);
      try {
        const ids = isEmpty ? [] : await store.insert(attempt.all, head);
        if (ids) return await outcomeOf(attempt, ids);
      } catch (error) {
        if (!isAway(error)) throw error;
        if (error.sent === 'in-doubt') inDoubt.push(attempt);
        await database.untilThere();
      }
      const there = await found();
      if (there) return there;
      // Other processes have written meanwhile. The next attempt is stamped again, after their
      // events.
      await enduring(database, catchUp);
    }
  }

  const words = createWords((events) => commits.add({ events, client: null }, true));
  let heldCharacters = 0;
  function count(events: readonly RoostEvent[]): void {
    if (database.state().kind === 'there') heldCharacters = 0;
    else if (heldCharacters <= heldMost) {
      for (const event of events)
        heldCharacters +=
          event.kind === 'text' ? event.text.length : event.kind === 'tool' ? JSON.stringify(event).length : 0;
      if (heldCharacters > heldMost) deps.onHeldMost?.();
    }
  }
  function add(events: readonly RoostEvent[]): Promise<Written> {
    count(events);
    const [first] = events;
    if (first?.kind === 'text' && events.length === 1) return words.add(first);
    // Words that come after this event must not be added to one before it.
    words.clear();
    return commits.add(
      { events, client: null },
      events.every(({ kind }) => kind === 'text'),
    );
  }

  const read = (after: number, limit: number) => readEvents(db, log, after, limit, readRow);

  const commits = createCommits<Write, Written>({
    windowMs,
    elapsed,
    async commit(writes) {
      words.clear();
      const results = await writeAll(writes);
      const stored = results.flatMap((result) => (result.repeated ? [] : result.stored));
      const first = stored[0]?.id ?? head + 1;
      // An earlier commit whose connection broke before the answer may be on disk all the same.
      if (first > head + 1) publish(await enduring(database, () => read(head, first - head - 1)));
      // Subscribers get the events before the append resolves, so that no answer overtakes the
      // stream.
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
      words.clear();
      const written = await commits.add({ events, client: JSON.stringify(clientId) }, false);
      if (written.repeated) return { eventId: written.eventId, repeated: true };
      return { eventId: written.stored[0]?.id ?? 0, repeated: false };
    },
    async written(clientId) {
      const client = JSON.stringify(clientId);
      return (await store.taken([client])).get(client) ?? null;
    },
    follow: stamps.follow,
    isAhead: stamps.isAhead,
    subscribe: listeners.subscribe,
    async ack(upTo) {
      await raiseAcked(db, log, Math.min(upTo, head));
      if (elapsed() - lastPrune < pruneEveryMs) return;
      lastPrune = elapsed();
      const keepFrom = Math.min(head + 1, ...snapshot.runs.map(({ startedBy }) => startedBy));
      await prune(db, log, now() - retentionMs, keepFrom);
    },
    remove: (texts, isOver) => removeEvents(db, log, texts, isOver),
    close: () => commits.flush(),
  };
}

interface TellDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Announces a change to pages without waiting. They fetch the new state with a request of their
 * own.
 */
export const createAnnounce =
  ({ log, logger }: TellDeps) =>
  (event: RoostEvent): void =>
    void log.append([event]).catch((error: unknown) =>
      logger.error('A change could not be announced. Pages see it when they fetch again.', {
        event,
        error,
      }),
    );
