/**
 * Work on what a stranger wrote is done in steps, between which every other call has its turn: one
 * message of a server, one part of a page, one line of a program. So nothing holds the event loop
 * for much longer than one step.
 */
import { setImmediate } from 'node:timers';

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

const PACE = {
  /** ms of work in one turn of the event loop, after which the others have theirs. */
  workMs: 5,
} as const;

/** Called between two steps, and waited for. */
export type Pace = () => Promise<void>;

/** Resolves when the event loop has gone round. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The same bytes in pieces of at most so many, between which the others have their turn. */
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
 * Resolves at once, or in the next turn of the event loop, where these steps have taken `workMs` of
 * this one.
 */
export function createPace(workMs: number = PACE.workMs): Pace {
  /** When the first step of this turn began; null: none has. */
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
