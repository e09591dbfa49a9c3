/** Every time-out and pause of the connection to the relay, in ms. */
import { LIMITS } from '../protocol/limits.ts';

export const RELAY_TIMES = {
  /** A call with a small body. */
  call: 15_000,
  /** A call with a large body: a message may carry the souls and transcripts of a whole team. */
  heavy: 60_000,
  /** ms from the request for the event stream to its response header. */
  connect: 10_000,
  /**
   * From the response header to the first byte. The relay sends `hello` at once, so a longer wait
   * means that something in between holds the stream back.
   */
  firstByte: 10_000,
  /** Pause between two polls, where something in between holds the stream back. */
  poll: 2_000,
  /** An open stream without a byte for this long is lost, whatever the socket says. */
  silence: 2 * LIMITS.heartbeatMs,
  /** Pause before the first attempt to reconnect. It doubles with each failure. */
  backoffFirst: 500,
  backoffMost: 5_000,
  /** How long the worker's first call waits for a tab to send the page key. */
  pageKeyWithin: 5_000,
  /** Pause between two checks whether a socket's buffer has emptied. */
  drainPoll: 20,
  /** How long the feed collects acknowledgements before it sends one. */
  ackDebounce: 500,
  /** Pause before the feed stores again what it could not store. */
  storeRetry: 5_000,
  /** Polls after which the client tries the stream again: about five minutes. Not ms. */
  pollsBeforeStream: 150,
} as const;
