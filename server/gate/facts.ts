/** What the store knows of past wakes, for the decision: a few numbers, each found by an index. */
import { sql } from 'kysely';
import { z } from 'zod';
import { COORDINATION_BOUNDS, type WakeLimits } from '../../src/domain/guardrails.ts';
import type { WakeFacts } from '../../src/domain/wake-gate.ts';
import { dayOf } from '../../src/domain/zone-days.ts';
import type { Db } from '../store/index.ts';

const LONGEST_COOLDOWN_MS = COORDINATION_BOUNDS.cooldown_seconds.max * 1_000;
/** As a literal: the indexes are of these rows alone, and a parameter would hide it from the planner. */
const granted = sql<boolean>`outcome = 'granted'`;
const notByPerson = sql<boolean>`source_kind <> 'person'`;
const atMost = sql<boolean>`way = 'wake_agent'`;

/** A row without an end. */
const openRunSchema = z.object({ wake: z.string(), opened: z.number(), seen: z.number() });
export type OpenRun = z.infer<typeof openRunSchema>;

export interface About {
  readonly relay: string;
  readonly target: string;
  /** Who asks, see source.ts; null: nobody in particular. */
  readonly source: string | null;
  /** The caller's session as JSON text; null: it does not call. Without a session, "null" is its session, for a day. */
  readonly session: string | null;
}

export interface Known {
  readonly facts: Omit<WakeFacts, 'running'>;
  /** Of the target; whether anybody still runs them is not said here. */
  readonly open: readonly OpenRun[];
}

/** One statement. */
export async function readFacts(db: Db, { relay, target, source, session }: About, limits: WakeLimits, now: number): Promise<Known> {
  const day = dayOf(limits.timeZone, now);
  const row = await db
    .selectNoFrom((eb) => {
      const wakes = eb.selectFrom('wakes').where('relay', '=', relay).where(granted);
      const ofTarget = wakes.where('target_json', '=', JSON.stringify(target));
      const today = ofTarget.where('asked_at', '>=', day.start).where('asked_at', '<', day.end).where(notByPerson);
      const calls = wakes
        .where(atMost)
        .where('caller_session_json', '=', session)
        .where('source_json', '=', source)
        .where('asked_at', '>=', session === 'null' ? day.start : 0);
      const latest = wakes
        .where(notByPerson)
        .where('asked_at', '>', now - limits.floodWindowSeconds * 1_000)
        .select('asked_at')
        .orderBy('asked_at', 'desc')
        .limit(limits.floodMaxWakes);
      return [
        calls.select((count) => count.fn.countAll<number>().as('count')).as('calls'),
        ofTarget
          .where(notByPerson)
          .where('asked_at', '>', now - LONGEST_COOLDOWN_MS)
          .select((each) => each.fn.max('asked_at').as('at'))
          .as('last'),
        today.select((each) => each.fn.countAll<number>().as('count')).as('today'),
        today.where('source_json', '=', source).select((each) => each.fn.countAll<number>().as('count')).as('pair'),
        ofTarget
          .where('ended_at', '>', day.start)
          .where('asked_at', '<', day.end)
          .select(sql<number>`coalesce(sum(greatest(0, least(ended_at, ${day.end}) - greatest(asked_at, ${day.start}))), 0)::bigint`.as('ms'))
          .as('ended'),
        ofTarget
          .where('ended_at', 'is', null)
          .select(sql<unknown>`coalesce(json_agg(json_build_object('wake', wake, 'opened', asked_at, 'seen', coalesce(seen_at, asked_at))), '[]')`.as('runs'))
          .as('open'),
        eb.selectFrom(latest.as('newest')).select(sql<unknown>`coalesce(json_agg(asked_at), '[]')`.as('times')).as('latest'),
      ];
    })
    .executeTakeFirstOrThrow();
  return {
    facts: {
      day,
      callsInSession: row.calls ?? 0,
      lastWake: row.last,
      wakesToday: row.today ?? 0,
      pairToday: row.pair ?? 0,
      endedMs: row.ended ?? 0,
      latest: z.array(z.number()).parse(row.latest),
    },
    open: z.array(openRunSchema).parse(row.open),
  };
}
