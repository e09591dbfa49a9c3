/**
 * How a request is left. A line that has died already is another thing than one that is left: on a
 * line that is whole the server hears of it and stops, on a dead one it may write to its end. So
 * before one is left, what has happened to its line is looked at: an end that has reached this
 * machine is noticed within a few turns of the event loop, and comes first. An end that has not
 * reached it yet cannot be known: a line that dies in the very moment in which it is left is
 * counted as left. One that fell silent before that is not: its silence counts at the pace of the
 * fastest model, which comes to the longest answer soon (20 s for 8,192 tokens).
 */
import { setImmediate } from 'node:timers';
import { STOPPED } from './settings.ts';

export interface Leaving {
  /** Aborts a little after the other, unless `done` came before. */
  readonly signal: AbortSignal;
  /** The request is over. */
  done(): void;
}

/** `before`: called at the moment in which it is left. */
export function createLeaving(asked: AbortSignal, before: () => void = () => undefined): Leaving {
  const leave = new AbortController();
  let over = false;
  const afterTurns = (turns: number) => {
    if (over) return;
    if (turns === 0) {
      before();
      return leave.abort();
    }
    setImmediate(() => afterTurns(turns - 1));
  };
  const onAsked = () => afterTurns(STOPPED.turns);
  if (asked.aborted) leave.abort();
  else asked.addEventListener('abort', onAsked, { once: true });
  return {
    signal: leave.signal,
    done() {
      over = true;
      asked.removeEventListener('abort', onAsked);
    },
  };
}
