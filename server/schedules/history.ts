/** The history of occurrences, and the last tick of each home's clock. */
import { sql, type Selectable } from 'kysely';
import { z } from 'zod';
import type { AgentId, RunId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { type OccurrenceEnd, SKIP_REASONS, type SkipReason } from '../../src/shared/domain/schedule/timing.ts';
import { idOf } from '../../src/shared/protocol/limits.ts';
import { occurrenceSchema, occurrenceStateSchema, type Occurrence } from '../../src/shared/protocol/schedules.ts';
import { anyTrue, cappedSum, contains, countIn, givenRows, isOneOf } from '../store/dialect.ts';
import { parseText } from '../store/index.ts';
import { SCHEMA, type Tables } from '../store/tables.ts';
import { json, type RowsDeps } from './schedule-rows.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';

/** Details of an outcome, stored beside the state. */
const detailSchema = z.object({
  said: z.string().nullable().default(null),
  detail: z.string().nullable().default(null),
  tokens: z.number().nullable().default(null),
  costMicroUsd: z.number().nullable().default(null),
  estimated: z.boolean().default(false),
  continuedBy: idOf<RunId>(z.string()).nullable().default(null),
  /** The mapping that had this run for itself. Null: none. Left out: unknown, as after a crash. */
  own: z.string().nullable().optional(),
  /** Names the tasks that were ready, where the run claimed none of them. */
  left: z.string().optional(),
});
const shownDetailSchema = detailSchema.omit({ own: true, left: true });
export type Detail = z.infer<typeof detailSchema>;
export const NO_DETAIL: Detail = {
  said: null,
  detail: null,
  tokens: null,
  costMicroUsd: null,
  estimated: false,
  continuedBy: null,
};

/** Why an occurrence was skipped when its agent had nothing to do. */
const IDLE: SkipReason = 'nothing-waits';
export const skipReasonSchema = z.enum(SKIP_REASONS);
const reasonSchema = skipReasonSchema.nullable();
/** The sentence in the stored detail of an occurrence. */
export const detailOf = (json: string | null): string | null => detailSchema.parse(JSON.parse(json ?? '{}')).detail;
function endOf(row: Pick<Selectable<Tables['occurrences']>, 'state' | 'reason'>): OccurrenceEnd | null {
  const state = occurrenceStateSchema.parse(row.state);
  if (state === 'due' || state === 'claimed' || state === 'running') return null;
  if (state !== 'skipped') return { state, reason: null };
  return { state, reason: reasonSchema.parse(row.reason) ?? 'gate' };
}

/** The kind of a stored schedule. A schedule that is gone counts as a routine. */
function kindIn(valueJson: string | null): Occurrence['kind'] {
  const schedule = z.looseObject({ kind: occurrenceSchema.shape.kind }).safeParse(JSON.parse(valueJson ?? '{}'));
  return schedule.success ? schedule.data.kind : 'routine';
}

function occurrenceOf(
  row: Selectable<Tables['occurrences']> & {
    readonly value_json: string | null;
    readonly schedule_name: string | null;
  },
): Occurrence {
  return {
    scheduleId: row.schedule,
    agentId: parseText(row.agent_json),
    name: parseText(row.name_json ?? row.schedule_name ?? '""'),
    kind: row.kind !== '' ? occurrenceSchema.shape.kind.parse(row.kind) : kindIn(row.value_json),
    dueAt: row.due_at,
    state: occurrenceStateSchema.parse(row.state),
    reason: reasonSchema.parse(row.reason),
    late: row.late,
    runId: row.run,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    ...shownDetailSchema.parse(JSON.parse(row.detail_json ?? '{}')),
  };
}

/** `name`: null for runs started by a wake, which belong to no schedule. */
export interface SpentByRoutine {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly name: string | null;
  readonly kind: Occurrence['kind'];
  readonly runs: number;
  readonly tokens: number;
  readonly costMicroUsd: number;
  readonly estimated: boolean;
}

/** Runs that have ended since then. A skipped occurrence is no run. */
const overSince = (since: number) => sql<boolean>`(
  occurrences.ended_at > ${since} and occurrences.run is not null and occurrences.state <> 'skipped'
)`;

const OCCURRENCES = sql.table(`${SCHEMA}.occurrences`);

export function createHistory({ db, home, setAside = SETS_NOTHING_ASIDE }: Pick<RowsDeps, 'db' | 'home' | 'setAside'>) {
  const named = () =>
    db
      .selectFrom('occurrences')
      .leftJoin('schedules', (join) =>
        join.onRef('schedules.home', '=', 'occurrences.home').onRef('schedules.schedule', '=', 'occurrences.schedule'),
      )
      .selectAll('occurrences')
      .select(['schedules.value_json as value_json', 'schedules.name_json as schedule_name'])
      .where('occurrences.home', '=', home);
  return {
    /** Runs that began before then, live and ended, newest first. */
    async runs({
      agentId,
      scheduleId,
      before,
      endedAfter,
      most,
    }: {
      agentId?: AgentId | null;
      scheduleId?: ScheduleId;
      before: number;
      /** Only runs that ended after this time. */
      endedAfter?: number;
      most: number;
    }): Promise<Occurrence[]> {
      const rows = await named()
        .where('occurrences.started_at', '<', before)
        .$if(typeof agentId === 'string', (query) => query.where('occurrences.agent_json', '=', json(agentId ?? '')))
        .$if(scheduleId !== undefined, (query) => query.where('occurrences.schedule', '=', scheduleId ?? ''))
        .$if(endedAfter !== undefined, (query) => query.where(overSince(endedAfter ?? 0)))
        .orderBy('occurrences.started_at', 'desc')
        .orderBy('occurrences.due_at', 'desc')
        .limit(most)
        .execute();
      return rows.map(occurrenceOf);
    },
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
    /** The occurrence whose run this is. */
    async withRun(runId: RunId): Promise<Occurrence | null> {
      const row = await named().where('occurrences.run', '=', runId).executeTakeFirst();
      return row ? occurrenceOf(row) : null;
    },
    /**
     * Whether each of the newest `most` runs of this schedule, or of this mapping of it, left
     * exactly these tasks. They have ended between `from` and `to`.
     */
    async hasLeft(
      {
        scheduleId,
        own,
        left,
      }: { readonly scheduleId: ScheduleId; readonly own: string | null; readonly left: string },
      { most, from, to }: { readonly most: number; readonly from: number; readonly to: number },
    ): Promise<boolean> {
      const rows = await named()
        .where('occurrences.schedule', '=', scheduleId)
        .where('occurrences.started_at', 'is not', null)
        .where('occurrences.ended_at', '>', from)
        .where('occurrences.ended_at', '<=', to)
        .where(contains('occurrences.detail_json', `"own":${JSON.stringify(own)}`))
        .orderBy('occurrences.started_at', 'desc')
        .limit(most)
        .execute();
      const details = setAside.read(
        'schedules',
        rows,
        ({ schedule, due_at }) => `${schedule} ${due_at}`,
        ({ detail_json }) => detailSchema.parse(JSON.parse(detail_json ?? '{}')),
      );
      return details.length >= most && details.every((detail) => detail.left === left);
    },
    /** The mapping that had this run for itself. Null: none. Undefined: unknown. */
    async ownOf(runId: RunId): Promise<string | null | undefined> {
      const row = await named().where('occurrences.run', '=', runId).executeTakeFirst();
      return detailSchema.parse(JSON.parse(row?.detail_json ?? '{}')).own;
    },
    /** The occurrence that this run continues. */
    async continuedIn({ runId, agentId }: Pick<Occurrence, 'runId' | 'agentId'>): Promise<Occurrence | null> {
      // Inside a stored text these quotation marks would be escaped.
      const marked = `"continuedBy":${JSON.stringify(runId)}`;
      const row = await named()
        .where('occurrences.agent_json', '=', json(agentId))
        .where(contains('occurrences.detail_json', marked))
        .executeTakeFirst();
      return row ? occurrenceOf(row) : null;
    },
    /**
     * Records that the later run continues this one. False: another run does, or this one has not
     * ended.
     */
    async goesOn(runId: RunId, continuedBy: RunId): Promise<boolean> {
      const row = await db
        .selectFrom('occurrences')
        .select('detail_json')
        .where('home', '=', home)
        .where('run', '=', runId)
        .where('ended_at', 'is not', null)
        .executeTakeFirst();
      const detail = row && detailSchema.parse(JSON.parse(row.detail_json ?? '{}'));
      if (!row || detail?.continuedBy !== null) return false;
      const { numUpdatedRows } = await db
        .updateTable('occurrences')
        .set({ detail_json: JSON.stringify({ ...detail, continuedBy }) })
        .where('home', '=', home)
        .where('run', '=', runId)
        // Compare and set: of two concurrent calls only one succeeds.
        .where(sql<boolean>`detail_json is not distinct from ${row.detail_json}`)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Occurrences since then at which a wake was to start a run of this agent. */
    async wakesSince(agentId: AgentId, since: number): Promise<Pick<Occurrence, 'state' | 'reason'>[]> {
      const rows = await named()
        .where('occurrences.agent_json', '=', json(agentId))
        .where('occurrences.kind', '=', 'wake')
        .where('occurrences.due_at', '>=', since)
        .execute();
      return rows.map(occurrenceOf);
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
      const asked = scheduleIds.map((schedule) => ({ schedule }));
      const { rows } = await sql<{ schedule: string; state: string; reason: string | null }>`
        select ends.schedule, ends.state, ends.reason
        from ${givenRows('asked', { schedule: 'text' }, asked)}
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
    /**
     * Occurrences due in (`from`, `to`], newest first, whether they wait, run or have ended. `idle:
     * 'last'`: when there are more than `most`, those skipped because nothing waited are dropped
     * first.
     */
    async between(
      from: number,
      to: number,
      {
        agentId,
        scheduleId,
        most,
        idle,
      }: { agentId?: AgentId; scheduleId?: ScheduleId; most: number; idle?: 'last' | undefined },
    ): Promise<Occurrence[]> {
      const idled = sql<boolean>`occurrences.reason is not distinct from ${IDLE}`;
      const rows = await named()
        .where('occurrences.due_at', '>', from)
        .where('occurrences.due_at', '<=', to)
        .$if(agentId !== undefined, (query) => query.where('occurrences.agent_json', '=', json(agentId ?? '')))
        .$if(scheduleId !== undefined, (query) => query.where('occurrences.schedule', '=', scheduleId ?? ''))
        .$if(idle === 'last', (query) => query.orderBy(idled))
        .orderBy('occurrences.due_at', 'desc')
        .limit(most)
        .execute();
      return rows.map(occurrenceOf).sort((one, other) => other.dueAt - one.dueAt);
    },
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
