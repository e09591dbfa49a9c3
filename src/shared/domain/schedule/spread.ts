/**
 * Agents that begin at the same time, drawn apart: what would have to change, so that the person
 * can look at it first.
 */
import type { AgentId } from '../ids.ts';
import { CLASH, type Moment } from './timeline.ts';
import { slotsBetween, type Timing, type TimingContext } from './timing.ts';
import { SPREAD_MINUTES } from './offsets.ts';

/** Minutes that something is moved at most. */
const FURTHEST_SHIFT_MINUTES = 57;

export interface Spreadable {
  readonly id: string;
  readonly agentId: AgentId;
  readonly timing: Timing;
  /** Minutes, of an interval without its own. */
  readonly offset: number;
}

export interface Shift {
  readonly id: string;
  readonly before: Timing;
  readonly after: Timing;
  /** How much later it is due. */
  readonly minutes: number;
}

/**
 * The same, `minutes` later. Null where it cannot be said that way: a moment that was chosen, a
 * cron text with more than one minute, a time after the end of its day or hour.
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
 * Does something of another agent begin within two minutes of one of these? Both in the order of
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

export interface SpreadContext extends Omit<TimingContext, 'offset'> {
  /** Does this moment pass by in the dark? Then it meets nobody. */
  readonly isDark: (agentId: AgentId, at: number) => boolean;
}

/**
 * What to move so that no two agents begin within two minutes of each other in (`from`, `to`], in
 * the order given: the first stays as it is, and each that meets one before it goes to the nearest
 * later time that is free, in steps of three minutes. What is due once stays where the person put
 * it. Where there is no room within an hour, it stays as well.
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
  // What cannot move is there first, so that what can makes room for it.
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
