/**
 * Keeps the relay's event stream open. There is one connection at a time. After a break the next
 * connection resumes after the last event that was passed on, so each event is passed on once and
 * in order.
 *
 * A connection brings, in this order: `hello` (which log this is), the missed events, a `snapshot`,
 * new events. The stream is live only after the snapshot. Silence for twice the heartbeat counts as
 * a lost connection.
 *
 * A proxy may hold a stream back while ordinary calls pass. After a connection that timed out, the
 * client therefore asks once for the same data as a response that ends. If that succeeds, the
 * client polls, and tries the stream now and then.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { errorMessage } from '../domain/platform/error-message.ts';
import { backoff } from '../domain/platform/retry.ts';
import { eventSchema, snapshotSchema, type Snapshot, type StoredEvent } from '../protocol/events.ts';
import { problemSchema } from '../protocol/http.ts';
import { type SearchAsked, searchAskedSchema } from '../protocol/search.ts';
import {
  databaseStatusSchema,
  helloSchema,
  overSchema,
  waitingSchema,
  type Over,
  type Waiting,
} from '../protocol/stream.ts';
import { parseJson } from '../domain/platform/json.ts';
import { RELAY_TIMES } from './settings.ts';
import type { Timers } from '../domain/platform/timers.ts';

/** The position of this browser in the relay's log. */
export interface Cursor {
  readonly log: string;
  /** Id of the last event. 0 before the first. */
  readonly after: number;
}

export type StreamItem =
  /**
   * The cursor belongs to another log, or the log was restored to an earlier state. All events
   * follow, from the first one.
   */
  | { readonly kind: 'new-log'; readonly log: string }
  | { readonly kind: 'event'; readonly stored: StoredEvent }
  /**
   * The household that this log belongs to. Null: no household has proven it. Sent before its
   * events, and again when a household proves it.
   */
  | { readonly kind: 'home'; readonly household: string | null }
  /** All missed events were passed on. What follows is new. */
  | {
      readonly kind: 'live';
      readonly snapshot: Snapshot;
      /** The client polls, because something between it and the relay holds the stream back. */
      readonly held?: true;
    }
  /** The agents that now wait for the model's server. */
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  /** An agent searches for something that this browser may have. */
  | { readonly kind: 'search'; readonly asked: SearchAsked }
  /** Whether the relay can reach its database. */
  | { readonly kind: 'database'; readonly away: boolean }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' | 'database' }
  | { readonly kind: 'locked-out' }
  /**
   * This sign-in belongs to another home of the relay now. The next connection follows that home's
   * log.
   */
  | { readonly kind: 'moved' }
  /** This version cannot read the event. The client skips it and passes on the later ones. */
  | { readonly kind: 'set-aside'; readonly id: number; readonly detail: string }
  /**
   * This version cannot read a message about the stream itself. The client connects again later.
   */
  | { readonly kind: 'unreadable'; readonly detail: string }
  /**
   * An error in this code, not in the connection. The client tries again later and skips nothing.
   */
  | { readonly kind: 'failed'; readonly detail: string };

export interface EventStreamDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Base URL of the relay without a trailing slash. Empty for the page's own origin. */
  readonly baseUrl: string;
  readonly timers: Timers;
  /** 0 to 1 */
  readonly random: () => number;
  readonly cursor: Cursor | null;
  /** Set: the relay sends this browser the searches of agents. */
  readonly searches?: true;
  readonly listener: (item: StreamItem) => void;
  /** Reports an error of this code to where errors are shown. */
  readonly report: (error: unknown) => void;
}

export interface EventStream {
  /** Connects now, without waiting. Does nothing while the stream is live. */
  reconnect(): void;
  /** Ends the connection and opens a new one at once, because the credentials have changed. */
  restart(): void;
  close(): void;
}

/** Why a connection ended, as the listener is told. */
type Ending =
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
  // Any other body may come from a proxy and be endless, so it is not read.
  if (response.status !== 503 || !response.headers.get('content-type')?.includes('problem+json')) return UNREACHABLE;
  const problem = problemSchema.safeParse(parseJson(await response.text().catch(cut)));
  const isAway = problem.success && problem.data.type === 'about:roost/database-away';
  return isAway ? { kind: 'lost', reason: 'database' } : UNREACHABLE;
}

export type StreamState =
  /** A stream is open, without its snapshot yet. `failures`: attempts in a row before it. */
  | { readonly kind: 'connecting'; readonly failures: number }
  | { readonly kind: 'live' }
  /** A stream timed out. The client asks once for the same as a response that ends. */
  | { readonly kind: 'probing'; readonly failures: number }
  /** A poll is open. What the one before has brought is valid. `polls`: so many have ended. */
  | { readonly kind: 'polling'; readonly polls: number }
  | { readonly kind: 'between-polls'; readonly polls: number }
  /** A stream is open again. What polling brought stays valid until this has failed. */
  | { readonly kind: 'trying-stream' }
  /** Nothing is open. The next attempt has its time. */
  | { readonly kind: 'waiting'; readonly failures: number }
  | { readonly kind: 'closed' };

export type StreamEvent =
  | { readonly kind: 'snapshot' }
  /** A poll brought everything there is. */
  | { readonly kind: 'polled' }
  /** `late`: nothing arrived in time. A proxy may hold the stream back. */
  | { readonly kind: 'ended'; readonly late: boolean }
  /** The wait is over. */
  | { readonly kind: 'due' }
  | { readonly kind: 'reconnect' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'close' };

const CONNECTING: StreamState = { kind: 'connecting', failures: 0 };
const LIVE: StreamState = { kind: 'live' };
const TRYING_STREAM: StreamState = { kind: 'trying-stream' };
const CLOSED: StreamState = { kind: 'closed' };

function afterSnapshot(state: StreamState): StreamState {
  if (state.kind === 'connecting' || state.kind === 'trying-stream') return LIVE;
  return state.kind === 'probing' ? { kind: 'polling', polls: 0 } : state;
}

function afterWait(state: StreamState): StreamState {
  if (state.kind === 'waiting') return { kind: 'connecting', failures: state.failures + 1 };
  if (state.kind !== 'between-polls') return state;
  return state.polls > RELAY_TIMES.pollsBeforeStream ? TRYING_STREAM : { kind: 'polling', polls: state.polls };
}

function afterEnd(state: StreamState, late: boolean): StreamState {
  switch (state.kind) {
    case 'connecting':
      return { kind: late ? 'probing' : 'waiting', failures: state.failures };
    case 'live':
    case 'trying-stream':
      return { kind: late ? 'probing' : 'waiting', failures: 0 };
    case 'probing':
      return { kind: 'waiting', failures: state.failures };
    case 'polling':
      return { kind: 'waiting', failures: 0 };
    default:
      return state;
  }
}

/** The state after `event`. An event that does not apply returns the same state. */
export function transition(state: StreamState, event: StreamEvent): StreamState {
  if (state.kind === 'closed') return state;
  switch (event.kind) {
    case 'snapshot':
      return afterSnapshot(state);
    case 'polled':
      return state.kind === 'polling' ? { kind: 'between-polls', polls: state.polls + 1 } : state;
    case 'ended':
      return afterEnd(state, event.late);
    case 'due':
      return afterWait(state);
    case 'reconnect':
      return state.kind === 'waiting' ? CONNECTING : state;
    case 'restart':
      return { ...CONNECTING };
    case 'close':
      return CLOSED;
    default:
      return event satisfies never;
  }
}

/** What one connection has brought so far. */
interface Connection {
  /** Aborted at its end. */
  readonly controller: AbortController;
  /** A poll: a response that ends. */
  readonly isPoll: boolean;
  log: string | null;
  /** The first event was received. */
  begun: boolean;
  /** The snapshot was received. */
  live: boolean;
  /** The relay's reason for ending the connection. */
  over: Ending | null;
}

/** A message that does not fit its schema: its name, and why. */
class Unreadable extends Error {}

/** The connection broke or was aborted. Only the platform's network calls throw this. */
class Cut extends Error {}

/**
 * A cut connection is a TypeError, a network error or our own abort. The client treats all three
 * alike.
 */
const cut = (error: unknown): never => {
  throw new Cut('The connection broke.', { cause: error });
};

export function createEventStream(deps: EventStreamDeps): EventStream {
  const { timers, listener } = deps;
  let cursor = deps.cursor;
  let state: StreamState = CONNECTING;
  /** The open connection. */
  let open: Connection | null = null;
  let cancelWait: () => void = () => undefined;

  function beginLog(log: string, after: number) {
    cursor = { log, after };
    listener({ kind: 'new-log', log });
  }

  /** Handles one message of the stream. Throws `Unreadable`. */
  function take(message: EventSourceMessage, connection: Connection) {
    if (open !== connection) return;
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
      // The cursor is past the log's head: the relay's store was restored from a backup.
      if (snapshot.data.upTo < (cursor?.after ?? 0)) beginLog(log, snapshot.data.upTo);
      connection.live = true;
      listener({ kind: 'live', snapshot: snapshot.data, ...(connection.isPoll ? { held: true } : {}) });
      // The listener may have closed or restarted the stream. One that throws has not taken it.
      if (open === connection) go({ kind: 'snapshot' });
      return;
    }
    if (message.event === 'waiting') {
      const waiting = waitingSchema.safeParse(data);
      if (!waiting.success) throw new Unreadable(`waiting: ${waiting.error.message}`);
      listener({ kind: 'waiting', waiting: waiting.data });
      return;
    }
    if (message.event === 'database') {
      const status = databaseStatusSchema.safeParse(data);
      if (!status.success) throw new Unreadable(`database: ${status.error.message}`);
      listener({ kind: 'database', away: status.data.away });
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
    // A relay that knows the cursor begins after it. A relay that was restored from a backup begins
    // anew.
    if (!connection.begun && id <= (cursor?.after ?? 0)) beginLog(log, 0);
    connection.begun = true;
    if (id <= (cursor?.after ?? 0)) return;
    if (event.success) listener({ kind: 'event', stored: { id, event: event.data } });
    else listener({ kind: 'set-aside', id, detail: `${named}: ${event.error.message}` });
    cursor = { log, after: id };
  }

  /**
   * Reads one connection to its end and leaves nothing open. Resolves with the reason for the end;
   * null: a poll brought everything. `onLate`: the connection ends because nothing arrived in time.
   */
  async function read(connection: Connection, onLate: () => void): Promise<Ending | null> {
    const { controller, isPoll } = connection;
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
      const answering = deps.fetch(
        `${deps.baseUrl}/api/events${query}${deps.searches && !isPoll ? '&searches=1' : ''}${isPoll ? '&once=1' : ''}`,
        {
          signal,
          headers: { accept: 'text/event-stream' },
          cache: 'no-store',
          credentials: 'same-origin',
        },
      );
      const response = await answering.catch(cut);
      if (response.status === 401) return { kind: 'locked-out' };
      if (!response.ok || !response.body) return await refusedAs(response);
      heard(RELAY_TIMES.firstByte);
      const parser = createParser({ onEvent: (message) => take(message, connection) });
      const decoder = new TextDecoder();
      // Reads the body by hand. A library's loop would mix network errors with errors of this code.
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read().catch(cut);
        if (done && connection.live && isPoll) return null;
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
      // Always abort: an open connection counts against the six that a browser allows for one
      // address.
      controller.abort();
    }
  }

  function connect() {
    const isPoll = state.kind === 'probing' || state.kind === 'polling';
    const controller = new AbortController();
    const connection: Connection = { controller, isPoll, log: null, begun: false, live: false, over: null };
    open = connection;
    let late = false;
    void read(connection, () => (late = true)).then((ending) => {
      if (open !== connection) return;
      open = null;
      if (ending === null) return go({ kind: 'polled' });
      listener(ending);
      // The listener may have closed or restarted the stream.
      if (open === null) go({ kind: 'ended', late });
    });
  }

  /** Does what the new state needs. A snapshot goes on with its connection. */
  function enter() {
    switch (state.kind) {
      case 'connecting':
      case 'probing':
      case 'polling':
      case 'trying-stream':
        return connect();
      case 'between-polls':
        cancelWait = timers.after(RELAY_TIMES.poll, () => go({ kind: 'due' }));
        return undefined;
      case 'waiting':
        cancelWait = timers.after(backoff(RELAY_TIMES, state.failures, deps.random), () => go({ kind: 'due' }));
        return undefined;
      case 'live':
      case 'closed':
        return undefined;
      default:
        return state satisfies never;
    }
  }

  function go(event: StreamEvent): void {
    const next = transition(state, event);
    if (next === state) return;
    state = next;
    if (event.kind === 'snapshot') return;
    cancelWait();
    const before = open;
    open = null;
    before?.controller.abort();
    // The person, or new credentials, asked for it. Attempts by itself are not announced.
    if (event.kind === 'reconnect' || event.kind === 'restart') listener({ kind: 'connecting' });
    enter();
  }

  listener({ kind: 'connecting' });
  connect();

  return {
    reconnect: () => go({ kind: 'reconnect' }),
    restart: () => go({ kind: 'restart' }),
    close: () => go({ kind: 'close' }),
  };
}
