/** What somebody wishes to be reminded of, as the tools of agents take it. */
import { INTERVAL_BOUNDS, type Weekday, WEEKDAYS, WORKDAYS } from '../../../../src/shared/domain/schedule/timing.ts';

/** As the tool `wake_later` takes it. */
export interface Moment {
  readonly delay?: string;
  readonly at?: string;
}
/** As the tool `propose_routine` takes it. */
export type Again = { readonly every_minutes: number } | { readonly cron: string };

export interface Wish {
  readonly message: string;
  /** Of what comes again, the first time. */
  readonly when: Moment;
  /** Where the day was not said, and that hour of today is over. */
  readonly otherwise?: Moment;
  readonly again?: Again;
}

/** `8:30`, as the clock shows it. */
export interface Clock {
  readonly hour: number;
  readonly minute: number;
}
/** Of a day of which no hour was said, nor a part. */
export const SOME_HOUR = 9;

/** A time, in whichever language it was said. */
export type Time =
  | { readonly kind: 'span'; readonly count: number; readonly unit: 'minutes' | 'hours' | 'days' }
  /** `day`: as `wake_later` takes one; null: the next day on which that hour is to come. */
  | { readonly kind: 'clock'; readonly day: string | null; readonly clock: Clock }
  | { readonly kind: 'again'; readonly days: Weekday | typeof WORKDAYS | 'day'; readonly clock: Clock }
  | { readonly kind: 'interval'; readonly minutes: number };

const text = ({ hour, minute }: Clock): string => `${hour}:${String(minute).padStart(2, '0')}`;
const isShown = ({ hour, minute }: Clock): boolean => hour >= 0 && hour <= 23 && minute <= 59;

const NEXT = (clock: Clock) => ({ when: { at: `today ${text(clock)}` }, otherwise: { at: `tomorrow ${text(clock)}` } });
const cronDays = (days: Weekday | typeof WORKDAYS | 'day'): string =>
  days === 'day' ? '*' : days === WORKDAYS ? '1-5' : String(WEEKDAYS.indexOf(days));

/** Null: no clock shows such a time, or nothing can be set for it. */
export function wishOf(message: string, time: Time): Wish | null {
  switch (time.kind) {
    case 'span':
      return { message, when: { delay: `${time.count} ${time.unit}` } };
    case 'interval': {
      const { minutes } = time;
      if (minutes < INTERVAL_BOUNDS.min || minutes > INTERVAL_BOUNDS.max) return null;
      return { message, when: { delay: `${minutes} minutes` }, again: { every_minutes: minutes } };
    }
    case 'clock': {
      const { day, clock } = time;
      if (!isShown(clock)) return null;
      return day === null ? { message, ...NEXT(clock) } : { message, when: { at: `${day} ${text(clock)}` } };
    }
    case 'again': {
      const { days, clock } = time;
      if (!isShown(clock)) return null;
      const again = { cron: `${clock.minute} ${clock.hour} * * ${cronDays(days)}` };
      return { message, ...(days === 'day' ? NEXT(clock) : { when: { at: `${days} ${text(clock)}` } }), again };
    }
    default:
      return time satisfies never;
  }
}

/**
 * Longest sentence, in characters, in which a time is looked for behind what it is about: each of
 * its spaces could begin one.
 */
const LONGEST_SENTENCE = 1_000;

export type Groups = Readonly<Record<string, string | undefined>>;
function firstOf(patterns: readonly RegExp[], said: string): Groups | undefined {
  for (const words of patterns) {
    const found = words.exec(said);
    if (found) return found.groups;
  }
  return undefined;
}

/**
 * How a language says such a wish: each pattern has the groups of a time, and `text` for what it is
 * about.
 */
interface Phrases {
  readonly timeFirst: readonly RegExp[];
  readonly timeLast: readonly RegExp[];
  /**
   * A `text` before a time at the end is none where one of these fits it: more was said than was
   * understood.
   */
  readonly notAbout: readonly RegExp[];
}

export function readWish(said: string, { timeFirst, timeLast, notAbout }: Phrases): Groups | undefined {
  const first = firstOf(timeFirst, said);
  if (first !== undefined || said.length > LONGEST_SENTENCE) return first;
  const last = firstOf(timeLast, said);
  return notAbout.some((rest) => rest.test(last?.['text'] ?? '')) ? undefined : last;
}
