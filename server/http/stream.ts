/**
 * The event stream (server-sent events): hello, what was missed, a snapshot, what is new; and who
 * waits in line before the model's server, and whether the database can be reached, which are kept
 * nowhere.
 *
 * What was missed is read from the log no faster than the reader takes it. What is new is put into
 * the stream's own bounded buffer; a reader that lets it fill is cut, and resumes by its cursor.
 */
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';
import type { DatabaseStanding, Hello, Over, Waiting } from '../../src/shared/protocol/stream.ts';
import type { EventLog, Searches, SessionHost } from '../contracts/index.ts';
import { ALWAYS_THERE, type Database, type DatabaseState } from '../store/index.ts';

/** Events read from the log at a time. */
const PAGE = 200;
/** What stands for the log's name where it is not told. */
const LOOKED_AT = 'looked-at';
/** Heartbeats that a reader may leave the buffer full for, before it is cut. */
const BEATS_UNREAD = 3;

export interface StreamDeps {
  readonly log: EventLog;
  readonly host: Pick<SessionHost, 'waiting' | 'onWaiting'>;
  readonly searches: Pick<Searches, 'listen'>;
  /** Left out: it can always be reached. */
  readonly database?: Pick<Database, 'state' | 'subscribe'>;
  readonly version: string;
  /** Whose home it is; null: nobody has proven it. */
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
  /** It answers what agents look for. */
  readonly searches?: boolean;
  /** It ends with the snapshot. */
  readonly once?: boolean;
}

export interface Streams {
  /**
   * Events after `after` in the log named `log` (null: this one), then live ones. `cut` ends the
   * connection at once.
   */
  open(cursor: Cursor, cut: () => void, browser?: string): ReadableStream<Uint8Array>;
  /**
   * Only what comes from now on, for whoever does not live here: without the log's name, by which
   * one comes back to it.
   */
  look(cut: () => void, browser: string): ReadableStream<Uint8Array>;
  /** Ends those of these sign-ins, with the reason as their last word. */
  endOf(browsers: readonly string[], reason: Over['reason']): void;
  /** Says hello once more: whose home it is, is known now. */
  greet(): void;
  readonly count: () => number;
  /** Those of this sign-in. */
  readonly countOf: (browser: string) => number;
  /** Ends all of them in good order. */
  close(): void;
}

const encoder = new TextEncoder();
const BEAT = encoder.encode(': still here\n\n');

/** JSON text has no line breaks of its own, so one `data` line is enough. */
function frame(event: string, data: unknown, id?: number): Uint8Array {
  return encoder.encode(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
const eventFrame = ({ id, event }: StoredEvent) => frame(event.kind, event, id);

const standingOf = ({ kind }: DatabaseState): DatabaseStanding => ({ away: kind !== 'there' });

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
  /** With the sign-in that each belongs to. */
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
      // A cursor past the head is of a store that was put back from a copy.
      const known = (named === null || named === log.id) && after <= log.head();
      return streamFrom(known ? after : 0, log.id, cut, browser, { searches, once });
    },
    look: (cut, browser) => streamFrom(log.head(), LOOKED_AT, cut, browser, { searches: false, once: false }),
  };
  return streams;

  function streamFrom(
    from: number,
    name: string,
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
    let wanted: (() => void) | null = null;

    function stop(): void {
      done = true;
      open.delete(end);
      stopGreeting?.();
      if (beats) clearInterval(beats);
      unsubscribe?.();
      stopWaiting?.();
      stopSearches?.();
      stopDatabase?.();
      wanted?.();
    }
    let end: (over?: Over) => void = () => undefined;

    async function fill(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      while (!done && cursor < log.head()) {
        // What is on disk and not yet told to listeners comes live, after the snapshot that it
        // changes.
        const page = (await log.read(cursor, PAGE)).filter(({ id }) => id <= log.head());
        // The rest was dropped because a browser has it.
        if (page.length === 0) break;
        for (const stored of page) {
          if ((controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => (wanted = resolve));
          if (done) return;
          controller.enqueue(eventFrame(stored));
          cursor = stored.id;
        }
      }
      if (done) return;
      // Nothing can be appended between the last look at the head and here: both are in one turn.
      controller.enqueue(frame('snapshot', log.snapshot()));
      if (once) return end();
      unsubscribe = log.subscribe((stored) => {
        // What the household keeps is its own affair.
        if (name === LOOKED_AT && stored.event.kind === 'record') return;
        if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(eventFrame(stored));
        stop();
        cut();
      });
      // Those who only look on learn who waits, and not what API clients do.
      const shown = ({ waiting, ...more }: Waiting): Waiting =>
        name === LOOKED_AT ? { waiting } : { waiting, ...more };
      const now = host.waiting();
      if (now.waiting.length > 0 || now.clients) controller.enqueue(frame('waiting', shown(now)));
      // A reader that is far behind gets the next one, which says it all.
      stopWaiting = host.onWaiting((waiting) => {
        if (!done && (controller.desiredSize ?? 0) > 0) controller.enqueue(frame('waiting', shown(waiting)));
      });
      const tellDatabase = (state: DatabaseState) => {
        if (!done && (controller.desiredSize ?? 0) > 0) controller.enqueue(frame('database', standingOf(state)));
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
            const whose = name === LOOKED_AT ? {} : { household: household() };
            const hello: Hello = { log: name, version, ...whose };
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
          wanted?.();
          wanted = null;
        },
        cancel: stop,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }),
    );
  }
}
