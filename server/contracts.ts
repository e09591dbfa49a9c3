/**
 * What the relay's parts promise each other. Wired together in main.ts; tests wire the same parts.
 */
import type { EndReason } from '../src/protocol/documents.ts';
import type { RoostEvent, Snapshot, StoredEvent } from '../src/protocol/events.ts';
import type { PostMessage, StartSession } from '../src/protocol/http.ts';

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

/** Messages that wait for an agent which sleeps. They outlive sessions and restarts. */
export interface Inbox {
  put(message: { messageId: string; agentId: string; text: string; time: number }): Promise<void>;
  /** What waits for this agent, oldest first. */
  waiting(agentId: string): Promise<readonly { messageId: string; text: string; time: number }[]>;
  /** Marks these as read; a message is put before its agent once. */
  markRead(messageIds: readonly string[], sessionId: string, time: number): Promise<void>;
}

export type PostOutcome =
  | { readonly ok: true; readonly eventId: number }
  | { readonly ok: false; readonly reason: 'no-session' | 'already-awake' | 'unknown-agent' | 'malformed' | 'not-last' | 'too-large'; readonly detail: string };

/** The one session a relay can run, and everything that happens in it. */
export interface SessionHost {
  /** Closes what a crash left open: answers as `interrupted`, the session as `crash`. Call once, before anything else. */
  recover(): Promise<void>;
  start(request: StartSession): Promise<{ ok: true; sessionId: string } | { ok: false; sessionId: string }>;
  /** False where no session runs. Resolves when the end is on disk and nothing of the session runs on. */
  end(reason: EndReason): Promise<boolean>;
  post(message: PostMessage): Promise<PostOutcome>;
  /** Stops what this agent is saying. False where it is not saying anything. */
  stop(agentId: string): Promise<boolean>;
  /** Puts one agent to sleep, or gives up one egg, by agent id. False where it is neither awake nor hatching. */
  sleep(agentId: string): Promise<boolean>;
}
