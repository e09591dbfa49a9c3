/**
 * The gate's record of the sessions that wakes have opened, and which of them still run. A process
 * says of its own, again and again, that they do; of a process that has said nothing for a while,
 * they are over since it last did. What agents do in a session, their runs, stands in
 * server/agents/runs.
 */
import { sql } from 'kysely';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { parseText, type Database, type Db } from '../../store/index.ts';
import type { OpenWakeSession } from './facts.ts';

const WAKE_SESSION_SETTINGS = {
  /** ms between two signs of life: so much of a session may go uncounted after a kill. */
  heartbeatMs: 5_000,
  /** ms without one, after which a process counts as dead. */
  deadMs: 20_000,
} as const;

export interface WakeSessionsDeps {
  readonly db: Db;
  readonly database: Pick<Database, 'backMs'>;
  readonly home: string;
  readonly now: () => number;
  /**
   * No other process can have this store open: what runs there and is not ours was left by an
   * earlier one.
   */
  readonly alone: boolean;
  readonly timers: Timers;
  /** A sign of life could not be written; the next one is tried all the same. */
  readonly onError: (error: unknown) => void;
}

export interface WakeSessions {
  /** To be called before the row can be seen by others. */
  opened(decisionId: string): void;
  /** It was not opened after all. */
  withdrawn(decisionId: string): void;
  /** Whose it was; null where it was over already, or never was. */
  ended(decisionId: string): Promise<string | null>;
  isLive(session: OpenWakeSession, time: number): boolean;
  /**
   * Ends what is not live, with its last sign of life. Resolves with the wakes that had opened it.
   */
  closeDead(): Promise<readonly string[]>;
  /** Ends all of this process. */
  close(): Promise<void>;
}

/** Ends these with their last sign of life. */
export const endAsSeen = (db: Db, home: string) =>
  db
    .updateTable('wake_sessions')
    .set((eb) => ({ ended_at: eb.ref('seen_at') }))
    .where('home', '=', home)
    .where('ended_at', 'is', null);

export function createWakeSessions({
  db,
  database,
  home,
  now,
  alone,
  timers,
  onError,
}: WakeSessionsDeps): WakeSessions {
  const own = new Set<string>();
  let cancel: (() => void) | null = null;
  /** One after the other: a sign of life that was sent before an end must not arrive after it. */
  const inTurn = createQueue();
  /** After an outage others first say again that they run. */
  const isTooSoon = () => database.backMs() < WAKE_SESSION_SETTINGS.deadMs;
  const ours = (decisionIds: readonly string[]) =>
    db
      .updateTable('wake_sessions')
      .where('home', '=', home)
      .where('wake', '=', sql<string>`any(${[...decisionIds]}::text[])`);

  function drop(decisionId: string): boolean {
    const had = own.delete(decisionId);
    if (own.size === 0) {
      cancel?.();
      cancel = null;
    }
    return had;
  }
  function beatLater(): void {
    if (own.size === 0) return;
    cancel ??= timers.after(WAKE_SESSION_SETTINGS.heartbeatMs, () => {
      cancel = null;
      void inTurn(beat).catch(onError).finally(beatLater);
    });
  }
  async function beat(): Promise<void> {
    // Another process may have taken us for dead: while we say so, they run.
    if (own.size > 0)
      await ours([...own])
        .set({ seen_at: now(), ended_at: null })
        .execute();
  }

  return {
    opened(decisionId) {
      own.add(decisionId);
      beatLater();
    },
    withdrawn: (decisionId) => void drop(decisionId),
    ended(decisionId) {
      const over = { ended_at: now(), seen_at: now() };
      const update = drop(decisionId)
        ? ours([decisionId]).set(over)
        : ours([decisionId]).set(over).where('ended_at', 'is', null);
      return inTurn(async () => {
        const row = await update.returning('target_json').executeTakeFirst();
        return row ? parseText(row.target_json) : null;
      });
    },
    isLive: ({ wake, seen }, time) =>
      own.has(wake) || (!alone && (isTooSoon() || Math.abs(time - seen) < WAKE_SESSION_SETTINGS.deadMs)),
    async closeDead() {
      if (!alone && isTooSoon()) return [];
      const before = alone ? Number.MAX_SAFE_INTEGER : now() - WAKE_SESSION_SETTINGS.deadMs;
      const rows = await endAsSeen(db, home)
        // Seen much later than now: by a clock that went back since; whoever runs says so again.
        .where((or) => or.or([or('seen_at', '<=', before), or('seen_at', '>', now() + WAKE_SESSION_SETTINGS.deadMs)]))
        .where('wake', '<>', sql<string>`all(${[...own]}::text[])`)
        .returning('wake')
        .execute();
      return rows.map(({ wake }) => wake);
    },
    async close() {
      const decisionIds = [...own];
      decisionIds.forEach(drop);
      await inTurn(async () => {
        if (decisionIds.length > 0) await ours(decisionIds).set({ ended_at: now(), seen_at: now() }).execute();
      });
    },
  };
}
