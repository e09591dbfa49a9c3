/** The event log of one home. */
import type { Stamp } from '../../src/domain/stamp.ts';
import type { RoostEvent, Snapshot, StoredEvent } from '../../src/protocol/events.ts';

/** The durable, append-only log of events. What is answered or shown to anyone was written here first. */
export interface EventLog {
  /** Names this log: another home has another id. */
  readonly id: string;
  /** Resolves when the events are on disk, in order. Appends that come close together share one commit. */
  append(events: readonly RoostEvent[]): Promise<readonly StoredEvent[]>;
  /**
   * As `append`, once per `clientId`: a repeat, also after a restart, writes nothing and answers with the id
   * of the first event that the first call wrote.
   */
  appendOnce(clientId: string, events: readonly RoostEvent[]): Promise<{ eventId: number; repeated: boolean }>;
  /** What is appended from now on is later than this stamp. */
  follow(stamp: Stamp): void;
  /** Does this lie further ahead than a clock may be, of the wall clock and of all that is in the log? */
  isAhead(stamp: Stamp): boolean;
  /** The event id that an earlier `appendOnce` with this `clientId` wrote, or null. */
  written(clientId: string): Promise<number | null>;
  /** Stored events with id > `after`, oldest first, at most `limit`. */
  read(after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Called for each event, in order, after it is on disk. Returns the way to stop. */
  subscribe(listener: (stored: StoredEvent) => void): () => void;
  /** Highest id on disk, 0 in an empty log. */
  head(): number;
  /** A browser has stored everything up to here; it may be dropped when it is old enough. */
  ack(upTo: number): Promise<void>;
  /** The running session as a fold over the log, as of `head()`. */
  snapshot(): Snapshot;
}
