import type { LaneLimits } from '../lanes.ts';

/** Limits of each call of git. Times in ms. */
export const GIT_LIMITS = {
  /** A step in a repository of the relay, and one that fetches or pushes. */
  ms: 60_000,
  networkMs: 300_000,
  /**
   * Bytes of memory in use, without the files that git maps. A fetch of a large repository holds
   * its index.
   */
  memory: 512_000_000,
  networkMemory: 2_000_000_000,
  /** Bytes of output that are read. */
  most: 20_000_000,
  /** Characters of git’s own words in an error. */
  words: 2_000,
  /** ms after which the relay looks again for a git that was missing. */
  recheckMs: 30_000,
  /** Files above this many bytes are streamed, and not compared with others. */
  bigFile: 4_000_000,
} as const;

/** Calls of git at once. */
export const GIT_LANES: LaneLimits = { ofOne: 2, ofAll: 4, waiting: 500 };
