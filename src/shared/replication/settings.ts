/** Every limit and pause of replication. Times in ms. */
import { SYNC } from '../protocol/sync/settings.ts';

export const REPLICATION = {
  /** Target size of a frame of entries in bytes. A larger entry goes alone. */
  frameBytes: SYNC.frameBytes as number,
  /** A link with this many unsent bytes gets nothing more. */
  bufferBytes: 2 * SYNC.frameBytes,
  /** New entries up to this many bytes are pushed. Larger sets are only announced. */
  pushBytes: 64 * 1024,
  /** Requests under way on one link. */
  requests: 4,
  /**
   * Writers of this class and above are fetched only while nothing else is under way on a link, one
   * request at a time.
   */
  background: 2,
  /** Entries in one frame, and digests in one. */
  frameEntries: 4_096,
  /** Entries in one request, and their ranges. */
  askEntries: 512,
  askRanges: 64,
  /**
   * Received bytes that are not stored yet. The replica drops what exceeds this and asks for it
   * again.
   */
  queueBytes: 8 * 1024 * 1024,
  /** Bytes of one batch for the store. */
  putBytes: 1024 * 1024,
  /**
   * A request is repeated, here or to another peer, after this silence, or after this many waits.
   */
  answerMs: 10_000,
  answerSilences: 6,
  /** Interval of a whole `have`. It repairs whatever was lost. */
  announceMs: 30_000,
  /** How long entries that a direct link announces are left to the relay, where there is one. */
  directMs: 1_000,
  /** Pause before the store is tried again. */
  retryMs: 1_000,
  /** Tasks of one peer that may wait. The replica drops the rest. */
  peerTasks: 64,
  /** Entries whose digests are compared at once. */
  compareEntries: 256,
  /** Writers and ranges that a peer may claim. */
  writers: 16_384,
  ranges: 131_072,
} as const;

export type ReplicationSettings = { readonly [Name in keyof typeof REPLICATION]: number };
