/** Work that a dead relay had begun: the relay was killed, or hung until its lease expired. */
import { isNoneOf, isOneOf } from '../store/dialect.ts';
import { groupSchema } from '../platform/processes/proc.ts';
import type { RowsDeps } from './schedule-rows.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { CLAIMED, claimOf, type LeftScript, type Ended } from './occurrence-rows.ts';

export function createLeftRows({ db, home, limits, setAside = SETS_NOTHING_ASIDE }: RowsDeps) {
  return {
    /**
     * Claims the scripts that dead relays left behind, so that the caller may end them. `all` and
     * `mine`: as for `dead`.
     */
    async takeOver(now: number, all: boolean, mine: readonly string[], newToken: string): Promise<LeftScript[]> {
      const rows = await db
        .updateTable('occurrences')
        .set({ token: newToken, lease_until: now + limits.leaseMs })
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where('run', 'is', null)
        .where(isNoneOf('token', [...mine]))
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .returning([...CLAIMED, 'group_json'])
        .execute();
      return setAside.read(
        'schedules',
        rows,
        ({ schedule, due_at }) => `${schedule} ${due_at}`,
        ({ group_json, ...row }) => ({
          claim: claimOf(row, newToken),
          group: group_json === null ? null : groupSchema.parse(JSON.parse(group_json)),
        }),
      );
    },
    /**
     * Runs that dead relays left behind. `all`: no other process can have this store. `mine`:
     * tokens of the claims held by this process.
     */
    async dead(now: number, all: boolean, mine: readonly string[]): Promise<string[]> {
      const runs = await db
        .selectFrom('occurrences')
        .select('run')
        .where('home', '=', home)
        .where('ended_at', 'is', null)
        .where('state', '=', 'running')
        .where(isNoneOf('token', [...mine]))
        .$if(!all, (query) => query.where('lease_until', '<', now))
        .execute();
      return runs.flatMap(({ run }) => run ?? []);
    },
    /**
     * Ends what dead relays had begun, and returns what they had only claimed to the queue, to be
     * judged by the current time. `all` and `mine`: as for `dead`. `ends`: known outcomes of runs,
     * by run id.
     */
    async recover(now: number, all: boolean, mine: readonly string[], ends: ReadonlyMap<string, Ended>): Promise<void> {
      await db.transaction().execute(async (trx) => {
        const dead = trx
          .updateTable('occurrences')
          .where('home', '=', home)
          .where('ended_at', 'is', null)
          .where((or) => or.or([or('token', 'is', null), isNoneOf('token', [...mine])]))
          .$if(!all, (query) => query.where('lease_until', '<', now));
        for (const [run, { end, detail }] of ends)
          await dead
            .where('state', '=', 'running')
            .where('run', '=', run)
            .set({ ...end, ended_at: now, lease_until: null, detail_json: JSON.stringify(detail) })
            .execute();
        await dead.where('state', '=', 'running').set({ state: 'crashed', ended_at: now, lease_until: null }).execute();
        // A woken agent whose run had not begun is woken again if its message still waits: see
        // server/agents/wakes.
        await dead
          .where('state', '=', 'claimed')
          .where('kind', '<>', '')
          .where('notice_json', 'is', null)
          .set({ state: 'crashed', ended_at: now, lease_until: null })
          .execute();
        await dead.where('state', '=', 'claimed').set({ state: 'due', token: null, lease_until: null }).execute();
        // Occurrences that nobody had begun are caught up together with the new ones, or are
        // missed. Those that wait for an earlier run of their schedule were looked at a moment ago.
        const late = await trx
          .updateTable('occurrences')
          .set({ late: true })
          .where('home', '=', home)
          .where('state', '=', 'due')
          // An occurrence that waits for its agent was judged when it became due. A notice of a
          // failed script is no occurrence of its schedule.
          .where('kind', '=', '')
          .where('reason', 'is', null)
          .where('not_before', '<', now - limits.catchUp.onTimeMs)
          .returning('schedule')
          .execute();
        await trx
          .updateTable('schedules')
          .set({ due_at: now })
          .where('home', '=', home)
          .where(
            isOneOf(
              'schedule',
              late.map(({ schedule }) => schedule),
            ),
          )
          .where('removed', '=', false)
          .execute();
      });
    },
  };
}
