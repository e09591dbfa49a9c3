/**
 * Facts about past wakes on which the gate decides. Reads a few rows at most, however long the
 * history.
 */
import { sql } from 'kysely';
import { COORDINATION_BOUNDS, type WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import type { WakeFacts } from '../../../src/shared/domain/wake-gate.ts';
import { dayOf } from '../../../src/shared/domain/zone-days.ts';
import { SCHEMA } from '../../store/tables.ts';
import type { Db } from '../../store/index.ts';

const LONGEST_COOLDOWN_MS = COORDINATION_BOUNDS.cooldown_seconds.max * 1_000;

/** A wake session without an end. */
export interface OpenWakeSession {
  readonly wake: string;
  readonly opened: number;
  readonly seen: number;
}

export interface About {
  readonly home: string;
  readonly target: string;
  /** The source of the wake, see `sourceKey`. Null: no particular one. */
  readonly source: string | null;
  /** See `budgetKey`. Null: no budget is used. */
  readonly budget: string | null;
}

export interface Known {
  readonly facts: Omit<WakeFacts, 'running'>;
  /** Open sessions of the target. Their process may be dead. */
  readonly open: readonly OpenWakeSession[];
}

/**
 * `wake`: an event wake of the target; `note` is its source. `latest`: a wake of the household.
 * `cleared`: a sleeping flag of the household was cleared. `call`: a call that used the budget.
 * `session`: a session of the target; `note` is its wake.
 */
interface Row {
  readonly what: 'wake' | 'latest' | 'cleared' | 'call' | 'session';
  readonly at: number;
  readonly seen: number | null;
  readonly ended: number | null;
  readonly note: string | null;
}

const FACTS = sql.id(SCHEMA, 'wake_facts');

/** Reads at most as many wakes of the target as a day may have. The decision needs no more. */
const statement = (
  { home, target, budget }: About,
  { maxWakesPerDay, floodMaxWakes, floodWindowSeconds }: WakeLimits,
  dayStart: number,
  now: number,
) => sql<Row>`
  select * from ${FACTS}(${home}::text, ${JSON.stringify(target)}::text, ${budget}::text, ${Math.min(dayStart, now - LONGEST_COOLDOWN_MS)}::bigint, ${Math.max(1, maxWakesPerDay)}::integer,
    ${now - floodWindowSeconds * 1_000}::bigint, ${floodMaxWakes}::integer, ${dayStart}::bigint)`;

/**
 * Reads all facts in one statement. Today's counts are exact up to the daily limit of wakes, which
 * is all the decision needs.
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
