/**
 * Progress notifications of one call, for clients that asked for them: those give up on calls that
 * say nothing.
 */
import type { ServerContext } from '@modelcontextprotocol/server';

/** Calls `run` every `ms`. Returns the way to stop. */
export type Every = (ms: number, run: () => void) => () => void;

export interface Progress {
  /** Says so at once, and again and again until something else is said. */
  now(message: string): void;
  /** As `now`, but first after a while. */
  later(message: string): void;
  stop(): void;
}

export interface ProgressDeps {
  readonly every: Every;
  readonly progressEveryMs: number;
  /** A notification could not be sent to a client that is still there. */
  readonly onError: (error: unknown) => void;
}

const SILENT: Progress = { now: () => undefined, later: () => undefined, stop: () => undefined };

export function createProgress(
  { every, progressEveryMs, onError }: ProgressDeps,
  { mcpReq }: ServerContext,
  signal: AbortSignal,
): Progress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return SILENT;
  // Over the whole call: what a client is told may only grow.
  let progress = 0;
  let stop = () => {};
  const send = (message: string) => {
    const sent = mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: (progress += 1), message },
    });
    sent.catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
  };
  const later = (message: string) => {
    stop();
    stop = every(progressEveryMs, () => send(message));
  };
  return {
    now(message) {
      send(message);
      later(message);
    },
    later,
    stop: () => stop(),
  };
}
