/**
 * The relay's client for browsers: typed calls, the event stream, and the feed that stores the
 * stream's events.
 *
 * Main types: `RelayResult` (a call's value, the relay's refusal, or the problem on the way),
 * `EventStream`, `Feed`.
 *
 * Invariants:
 * - Each event is passed on once and in order, however often the connection breaks.
 * - An event is acknowledged only after its documents are stored.
 * - Where a proxy holds the stream back, the client polls.
 *
 * It does not know how documents are stored or shown. Addresses and schemas come from
 * `../protocol`.
 */
export { createRelayClient } from './client.ts';
export type { RelayProblem, RelayResult } from './result.ts';
export type { PageClient } from './page-client.ts';
export {
  createEventStream,
  type Cursor,
  type EventStream,
  type EventStreamDeps,
  type StreamItem,
} from './event-stream.ts';
export { RELAY_TIMES } from './settings.ts';
export { createFeed, type Feed } from './feed.ts';
export { createSyncClient, openSyncSocket } from './sync-client.ts';
export { createHeldPageKey, withPageKey } from './page-key.ts';
