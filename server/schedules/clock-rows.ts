/** The sign of life of this home's clock. */
import type { RowsDeps } from './schedule-rows.ts';

export function createClockRows({ db, home }: Pick<RowsDeps, 'db' | 'home'>) {
  return {
    /** The last tick of this home's clock, and when the person stopped it (null: they did not). */
    async sign(): Promise<{ readonly seenAt: number; readonly stoppedAt: number | null } | null> {
      const row = await db.selectFrom('clocks').selectAll().where('home', '=', home).executeTakeFirst();
      return row ? { seenAt: row.seen_at, stoppedAt: row.stopped_at } : null;
    },
    async writeSign(seenAt: number, stoppedAt: number | null): Promise<void> {
      await db
        .insertInto('clocks')
        .values({ home, seen_at: seenAt, stopped_at: stoppedAt })
        .onConflict((conflict) => conflict.column('home').doUpdateSet({ seen_at: seenAt, stopped_at: stoppedAt }))
        .execute();
    },
  };
}
