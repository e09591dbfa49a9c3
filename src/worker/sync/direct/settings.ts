/**
 * Every limit and pause of the direct connections, for the tab that carries them and for the owner
 * that orders them.
 */
import { SYNC } from '../../../shared/protocol/sync/settings.ts';

export const DIRECT = {
  /** The Web Lock whose holder is the one tab of this browser that carries connections. */
  lock: 'roost-direct',
  /** Connections at once, those on their way included. */
  connectionsMost: 8,
  /** Texts to be pasted that wait for their answer at once; the oldest gives way. */
  textsMost: 3,

  /** ms: gathering of addresses is cut off; what was found by then is offered. */
  gatherMs: 3_000,
  /** ms from one step of an introduction to the next. */
  introduceMs: 15_000,
  /** ms that a pasted text is good for … */
  textMs: 15 * 60_000,
  /**
   * … and by how much the clocks of two devices may differ, before one takes the other’s text for
   * an old one.
   */
  clockMs: 60 * 60_000,
  /**
   * Questions of one device that were answered already: so many are remembered, so that a repeated
   * one is not answered again.
   */
  answeredKept: 16,
  /** As many offers by text that led to a connection are remembered: each is good once. */
  usedKept: 64,

  /** ms before a device is tried again; it doubles with each failure in a row. */
  backoffFirst: 2_000,
  backoffMost: 15 * 60_000,
  /** ms that a connection must have lived for its failures to be forgotten. */
  provenMs: 30_000,

  /** ms: each end says something this often … */
  keepAliveMs: 5_000,
  /** … and so many of these pauses without a word are the end of the connection. */
  silences: 3,

  /** A frame, in bytes: one entry, with room for what says where it belongs. */
  frameMost: SYNC.entryBytes + 64 * 1024,
  /**
   * A message of a channel, in bytes; every browser takes so many. A channel that takes less than
   * `pieceLeast` is none.
   */
  pieceMost: 64 * 1024,
  pieceLeast: 1_024,
  /** Bytes that wait in the browser’s channel before more are held back … */
  channelMost: 1024 * 1024,
  /** … and how few of them call for more. */
  channelLow: 256 * 1024,
} as const;
