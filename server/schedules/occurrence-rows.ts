/**
 * Occurrences as rows. An occurrence is a moment at which a schedule was due. Each has one row, is
 * claimed by one relay, and has one outcome.
 */
import type { Insertable, Selectable } from 'kysely';
import type { AgentId, MessageId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { z } from 'zod';
import type { OccurrenceEnd, SkipReason } from '../../src/shared/domain/schedule/timing.ts';
import { idOf } from '../../src/shared/protocol/limits.ts';
import { contains, isOneOf } from '../store/dialect.ts';
import { parseText, writeOnce, type Db } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
import type { WrittenGroup } from '../platform/processes/proc.ts';
import type { Detail } from './history.ts';
import { json, rowOf, notRemoved, takeFromClock, type Row, type RowsDeps } from './schedule-rows.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { judge, type Judging } from './judging.ts';

/** An occurrence that a process has claimed and may end. */
export interface Claim {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly dueAt: number;
  readonly late: boolean;
  readonly token: string;
  /** The occurrence could not run before, and waited. */
  readonly waited?: boolean;
  /**
   * Set when the row is no occurrence of its schedule, but a notice to its agent that a script
   * failed.
   */
  readonly notice?: Notice | null;
}

/**
 * Notice that a script failed: the message for the agent, which is woken for it. `status`: how the
 * script ended.
 */
const noticeSchema = z.object({
  messageId: idOf<MessageId>(z.string()),
  name: z.string(),
  status: z.string(),
  text: z.string(),
});
export type Notice = z.infer<typeof noticeSchema>;

/** Why a due occurrence waits. `detail`: a sentence for people. */
export interface Waits {
  readonly reason: SkipReason;
  readonly detail: string | null;
}

/**
 * A script that was running when its relay died. `group` null: it had not begun, or ran in a
 * sandbox, which dies with the relay.
 */
export interface LeftScript {
  readonly claim: Claim;
  readonly group: WrittenGroup | null;
}

export interface Ended {
  readonly end: OccurrenceEnd;
  readonly detail: Detail;
  /**
   * Removes the schedule in the same transaction as the outcome, so that a killed relay cannot
   * repeat it. `once-over`: only if the schedule is not due again and has no other open occurrence.
   */
  readonly removes?: boolean | 'once-over';
}

const OF_CLAIM = ['agent_json', 'late', 'reason', 'notice_json'] as const;
export const CLAIMED = ['schedule', 'due_at', ...OF_CLAIM] as const;
export const claimOf = (
  row: Pick<Selectable<Tables['occurrences']>, (typeof CLAIMED)[number]>,
  token: string,
): Claim => ({
  scheduleId: row.schedule,
  agentId: parseText(row.agent_json),
  dueAt: row.due_at,
  late: row.late,
  token,
  waited: row.reason !== null,
  notice: row.notice_json === null ? null : noticeSchema.parse(JSON.parse(row.notice_json)),
});

/** The row of an occurrence, for a change. */
export const occurrence = (from: Db, home: string, { scheduleId, dueAt }: Pick<Claim, 'scheduleId' | 'dueAt'>) =>
  from
    .updateTable('occurrences')
    .where('home', '=', home)
    .where('schedule', '=', scheduleId)
    .where('due_at', '=', dueAt);

export function createOccurrences({ db, home, limits, setAside = SETS_NOTHING_ASIDE }: RowsDeps) {
  /** A row for an occurrence that nobody has claimed. */
  const dueRow = ({ scheduleId, agentId, dueAt }: Pick<Claim, 'scheduleId' | 'agentId' | 'dueAt'>) => ({
    ...{ home, schedule: scheduleId, agent_json: json(agentId), due_at: dueAt, not_before: dueAt, state: 'due' },
    ...{ reason: null, token: null, lease_until: null, run: null },
    ...{ started_at: null, ended_at: null, detail_json: null },
  });

  /** False: the schedule has an occurrence at this very millisecond. */
  async function insert(row: Insertable<Tables['occurrences']>): Promise<boolean> {
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('occurrences')
      .values(row)
      .onConflict((conflict) => conflict.columns(['home', 'schedule', 'due_at']).doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows > 0n;
  }
  /** The row claimed with this token. */
  async function claimedBy(token: string): Promise<Claim | null> {
    const row = await db
      .selectFrom('occurrences')
      .select(CLAIMED)
      .where('home', '=', home)
      .where('token', '=', token)
      .executeTakeFirst();
    return row ? claimOf(row, token) : null;
  }

  return {
    /**
     * Adds an occurrence due now, for the person, the agent or a webhook. Does nothing if the
     * schedule has one at this very millisecond.
     */
    async trigger({ scheduleId, schedule }: Row, now: number): Promise<void> {
      await insert(dueRow({ scheduleId, agentId: schedule.agentId, dueAt: now }));
    },
    /**
     * Inserts and claims a row for a run that was not scheduled. It takes the first free due time
     * from `now` on.
     */
    async woken(
      claim: Omit<Claim, 'dueAt' | 'late'>,
      { kind, name }: { readonly kind: 'wake' | 'routine' | 'reminder' | 'script'; readonly name: string },
      now: number,
    ): Promise<Claim> {
      for (let dueAt = now; ; dueAt++) {
        const row = {
          ...dueRow({ ...claim, dueAt }),
          state: 'claimed',
          token: claim.token,
          lease_until: now + limits.leaseMs,
          kind,
          name_json: json(name),
        };
        const write = async () => ((await insert(row)) ? { ...claim, dueAt, late: false } : null);
        const written = await writeOnce({ write, check: () => claimedBy(claim.token) });
        if (written) return written;
      }
    },
    /**
     * Judges those of these schedules that are due. Resolves with how many were judged: rows locked
     * by another process are skipped.
     */
    async advance(scheduleIds: readonly ScheduleId[], judging: Judging): Promise<number> {
      return await db.transaction().execute(async (trx) => {
        const due = await notRemoved(trx, home)
          .selectAll()
          .where(isOneOf('schedule', [...scheduleIds]))
          .where('due_at', '<=', judging.now)
          .orderBy('due_at')
          .forUpdate()
          .skipLocked()
          .execute();
        const readable = setAside.read('schedules', due, ({ schedule }) => schedule, rowOf);
        const ids = new Set(readable.map(({ scheduleId }) => scheduleId));
        await takeFromClock(
          trx,
          home,
          due.map(({ schedule }) => schedule).filter((id) => !ids.has(id)),
        );
        for (const row of readable) await judge(trx, { home, limits }, row, judging);
        return due.length;
      });
    },
    /**
     * Claims the next due occurrence, so that no other process takes it. `late`: includes
     * occurrences to be caught up.
     */
    async claim(now: number, newToken: string, late: boolean): Promise<Claim | null> {
      const next = db
        .selectFrom('occurrences')
        .select(['schedule', 'due_at'])
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'due')
        .where('not_before', '<=', now)
        .$if(!late, (query) => query.where('late', '=', false))
        .orderBy('not_before')
        .orderBy('due_at')
        .limit(1)
        .forUpdate()
        .skipLocked();
      return await writeOnce({
        async write() {
          const row = await db
            .with('next', () => next)
            .updateTable('occurrences')
            .from('next')
            .set({ state: 'claimed', token: newToken, lease_until: now + limits.leaseMs })
            .where('occurrences.home', '=', home)
            .whereRef('occurrences.schedule', '=', 'next.schedule')
            .whereRef('occurrences.due_at', '=', 'next.due_at')
            .returning(['occurrences.schedule as schedule', 'occurrences.due_at as due_at', ...OF_CLAIM])
            .executeTakeFirst();
          if (!row) return null;
          const [claim] = setAside.read(
            'schedules',
            [row],
            ({ schedule, due_at }) => `${schedule} ${due_at}`,
            (each) => claimOf(each, newToken),
          );
          if (claim) return claim;
          const { schedule: scheduleId, due_at: dueAt } = row;
          await occurrence(db, home, { scheduleId, dueAt }).set({ state: 'crashed', ended_at: now }).execute();
          return null;
        },
        check: () => claimedBy(newToken),
      });
    },
    /**
     * Stores a notice for the agent. It waits until it is delivered. Storing the same message again
     * changes nothing.
     */
    async leaveNotice({ scheduleId, agentId }: Claim, notice: Notice, now: number): Promise<void> {
      const isThere = contains('notice_json', JSON.stringify(notice.messageId));
      const there = await db
        .selectFrom('occurrences')
        .select('due_at')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where(isThere)
        .executeTakeFirst();
      if (there) return;
      const row = {
        not_before: now,
        kind: 'script',
        name_json: json(notice.name),
        notice_json: JSON.stringify(notice),
      };
      for (let dueAt = now; ; dueAt++) if (await insert({ ...dueRow({ scheduleId, agentId, dueAt }), ...row })) return;
    },
    /** The agent may be free now, so occurrences that wait for it are tried immediately. */
    async hurry(agentId: AgentId, now: number): Promise<void> {
      await db
        .updateTable('occurrences')
        .set({ not_before: now })
        .where('home', '=', home)
        .where('agent_json', '=', json(agentId))
        .where('ended_at', 'is', null)
        .where('state', '=', 'due')
        .where('reason', 'in', ['agent-busy', 'concurrency'])
        .where('not_before', '>', now)
        .execute();
    },
    async forget(before: number): Promise<void> {
      await db.deleteFrom('occurrences').where('home', '=', home).where('ended_at', '<', before).execute();
    },
  };
}
