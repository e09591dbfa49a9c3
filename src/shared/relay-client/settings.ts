/** Every time-out and pause of the connection to the relay, in ms. */
import { LIMITS } from '../protocol/limits.ts';

export const RELAY_TIMES = {
  /** A call that carries little. */
  call: 15_000,
  /** A message may carry a whole team's souls and transcripts. */
  heavy: 60_000,
  /** From asking for the event stream to its first header. */
  connect: 10_000,
  /**
   * From its header to its first byte: the relay greets at once, so something in between holds the
   * stream back.
   */
  firstByte: 10_000,
  /** Pause between two polls, where something in between holds the stream back. */
  poll: 2_000,
  /** No byte for this long on an open stream: the line is lost, whatever the socket says. */
  silence: 2 * LIMITS.heartbeatMs,
  /** Pause before the first try to connect again; it doubles with each failure. */
  backoffFirst: 500,
  backoffMost: 5_000,
  /** How long the owner's first call waits for a tab to tell it the page key. */
  pageKeyWithin: 5_000,
  /** Pause between two looks whether a socket's buffer has emptied. */
  drainLook: 20,
  /** How long acknowledgements are gathered before one is sent. */
  ackDebounce: 500,
  /** Pause before something that could not be stored is tried again. */
  storeRetry: 5_000,
  /**
   * How long a reading of what an agent remembers waits for what was heard and is not stored yet.
   */
  storeWait: 2_000,
  /** Polls after which the stream is tried again: about five minutes. Not ms. */
  pollsBeforeStream: 150,
} as const;
