/**
 * The relay's client: calls for tabs, the event stream and what follows from it for the ledger's
 * owner.
 */
export { createRelayClient, type RelayProblem, type RelayResult } from './client.ts';
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
