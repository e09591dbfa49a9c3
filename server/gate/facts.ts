/** What the store knows of past wakes, for the decision: a few rows at most, whatever the years behind it. */
import { sql } from 'kysely';
import { z } from 'zod';
import { COORDINATION_BOUNDS, type WakeLimits } from '../../src/domain/guardrails.ts';
import type { WakeFacts } from '../../src/domain/wake-gate.ts';
import { dayOf } from '../../src/domain/zone-days.ts';
import type { Db } from '../store/index.ts';

const LONGEST_COOLDOWN_MS = COORDINATION_BOUNDS.cooldown_seconds.max * 1_000;

/** A session without an end. */
const openRunSchema = z.object({ wake: z.string(), opened: z.number(), seen: z.number() });
export type OpenRun = z.infer<typeof openRunSchema>;

export interface About {
  readonly relay: string;
  readonly target: string;
  /** Who asks, see source.ts; null: nobody in particular. */
  readonly source: string | null;
  /** See budgetKey in source.ts; null: it uses none. */
  readonly budget: string | null;
}

export interface Known {
  readonly facts: Omit<WakeFacts, 'running'>;
  /** Of the target; whether anybody still runs them is not said here. */
  readonly open: readonly OpenRun[];
}

/** One statement. Counts of today are exact up to the limit of wakes a day, where the decision needs no more. */
export async function readFacts(db: Db, { relay, target, source, budget }: About, limits: WakeLimits, now: number): Promise<Known> {
  const day = dayOf(limits.timeZone, now);
  const today = sql<boolean>`asked_at >= ${day.start} and asked_at < ${day.end}`;
  const row = await db
    .selectNoFrom((eb) => {
      const ofTarget = eb
        .selectFrom('wakes')
        .select(['asked_at', 'source_json'])
        .where('relay', '=', relay)
        .where('granted_target_json', '=', JSON.stringify(target))
        .where('asked_at', '>=', Math.min(day.start, now - LONGEST_COOLDOWN_MS))
        .where('source_kind', '<>', 'person')
        .orderBy('asked_at', 'desc')
        .limit(Math.max(1, limits.maxWakesPerDay));
      const counted = sql<unknown>`json_build_object('last', max(asked_at), 'today', count(*) filter (where ${today}), 'pair', count(*) filter (where ${today} and source_json = ${source}))`;
      const latest = eb
        .selectFrom('wakes')
        .select('asked_at')
        .where('relay', '=', relay)
        .where('granted_target_json', 'is not', null)
        .where('asked_at', '>', now - limits.floodWindowSeconds * 1_000)
        .where('source_kind', '<>', 'person')
        .orderBy('asked_at', 'desc')
        .limit(limits.floodMaxWakes);
      const runs = eb.selectFrom('runs').where('relay', '=', relay).where('target_json', '=', JSON.stringify(target));
      const portion = sql<number>`coalesce(sum(greatest(0, least(ended_at, ${day.end}) - greatest(opened_at, ${day.start}))), 0)::bigint`;
      return [
        eb.selectFrom(ofTarget.as('wake')).select(counted.as('counts')).as('counted'),
        eb.selectFrom(latest.as('wake')).select(sql<unknown>`coalesce(json_agg(asked_at), '[]')`.as('times')).as('latest'),
        eb
          .selectFrom('wakes')
          .select((count) => count.fn.countAll<number>().as('count'))
          .where('relay', '=', relay)
          .where('budget_json', '=', budget)
          .as('calls'),
        runs.where('ended_at', '>', day.start).select(portion.as('ms')).as('ended'),
        runs
          .where('ended_at', 'is', null)
          .select(sql<unknown>`coalesce(json_agg(json_build_object('wake', wake, 'opened', opened_at, 'seen', seen_at)), '[]')`.as('runs'))
          .as('open'),
      ];
    })
    .executeTakeFirstOrThrow();
  const counted = countedSchema.parse(row.counted);
  return {
    facts: {
      day,
      callsInSession: row.calls ?? 0,
      lastWake: counted.last,
      wakesToday: counted.today,
      pairToday: counted.pair,
      endedMs: row.ended ?? 0,
      latest: z.array(z.number()).parse(row.latest),
    },
    open: z.array(openRunSchema).parse(row.open),
  };
}

const countedSchema = z.object({ last: z.number().nullable(), today: z.number(), pair: z.number() });
