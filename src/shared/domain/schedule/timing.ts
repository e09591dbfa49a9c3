/**
 * When something is due. The moments follow from the schedule itself and from nothing else: not
 * from when it ran last, so that nothing drifts, and an overlong run swallows no moment.
 */

/** Cron texts in a time zone. The arithmetic is a library's; see `src/shared/protocol/cron.ts`. */
export interface CronClock {
  /**
   * The first moment after `after`, ms since the epoch; null: there is none any more. Throws where
   * the text or the zone is none.
   */
  next(cron: string, zone: string, after: number): number | null;
}

export type Timing =
  /**
   * Each `minutes`, counted from the epoch, `offset` minutes later. `offset` null: given by the
   * household, apart from the others'.
   */
  | { readonly kind: 'every'; readonly minutes: number; readonly offset: number | null }
  /** `zone` null: the household's. */
  | { readonly kind: 'cron'; readonly cron: string; readonly zone: string | null }
  /** `days`: 0 is Sunday; empty: every day. `time`: `HH:MM`. */
  | { readonly kind: 'weekly'; readonly days: readonly number[]; readonly time: string; readonly zone: string | null }
  /** Once. */
  | { readonly kind: 'once'; readonly at: number };

/** What a timing leaves to the household. */
export interface TimingContext {
  readonly cron: CronClock;
  /** Of the household. */
  readonly zone: string;
  /** Minutes, for an interval without an offset of its own. */
  readonly offset: number;
}

export const MINUTE_MS = 60_000;
/** Minutes. */
export const INTERVAL_BOUNDS = { min: 1, max: 10_080 } as const;
/** Minutes; of an interval, and never as long as it. */
export const OFFSET_BOUNDS = { min: 0, max: 10_079 } as const;

/**
 * `30 7 * * 1,2`: the cron text that says the same as days and a time. On the day on which the
 * clock leaves that time out, it is the first moment after; where it shows it twice, the first.
 */
function cronOfWeekly({ days, time }: Pick<Extract<Timing, { kind: 'weekly' }>, 'days' | 'time'>): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return `${minute} ${hour} * * ${days.length === 0 ? '*' : [...new Set(days)].sort((a, b) => a - b).join(',')}`;
}

/**
 * The first moment after `after` at which it is due, ms since the epoch; null: there is none any
 * more.
 */
export function slotAfter(timing: Timing, after: number, { cron, zone, offset }: TimingContext): number | null {
  switch (timing.kind) {
    case 'every': {
      const step = timing.minutes * MINUTE_MS;
      const shift = ((timing.offset ?? offset) * MINUTE_MS) % step;
      return (Math.floor((after - shift) / step) + 1) * step + shift;
    }
    case 'cron':
      return cron.next(timing.cron, timing.zone ?? zone, after);
    case 'weekly':
      return cron.next(cronOfWeekly(timing), timing.zone ?? zone, after);
    case 'once':
      return timing.at > after ? timing.at : null;
    default:
      return timing satisfies never;
  }
}

/**
 * The newest `most` moments in (`from`, `to`], the oldest first, and whether there are any before
 * them. Looks back no further than it has to: a text that is due every minute, after a year, would
 * take minutes to be gone through.
 */
export function newestSlots(
  timing: Timing,
  from: number,
  to: number,
  context: TimingContext,
  most: number,
): { readonly slots: readonly number[]; readonly older: boolean } {
  // Nothing is due more often than once a minute.
  const least = most * MINUTE_MS;
  const slots: number[] = [];
  let end = to;
  let span = least;
  while (slots.length < most && end > from) {
    let start = Math.max(from, end - span);
    let part = slotsBetween(timing, start, end, context, 2 * most + 1);
    // Too many to go through: of this piece the newer half.
    while (part.length > 2 * most) {
      start = end - Math.floor((end - start) / 2);
      part = slotsBetween(timing, start, end, context, 2 * most + 1);
    }
    slots.unshift(...part);
    span = Math.max(least, 2 * (end - start));
    end = start;
  }
  const first = end > from ? slotAfter(timing, from, context) : null;
  return { slots: slots.slice(-most), older: slots.length > most || (first !== null && first <= end) };
}

/** Moments of a calendar, and ms of it, that are looked at for two that lie close together. */
const LOOKED = { moments: 16, ms: 8 * 24 * 60 * MINUTE_MS };

/**
 * Whether it comes again before `ms` are over: some two of its moments about `at` and in the week
 * after lie less than that apart.
 */
export function comesWithin(timing: Timing, ms: number, at: number, context: TimingContext): boolean {
  if (timing.kind === 'once') return false;
  if (timing.kind === 'every') return timing.minutes * MINUTE_MS < ms;
  const slots = slotsBetween(timing, at - ms, at + LOOKED.ms, context, LOOKED.moments);
  return slots.some((slot, n) => n > 0 && slot - (slots[n - 1] ?? 0) < ms);
}

/** The moments in (`from`, `to`], the oldest first, at most `most`. */
export function slotsBetween(
  timing: Timing,
  from: number,
  to: number,
  context: TimingContext,
  most = Infinity,
): readonly number[] {
  const slots: number[] = [];
  for (let at = slotAfter(timing, from, context); at !== null && at <= to && slots.length < most;) {
    slots.push(at);
    at = slotAfter(timing, at, context);
  }
  return slots;
}
