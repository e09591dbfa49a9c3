/**
 * Shows a browser without a household the live events of the relay's one other household. It stores
 * and acknowledges nothing.
 */
import { homeEndpoints } from '../protocol/endpoints/session.ts';
import { createEventStream, type StreamItem } from './event-stream.ts';
import type { SendDeps } from './client.ts';
import { realTimers } from '../domain/platform/timers.ts';

/** Returns the function that stops it. */
export function openHouseholdView({ fetch, baseUrl }: SendDeps, listener: (item: StreamItem) => void): () => void {
  const stream = createEventStream({
    fetch,
    baseUrl,
    timers: realTimers,
    random: Math.random,
    cursor: null,
    path: homeEndpoints.viewEvents.path,
    listener,
    report: (error) => console.error(error),
  });
  return () => stream.close();
}
