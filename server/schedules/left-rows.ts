/**
 * What somebody had begun with who is dead: a relay that was killed, or hung until its lease was
 * over.
 */
import { sql } from 'kysely';
import { groupSchema } from '../platform/processes/proc.ts';
import { CLAIMED, claimOf, type Ended, type LeftScript } from './occurrence-rows.ts';
import type { RowsDeps } from './schedule-rows.ts';

export function createLeftRows({ db, home, limits }: RowsDeps) {
  return {
    /**
     * Scripts of those who are dead, each under a claim of one's own by now: who takes them on may
     * end them. `all` and `mine` as with `dead`.
     */
    async takeOver(now: number, all: boolean, mine: readonly string[], newToken: string): Promise<LeftScript[]> {
      const rows = await db
        .updateTable('occurrences')
        .set({ token: newToken, lease_until: now + limits.leaseMs })
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where('run', 'is', null)
        .where(sql<boolean>`token <> all(${[...mine]}::text[])`)
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .returning([...CLAIMED, 'group_json'])
        .execute();
      return rows.map(({ group_json, ...row }) => ({
        claim: claimOf(row, newToken),
        group: group_json === null ? null : groupSchema.parse(JSON.parse(group_json)),
      }));
    },
    /**
     * Runs of those who are dead. `all`: nobody else can have this store; `mine`: tokens of claims
     * that are held here.
     */
    async dead(now: number, all: boolean, mine: readonly string[]): Promise<string[]> {
      const found = await db
        .selectFrom('occurrences')
        .select('run')
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where(sql<boolean>`token <> all(${[...mine]}::text[])`)
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .execute();
      return found.flatMap(({ run }) => run ?? []);
    },
    /**
     * Ends what somebody had begun who is dead, and gives back what nobody had: it is judged anew,
     * by what time it is now. `all` and `mine` as with `dead`; `ends`: how runs ended of which that
     * is known, by their ids.
     */
    async recover(now: number, all: boolean, mine: readonly string[], ends: ReadonlyMap<string, Ended>): Promise<void> {
      await db.transaction().execute(async (trx) => {
        const dead = trx
          .updateTable('occurrences')
          .where('home', '=', home)
          .where('ended_at', 'is', null)
          .where(sql<boolean>`(token is null or token <> all(${[...mine]}::text[]))`)
          .$if(!all, (query) => query.where('lease_until', '<', now));
        for (const [run, { end, detail }] of ends)
          await dead
            .where('state', '=', 'running')
            .where('run', '=', run)
            .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
            .execute();
        await dead.where('state', '=', 'running').set({ state: 'crashed', ended_at: now, lease_until: null }).execute();
        // Who was woken and had not begun is woken anew where its message still waits: see
        // server/agents/reach.
        await dead
          .where('state', '=', 'claimed')
          .where('kind', '<>', '')
          .where('notice_json', 'is', null)
          .set({ state: 'crashed', ended_at: now, lease_until: null })
          .execute();
        await dead.where('state', '=', 'claimed').set({ state: 'due', token: null, lease_until: null }).execute();
        // What nobody had begun with is made up for with what came meanwhile, or is missed; what
        // waits for an earlier run of its own was looked at a moment ago.
        const late = await trx
          .updateTable('occurrences')
          .set({ late: true })
          .where('home', '=', home)
          .where('state', '=', 'due')
          // What waits for its agent was judged when it was due, and the news that a script failed
          // is no moment at all.
          .where('kind', '=', '')
          .where('reason', 'is', null)
          .where('not_before', '<', now - limits.catchUp.onTimeMs)
          .returning('schedule')
          .execute();
        await trx
          .updateTable('schedules')
          .set({ due_at: now })
          .where('home', '=', home)
          .where('schedule', '=', sql<string>`any(${late.map(({ schedule }) => schedule)}::text[])`)
          .where('removed', '=', false)
          .execute();
      });
    },
  };
}
