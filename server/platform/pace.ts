/**
 * Paces work on untrusted input. Work is done in steps: one message of a server, one part of a
 * page, one line of a program. Other requests run between steps, so no input blocks the event loop
 * for much longer than one step.
 */
import { setImmediate } from 'node:timers';

/** How much a program or a server may write per time before it counts as out of control. */
export interface FloodLimits {
  /** ms */
  readonly windowMs: number;
  readonly windowMessages: number;
  /** bytes */
  readonly windowBytes: number;
}

/** Counts input. True: it exceeds the limit within this window. */
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

const PACE = {
  /** ms of work in one turn of the event loop, after which others run. */
  workMs: 5,
} as const;

/** Awaited between two steps. */
export type Pace = () => Promise<void>;

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The same bytes in pieces of at most `most`. Other requests run in between. */
export async function* inSteps(
  body: AsyncIterable<Uint8Array>,
  pieceBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const pace = createPace();
  for await (const chunk of body)
    for (let from = 0; from < chunk.length; from += pieceBytes) {
      await pace();
      yield chunk.subarray(from, from + pieceBytes);
    }
}

/**
 * Resolves at once, or in the next turn of the event loop if these steps have taken `workMs` of
 * this one.
 */
export function createPace(workMs: number = PACE.workMs): Pace {
  /** Start of the first step in this turn; null: none yet. */
  let since: number | null = null;
  const begin = () => {
    since = performance.now();
    setImmediate(() => (since = null));
  };
  return async () => {
    if (since !== null && performance.now() - since >= workMs) await nextTurn();
    if (since === null) begin();
  };
}
