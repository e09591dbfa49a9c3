/**
 * Every limit and pause of the direct connections, for the carrying tab and for the data worker.
 */
import { SYNC } from '../../../shared/protocol/sync/settings.ts';

export const DIRECT = {
  /** The Web Lock whose holder is the one tab of this browser that carries connections. */
  lock: 'roost-direct',
  /** Connections at once, including those under way. */
  connectionsMost: 8,
  /** Pasted texts that may wait for their answer at once. A further one replaces the oldest. */
  textsMost: 3,

  /** ms after which gathering of addresses stops. The addresses found by then are offered. */
  gatherMs: 3_000,
  /** ms from one step of an introduction to the next. */
  introduceMs: 15_000,
  /** ms that a pasted text is valid … */
  textMs: 15 * 60_000,
  /**
   * … and by how much the clocks of two devices may differ, before one takes the other’s text for
   * an old one.
   */
  clockMs: 60 * 60_000,
  /**
   * Answered questions of one device that are remembered, so that a repeated one is not answered
   * again.
   */
  answeredKept: 16,
  /** Text offers that led to a connection and are remembered, because each is valid once. */
  usedKept: 64,

  /** ms before a device is tried again. It doubles with each failure in a row. */
  backoffFirst: 2_000,
  backoffMost: 15 * 60_000,
  /** ms that a connection must live for its failures to be forgotten. */
  provenMs: 30_000,

  /** ms between two keep-alives of each end … */
  keepAliveMs: 5_000,
  /** … and the number of such pauses without a message that end the connection. */
  silences: 3,

  /** Largest frame in bytes: one entry, with space for its place. */
  frameMost: SYNC.entryBytes + 64 * 1024,
  /**
   * Message size of a channel in bytes, which every browser accepts. A channel that accepts less
   * than `pieceLeast` is not used.
   */
  pieceMost: 64 * 1024,
  pieceLeast: 1_024,
  /** Bytes in the browser’s channel above which more are held back … */
  channelMost: 1024 * 1024,
  /** … and below which sending continues. */
  channelLow: 256 * 1024,
} as const;
