/**
 * The relay's event stream, kept alive. One connection at a time; whatever cuts it, the next one resumes
 * after the last event that was passed on, so that each event is passed once and in order.
 *
 * A connection brings, in this order: `hello` (which log this is), what was missed, a `snapshot`, what is
 * new. Only after the snapshot is the line live. Silence past twice the heartbeat is a loss.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { eventSchema, helloSchema, snapshotSchema, type Snapshot, type StoredEvent } from '../protocol/events.ts';
import { backoff } from './backoff.ts';
import { parseJson } from './problem.ts';
import { RELAY_TIMES } from './settings.ts';
import type { Timers } from './timers.ts';

/** How far this browser is, and in which log. */
export interface Cursor {
  readonly log: string;
  /** The last event's id; 0 before the first. */
  readonly after: number;
}

export type StreamItem =
  /** This log is not the one the cursor was of, or was put back to an earlier state: everything comes, from its first event. */
  | { readonly kind: 'new-log'; readonly log: string }
  | { readonly kind: 'event'; readonly stored: StoredEvent }
  /** Everything missed has been passed; what follows is new. */
  | { readonly kind: 'live'; readonly snapshot: Snapshot }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' }
  | { readonly kind: 'locked-out' }
  /** The relay says something this version cannot read. It is asked again later, and nothing is passed over. */
  | { readonly kind: 'unreadable'; readonly detail: string };

export interface EventStreamDeps {
  readonly fetch: typeof globalThis.fetch;
  /** Where the relay is, without a slash at the end; empty for the page's own origin. */
  readonly baseUrl: string;
  readonly timers: Timers;
  /** 0 to 1 */
  readonly random: () => number;
  readonly cursor: Cursor | null;
  readonly listener: (item: StreamItem) => void;
}

export interface EventStream {
  /** Tries again now, without waiting; does nothing while the line is live. */
  reconnect(): void;
  close(): void;
}

type Ending =
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' }
  | { readonly kind: 'locked-out' }
  | { readonly kind: 'unreadable'; readonly detail: string };

const UNREACHABLE: Ending = { kind: 'lost', reason: 'unreachable' };
const SILENT: Ending = { kind: 'lost', reason: 'silent' };

/** What one connection has brought so far. */
interface Connection {
  log: string | null;
  /** An event has come. */
  begun: boolean;
}

/** What a message that does not fit is told as: its name, and why. */
class Unreadable extends Error {}

export function createEventStream(deps: EventStreamDeps): EventStream {
  const { timers, listener } = deps;
  let cursor = deps.cursor;
  let failures = 0;
  let live = false;
  let closed = false;
  let abort: AbortController | null = null;
  let cancelRetry: (() => void) | null = null;

  function beginLog(log: string, after: number) {
    cursor = { log, after };
    listener({ kind: 'new-log', log });
  }

  /** One message of the stream. Throws `Unreadable`. */
  function take(message: EventSourceMessage, connection: Connection) {
    const data = parseJson(message.data);
    if (message.event === 'hello') {
      const hello = helloSchema.safeParse(data);
      if (!hello.success) throw new Unreadable(`hello: ${hello.error.message}`);
      connection.log = hello.data.log;
      if (cursor?.log !== connection.log) beginLog(connection.log, 0);
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
      failures = 0;
      listener({ kind: 'live', snapshot: snapshot.data });
      return;
    }
    const id = Number(message.id);
    const event = eventSchema.safeParse(data);
    if (!Number.isSafeInteger(id) || id < 1 || !event.success)
      throw new Unreadable(`event ${message.id ?? ''} "${message.event ?? ''}": ${event.success ? 'no id' : event.error.message}`);
    // A relay that knows our cursor begins after it; one whose store was put back from a copy begins anew.
    if (!connection.begun && id <= (cursor?.after ?? 0)) beginLog(log, 0);
    connection.begun = true;
    if (id <= (cursor?.after ?? 0)) return;
    cursor = { log, after: id };
    listener({ kind: 'event', stored: { id, event: event.data } });
  }

  /** Opens one connection and reads it to its end. Resolves with why it ended; null where it was closed by us. */
  async function connectOnce(controller: AbortController): Promise<Ending | null> {
    const { signal } = controller;
    let ending: Ending = UNREACHABLE;
    let cancelWatch = timers.after(RELAY_TIMES.connect, () => controller.abort());
    const heard = () => {
      cancelWatch();
      cancelWatch = timers.after(RELAY_TIMES.silence, () => {
        ending = SILENT;
        controller.abort();
      });
    };
    const query = cursor ? `?after=${cursor.after}&log=${encodeURIComponent(cursor.log)}` : '?after=0';
    try {
      const response = await deps.fetch(`${deps.baseUrl}/api/events${query}`, {
        signal,
        headers: { accept: 'text/event-stream' },
        cache: 'no-store',
        credentials: 'same-origin',
      });
      if (!response.ok || !response.body) {
        await response.body?.cancel();
        return response.status === 401 ? { kind: 'locked-out' } : UNREACHABLE;
      }
      heard();
      const connection: Connection = { log: null, begun: false };
      const parser = createParser({ onEvent: (message) => take(message, connection) });
      const decoder = new TextDecoder();
      for await (const chunk of response.body) {
        if (closed) return null;
        heard();
        parser.feed(decoder.decode(chunk, { stream: true }));
      }
      return ending;
    } catch (error) {
      if (closed) return null;
      if (error instanceof Unreadable) {
        controller.abort();
        return { kind: 'unreadable', detail: error.message };
      }
      // A cut connection is a TypeError, a network error or our own abort: all the same to us. A bug is not.
      if (signal.aborted || error instanceof TypeError || error instanceof DOMException) return ending;
      throw error;
    } finally {
      cancelWatch();
    }
  }

  function run() {
    cancelRetry = null;
    const controller = new AbortController();
    abort = controller;
    void connectOnce(controller).then((ending) => {
      if (closed || abort !== controller || ending === null) return;
      live = false;
      abort = null;
      listener(ending);
      cancelRetry = timers.after(backoff(failures++, deps.random), run);
    });
  }

  listener({ kind: 'connecting' });
  run();

  return {
    reconnect() {
      if (closed || live || !cancelRetry) return;
      cancelRetry();
      failures = 0;
      listener({ kind: 'connecting' });
      run();
    },
    close() {
      closed = true;
      cancelRetry?.();
      abort?.abort();
    },
  };
}
