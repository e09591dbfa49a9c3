/** What is to come: the same moments, from the same rules, that the relay's clock goes by. */
import { readDateTime, type Blackout } from '../guardrails.ts';
import { blackoutAt } from '../blackouts.ts';
import type { AgentId } from '../ids.ts';
import { firstWhere } from '../zone-days.ts';
import { MINUTE_MS, slotsBetween, type Timing, type TimingContext } from './timing.ts';

/** Whatever is due at times. */
export interface Scheduled {
  readonly id: string;
  readonly agentId: AgentId;
  readonly timing: Timing;
  readonly enabled: boolean;
  /** The person has set this very moment: it runs in the dark as well. */
  readonly inDark: boolean;
}

export interface Moment {
  readonly id: string;
  readonly agentId: AgentId;
  /** ms since the epoch */
  readonly at: number;
  /** The blackout that lets it pass by; null: it runs, as far as the clock is concerned. */
  readonly dark: string | null;
}

/** Whether this moment passes by in the dark, and under which label. */
export function darkAt(
  { inDark }: Pick<Scheduled, 'inDark'>,
  blackouts: readonly Blackout[],
  zone: string,
  at: number,
): string | null {
  return inDark ? null : (blackoutAt(blackouts, zone, at)?.label ?? null);
}

/** No window that is shorter is missed. */
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

/** When it is dark within (`from`, `to`]; windows that follow each other are one. */
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

export interface TimelineContext extends Omit<TimingContext, 'offset'> {
  /** Minutes, of an interval without its own. */
  readonly offsetOf: (id: string) => number;
  readonly blackoutsOf: (agentId: AgentId) => readonly Blackout[];
  /** Of each schedule. */
  readonly most?: number;
}

/** The soonest first. */
export const inOrder = (a: Moment, b: Moment): number => a.at - b.at || (a.id < b.id ? -1 : 1);

/** The moments in (`from`, `to`], the soonest first. What is switched off has none. */
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

/** Agents that begin within so many ms of each other clash; so many of them are critical. */
export const CLASH = { withinMs: 2 * 60_000, critical: 4 } as const;

export interface Clash {
  readonly from: number;
  readonly to: number;
  /** Two or more. */
  readonly agentIds: readonly AgentId[];
  readonly critical: boolean;
}

/** Where two or more agents begin within two minutes of each other. Neighbouring ones are one. */
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
