/**
 * When something is due, as it stands in the fields of an editor, and what each editor does with
 * what the relay says. Pure.
 */
import { slotsBetween, type Timing } from '../../../shared/domain/schedule/timing.ts';
import { t } from '../../language/t.ts';
import { createCronClock, cronProblem } from '../../../shared/protocol/cron.ts';
import type { Schedule, ScheduleOf } from '../../../shared/protocol/schedules.ts';

export interface TimingDraft {
  readonly timing: Timing['kind'];
  readonly minutes: string;
  /** Minutes after the full interval; empty: kept apart from the others' by the relay. */
  readonly offset: string;
  readonly days: readonly number[];
  readonly time: string;
  readonly cron: string;
  /** As `datetime-local` has it, in the reader's own zone. */
  readonly at: string;
}

/** Where nothing was written yet. */
export const emptyTiming: TimingDraft = {
  timing: 'weekly',
  minutes: '30',
  offset: '',
  days: [1, 2, 3, 4, 5],
  time: '07:30',
  cron: '',
  at: '',
};

const two = (value: number) => String(value).padStart(2, '0');
/** `2026-11-23T07:30` */
export function localText(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export const timingDraftOf = (timing: Timing): TimingDraft => ({
  ...emptyTiming,
  timing: timing.kind,
  ...(timing.kind === 'every' ? { minutes: String(timing.minutes), offset: String(timing.offset ?? '') } : {}),
  ...(timing.kind === 'weekly' ? { days: timing.days, time: timing.time } : {}),
  ...(timing.kind === 'cron' ? { cron: timing.cron } : {}),
  ...(timing.kind === 'once' ? { at: localText(timing.at) } : {}),
});

/** What is wrong, by field. */
export type Wrong = Readonly<Record<string, string>>;

export function wrongInTiming(draft: TimingDraft): Record<string, string> {
  const wrong: Record<string, string> = {};
  if (draft.timing === 'every' && !/^\d+$/.test(draft.minutes.trim())) wrong['minutes'] = t`A whole number of minutes.`;
  if (draft.timing === 'every' && !/^\d*$/.test(draft.offset.trim()))
    wrong['offset'] = t`A whole number of minutes, or nothing.`;
  if (draft.timing === 'weekly' && draft.time === '') wrong['time'] = t`Choose a time.`;
  const cron = draft.timing === 'cron' ? cronProblem(draft.cron) : null;
  if (cron !== null)
    wrong['cron'] =
      draft.cron.trim() === ''
        ? t`Five fields, as in “30 7 * * 1-5”.`
        : `${cron.charAt(0).toUpperCase()}${cron.slice(1)}.`;
  if (draft.timing === 'once' && !Number.isFinite(Date.parse(draft.at))) wrong['at'] = t`Choose a day and a time.`;
  return wrong;
}

/** When it would be due. Null: that cannot be said yet. */
export function timingOf(draft: TimingDraft, before: Timing | null = null): ScheduleOf<'routine'>['timing'] | null {
  switch (draft.timing) {
    case 'every': {
      const minutes = Number(draft.minutes);
      if (!Number.isInteger(minutes) || minutes < 1) return null;
      const offset = draft.offset.trim() === '' ? null : Number(draft.offset);
      // One that does not fit is told by whoever saves it; until then it is taken round the
      // interval.
      return offset !== null && !Number.isInteger(offset) ? null : { kind: 'every', minutes, offset };
    }
    case 'weekly':
      return draft.time === ''
        ? null
        : {
            kind: 'weekly',
            days: [...draft.days],
            time: draft.time,
            zone: before?.kind === 'weekly' ? before.zone : null,
          };
    case 'cron':
      return draft.cron.trim() === ''
        ? null
        : { kind: 'cron', cron: draft.cron.trim(), zone: before?.kind === 'cron' ? before.zone : null };
    case 'once': {
      const at = Date.parse(draft.at);
      // The very moment that was set stays it, seconds and all.
      if (before?.kind === 'once' && draft.at === localText(before.at)) return before;
      return Number.isFinite(at) ? { kind: 'once', at } : null;
    }
    default:
      return draft.timing satisfies never;
  }
}

/**
 * The next moments at which it is due, at most `most`; none: never, as it stands. `zone`: of the
 * household; `offset`: minutes, that an interval was given.
 */
export function nextOf(
  draft: TimingDraft,
  before: Timing | null,
  household: { readonly zone: string; readonly offset: number },
  now: number,
  most: number,
): readonly number[] {
  const timing = timingOf(draft, before);
  if (!timing || (timing.kind === 'cron' && cronProblem(timing.cron) !== null)) return [];
  return slotsBetween(timing, now, Infinity, { ...household, cron: CRON }, most);
}
const CRON = createCronClock();

/**
 * What the relay found wrong, by the field of the editor at which it is shown; `rest` has no field
 * there. `fields`: of the editor; `standsAt`: where one stands under another name.
 */
export function wrongAt(
  found: Wrong,
  { timing }: Pick<TimingDraft, 'timing'>,
  fields: readonly string[],
  standsAt: Wrong,
): { readonly at: Wrong; readonly rest: readonly string[] } {
  const at: Record<string, string> = {};
  const rest: string[] = [];
  const own = { every: 'minutes', weekly: 'time', cron: 'cron', once: 'at' }[timing];
  for (const [field, message] of Object.entries(found)) {
    const last = field.replace(/^timing\.(days)(\.\d+)?$/, '$1').replace(/^timing\./, '');
    const place = standsAt[field.replace(/\.\d+$/, '')] ?? (field === 'timing' ? own : last);
    if (fields.includes(place)) at[place] = message;
    else rest.push(`${field}: ${message}`);
  }
  return { at, rest };
}

export interface Merged<S> {
  readonly merged: S;
  readonly clashes: readonly string[];
}

/**
 * What was changed here, put into what the relay has by now: another page may have changed it
 * meanwhile. `clashes`: fields that both changed, each in another way; they stand in `merged` as
 * here.
 */
export function mergedInto<S extends Schedule>(
  latest: S,
  before: S,
  mine: S,
  fields: readonly (keyof S & string)[],
): Merged<S> {
  const differs = (one: S, other: S, field: keyof S) => JSON.stringify(one[field]) !== JSON.stringify(other[field]);
  const changed = fields.filter((field) => differs(mine, before, field));
  const clashes = changed.filter((field) => differs(latest, before, field) && differs(latest, mine, field));
  const own = Object.fromEntries(changed.map((field) => [field, mine[field]]));
  return { merged: { ...latest, ...own }, clashes };
}
