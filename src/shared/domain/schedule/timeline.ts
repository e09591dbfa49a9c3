/** The upcoming moments of all schedules, by the same rules as the relay's clock. */
import { type Blackout, readDateTime } from '../guardrails.ts';
import { blackoutAt } from '../blackouts.ts';
import type { AgentId } from '../ids.ts';
import { firstWhere } from '../zone-days.ts';
import { MINUTE_MS, slotsBetween, SPREAD_MINUTES, type Timing, type TimingContext } from './timing.ts';

/** Anything with a schedule. */
interface Scheduled {
  readonly id: string;
  readonly agentId: AgentId;
  readonly timing: Timing;
  readonly enabled: boolean;
  /** The person set this exact moment, so it runs during a blackout as well. */
  readonly inDark: boolean;
}

export interface Moment {
  readonly id: string;
  readonly agentId: AgentId;
  /** ms since the epoch */
  readonly at: number;
  /** The label of the blackout that skips this moment. Null: no blackout does. */
  readonly dark: string | null;
}

/** The label of the blackout that skips this moment. Null: it is not skipped. */
export function darkAt(
  { inDark }: Pick<Scheduled, 'inDark'>,
  blackouts: readonly Blackout[],
  zone: string,
  at: number,
): string | null {
  return inDark ? null : (blackoutAt(blackouts, zone, at)?.label ?? null);
}

/** Step size of the search: no shorter window is missed. */
const shortest = (blackouts: readonly Blackout[]) =>
  blackouts.reduce((least, blackout) => Math.min(least, lengthOf(blackout)), 60 * MINUTE_MS);
function lengthOf({ type, start_time, end_time }: Blackout): number {
  if (type === 'one_off')
    return Math.max(MINUTE_MS, (readDateTime(end_time)?.wall ?? 0) - (readDateTime(start_time)?.wall ?? 0));
  const [start, end] = [start_time, end_time].map((text) => {
    const [hours = 0, minutes = 0] = text.split(':').map(Number);
    return hours * 60 + minutes;
  });
  return Math.max(1, ((end ?? 0) - (start ?? 0) + 1_440) % 1_440 || 1_440) * MINUTE_MS;
}

/** Blackouts within (`from`, `to`]. Windows that follow each other are one. */
export function darkSpans(
  blackouts: readonly Blackout[],
  zone: string,
  from: number,
  to: number,
): { readonly from: number; readonly to: number; readonly label: string }[] {
  const spans: { from: number; to: number; label: string }[] = [];
  if (blackouts.length === 0) return spans;
  const step = shortest(blackouts);
  for (let at = from; at < to;) {
    const dark = blackoutAt(blackouts, zone, at);
    if (dark) {
      const end = Math.min(to, dark.until ?? to);
      spans.push({ from: at, to: end, label: dark.label });
      at = end;
    } else {
      const next = Math.min(to, at + step);
      at = blackoutAt(blackouts, zone, next)
        ? firstWhere(at, next, (time) => blackoutAt(blackouts, zone, time) !== null)
        : next;
    }
  }
  return spans;
}

interface TimelineContext extends Omit<TimingContext, 'offset'> {
  /** Minutes. For an interval without its own offset. */
  readonly offsetOf: (id: string) => number;
  readonly blackoutsOf: (agentId: AgentId) => readonly Blackout[];
  /** Maximum number of moments per schedule. */
  readonly most?: number;
}

/** Soonest first. */
export const inOrder = (a: Moment, b: Moment): number => a.at - b.at || (a.id < b.id ? -1 : 1);

/** Moments in (`from`, `to`], soonest first. Disabled schedules have none. */
export function momentsBetween(
  schedules: readonly Scheduled[],
  from: number,
  to: number,
  { offsetOf, blackoutsOf, most, ...context }: TimelineContext,
): readonly Moment[] {
  return schedules
    .filter(({ enabled }) => enabled)
    .flatMap((schedule) => {
      const { id, agentId, timing } = schedule;
      return slotsBetween(timing, from, to, { ...context, offset: offsetOf(id) }, most).map((at) => ({
        id,
        agentId,
        at,
        dark: darkAt(schedule, blackoutsOf(agentId), context.zone, at),
      }));
    })
    .sort(inOrder);
}

/**
 * Agents that start within `withinMs` of each other clash. A clash of `critical` agents or more is
 * critical.
 */
const CLASH = { withinMs: 2 * 60_000, critical: 4 } as const;

interface Clash {
  readonly from: number;
  readonly to: number;
  /** Two or more. */
  readonly agentIds: readonly AgentId[];
  readonly critical: boolean;
}

/**
 * Groups of moments at which two or more agents start within two minutes of each other. Adjacent
 * clashes are merged.
 */
export function clashesOf(moments: readonly Moment[]): readonly Clash[] {
  const running = moments.filter(({ dark }) => dark === null);
  const clashes: Clash[] = [];
  let group: Moment[] = [];
  const close = () => {
    const agentIds = [...new Set(group.map(({ agentId }) => agentId))];
    const [first, last] = [group[0], group.at(-1)];
    if (first && last && agentIds.length > 1)
      clashes.push({ from: first.at, to: last.at, agentIds, critical: agentIds.length >= CLASH.critical });
    group = [];
  };
  for (const moment of running) {
    const last = group.at(-1);
    if (last && moment.at - last.at >= CLASH.withinMs) close();
    group.push(moment);
  }
  close();
  return clashes;
}

// Spreading schedules that start at the same time. The result is a list of proposed changes that
// the person can review first.

/** Maximum shift, in minutes. */
const FURTHEST_SHIFT_MINUTES = 57;

export interface Spreadable {
  readonly id: string;
  readonly agentId: AgentId;
  readonly timing: Timing;
  /** Minutes. For an interval without its own offset. */
  readonly offset: number;
}

export interface Shift {
  readonly id: string;
  readonly before: Timing;
  readonly after: Timing;
  /** How much later the schedule starts. */
  readonly minutes: number;
}

/**
 * The timing shifted by `minutes`. Null if it cannot be expressed: a one-off moment, a cron
 * expression with more than one minute, or a time past the end of its day or hour.
 */
export function laterBy(timing: Timing, minutes: number, given: number): Timing | null {
  switch (timing.kind) {
    case 'once':
      return null;
    case 'every':
      return minutes >= timing.minutes
        ? null
        : { ...timing, offset: ((timing.offset ?? given) + minutes) % timing.minutes };
    case 'weekly': {
      const [hour = 0, minute = 0] = timing.time.split(':').map(Number);
      const later = hour * 60 + minute + minutes;
      if (later >= 24 * 60) return null;
      return {
        ...timing,
        time: [Math.floor(later / 60), later % 60].map((part) => String(part).padStart(2, '0')).join(':'),
      };
    }
    case 'cron': {
      const [, minute = '', rest = ''] = /^\s*(\d{1,2})(\s.*)$/.exec(timing.cron) ?? [];
      const later = Number(minute) + minutes;
      return minute === '' || later > 59 ? null : { ...timing, cron: `${later}${rest}` };
    }
    default:
      return timing satisfies never;
  }
}

type Begin = Pick<Moment, 'at' | 'agentId'>;

/**
 * Whether another agent starts within two minutes of one of these moments. Both lists are sorted by
 * time.
 */
function meets(moments: readonly Begin[], others: readonly Begin[]): boolean {
  let first = 0;
  for (const { at, agentId } of moments) {
    while ((others[first]?.at ?? Infinity) <= at - CLASH.withinMs) first += 1;
    for (let i = first; (others[i]?.at ?? Infinity) < at + CLASH.withinMs; i++)
      if (others[i]?.agentId !== agentId) return true;
  }
  return false;
}

interface SpreadContext extends Omit<TimingContext, 'offset'> {
  /** Whether a blackout skips this moment. Then it clashes with nothing. */
  readonly isDark: (agentId: AgentId, at: number) => boolean;
}

/**
 * Proposes shifts so that no two agents start within two minutes of each other in (`from`, `to`].
 *
 * Schedules are placed in the given order. The first stays in place. A schedule that clashes with
 * an earlier one moves to the nearest free later time, in steps of three minutes. One-off moments
 * stay where the person put them. A schedule that finds no room within an hour stays as well.
 */
export function spreadClashes(
  schedules: readonly Spreadable[],
  from: number,
  to: number,
  { isDark, ...context }: SpreadContext,
): readonly Shift[] {
  const momentsOf = ({ agentId, offset }: Spreadable, timing: Timing) =>
    slotsBetween(timing, from, to, { ...context, offset })
      .filter((at) => !isDark(agentId, at))
      .map((at) => ({ at, agentId }));
  let placed: readonly Begin[] = [];
  const place = (moments: readonly Begin[]) => (placed = [...placed, ...moments].sort((a, b) => a.at - b.at));
  const firstFree = (each: Spreadable) => {
    for (let minutes = SPREAD_MINUTES; minutes <= FURTHEST_SHIFT_MINUTES; minutes += SPREAD_MINUTES) {
      const after = laterBy(each.timing, minutes, each.offset);
      if (!after) return null;
      const moments = momentsOf(each, after);
      if (!meets(moments, placed)) return { shift: { id: each.id, before: each.timing, after, minutes }, moments };
    }
    return null;
  };
  const shifts: Shift[] = [];
  // Schedules that cannot move are placed first, so that the others make room for them.
  const fixed = schedules.filter(({ timing, offset }) => laterBy(timing, 0, offset) === null);
  for (const each of fixed) place(momentsOf(each, each.timing));
  for (const each of schedules) {
    if (fixed.includes(each)) continue;
    const now = momentsOf(each, each.timing);
    const found = meets(now, placed) ? firstFree(each) : null;
    if (found) shifts.push(found.shift);
    place(found?.moments ?? now);
  }
  return shifts;
}
