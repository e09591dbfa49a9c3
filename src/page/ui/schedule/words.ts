/** Texts about schedules and runs. Pure. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { OccurrenceState, SkipReason, Timing } from '../../../shared/domain/schedule/timing.ts';
import { retold, spoken, t } from '../../language/t.ts';
import type { Timeline } from '../../../shared/protocol/endpoints/schedules.ts';
import { WAITS_FOR_YES, type Occurrence, type Scheduled } from '../../../shared/protocol/schedules.ts';
import { costText, money, tokens } from '../text/money.ts';
import { names, plural } from '../text/sizes.ts';
import { clockTime, duration, dayWithin } from '../text/time.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Weekdays in display order, Monday first; 0 is Sunday. */
export const WEEK = [1, 2, 3, 4, 5, 6, 0] as const;
const WEEKDAYS = '1,2,3,4,5';

const later = new Intl.DateTimeFormat(spoken.locale, { weekday: 'long', day: 'numeric', month: 'long' });
const weekday = new Intl.DateTimeFormat(spoken.locale, { weekday: 'long' });
/** The name of a weekday; 0 is Sunday. Any week serves: 1 November 2026 is a Sunday. */
export const dayTitle = (day: number, length: 'long' | 'short' = 'long'): string =>
  new Intl.DateTimeFormat(spoken.locale, { weekday: length }).format(new Date(2026, 10, 1 + day));

/**
 * `today 07:30`, `tomorrow 07:30`, `Thursday 07:30`, `Thursday 3 December 07:30`; for the past,
 * `yesterday 07:30`.
 */
export function momentText(at: number, now: number): string {
  const days = Math.round((new Date(at).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0)) / DAY);
  if (days <= 0) return `${dayWithin(at, now)} ${clockTime(at)}`;
  const day = days === 1 ? t`tomorrow` : days < 7 ? weekday.format(at) : later.format(at);
  return `${day} ${clockTime(at)}`;
}

/** `tomorrow 07:30`; with `in 12 minutes` where that adds something. */
export function nextText(at: number, now: number): string {
  if (at - now < MINUTE) return t`at once`;
  return at - now < 2 * 60 * MINUTE ? t`${momentText(at, now)}, in ${duration(at - now)}` : momentText(at, now);
}

/** Shown where the relay returned fewer moments than there are. */
export const LEFT_OUT = t`More is due in this time than is shown here.`;

function daysText(days: readonly number[]): string {
  const sorted = WEEK.filter((day) => days.includes(day));
  if (sorted.length === 0 || sorted.length === 7) return t`every day`;
  if (sorted.join() === WEEKDAYS) return t`every weekday`;
  if (sorted.join() === '6,0') return t`at weekends`;
  return t`on ${names(sorted.map((day) => dayTitle(day)))}`;
}

/** A cron text that names one time on days of the week, such as `30 7 * * 1-5`; null: another. */
function weeklyOf(cron: string): { readonly days: readonly number[]; readonly time: string } | null {
  const [, minute, hour, days] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-7](?:[,-][0-7])*)$/.exec(cron.trim()) ?? [];
  if (minute === undefined || hour === undefined || days === undefined) return null;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (days === '*') return { days: [], time };
  const named = days.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, day) => (from + day) % 7);
  });
  return { days: named, time };
}

/** The timing within a sentence: "every weekday at 07:30". */
export function timingText(timing: Timing, now: number): string {
  switch (timing.kind) {
    case 'every': {
      const { minutes } = timing;
      if (minutes === 60) return t`every hour`;
      if (minutes === 1) return t`every minute`;
      return minutes % 60 === 0 ? t`every ${minutes / 60} hours` : t`every ${minutes} minutes`;
    }
    case 'weekly':
      return t`${daysText(timing.days)} at ${timing.time}${timing.zone === null ? '' : ` (${timing.zone})`}`;
    case 'cron': {
      const weekly = weeklyOf(timing.cron);
      const zone = timing.zone === null ? '' : ` (${timing.zone})`;
      return weekly === null
        ? t`by the cron text “${timing.cron}”${zone}`
        : t`${daysText(weekly.days)} at ${weekly.time}${zone}`;
    }
    case 'once':
      return t`once, ${momentText(timing.at, now)}`;
    default:
      return timing satisfies never;
  }
}

/** The rating of an outcome, which decides its colour. `quiet`: there was nothing to do. */
export type Tone = 'good' | 'bad' | 'skipped' | 'quiet' | 'open';

const STATES: Record<OccurrenceState, { readonly word: string; readonly tone: Tone }> = {
  due: { word: t`waiting to start`, tone: 'open' },
  claimed: { word: t`waiting to start`, tone: 'open' },
  running: { word: t`at work`, tone: 'open' },
  done: { word: t`done`, tone: 'good' },
  failed: { word: t`failed`, tone: 'bad' },
  'timed-out': { word: t`took too long`, tone: 'bad' },
  crashed: { word: t`the relay crashed`, tone: 'bad' },
  stopped: { word: t`stopped by you`, tone: 'skipped' },
  skipped: { word: t`skipped`, tone: 'skipped' },
  missed: { word: t`missed: the relay was not running`, tone: 'skipped' },
  cancelled: { word: t`cancelled`, tone: 'quiet' },
};

const SKIPPED: Record<SkipReason, string> = {
  'agent-busy': t`it was busy`,
  blackout: t`quiet hours`,
  concurrency: t`a limit was reached`,
  minutes: t`a limit was reached`,
  budget: t`the budget for the day was used up`,
  'model-refused': t`its model’s provider refused for now`,
  'nothing-waits': t`nothing waited for it`,
  overlap: t`it was busy`,
  'switched-off': t`wakes are off`,
  'planned-stop': t`you had stopped the relay`,
  'no-copy': t`the relay has no copy of it`,
  gate: t`a limit was reached`,
};

export const toneOf = ({ state, reason }: Pick<Occurrence, 'state' | 'reason'>): Tone =>
  reason === 'nothing-waits' ? 'quiet' : STATES[state].tone;

/** The cause of a run, to follow its agent's name: `Morning round`, `woken by Wren`. */
export const whatText = ({ kind, name }: Pick<Occurrence, 'kind' | 'name'>): string =>
  kind === 'wake' ? t`woken by ${name}` : name;

/** `done`, `skipped: quiet hours`, `failed` */
export function outcomeText({
  state,
  reason,
  detail = null,
}: Pick<Occurrence, 'state' | 'reason'> & Partial<Pick<Occurrence, 'detail'>>): string {
  if (reason !== null) return state === 'skipped' ? t`skipped: ${SKIPPED[reason]}` : t`Waits: ${SKIPPED[reason]}`;
  // If someone other than the person stopped it, the detail says who.
  return state === 'stopped' && detail !== null ? t`stopped` : STATES[state].word;
}

/** What waits for its agent, and why; null: nothing. */
export const waitsText = ({ waits }: Scheduled): string | null =>
  waits === undefined ? null : t`Waits: ${SKIPPED[waits.reason]}`;

/** `4 s`, `2 minutes`: its duration; null if it never began or is still running. */
function tookText({ startedAt, endedAt }: Pick<Occurrence, 'startedAt' | 'endedAt'>): string | null {
  if (startedAt === null || endedAt === null) return null;
  const ms = Math.max(0, endedAt - startedAt);
  return ms < MINUTE ? `${Math.max(1, Math.round(ms / 1_000))} s` : duration(ms);
}

/** `4 s · 1.2K tokens · $0.0123`: the known costs; with ≈ where some are unknown. */
export const spentText = (one: Occurrence): string =>
  [
    tookText(one),
    one.tokens === null ? null : t`${`${one.estimated ? '≈ ' : ''}${tokens(one.tokens)}`} tokens`,
    one.costMicroUsd === null ? null : costText({ ...one, costMicroUsd: one.costMicroUsd }),
  ]
    .filter((part) => part !== null)
    .join(' · ');

const hoursText = (hours: number) => (hours % 24 === 0 && hours > 24 ? t`${hours / 24} days` : t`${hours} h`);

/** The most runs of the coming period, and their cost where it is known. */
export function mostText({ runs, microUsd }: Timeline['most'], hours: number): string {
  if (runs === 0) return t`Nothing is due in the next ${hoursText(hours)}.`;
  const due = t`At most ${plural(runs, 'run')} in the next ${hoursText(hours)}`;
  return microUsd === null ? due : `${due} · ≈ ${money(microUsd)}`;
}

/** `23:00: Lyra and Wren` */
export const clashText = (
  { from, agentIds }: Timeline['clashes'][number],
  nameOf: (agentId: AgentId) => string,
  now: number,
): string => t`${momentText(from, now)}: ${names(agentIds.map(nameOf))}`;

/** The warning of a schedule; null if all is well. */
export function warningText(scheduled: Scheduled): string | null {
  const { pausedWhy, warning, failedInARow, elsewhere } = scheduled;
  // Schedules of another relay are explained once, above all of them.
  if (elsewhere !== null) return null;
  if (pausedWhy === WAITS_FOR_YES) return t`Off. ${retold(pausedWhy)}`;
  if (pausedWhy !== null) return t`Paused. ${retold(pausedWhy)} Switch it on to continue.`;
  if (failedInARow > 1) return t`It failed ${failedInARow} times in a row.`;
  return warning ?? (scheduled.schedule.kind === 'reminder' ? null : waitsText(scheduled));
}

/** Is it due at all, in the current state? */
export const isOn = ({ schedule, pausedWhy }: Scheduled): boolean =>
  pausedWhy === null && (schedule.kind === 'reminder' || schedule.enabled);
