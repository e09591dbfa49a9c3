/**
 * How a request is stopped. A stopped request differs from a dead connection. On a working
 * connection the server notices the stop and ends. On a dead one the server may write to its end,
 * and the output is unknown.
 *
 * So a stop first waits a few turns of the event loop. A connection failure that has already
 * reached this machine shows up in that time and takes precedence. A failure that has not arrived
 * yet cannot be known: a connection that dies in the very moment of the stop counts as stopped.
 * Earlier silence is covered. It counts at the pace of the fastest model, which soon amounts to the
 * longest answer (20 s for 8,192 tokens).
 */
import { setImmediate } from 'node:timers';
import { STOPPED } from './settings.ts';

export interface Leaving {
  /** Aborts shortly after `stop`, unless `done` came first. */
  readonly signal: AbortSignal;
  /** The request is over. */
  done(): void;
}

/** `before`: called just before the signal aborts. */
export function createLeaving(stop: AbortSignal, before: () => void = () => undefined): Leaving {
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
  if (stop.aborted) leave.abort();
  else stop.addEventListener('abort', onAsked, { once: true });
  return {
    signal: leave.signal,
    done() {
      over = true;
      stop.removeEventListener('abort', onAsked);
    },
  };
}
