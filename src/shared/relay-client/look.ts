/**
 * What the one other household of a relay says and hears from now on, for a browser without one.
 * Nothing is stored or acknowledged.
 */
import { homeEndpoints } from '../protocol/endpoints/session.ts';
import { createEventStream, type StreamItem } from './event-stream.ts';
import type { SendDeps } from './client.ts';
import { realTimers } from '../domain/platform/timers.ts';

/** Returns the way to stop. */
export function openLook({ fetch, baseUrl }: SendDeps, listener: (item: StreamItem) => void): () => void {
  const stream = createEventStream({
    fetch,
    baseUrl,
    timers: realTimers,
    random: Math.random,
    cursor: null,
    path: homeEndpoints.lookEvents.path,
    listener,
    report: (error) => console.error(error),
  });
  return () => stream.close();
}
