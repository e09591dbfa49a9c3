/**
 * Occurrences: one account of every moment at which something was due. Each comes to exactly one
 * end.
 */

/**
 * On the way. `due`: nobody has begun with it; `claimed`: a relay has; `running`: its run goes on.
 */
export const OPEN_STATES = ['due', 'claimed', 'running'] as const;
/** For good. */
export const END_STATES = [
  'done',
  'failed',
  'timed-out',
  'crashed',
  'stopped',
  'skipped',
  'missed',
  'cancelled',
] as const;
type OpenState = (typeof OPEN_STATES)[number];
type EndState = (typeof END_STATES)[number];
export type OccurrenceState = OpenState | EndState;

/** A run that ended so has not come to its own end. */
const BROKEN_OFF: readonly OccurrenceState[] = ['failed', 'timed-out', 'crashed', 'stopped'];
/**
 * Whether the person can let an agent go on with it: it was at work, did not come to its end, and
 * no later run went on with it.
 */
export const canGoOn = (one: {
  readonly state: OccurrenceState;
  readonly runId: string | null;
  readonly continuedBy: string | null;
}): boolean => one.runId !== null && one.continuedBy === null && BROKEN_OFF.includes(one.state);

/** Why nothing ran though it was due. */
export const SKIP_REASONS = [
  'agent-busy',
  'blackout',
  'concurrency',
  'minutes',
  'budget',
  'model-refused',
  'nothing-waits',
  'overlap',
  'switched-off',
  'planned-stop',
  'no-copy',
  'gate',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** What became of a moment. `reason` is there where it was skipped. */
export type OccurrenceEnd =
  | { readonly state: Exclude<EndState, 'skipped'>; readonly reason: null }
  | { readonly state: 'skipped'; readonly reason: SkipReason };

export const CATCH_UP = ['skip', 'once', 'each'] as const;
export type CatchUp = (typeof CATCH_UP)[number];

export interface CatchUpLimits {
  /** ms: what was due longer ago is missed, whatever the schedule wants. */
  readonly windowMs: number;
  /** Most that `each` makes up for. */
  readonly most: number;
  /** ms: a moment that is no later than this was not missed; the relay was only busy. */
  readonly onTimeMs: number;
  /** ms between two that are made up for: never a burst. */
  readonly staggerMs: number;
}

export const CATCH_UP_LIMITS: CatchUpLimits = {
  windowMs: 15 * 60_000,
  most: 10,
  onTimeMs: 60_000,
  staggerMs: 5_000,
};

/**
 * A time in which the relay did not run because the person had ended it; ms since the epoch,
 * without the end.
 */
export interface PlannedStop {
  readonly from: number;
  readonly to: number;
}

/** What is to be done with a moment that has come. `late`: it is made up for. */
export type Verdict =
  | { readonly slot: number; readonly kind: 'run'; readonly late: boolean }
  | { readonly slot: number; readonly kind: 'end'; readonly end: OccurrenceEnd };

/**
 * What becomes of the moments that have come, in the same order. Those that are on time run. Of
 * those that are late, the relay having been away, `skip` makes up for none, `once` for the newest,
 * `each` for the newest few: within the window, and none that lies in a stop that the person asked
 * for.
 */
export function judgeSlots(
  slots: readonly number[],
  now: number,
  catchUp: CatchUp,
  stops: readonly PlannedStop[],
  limits: CatchUpLimits = CATCH_UP_LIMITS,
): readonly Verdict[] {
  const stopped = (slot: number) => stops.some(({ from, to }) => slot >= from && slot < to);
  const onTime = (slot: number) => now - slot <= limits.onTimeMs;
  const late = slots.filter((slot) => !onTime(slot) && !stopped(slot) && now - slot <= limits.windowMs);
  // What is on time now is the next of them, and more than making up for one of before.
  const wanted =
    catchUp === 'skip' || (catchUp === 'once' && slots.some(onTime)) ? 0 : catchUp === 'once' ? 1 : limits.most;
  const madeUp = new Set(wanted === 0 ? [] : late.slice(-wanted));
  return slots.map((slot): Verdict => {
    // One that lies in a stop and is on time all the same came while the relay was started again.
    if (stopped(slot)) return { slot, kind: 'end', end: { state: 'skipped', reason: 'planned-stop' } };
    if (onTime(slot)) return { slot, kind: 'run', late: false };
    if (madeUp.has(slot)) return { slot, kind: 'run', late: true };
    return { slot, kind: 'end', end: { state: 'missed', reason: null } };
  });
}

/**
 * How often the newest ends in a row were of a sort, the newest first. `nothing-waits` is how an
 * idle routine lives: it neither counts nor breaks the row.
 */
export function rowOf(newestFirst: readonly OccurrenceEnd[], sort: 'skipped' | 'failed' | 'either'): number {
  let count = 0;
  for (const { state, reason } of newestFirst) {
    if (reason === 'nothing-waits') continue;
    const skipped = state === 'skipped' || state === 'missed';
    const failed = state === 'failed' || state === 'timed-out' || state === 'crashed';
    if (!(sort === 'either' ? skipped || failed : sort === 'skipped' ? skipped : failed)) return count;
    count += 1;
  }
  return count;
}
