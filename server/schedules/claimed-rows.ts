/** What becomes of a claimed occurrence: it goes back to wait, begins, is renewed, and ends. */
import type { RunId } from '../../src/shared/domain/ids.ts';
import type { OccurrenceEnd } from '../../src/shared/domain/schedule/timing.ts';
import { isOneOf } from '../store/dialect.ts';
import { writeOnce } from '../store/index.ts';
import type { WrittenGroup } from '../platform/processes/proc.ts';
import { NO_DETAIL, type Detail } from './history.ts';
import { takeAway, takeAwayOnceOver, type RowsDeps } from './schedule-rows.ts';
import { type Claim, type Ended, occurrence, type Waits } from './occurrence-rows.ts';

export function createClaimedRows({ db, home, limits }: RowsDeps) {
  /** The row, if this claim still holds it and it has not ended. */
  const heldRow = (claim: Claim, from = db) =>
    occurrence(from, home, claim).where('token', '=', claim.token).where('ended_at', 'is', null);

  /**
   * Applies a change to the row of a claim, once. `made`: finds out whether the change was applied.
   * False: the claim does not hold any more.
   */
  const changed = async (change: () => Promise<{ readonly numUpdatedRows: bigint }>, made: () => Promise<unknown>) =>
    (await writeOnce({
      write: async () => (await change()).numUpdatedRows > 0n || null,
      check: async () => (await made()) !== undefined || null,
    })) ?? false;
  const seen = ({ scheduleId, dueAt, token }: Claim) =>
    db
      .selectFrom('occurrences')
      .select('token')
      .where('home', '=', home)
      .where('schedule', '=', scheduleId)
      .where('due_at', '=', dueAt)
      .where('token', '=', token);

  return {
    /**
     * Puts the occurrence back to wait. `waits`: for what; left out: unchanged. False: the claim
     * does not hold any more, or the run has begun.
     */
    async putBack(claim: Claim, notBefore: number, waits?: Waits): Promise<boolean> {
      const why = waits && {
        reason: waits.reason,
        detail_json: JSON.stringify({ ...NO_DETAIL, detail: waits.detail }),
      };
      const { numUpdatedRows } = await heldRow(claim)
        .where('state', '=', 'claimed')
        .set({ state: 'due', token: null, lease_until: null, not_before: notBefore, ...why })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Deletes the row of this claim. It was no occurrence of its schedule and is finished. */
    async forgetHeld({ scheduleId, dueAt, token }: Claim): Promise<void> {
      await db
        .deleteFrom('occurrences')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('due_at', '=', dueAt)
        .where('token', '=', token)
        .where('ended_at', 'is', null)
        .where('kind', '<>', '')
        .execute();
    },
    /**
     * The run begins. From here on no other process can begin it. False: the claim does not hold
     * any more.
     */
    begins: (claim: Claim, runId: RunId, now: number): Promise<boolean> =>
      changed(
        () =>
          heldRow(claim)
            .where('state', '=', 'claimed')
            .set({ state: 'running', run: runId, started_at: now, lease_until: now + limits.leaseMs })
            .executeTakeFirst(),
        () => seen(claim).where('run', '=', runId).executeTakeFirst(),
      ),
    /**
     * A script begins, which has no run. From here on no other process can begin it. False: the
     * claim does not hold any more.
     */
    beginsScript: (claim: Claim, now: number): Promise<boolean> =>
      changed(
        () =>
          heldRow(claim)
            .where('state', '=', 'claimed')
            .set({ state: 'running', lease_until: now + limits.leaseMs })
            .executeTakeFirst(),
        () => seen(claim).where('state', '=', 'running').executeTakeFirst(),
      ),
    /** Records the process group of a script. False: the claim does not hold any more. */
    async runsAs(claim: Claim, group: WrittenGroup): Promise<boolean> {
      const { numUpdatedRows } = await heldRow(claim)
        .set({ group_json: JSON.stringify(group) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async renew(claims: readonly Claim[], now: number): Promise<void> {
      if (claims.length === 0) return;
      await db
        .updateTable('occurrences')
        .set({ lease_until: now + limits.leaseMs })
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where(
          isOneOf(
            'token',
            claims.map(({ token }) => token),
          ),
        )
        .execute();
    },
    /**
     * Writes the outcome. False: the claim does not hold any more. `removes`: removes the schedule
     * in the same transaction.
     */
    async end(
      claim: Claim,
      end: OccurrenceEnd,
      detail: Detail,
      now: number,
      { removes = false }: Pick<Ended, 'removes'> = {},
    ): Promise<boolean> {
      return await changed(
        () =>
          db.transaction().execute(async (trx) => {
            const ended = await heldRow(claim, trx)
              .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
              .executeTakeFirst();
            if (ended.numUpdatedRows > 0n && removes === true) await takeAway(trx, home, claim.scheduleId, now);
            if (ended.numUpdatedRows > 0n && removes === 'once-over')
              await takeAwayOnceOver(trx, home, claim.scheduleId, now);
            return ended;
          }),
        () => seen(claim).where('ended_at', '=', now).where('state', '=', end.state).executeTakeFirst(),
      );
    },
  };
}
