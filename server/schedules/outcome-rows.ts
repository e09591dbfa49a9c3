/** What occurrences came to, and what their runs cost. */
import { sql } from 'kysely';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import type { OccurrenceEnd } from '../../src/shared/domain/schedule/timing.ts';
import { anyTrue, cappedSum, contains, countIn, givenRows, isOneOf } from '../store/dialect.ts';
import { parseText } from '../store/index.ts';
import { SCHEMA } from '../store/tables.ts';
import { json, type RowsDeps } from './schedule-rows.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { endOf, kindIn, overSince, type SpentByRoutine } from './history.ts';

const OCCURRENCES = sql.table(`${SCHEMA}.occurrences`);

export function createOutcomes({
  db,
  home,
  setAside = SETS_NOTHING_ASIDE,
}: Pick<RowsDeps, 'db' | 'home' | 'setAside'>) {
  return {
    /**
     * Agents that finished a run after `since`, each with the latest end. In ms since the epoch.
     */
    async endsSince(since: number): Promise<ReadonlyMap<AgentId, number>> {
      const rows = await db
        .selectFrom('occurrences')
        .select(['agent_json', sql<string>`max(ended_at)`.as('at')])
        .where('home', '=', home)
        .where(overSince(since))
        .groupBy('agent_json')
        .execute();
      return new Map(
        setAside.read(
          'schedules',
          rows,
          ({ agent_json }) => agent_json,
          ({ agent_json, at }) => [parseText(agent_json), Number(at)] as const,
        ),
      );
    },
    /** Start of the agent's latest run, in ms since the epoch. 0: none is known. */
    async lastRunOf(agentId: AgentId): Promise<number> {
      const { at } = await db
        .selectFrom('occurrences')
        .where('home', '=', home)
        .where('agent_json', '=', json(agentId))
        .select((eb) => eb.fn.max('started_at').as('at'))
        .executeTakeFirstOrThrow();
      return Number(at ?? 0);
    },
    /** Costs of the runs in (`from`, now], by schedule, most expensive first. */
    async spentSince(from: number): Promise<SpentByRoutine[]> {
      const rows = await db
        .selectFrom('occurrences')
        .select((eb) => [
          'schedule',
          'agent_json',
          anyTrue(sql`kind = 'wake'`).as('wake'),
          eb.fn.countAll<number>().as('runs'),
          cappedSum(countIn('detail_json', 'costMicroUsd')).as('micro_usd'),
          cappedSum(countIn('detail_json', 'tokens')).as('tokens'),
          anyTrue(contains('detail_json', '"estimated":true')).as('estimated'),
        ])
        .where('home', '=', home)
        .where('started_at', '>', from)
        .where('ended_at', 'is not', null)
        .groupBy(['schedule', 'agent_json'])
        .orderBy('micro_usd', 'desc')
        .orderBy('schedule')
        .execute();
      const names = await db
        .selectFrom('schedules')
        .select(['schedule', 'name_json', 'value_json'])
        .where('home', '=', home)
        .where(
          isOneOf(
            'schedule',
            rows.map(({ schedule }) => schedule),
          ),
        )
        .execute();
      const nameOf = new Map(names.map(({ schedule, name_json }) => [schedule, parseText(name_json)]));
      const valueOf = new Map(names.map(({ schedule, value_json }) => [schedule, value_json]));
      return rows.map(({ schedule, agent_json, wake, runs, micro_usd, tokens, estimated }) => ({
        scheduleId: schedule,
        agentId: parseText(agent_json),
        name: nameOf.get(schedule) ?? null,
        kind: wake ? 'wake' : kindIn(valueOf.get(schedule) ?? null),
        runs: Number(runs),
        tokens: Number(tokens),
        costMicroUsd: Number(micro_usd),
        estimated: Boolean(estimated),
      }));
    },
    /** The latest outcomes of one schedule, newest first. */
    async ends(scheduleId: ScheduleId, most: number): Promise<OccurrenceEnd[]> {
      const rows = await db
        .selectFrom('occurrences')
        .select(['state', 'reason'])
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('ended_at', 'is not', null)
        // Runs that the schedule started by waking an agent are not its occurrences.
        .where('kind', '=', '')
        .orderBy('due_at', 'desc')
        .limit(most)
        .execute();
      return rows.flatMap((row) => endOf(row) ?? []);
    },
    /** The same as `ends` for several schedules, by schedule. */
    async endsOf(
      scheduleIds: readonly ScheduleId[],
      most: number,
    ): Promise<ReadonlyMap<string, readonly OccurrenceEnd[]>> {
      const keys = scheduleIds.map((schedule) => ({ schedule }));
      const { rows } = await sql<{ schedule: string; state: string; reason: string | null }>`
        select ends.schedule, ends.state, ends.reason
        from ${givenRows('asked', { schedule: 'text' }, keys)}
        join ${OCCURRENCES} as ends on ends.home = ${home} and ends.schedule = asked.schedule
          and ends.ended_at is not null and ends.kind = '' and ends.due_at >= (
            select min(latest.due_at) from (
              select due_at from ${OCCURRENCES} as each
              where each.home = ${home} and each.schedule = asked.schedule and each.ended_at is not null and each.kind = ''
              order by each.due_at desc limit ${most}
            ) as latest
          )
        order by ends.schedule, ends.due_at desc`.execute(db);
      const ends = new Map<string, OccurrenceEnd[]>();
      for (const row of rows) ends.set(row.schedule, [...(ends.get(row.schedule) ?? []), ...[endOf(row) ?? []].flat()]);
      return ends;
    },
  };
}
