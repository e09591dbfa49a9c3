/** How a session ended. */
export interface SessionEnd {
  /** ms since the epoch */
  readonly endedAt: number;
  /** `crash`, or another. */
  readonly reason: string;
}

/**
 * Since when an agent sleeps, ms since the epoch: the one answer for tiles, conversations and what
 * the agent is told. `lastSaid`: when the last thing was said that it remembers; `end`: of the
 * session in which that was, null where it is not known. A crash is dated by the relay's next
 * start, and says nothing of when. Null: not known.
 */
export function asleepFrom(lastSaid: number | null, end: SessionEnd | null): number | null {
  if (end === null || end.reason === 'crash') return lastSaid;
  return Math.max(lastSaid ?? end.endedAt, end.endedAt);
}
