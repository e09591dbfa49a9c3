/**
 * Whether a wake may pass: one pure function of what is asked, the limits, what is known of past
 * wakes, and now.
 *
 * There are four kinds of wakes, see `wakeKindOf`. Only event wakes count for the cooldown, the
 * wakes a day, the pair limit and the flood guard, and only they are held by the first three.
 * - Only granted wakes use a quota. A wake that was refused or deferred uses none, of
 *   `wake_agent`'s budget neither. A deferred wake that is asked for again passes every check but
 *   that budget: its call was let through when it was made, and is not counted twice.
 * - What was scheduled keeps to the switch, to blackouts, minutes and how many sessions run at
 *   once. The person has said already how often it comes.
 * - Clearing a sleeping flag keeps to the same, and waits for its turn at the flood guard: see
 *   `FLAG_WAIT_MS`.
 * - The person's own wakes are recorded and pass always. They use no quota and begin no cooldown,
 *   also for others: the limits hold what goes on without the person, and waking the whole team
 *   would otherwise keep everybody from reaching anybody for the length of a cooldown. The sessions
 *   they open are sessions all the same, and count in minutes and among those that run.
 * - The cooldown is the target's: it begins with every event wake of it, and holds for all others
 *   who ask.
 */
import { sentence } from './sentence.ts';
import { blackoutAt } from './blackouts.ts';
import { GATE_CHECKS, type AgentState, type GateCheck, type WakeLimits, type WakeWay } from './guardrails.ts';
import { dayOf, type Day, wallTime } from './zone-days.ts';

/**
 * What the gate says where it stops a wake: a sentence for the person, and for the agent that
 * asked.
 */
interface Stopped {
  /** ms since the epoch; null: not by waiting. */
  readonly until: number | null;
  /** Of a blackout. */
  readonly label?: string;
  readonly state: AgentState;
  readonly limits: WakeLimits;
  readonly now: number;
}

/** "in 4 min, at 14:05": how long, and what the household's clock will show. */
function whenOf({ until, limits, now }: Stopped): string {
  if (until === null) return sentence`Waiting does not help.`;
  const seconds = Math.ceil((until - now) / 1_000);
  const minutes = Math.ceil(seconds / 60);
  const long = seconds < 120 ? `${seconds} s` : minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  const clock = new Date(wallTime(limits.timeZone, until)).toISOString().slice(11, 16);
  return sentence`The next can pass in ${long}, at ${clock}.`;
}

/** What is said of a wake that is taken up when its agent is free. */
export const BUSY = sentence`It is in the middle of a turn. This is taken up when the turn is over.`;

const times = (count: number) => (count === 1 ? sentence`once` : sentence`${count} times`);

/** `check` stopped it. */
function reasonFor(check: GateCheck, stopped: Stopped): string {
  const { limits, state, label = '' } = stopped;
  switch (check) {
    case 'source_budget':
      return limits.maxWakesPerSession === 0
        ? sentence`This agent may wake nobody. The message is left as message_agent would have left it; it need not be sent again.`
        : sentence`This caller has woken others ${times(limits.maxWakesPerSession)} with wake_agent in this session, which is its limit. The message is left as message_agent would have left it; it need not be sent again.`;
    case 'disabled':
      return limits.householdEnabled
        ? sentence`Waking this agent is switched off.`
        : sentence`All waking is switched off in this household.`;
    case 'cooldown':
      return sentence`It was woken less than ${limits.cooldownSeconds} s ago. ${whenOf(stopped)}`;
    case 'daily':
      return limits.maxWakesPerDay === 0
        ? sentence`Its limit is 0 wakes a day: it is never woken.`
        : sentence`It was woken ${times(limits.maxWakesPerDay)} today, which is its limit. ${whenOf(stopped)}`;
    case 'pair':
      return limits.maxWakesPerPairPerDay === 0
        ? sentence`Its limit is 0 wakes a day for each who asks: it is never woken.`
        : sentence`Whoever asks has woken it ${times(limits.maxWakesPerPairPerDay)} today, which is the limit for one. ${whenOf(stopped)}`;
    case 'blackout':
      return sentence`It is not woken at this hour${label === '' ? '' : ` (${label})`}. ${whenOf(stopped)}`;
    case 'minutes':
      return limits.maxDailySessionMinutes === 0
        ? sentence`Its limit is 0 minutes a day: it is never woken.`
        : sentence`Its sessions have run ${limits.maxDailySessionMinutes} minutes today, which is its limit. ${whenOf(stopped)}`;
    case 'concurrency':
      return limits.maxConcurrentSessions === 0
        ? sentence`Its limit is 0 sessions at a time: it is never woken.`
        : sentence`It has ${limits.maxConcurrentSessions === 1 ? sentence`a session` : sentence`${limits.maxConcurrentSessions} sessions`} under way already, which is its limit. It can be woken when one is over.`;
    case 'idle':
      if (state === 'absent') return sentence`It is not in a running session. The message waits until it is.`;
      if (state === 'played') return sentence`A client plays it from elsewhere, and begins its turns itself.`;
      return BUSY;
    case 'flood':
      return limits.floodMaxWakes === 0
        ? sentence`The household lets nobody but the person wake anyone.`
        : sentence`The household has had ${limits.floodMaxWakes === 1 ? sentence`a wake` : sentence`${limits.floodMaxWakes} wakes`} in ${limits.floodWindowSeconds} s, which is its limit. ${whenOf(stopped)}`;
  }
}

export interface WakeQuestion {
  readonly way: WakeWay;
  /** The person asks. */
  readonly byPerson: boolean;
  /** Of the target. */
  readonly state: AgentState;
  /** It can be at work alone: the relay has what it needs for that. */
  readonly alone?: boolean;
  /** The person has set this very moment: it passes in the dark as well. */
  readonly inDark?: boolean;
  /** The agent is busy in a run alone, or in a turn for which it was woken. */
  readonly atWork?: boolean;
  /** A routine, a reminder or a script asks. Left out: as the way says. */
  readonly scheduled?: boolean;
  /** When it was asked for first, ms since the epoch. Left out: it has not waited. */
  readonly since?: number;
}

/**
 * `person`: the person asks. `scheduled`: a routine, a reminder or the failure of a script. `flag`:
 * an application, or a thread, clears the agent's sleeping flag. `event`: everything else that
 * wakes an agent.
 */
export type WakeKind = 'person' | 'scheduled' | 'flag' | 'event';

const SCHEDULED_WAYS: readonly WakeWay[] = ['schedule', 'reminder', 'script_failure'];
const FLAG_WAYS: readonly WakeWay[] = ['api', 'thread_added'];

/** A deferred wake is of the kind that it was when it was asked for first: `scheduled` says so. */
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

/** ms that clearing a sleeping flag waits for room in the flood guard at most. */
export const FLAG_WAIT_MS = 60_000;

/**
 * A routine waits for its turn by itself where its agent is busy. A message that was due is taken
 * up when the agent is free.
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
 * What is known of the past. Times in ms since the epoch. Wakes are granted event wakes, see
 * `wakeKindOf`.
 */
export interface WakeFacts {
  /** The day that counts of "today" are of; on a later one they are 0. */
  readonly day: Day;
  /** `wake_agent` calls of the caller that were granted in its session. */
  readonly callsInSession: number;
  /** The target's last wake, whoever asked; null: none for as long as a cooldown can last. */
  readonly lastWake: number | null;
  /** The target's wakes today, and those of them that the same source asked for. */
  readonly wakesToday: number;
  readonly pairToday: number;
  /** ms of today in which sessions of the target ran that are over. */
  readonly endedMs: number;
  /** When the target's sessions that run were opened. */
  readonly running: readonly number[];
  /**
   * The household's latest wakes, newest first: as many as the flood guard lets pass, or all there
   * are.
   */
  readonly latest: readonly number[];
  /**
   * When sleeping flags of the household were cleared of late, newest first, as with `latest`. Left
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

/**
 * ms of the day in which `now` lies that sessions of the target have run, those that run still with
 * them.
 */
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
  /**
   * ms since the epoch when this check would pass by waiting; null: not by waiting, or not known.
   */
  readonly until: number | null;
  /** What the sentence needs to know, where it is not among the limits. */
  readonly label?: string;
}

type Check = (question: WakeQuestion, limits: WakeLimits, facts: WakeFacts, now: number) => Failure | null;

/** A limit of the day is over with the day, unless it is 0. */
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
  // The place of an agent that is at work is free when it is asked again: that is the idle gate's
  // to say.
  concurrency: ({ atWork = false }, { maxConcurrentSessions }, { running }) =>
    running.length >= maxConcurrentSessions && !(atWork && maxConcurrentSessions > 0) ? { until: null } : null,
  idle: ({ state, alone = false }) =>
    state === 'busy' || (state === 'absent' && !alone) || state === 'played' ? { until: null } : null,
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
 * The checks in their order; the first that fails decides. `detail` is a sentence for people and
 * for the caller.
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

/** More than any row of waits can take: each check passes at last, or never. */
const MOST_WAITS = 100;

/**
 * The first ms from `now` on at which this question would pass if nothing else happened meanwhile
 * and what runs ran on; null: not by waiting alone.
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
