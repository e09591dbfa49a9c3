/** The history of occurrences, and the last tick of each home's clock. */
import { sql, type Selectable } from 'kysely';
import { z } from 'zod';
import type { AgentId, RunId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { type OccurrenceEnd, SKIP_REASONS, type SkipReason } from '../../src/shared/domain/schedule/timing.ts';
import { idOf } from '../../src/shared/protocol/limits.ts';
import { occurrenceSchema, occurrenceStateSchema, type Occurrence } from '../../src/shared/protocol/schedules.ts';
import { contains } from '../store/dialect.ts';
import { parseText } from '../store/index.ts';
import type { Tables } from '../store/tables.ts';
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
export function endOf(row: Pick<Selectable<Tables['occurrences']>, 'state' | 'reason'>): OccurrenceEnd | null {
  const state = occurrenceStateSchema.parse(row.state);
  if (state === 'due' || state === 'claimed' || state === 'running') return null;
  if (state !== 'skipped') return { state, reason: null };
  return { state, reason: reasonSchema.parse(row.reason) ?? 'gate' };
}

/** The kind of a stored schedule. A schedule that is gone counts as a routine. */
export function kindIn(valueJson: string | null): Occurrence['kind'] {
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
export const overSince = (since: number) => sql<boolean>`(
  occurrences.ended_at > ${since} and occurrences.run is not null and occurrences.state <> 'skipped'
)`;

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
      /** Returns only runs that ended after this time. */
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
  };
}
