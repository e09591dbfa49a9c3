/**
 * Decides whether a wake passes the gate. It is a pure function of the question, the limits, the
 * known past wakes, and the time.
 *
 * There are four kinds of wakes, see `wakeKindOf`. Only event wakes count for the cooldown, the
 * wakes per day, the pair limit and the flood guard, and only they are held by the first three.
 *
 * - Only granted wakes use a quota. A refused or deferred wake uses none, not even of
 *   `wake_agent`'s budget. When a deferred wake is asked for again, it passes every check except
 *   that budget: its call was accepted when it was made, and is not counted twice.
 * - Scheduled wakes are subject to the switch, blackouts, minutes per day and concurrent sessions.
 *   The person has already decided how often they come.
 * - Clearing a sleeping flag is subject to the same checks, and waits its turn at the flood guard;
 *   see `FLAG_WAIT_MS`.
 * - The person's own wakes are recorded and always pass. They use no quota and start no cooldown,
 *   for other callers neither: the limits restrain what happens without the person, and waking the
 *   whole team would otherwise block every agent for the length of a cooldown. Their sessions do
 *   count for minutes and concurrency.
 * - The cooldown belongs to the target. Every event wake of the target starts it, and it applies to
 *   all callers.
 */
import { sentence } from './names.ts';
import { blackoutAt } from './blackouts.ts';
import { GATE_CHECKS, type AgentState, type GateCheck, type WakeLimits, type WakeWay } from './guardrails.ts';
import { dayOf, type Day, wallTime } from './zone-days.ts';

/**
 * What the gate answers if it stops a wake: a sentence for the person and for the agent that asked.
 */
interface Stopped {
  /** ms since the epoch. Null: waiting does not help. */
  readonly until: number | null;
  /** Label of a blackout. */
  readonly label?: string;
  readonly state: AgentState;
  readonly limits: WakeLimits;
  readonly now: number;
}

/** "in 4 min, at 14:05": the time left, and the local time of the household. */
function whenOf({ until, limits, now }: Stopped): string {
  if (until === null) return sentence`Waiting does not help.`;
  const seconds = Math.ceil((until - now) / 1_000);
  const minutes = Math.ceil(seconds / 60);
  const long = seconds < 120 ? `${seconds} s` : minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  const clock = new Date(wallTime(limits.timeZone, until)).toISOString().slice(11, 16);
  return sentence`The next can pass in ${long}, at ${clock}.`;
}

/** Reported for a wake that is taken up when its agent is free. */
export const BUSY = sentence`The agent is in the middle of a turn. This follows when the turn ends.`;

/** The sentence for the check that failed. */
function reasonFor(check: GateCheck, stopped: Stopped): string {
  const { limits, state, label = '' } = stopped;
  switch (check) {
    case 'source_budget':
      return sentence`The caller’s limit of ${limits.maxWakesPerSession} wakes in a session is reached.`;
    case 'disabled':
      return limits.householdEnabled
        ? sentence`Waking this agent is switched off.`
        : sentence`All waking is switched off in this household.`;
    case 'cooldown':
      return sentence`It was woken less than ${limits.cooldownSeconds} s ago. ${whenOf(stopped)}`;
    case 'daily':
      return sentence`Its limit of ${limits.maxWakesPerDay} wakes a day is reached. ${whenOf(stopped)}`;
    case 'pair':
      return sentence`Its limit of ${limits.maxWakesPerPairPerDay} wakes a day by one caller is reached. ${whenOf(stopped)}`;
    case 'blackout':
      return sentence`It is not woken at this hour${label === '' ? '' : ` (${label})`}. ${whenOf(stopped)}`;
    case 'minutes':
      return sentence`Its limit of ${limits.maxDailySessionMinutes} session minutes a day is reached. ${whenOf(stopped)}`;
    case 'concurrency':
      return sentence`Its limit of ${limits.maxConcurrentSessions} sessions at a time is reached.`;
    case 'idle':
      if (state === 'absent') return sentence`It is not in a running session. The message waits until it is.`;
      if (state === 'driven') return sentence`A client drives it from elsewhere, and begins its turns itself.`;
      return BUSY;
    case 'flood':
      return sentence`The household’s limit of ${limits.floodMaxWakes} wakes in ${limits.floodWindowSeconds} s is reached. ${whenOf(stopped)}`;
  }
}

export interface WakeQuestion {
  readonly way: WakeWay;
  /** The person asks. */
  readonly byPerson: boolean;
  /** State of the target. */
  readonly state: AgentState;
  /** The relay has what the target needs to work alone. */
  readonly alone?: boolean;
  /** The person set this exact moment, so it passes during a blackout as well. */
  readonly inDark?: boolean;
  /** The target is busy in a run outside any session, or in a turn for which it was woken. */
  readonly atWork?: boolean;
  /** A routine, a reminder or a script asks. Left out: derived from `way`. */
  readonly scheduled?: boolean;
  /** When the wake was first asked for, in ms since the epoch. Left out: it has not waited. */
  readonly since?: number;
}

/**
 * `person`: the person asks. `scheduled`: a routine, a reminder or the failure of a script. `flag`:
 * an application or a thread clears the agent's sleeping flag. `event`: everything else.
 */
export type WakeKind = 'person' | 'scheduled' | 'flag' | 'event';

const SCHEDULED_WAYS: readonly WakeWay[] = ['schedule', 'reminder', 'script_failure'];
const FLAG_WAYS: readonly WakeWay[] = ['api', 'thread_added'];

/**
 * A deferred wake keeps the kind that it had when it was first asked for; `scheduled` carries it.
 */
export function wakeKindOf({
  way,
  byPerson,
  state,
  scheduled = SCHEDULED_WAYS.includes(way),
}: Pick<WakeQuestion, 'way' | 'byPerson' | 'state' | 'scheduled'>): WakeKind {
  if (byPerson) return 'person';
  if (scheduled) return 'scheduled';
  return state === 'paused' && FLAG_WAYS.includes(way) ? 'flag' : 'event';
}

/** Maximum ms that clearing a sleeping flag waits at the flood guard. */
const FLAG_WAIT_MS = 60_000;

/**
 * A routine waits for a busy agent by itself. Other scheduled wakes are taken up when the agent is
 * free.
 */
function checksOf(question: WakeQuestion): readonly GateCheck[] {
  switch (wakeKindOf(question)) {
    case 'person':
      return [];
    case 'scheduled':
      return question.way === 'schedule'
        ? ['disabled', 'blackout', 'minutes', 'concurrency']
        : ['disabled', 'blackout', 'minutes', 'concurrency', 'idle'];
    case 'flag':
      return ['disabled', 'blackout', 'minutes', 'concurrency', 'flood'];
    case 'event':
      return GATE_CHECKS;
  }
}

/**
 * What is known of past wakes. Times are in ms since the epoch. Only granted event wakes count, see
 * `wakeKindOf`.
 */
export interface WakeFacts {
  /** The day of the counts of "today". On a later day they are 0. */
  readonly day: Day;
  /** Number of granted `wake_agent` calls in the caller's session. */
  readonly callsInSession: number;
  /** The target's last wake by any caller. Null: none within the longest possible cooldown. */
  readonly lastWake: number | null;
  /** The target's wakes today, and how many of them the same source asked for. */
  readonly wakesToday: number;
  readonly pairToday: number;
  /** ms that ended sessions of the target have run today. */
  readonly endedMs: number;
  /** Start times of the target's running sessions. */
  readonly running: readonly number[];
  /**
   * The household's latest wakes, newest first: as many as the flood guard allows, or all there
   * are.
   */
  readonly latest: readonly number[];
  /**
   * When sleeping flags of the household were last cleared, newest first, as for `latest`. Left
   * out: none were.
   */
  readonly cleared?: readonly number[];
}

export type Verdict =
  | { readonly outcome: 'granted'; readonly check: null; readonly until: null; readonly detail: string }
  | {
      readonly outcome: 'suppressed' | 'deferred' | 'error';
      readonly check: GateCheck;
      readonly until: number | null;
      readonly detail: string;
    };

/** ms that sessions of the target have run on the day of `now`, including those that still run. */
export function sessionMs(
  { day, endedMs, running }: Pick<WakeFacts, 'day' | 'endedMs' | 'running'>,
  zone: string,
  now: number,
): number {
  const today = now < day.end ? day : dayOf(zone, now);
  const open = running.reduce((sum, start) => sum + Math.max(0, now - Math.max(start, today.start)), 0);
  return (now < day.end ? endedMs : 0) + open;
}

interface Failure {
  /** When this check would pass, in ms since the epoch. Null: never by waiting, or unknown. */
  readonly until: number | null;
  /** Label for the sentence, where the limits do not contain it. */
  readonly label?: string;
}

type Check = (question: WakeQuestion, limits: WakeLimits, facts: WakeFacts, now: number) => Failure | null;

/** A daily limit resets the next day, unless it is 0. */
const tomorrow = (limit: number, zone: string, now: number): Failure => ({
  until: limit === 0 ? null : dayOf(zone, now).end,
});

const CHECKS: Readonly<Record<GateCheck, Check>> = {
  source_budget: ({ way }, { maxWakesPerSession }, { callsInSession }) =>
    way === 'wake_agent' && callsInSession >= maxWakesPerSession ? { until: null } : null,
  disabled: (_, { householdEnabled, enabled }) => (householdEnabled && enabled ? null : { until: null }),
  cooldown(_, { cooldownSeconds }, { lastWake }, now) {
    const until = (lastWake ?? -Infinity) + cooldownSeconds * 1_000;
    return cooldownSeconds > 0 && now < until ? { until } : null;
  },
  daily: (_, { maxWakesPerDay: most, timeZone }, { day, wakesToday }, now) =>
    (now < day.end ? wakesToday : 0) >= most ? tomorrow(most, timeZone, now) : null,
  pair: (_, { maxWakesPerPairPerDay: most, timeZone }, { day, pairToday }, now) =>
    (now < day.end ? pairToday : 0) >= most ? tomorrow(most, timeZone, now) : null,
  blackout: ({ inDark }, { blackouts, timeZone }, __, now) => (inDark ? null : blackoutAt(blackouts, timeZone, now)),
  minutes: (_, { maxDailySessionMinutes: most, timeZone }, facts, now) =>
    sessionMs(facts, timeZone, now) >= most * 60_000 ? tomorrow(most, timeZone, now) : null,
  // An agent at work frees its place before the wake is asked for again. That is for the idle check
  // to decide.
  concurrency: ({ atWork = false }, { maxConcurrentSessions }, { running }) =>
    running.length >= maxConcurrentSessions && !(atWork && maxConcurrentSessions > 0) ? { until: null } : null,
  idle: ({ state, alone = false }) =>
    state === 'busy' || (state === 'absent' && !alone) || state === 'driven' ? { until: null } : null,
  flood(question, { floodMaxWakes, floodWindowSeconds }, { latest, cleared = [] }, now) {
    if (floodMaxWakes === 0) return { until: null };
    const isFlag = wakeKindOf(question) === 'flag';
    const all = isFlag ? [...latest, ...cleared].toSorted((one, other) => other - one) : latest;
    const room = (all[floodMaxWakes - 1] ?? -Infinity) + floodWindowSeconds * 1_000;
    const until = isFlag ? Math.min(room, (question.since ?? Infinity) + FLAG_WAIT_MS) : room;
    return now < until ? { until } : null;
  },
};

function outcomeOf(check: GateCheck): 'suppressed' | 'deferred' | 'error' {
  switch (check) {
    case 'source_budget':
      return 'error';
    case 'idle':
      return 'deferred';
    default:
      return 'suppressed';
  }
}

/**
 * Runs the checks in order. The first that fails decides. `detail` is a sentence for people and for
 * the caller.
 */
export function decideWake(question: WakeQuestion, limits: WakeLimits, facts: WakeFacts, now: number): Verdict {
  if (question.byPerson) return { outcome: 'granted', check: null, until: null, detail: sentence`The person asked.` };
  for (const check of checksOf(question)) {
    const failure = CHECKS[check](question, limits, facts, now);
    if (!failure) continue;
    const detail = reasonFor(check, { ...failure, state: question.state, limits, now });
    return { outcome: outcomeOf(check), check, until: failure.until, detail };
  }
  return { outcome: 'granted', check: null, until: null, detail: sentence`Every check passed.` };
}

/** More than any series of waits can take: each check eventually passes, or never does. */
const MOST_WAITS = 100;

/**
 * The first time from `now` on at which this question would pass, in ms since the epoch, if nothing
 * else happened and running sessions continued. Null: never by waiting alone.
 */
export function nextPass(question: WakeQuestion, limits: WakeLimits, facts: WakeFacts, now: number): number | null {
  let time = now;
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    const { outcome, until } = decideWake(question, limits, facts, time);
    if (outcome === 'granted') return time;
    if (until === null) return null;
    time = until;
  }
  return null;
}
