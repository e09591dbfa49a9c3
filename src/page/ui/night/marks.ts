/** What a timeline draws: marks that do not lie over each other, and ticks at the hours. Pure. */
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Timeline } from '../../../shared/protocol/endpoints/schedules.ts';
import { toneOf, type Tone } from './words.ts';

/** Places in a lane: what lies closer together is one mark. */
const PLACES = 160;
const HOUR = 3_600_000;

export interface Mark {
  /** Part of the span, 0 to 1. */
  readonly at: number;
  /** `dark`: to come, and passes by in quiet hours. */
  readonly kind: Tone | 'to-come' | 'dark';
  /** That the person gave its routine, of what is to come; null: its agent's. */
  readonly color: string | null;
}

/** What is seen where several lie at one place: the graver first. */
const ORDER: readonly Mark['kind'][] = ['bad', 'open', 'skipped', 'good', 'to-come', 'dark', 'quiet'];

export const placeIn = ({ from, to }: Pick<Timeline, 'from' | 'to'>, time: number): number =>
  Math.min(1, Math.max(0, (time - from) / (to - from)));

/** `colors`: of routines that have one of their own, by id. */
export function marksOf(timeline: Timeline, agentId: AgentId, colors: ReadonlyMap<string, string>): readonly Mark[] {
  const marks = new Map<number, Omit<Mark, 'at'>>();
  const put = (time: number, kind: Mark['kind'], color: string | null = null) => {
    const place = Math.round(placeIn(timeline, time) * PLACES);
    const held = marks.get(place);
    if (held === undefined || ORDER.indexOf(kind) < ORDER.indexOf(held.kind)) marks.set(place, { kind, color });
  };
  for (const one of timeline.occurrences) if (one.agentId === agentId) put(one.dueAt, toneOf(one));
  for (const { scheduleId, agentId: whose, at, dark } of timeline.moments)
    if (whose === agentId) put(at, dark === null ? 'to-come' : 'dark', colors.get(scheduleId));
  return [...marks].sort(([a], [b]) => a - b).map(([place, mark]) => ({ at: place / PLACES, ...mark }));
}

export interface Tick {
  readonly at: number;
  readonly time: number;
  /** It has room for its time beside it. */
  readonly named: boolean;
}

/** Each full hour of the reader's own clock; of longer spans every sixth. */
export function ticksOf(timeline: Pick<Timeline, 'from' | 'to'>): readonly Tick[] {
  const hours = (timeline.to - timeline.from) / HOUR;
  const step = hours <= 48 ? 1 : 6;
  const named = hours <= 24 ? 3 : hours <= 48 ? 6 : hours <= 144 ? 24 : 48;
  const ticks: Tick[] = [];
  const first = new Date(timeline.from);
  first.setMinutes(0, 0, 0);
  let days = 0;
  for (let time = first.getTime(); time <= timeline.to; time += HOUR) {
    const hour = new Date(time).getHours();
    if (hour === 0) days += 1;
    if (time < timeline.from || hour % step !== 0) continue;
    const isNamed = named <= 24 ? hour % named === 0 : hour === 0 && days % 2 === 0;
    ticks.push({ at: placeIn(timeline, time), time, named: isNamed });
  }
  return ticks;
}

/** One routine in figures: what a table says of the span. */
export interface Line {
  readonly scheduleId: ScheduleId;
  readonly agentId: AgentId;
  readonly name: string;
  /** How often each of these came about, the most frequent first. */
  readonly past: readonly { readonly text: string; readonly tone: Tone; readonly count: number }[];
  readonly toCome: number;
  /** Of those to come, in quiet hours. */
  readonly dark: number;
  /** The first that runs; null: none. */
  readonly next: number | null;
}

/** `names`: of what is scheduled, by id. What is there no more is known from its past alone. */
export function linesOf(
  timeline: Timeline,
  names: ReadonlyMap<string, string>,
  say: (one: Timeline['occurrences'][number]) => string,
): readonly Line[] {
  const lines = new Map<string, { line: Omit<Line, 'past'>; past: Map<string, { tone: Tone; count: number }> }>();
  const of = (scheduleId: ScheduleId, agentId: AgentId, name: string) => {
    const held = lines.get(scheduleId) ?? {
      line: { scheduleId, agentId, name, toCome: 0, dark: 0, next: null },
      past: new Map<string, { tone: Tone; count: number }>(),
    };
    lines.set(scheduleId, held);
    return held;
  };
  for (const { scheduleId, agentId, at, dark } of timeline.moments) {
    const held = of(scheduleId, agentId, names.get(scheduleId) ?? t`Something new`);
    held.line = {
      ...held.line,
      toCome: held.line.toCome + 1,
      dark: held.line.dark + (dark === null ? 0 : 1),
      next: held.line.next ?? (dark === null ? at : null),
    };
  }
  for (const one of timeline.occurrences) {
    const { past } = of(one.scheduleId, one.agentId, one.kind === 'wake' ? t`woken by others` : one.name);
    const text = say(one);
    past.set(text, { tone: toneOf(one), count: (past.get(text)?.count ?? 0) + 1 });
  }
  return [...lines.values()].map(({ line, past }) => ({
    ...line,
    past: [...past].map(([text, more]) => ({ text, ...more })).sort((a, b) => b.count - a.count),
  }));
}
