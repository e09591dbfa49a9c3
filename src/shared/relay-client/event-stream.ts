/**
 * The relay's event stream, kept alive. One connection at a time; whatever cuts it, the next one
 * resumes after the last event that was passed on, so that each event is passed once and in order.
 *
 * A connection brings, in this order: `hello` (which log this is), what was missed, a `snapshot`,
 * what is new. Only after the snapshot is the line live. Silence past twice the heartbeat is a
 * loss.
 *
 * A proxy may hold a stream back while ordinary calls pass. After a connection that timed out the
 * relay is therefore asked for the same once, as an answer that ends. Where that comes, this goes
 * on by polling, and tries the stream now and then.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { errorMessage } from '../domain/platform/error-message.ts';
import { backoff } from '../domain/platform/retry.ts';
import { eventSchema, snapshotSchema, type Snapshot, type StoredEvent } from '../protocol/events.ts';
import { problemSchema } from '../protocol/http.ts';
import { searchAskedSchema, type SearchAsked } from '../protocol/searches.ts';
import {
  databaseStandingSchema,
  helloSchema,
  overSchema,
  waitingSchema,
  type Over,
  type Waiting,
} from '../protocol/stream.ts';
import { parseJson } from '../domain/platform/json.ts';
import { RELAY_TIMES } from './settings.ts';
import type { Timers } from '../domain/platform/timers.ts';

/** How far this browser is, and in which log. */
export interface Cursor {
  readonly log: string;
  /** The last event's id; 0 before the first. */
  readonly after: number;
}

export type StreamItem =
  /**
   * This log is not the one the cursor was of, or was put back to an earlier state: everything
   * comes, from its first event.
   */
  | { readonly kind: 'new-log'; readonly log: string }
  | { readonly kind: 'event'; readonly stored: StoredEvent }
  /**
   * Whose home this log is of; null: nobody has proven it. Comes before its events, and again where
   * it is proven.
   */
  | { readonly kind: 'home'; readonly household: string | null }
  /** Everything missed has been passed; what follows is new. */
  | {
      readonly kind: 'live';
      readonly snapshot: Snapshot;
      /** By polling: something between here and the relay holds the stream back. */
      readonly held?: true;
    }
  /** Who stands in line before the model's server, now. */
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  /** An agent looks for something that this browser may have. */
  | { readonly kind: 'search'; readonly asked: SearchAsked }
  /** The relay can, or cannot, reach its database. */
  | { readonly kind: 'database'; readonly away: boolean }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' | 'database' }
  | { readonly kind: 'locked-out' }
  /**
   * This sign-in belongs to another home of the relay now; the next connection follows the log of
   * that one.
   */
  | { readonly kind: 'moved' }
  /**
   * An event that this version cannot read. It is left out, and what comes after it is passed on.
   */
  | { readonly kind: 'set-aside'; readonly id: number; readonly detail: string }
  /**
   * The relay says something about the line that this version cannot read. It is asked again later.
   */
  | { readonly kind: 'unreadable'; readonly detail: string }
  /**
   * An error of our own, which is no fault of the line's. It is tried again later, and nothing is
   * passed over.
   */
  | { readonly kind: 'failed'; readonly detail: string };

export interface EventStreamDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Where the relay is, without a slash at the end; empty for the page's own origin. */
  readonly baseUrl: string;
  readonly timers: Timers;
  /** 0 to 1 */
  readonly random: () => number;
  readonly cursor: Cursor | null;
  /** Which stream; left out: of this browser's own household. */
  readonly path?: string;
  /** It is asked what agents look for. */
  readonly searches?: true;
  readonly listener: (item: StreamItem) => void;
  /** Takes an error of our own, so that it is seen where errors are. */
  readonly report: (error: unknown) => void;
}

export interface EventStream {
  /** Tries again now, without waiting; does nothing while the line is live. */
  reconnect(): void;
  /** Ends the line, live or not, and connects at once: what it was let in by is another now. */
  restart(): void;
  close(): void;
}

type Ending =
  /** A poll brought everything there is. */
  | { readonly kind: 'polled' }
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' | 'database' }
  | { readonly kind: 'locked-out' }
  | { readonly kind: 'moved' }
  | { readonly kind: 'unreadable' | 'failed'; readonly detail: string };

const UNREACHABLE: Ending = { kind: 'lost', reason: 'unreachable' };
const ENDINGS = { moved: { kind: 'moved' }, 'signed-out': { kind: 'locked-out' } } as const satisfies Record<
  Over['reason'],
  Ending
>;
const SILENT: Ending = { kind: 'lost', reason: 'silent' };

async function refusedAs(response: Response): Promise<Ending> {
  // Anything else may be of a proxy, and without end.
  if (response.status !== 503 || !response.headers.get('content-type')?.includes('problem+json')) return UNREACHABLE;
  const problem = problemSchema.safeParse(parseJson(await response.text().catch(cut)));
  const isAway = problem.success && problem.data.type === 'about:roost/database-away';
  return isAway ? { kind: 'lost', reason: 'database' } : UNREACHABLE;
}

/** What one connection has brought so far. */
interface Connection {
  log: string | null;
  /** An event has come. */
  begun: boolean;
  /** Its snapshot has come. */
  live: boolean;
  /** The relay's last word on it. */
  over: Ending | null;
}

/** What a message that does not fit is told as: its name, and why. */
class Unreadable extends Error {}

/**
 * The line broke, or was broken off: only what comes from the platform's own network calls is told
 * as this.
 */
class Cut extends Error {}

/** A cut connection is a TypeError, a network error or our own abort: all the same to us. */
const cut = (error: unknown): never => {
  throw new Cut('The connection broke.', { cause: error });
};

export function createEventStream(deps: EventStreamDeps): EventStream {
  const { timers, listener } = deps;
  let cursor = deps.cursor;
  let failures = 0;
  let live = false;
  /** Polls so far; null: the stream is used. */
  let polls: number | null = null;
  let closed = false;
  let abort: AbortController | null = null;
  let cancelRetry: (() => void) | null = null;

  function beginLog(log: string, after: number) {
    cursor = { log, after };
    listener({ kind: 'new-log', log });
  }

  /** One message of the stream. Throws `Unreadable`. */
  function take(message: EventSourceMessage, connection: Connection) {
    if (closed) return;
    const data = parseJson(message.data);
    if (message.event === 'hello') {
      const hello = helloSchema.safeParse(data);
      if (!hello.success) throw new Unreadable(`hello: ${hello.error.message}`);
      connection.log = hello.data.log;
      if (cursor?.log !== connection.log) beginLog(connection.log, 0);
      listener({ kind: 'home', household: hello.data.household ?? null });
      return;
    }
    if (message.event === 'over') {
      const over = overSchema.safeParse(data);
      if (!over.success) throw new Unreadable(`over: ${over.error.message}`);
      connection.over = ENDINGS[over.data.reason];
      return;
    }
    const { log } = connection;
    if (log === null) throw new Unreadable(`"${message.event ?? ''}" before hello`);
    if (message.event === 'snapshot') {
      const snapshot = snapshotSchema.safeParse(data);
      if (!snapshot.success) throw new Unreadable(`snapshot: ${snapshot.error.message}`);
      // Our cursor is past the log's head: the relay's store was put back from a copy.
      if (snapshot.data.upTo < (cursor?.after ?? 0)) beginLog(log, snapshot.data.upTo);
      live = true;
      connection.live = true;
      listener({ kind: 'live', snapshot: snapshot.data, ...(polls === null ? {} : { held: true }) });
      failures = 0;
      return;
    }
    if (message.event === 'waiting') {
      const waiting = waitingSchema.safeParse(data);
      if (!waiting.success) throw new Unreadable(`waiting: ${waiting.error.message}`);
      listener({ kind: 'waiting', waiting: waiting.data });
      return;
    }
    if (message.event === 'database') {
      const standing = databaseStandingSchema.safeParse(data);
      if (!standing.success) throw new Unreadable(`database: ${standing.error.message}`);
      listener({ kind: 'database', away: standing.data.away });
      return;
    }
    if (message.event === 'search') {
      const asked = searchAskedSchema.safeParse(data);
      if (!asked.success) throw new Unreadable(`search: ${asked.error.message}`);
      listener({ kind: 'search', asked: asked.data });
      return;
    }
    const id = Number(message.id);
    const named = `event ${message.id ?? ''} "${message.event ?? ''}"`;
    if (!Number.isSafeInteger(id) || id < 1) throw new Unreadable(`${named}: no id`);
    const event = eventSchema.safeParse(data);
    // A relay that knows our cursor begins after it; one whose store was put back from a copy
    // begins anew.
    if (!connection.begun && id <= (cursor?.after ?? 0)) beginLog(log, 0);
    connection.begun = true;
    if (id <= (cursor?.after ?? 0)) return;
    if (event.success) listener({ kind: 'event', stored: { id, event: event.data } });
    else listener({ kind: 'set-aside', id, detail: `${named}: ${event.error.message}` });
    cursor = { log, after: id };
  }

  /**
   * Opens one connection and reads it to its end. Resolves with why it ended, and leaves nothing
   * open.
   */
  async function connectOnce(
    controller: AbortController,
  ): Promise<{ readonly ending: Ending; readonly late: boolean }> {
    let late = false;
    const ending = await read(controller, () => (late = true));
    return { ending, late };
  }

  /** `onLate`: it ends because nothing came in time. */
  async function read(controller: AbortController, onLate: () => void): Promise<Ending> {
    const { signal } = controller;
    let ending: Ending = UNREACHABLE;
    let cancelWatch = timers.after(RELAY_TIMES.connect, () => {
      onLate();
      controller.abort();
    });
    const heard = (within: number = RELAY_TIMES.silence) => {
      cancelWatch();
      cancelWatch = timers.after(within, () => {
        onLate();
        ending = SILENT;
        controller.abort();
      });
    };
    const query = cursor ? `?after=${cursor.after}&log=${encodeURIComponent(cursor.log)}` : '?after=0';
    try {
      const asked = deps.fetch(
        `${deps.baseUrl}${deps.path ?? '/api/events'}${query}${deps.searches && polls === null ? '&searches=1' : ''}${polls === null ? '' : '&once=1'}`,
        {
          signal,
          headers: { accept: 'text/event-stream' },
          cache: 'no-store',
          credentials: 'same-origin',
        },
      );
      const response = await asked.catch(cut);
      if (response.status === 401) return { kind: 'locked-out' };
      if (!response.ok || !response.body) return await refusedAs(response);
      heard(RELAY_TIMES.firstByte);
      const connection: Connection = { log: null, begun: false, live: false, over: null };
      const parser = createParser({ onEvent: (message) => take(message, connection) });
      const decoder = new TextDecoder();
      // A reader of its own, where a helper's loop would mix what the network throws with what we
      // do.
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read().catch(cut);
        if (done && connection.live && polls !== null) return { kind: 'polled' };
        if (done || signal.aborted) return ending;
        heard();
        parser.feed(decoder.decode(value, { stream: true }));
        if (connection.over) return connection.over;
      }
    } catch (error) {
      if (error instanceof Cut) return ending;
      if (error instanceof Unreadable) return { kind: 'unreadable', detail: error.message };
      deps.report(error);
      return { kind: 'failed', detail: errorMessage(error) };
    } finally {
      cancelWatch();
      // However it ended: a connection left open counts against the six that a browser has for one
      // address.
      controller.abort();
    }
  }

  function run() {
    cancelRetry = null;
    const controller = new AbortController();
    abort = controller;
    void connectOnce(controller).then(({ ending, late }) => {
      if (closed || abort !== controller) return;
      abort = null;
      if (ending.kind === 'polled') return pollLater();
      live = false;
      listener(ending);
      // The relay may be there, and only its stream be held back: asked once, it answers.
      if (late && polls === null) {
        polls = 0;
        return run();
      }
      polls = null;
      cancelRetry = timers.after(backoff(RELAY_TIMES, failures++, deps.random), run);
    });
  }

  function pollLater() {
    polls = (polls ?? 0) + 1;
    // Until that has failed, what was polled holds.
    if (polls > RELAY_TIMES.pollsBeforeStream) polls = null;
    cancelRetry = timers.after(RELAY_TIMES.poll, run);
  }

  function connect() {
    polls = null;
    listener({ kind: 'connecting' });
    run();
  }
  connect();

  return {
    reconnect() {
      if (closed || live || !cancelRetry) return;
      cancelRetry();
      failures = 0;
      connect();
    },
    restart() {
      if (closed) return;
      cancelRetry?.();
      abort?.abort();
      live = false;
      failures = 0;
      connect();
    },
    close() {
      closed = true;
      cancelRetry?.();
      abort?.abort();
    },
  };
}
