/**
 * How much a program or a server may write in a while, before it is taken to be out of its mind.
 */
export interface FloodLimits {
  /** ms */
  readonly windowMs: number;
  readonly windowMessages: number;
  /** bytes */
  readonly windowBytes: number;
}

/** Counts what came; true: within this window it is more than anybody could read. */
export function createFlood(limits: FloodLimits): (messages: number, bytes: number) => boolean {
  let window = { since: 0, messages: 0, bytes: 0 };
  return (messages, bytes) => {
    const now = performance.now();
    if (now - window.since > limits.windowMs) window = { since: now, messages: 0, bytes: 0 };
    window.messages += messages;
    window.bytes += bytes;
    return window.messages > limits.windowMessages || window.bytes > limits.windowBytes;
  };
}
