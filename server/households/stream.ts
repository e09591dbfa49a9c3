/**
 * The event stream (server-sent events): a hello, the missed events, a snapshot, then live events.
 * It also carries the queue of the model server and the state of the database, which are stored
 * nowhere.
 *
 * Missed events are read from the log no faster than the client takes them. Live events go into the
 * stream's own bounded buffer. A client that lets the buffer fill is cut, and resumes by its
 * cursor.
 */
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';
import type { DatabaseStatus, Hello, Over } from '../../src/shared/protocol/stream.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { EventLog } from '../log/index.ts';
import type { Searches } from '../team/searches/index.ts';
import { ALWAYS_THERE, type Database, type DatabaseState } from '../store/index.ts';

/** Events that are read from the log at a time. */
const PAGE = 200;
/** Heartbeats for which the buffer may stay full before the client is cut. */
const BEATS_UNREAD = 3;

export interface StreamDeps {
  readonly log: EventLog;
  readonly host: Pick<SessionHost, 'waiting' | 'onWaiting'>;
  readonly searches: Pick<Searches, 'listen'>;
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'state' | 'subscribe'>;
  readonly version: string;
  /** The household of this home. Null: no device has proved it. */
  readonly household?: () => string | null;
  readonly bufferBytes: number;
  /** ms between two heartbeats. */
  readonly heartbeatMs?: number;
  /** Called where a stream ends by an error of ours. */
  readonly onError: (error: unknown) => void;
}

interface Cursor {
  readonly after: number;
  readonly log: string | null;
  /** The client answers agents' searches. */
  readonly searches?: boolean;
  /** The stream ends with the snapshot. */
  readonly once?: boolean;
}

export interface Streams {
  /**
   * Events after `after` in the log named `log` (null: this one), then live ones. `cut` ends the
   * connection at once.
   */
  open(cursor: Cursor, cut: () => void, browser?: string): ReadableStream<Uint8Array>;
  /** Ends the streams of these sign-ins. The reason is their last message. */
  endOf(browsers: readonly string[], reason: Over['reason']): void;
  /** Sends hello again, because the home's household is known now. */
  greet(): void;
  readonly count: () => number;
  /** Streams of this sign-in. */
  readonly countOf: (browser: string) => number;
  /** Ends all streams in good order. */
  close(): void;
}

const encoder = new TextEncoder();
const BEAT = encoder.encode(': still here\n\n');

/** JSON text has no line breaks of its own, so one `data` line is enough. */
function frame(event: string, data: unknown, id?: number): Uint8Array {
  return encoder.encode(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
const eventFrame = ({ id, event }: StoredEvent) => frame(event.kind, event, id);

const statusOf = ({ kind }: DatabaseState): DatabaseStatus => ({ away: kind !== 'there' });

export function createStreams({
  log,
  host,
  searches,
  database = ALWAYS_THERE,
  version,
  household = () => null,
  bufferBytes,
  heartbeatMs = LIMITS.heartbeatMs,
  onError,
}: StreamDeps): Streams {
  /** Closes each open stream; with the stream's sign-in. */
  const open = new Map<(over?: Over) => void, string | undefined>();
  const greetings = createListeners();

  const streams: Streams = {
    count: () => open.size,
    countOf: (browser) => [...open.values()].filter((each) => each === browser).length,
    close() {
      for (const end of [...open.keys()]) end();
    },
    endOf(browsers, reason) {
      for (const [end, browser] of [...open]) if (browser !== undefined && browsers.includes(browser)) end({ reason });
    },
    greet: greetings.tell,
    open({ after, log: named, searches = false, once = false }, cut, browser) {
      // A cursor past the head comes from a time before the store was restored from a copy.
      const known = (named === null || named === log.id) && after <= log.head();
      return streamFrom(known ? after : 0, cut, browser, { searches, once });
    },
  };
  return streams;

  function streamFrom(
    from: number,
    cut: () => void,
    browser: string | undefined,
    { searches: answers, once }: Required<Pick<Cursor, 'searches' | 'once'>>,
  ): ReadableStream<Uint8Array> {
    let cursor = from;
    let unsubscribe: (() => void) | null = null;
    let stopWaiting: (() => void) | null = null;
    let stopSearches: (() => void) | null = null;
    let stopDatabase: (() => void) | null = null;
    let stopGreeting: (() => void) | null = null;
    let beats: NodeJS.Timeout | null = null;
    let fullBeats = 0;
    let done = false;
    let resume: (() => void) | null = null;

    function stop(): void {
      done = true;
      open.delete(end);
      stopGreeting?.();
      if (beats) clearInterval(beats);
      unsubscribe?.();
      stopWaiting?.();
      stopSearches?.();
      stopDatabase?.();
      resume?.();
    }
    let end: (over?: Over) => void = () => undefined;

    async function fill(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      while (!done && cursor < log.head()) {
        // Events that are on disk and not announced yet come live, after the snapshot that they
        // change.
        const page = (await log.read(cursor, PAGE)).filter(({ id }) => id <= log.head());
        // The rest was dropped because a browser has it.
        if (page.length === 0) break;
        for (const stored of page) {
          if ((controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => (resume = resolve));
          if (done) return;
          controller.enqueue(eventFrame(stored));
          cursor = stored.id;
        }
      }
      if (done) return;
      // Nothing can be appended between the last check of the head and here: both are in one turn
      // of the event loop.
      controller.enqueue(frame('snapshot', log.snapshot()));
      if (once) return end();
      unsubscribe = log.subscribe((stored) => {
        if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(eventFrame(stored));
        stop();
        cut();
      });
      const now = host.waiting();
      if (now.waiting.length > 0 || now.clients) controller.enqueue(frame('waiting', now));
      // A client that is far behind gets the next one, which contains the whole state.
      stopWaiting = host.onWaiting((waiting) => {
        if (!done && (controller.desiredSize ?? 0) > 0) controller.enqueue(frame('waiting', waiting));
      });
      const tellDatabase = (state: DatabaseState) => {
        if (!done && (controller.desiredSize ?? 0) > 0) controller.enqueue(frame('database', statusOf(state)));
      };
      if (database.state().kind !== 'there') tellDatabase(database.state());
      stopDatabase = database.subscribe(tellDatabase);
      if (answers)
        stopSearches = searches.listen((asked) => {
          const hears = !done && (controller.desiredSize ?? 0) > 0;
          if (hears) controller.enqueue(frame('search', asked));
          return hears;
        });
    }

    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          end = (over) => {
            stop();
            if (over) controller.enqueue(frame('over', over));
            controller.close();
          };
          open.set(end, browser);
          const greet = () => {
            const hello: Hello = { log: log.id, version, household: household() };
            controller.enqueue(frame('hello', hello));
          };
          stopGreeting = greetings.subscribe(greet);
          greet();
          beats = setInterval(() => {
            fullBeats = (controller.desiredSize ?? 0) <= 0 ? fullBeats + 1 : 0;
            if (fullBeats === 0) controller.enqueue(BEAT);
            else if (fullBeats >= BEATS_UNREAD) {
              stop();
              cut();
            }
          }, heartbeatMs);
          fill(controller).catch((error: unknown) => {
            onError(error);
            if (done) return;
            stop();
            cut();
          });
        },
        pull() {
          resume?.();
          resume = null;
        },
        cancel: stop,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }),
    );
  }
}
