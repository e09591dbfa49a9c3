/** Every limit and pause of replication. Times in ms. */
import { SYNC } from '../protocol/sync/settings.ts';

export const REPLICATION = {
  /** A frame of entries aims at this many bytes; an entry that is larger goes alone. */
  frameBytes: SYNC.frameBytes as number,
  /** Nothing more is handed to a link that has this many bytes not yet on their way. */
  bufferBytes: 2 * SYNC.frameBytes,
  /** New entries up to this many bytes are pushed; of more it is only said that they are there. */
  pushBytes: 64 * 1024,
  /** Requests under way on one link. */
  requests: 4,
  /**
   * Writers of this class and above are fetched where nothing else is under way on a link, by one
   * request at a time.
   */
  background: 2,
  /** Entries in one frame, and digests in one. */
  frameEntries: 4_096,
  /** Entries asked for at once, in so many ranges. */
  askEntries: 512,
  askRanges: 64,
  /** What came and is not stored yet; more is let go of, and asked for again. */
  queueBytes: 8 * 1024 * 1024,
  /** Entries are handed to the store together, up to this many bytes. */
  putBytes: 1024 * 1024,
  /**
   * What was asked for and does not come is asked for again, here or elsewhere, after this silence,
   * or after so many of them.
   */
  answerMs: 10_000,
  answerSilences: 6,
  /** A whole `have` is said this often: it heals whatever was lost. */
  announceMs: 30_000,
  /** What a direct link has news of is left to the relay this long, where there is one. */
  directMs: 1_000,
  /** The store is tried again after this. */
  retryMs: 1_000,
  /** Work that one peer may have waiting here; what comes beyond is let go of. */
  peerTasks: 64,
  /** Entries whose digests are compared at once. */
  compareEntries: 256,
  /** Writers and ranges that a peer may claim. */
  writers: 16_384,
  ranges: 131_072,
} as const;

export type ReplicationSettings = { readonly [Name in keyof typeof REPLICATION]: number };
