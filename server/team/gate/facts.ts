/**
 * What the store knows of past wakes, for the decision: a few rows at most, whatever the years
 * behind it.
 */
import { sql } from 'kysely';
import { COORDINATION_BOUNDS, type WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import type { WakeFacts } from '../../../src/shared/domain/wake-gate.ts';
import { dayOf } from '../../../src/shared/domain/zone-days.ts';
import { SCHEMA } from '../../store/tables.ts';
import type { Db } from '../../store/index.ts';

const LONGEST_COOLDOWN_MS = COORDINATION_BOUNDS.cooldown_seconds.max * 1_000;

/** A session without an end. */
export interface OpenWakeSession {
  readonly wake: string;
  readonly opened: number;
  readonly seen: number;
}

export interface About {
  readonly home: string;
  readonly target: string;
  /** Who asks, see `sourceKey`; null: nobody in particular. */
  readonly source: string | null;
  /** See `budgetKey`; null: it uses none. */
  readonly budget: string | null;
}

export interface Known {
  readonly facts: Omit<WakeFacts, 'running'>;
  /** Of the target; whether anybody still runs them is not said here. */
  readonly open: readonly OpenWakeSession[];
}

/**
 * `wake`: an event wake of the target, `note` is its source. `latest`: one of the household's.
 * `cleared`: a sleeping flag of the household was cleared. `call`: one of the budget. `session`: a
 * session of the target, `note` is its wake.
 */
interface Row {
  readonly what: 'wake' | 'latest' | 'cleared' | 'call' | 'session';
  readonly at: number;
  readonly seen: number | null;
  readonly ended: number | null;
  readonly note: string | null;
}

const FACTS = sql.id(SCHEMA, 'wake_facts');

/** Wakes of the target: as many as a day may have, beyond which nobody counts. */
const statement = (
  { home, target, budget }: About,
  { maxWakesPerDay, floodMaxWakes, floodWindowSeconds }: WakeLimits,
  dayStart: number,
  now: number,
) => sql<Row>`
  select * from ${FACTS}(${home}::text, ${JSON.stringify(target)}::text, ${budget}::text, ${Math.min(dayStart, now - LONGEST_COOLDOWN_MS)}::bigint, ${Math.max(1, maxWakesPerDay)}::integer,
    ${now - floodWindowSeconds * 1_000}::bigint, ${floodMaxWakes}::integer, ${dayStart}::bigint)`;

/**
 * One statement. Counts of today are exact up to the limit of wakes a day, where the decision needs
 * no more.
 */
export async function readFacts(db: Db, about: About, limits: WakeLimits, now: number): Promise<Known> {
  const day = dayOf(limits.timeZone, now);
  const { rows } = await statement(about, limits, day.start, now).execute(db);
  const of = (what: Row['what']) => rows.filter((row) => row.what === what);
  const latestFirst = (what: Row['what']) =>
    of(what)
      .map(({ at }) => at)
      .toSorted((a, b) => b - a);
  const today = of('wake').filter(({ at }) => at >= day.start && at < day.end);
  const sessions = of('session');
  const endedMs = sessions.reduce(
    (sum, { at, ended }) =>
      sum + (ended === null ? 0 : Math.max(0, Math.min(ended, day.end) - Math.max(at, day.start))),
    0,
  );
  return {
    facts: {
      day,
      callsInSession: of('call').length,
      lastWake: latestFirst('wake')[0] ?? null,
      wakesToday: today.length,
      pairToday: today.filter(({ note }) => note === about.source).length,
      endedMs,
      latest: latestFirst('latest'),
      cleared: latestFirst('cleared'),
    },
    open: sessions.flatMap(({ at, seen, ended, note }) =>
      ended === null ? [{ wake: note ?? '', opened: at, seen: seen ?? at }] : [],
    ),
  };
}
