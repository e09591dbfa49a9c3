/** A wish to be reminded, in English. */
import { type Weekday, WEEKDAYS, WORKDAYS } from '../../../../src/shared/domain/schedule/timing.ts';
import { readWish, SOME_HOUR, wishOf, type Clock, type Groups, type Time, type Wish } from './wish.ts';

const COUNTED = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const WEEKDAY = WEEKDAYS.join('|');
const COUNT = String.raw`\d{1,4}|an?|${COUNTED.join('|')}`;
const SPAN = String.raw`in\s+(?:(?<halfHour>half an hour)|(?<quarterHour>a quarter of an hour)|(?<count>${COUNT})\s*(?<unit>minutes?|mins?|hours?|days?|weeks?))`;
const INTERVAL = String.raw`(?:(?<hourly>hourly)|(?:every|each)\s+(?:(?<many>${COUNT})\s+)?(?<of>minutes?|hours?))`;
const PART = String.raw`(?:in\s+the\s+|at\s+)?(?<part>morning|noon|afternoon|evening|night)`;
const HOUR = String.raw`at\s+(?:(?<noon>noon|midday)|(?:(?<near>half past|quarter past|quarter to)\s+)?(?<hour>\d{1,2}|${COUNTED.join('|')})(?::(?<minute>\d\d))?(?:\s*o['’]?clock)?(?:\s*(?<half>am|pm|a\.m\.|p\.m\.))?)(?:\s+(?:in\s+the|at)\s+(?<late>morning|afternoon|evening|night))?`;
const DAY = String.raw`(?:(?<ahead>today|tomorrow|(?:the\s+)?day\s+after\s+tomorrow)|(?:on\s+)?(?:(?:this|the|coming)\s+)*(?:(?<next>next)\s+)?(?<weekday>${WEEKDAY}))`;
const AGAIN = String.raw`(?:(?:every|each)\s+(?<every>day|weekday|workday|work(?:ing)?\s+day|morning|afternoon|evening|night|${WEEKDAY})|(?<daily>daily)|(?:(?:on|from)\s+)?(?<plural>mondays?\s+(?:to|through|till|until)\s+fridays?|weekdays|workdays|${WEEKDAYS.map((day) => `${day}s`).join('|')}))`;
/** Each way to say a time; what says more stands before what says less. */
const TIMES = [
  SPAN,
  INTERVAL,
  String.raw`${AGAIN}(?:\s+${PART})?,?\s+${HOUR}`,
  String.raw`${HOUR},?\s+${AGAIN}`,
  String.raw`${AGAIN}(?:\s+${PART})?`,
  String.raw`${DAY}(?:\s+${PART})?,?\s+${HOUR}`,
  String.raw`${HOUR},?\s+${DAY}`,
  String.raw`${DAY}(?:\s+${PART})?`,
  String.raw`(?<tonight>tonight)(?:\s+${HOUR})?`,
  String.raw`in\s+the\s+(?<part>morning|afternoon|evening)(?:,?\s+${HOUR})?`,
  String.raw`${HOUR}(?:\s+(?<tonight>tonight))?`,
];
const TEXT = String.raw`(?<text>[\s\S]+?)`;
const ABOUT = String.raw`(?:\s*(?::|,|to\b(?!\s+(?:${WEEKDAY})\b)|of\b|about\b|that\b)\s*${TEXT})`;
const ASK = String.raw`(?:please,?\s+)?(?:(?:can|could|will|would) you\s+(?:please\s+)?)?`;
const WISH = String.raw`^\s*${ASK}`;
const REMIND = String.raw`remind (?:me|us|yourself)`;
const whole = (words: string) => new RegExp(String.raw`${words}(?:,?\s+please)?\s*[.!?]*\s*$`, 'i');
const TIME_FIRST = TIMES.flatMap((time) => [
  String.raw`${WISH}${REMIND}\s+${time}${ABOUT}?`,
  String.raw`^\s*${time},?\s+${ASK}${REMIND}${ABOUT}`,
]).map(whole);
const TIME_LAST = TIMES.map((time) => String.raw`${WISH}${REMIND}${ABOUT}\s+${time}`).map(whole);
/**
 * What is left at the end of the rest where a time was said that it cannot set: what follows it is
 * no whole time.
 */
const LEFT =
  /\b(?:for|to|through|by|until|till|before|after|from|since|every|each|other|and|or|first|second|third|fourth|last|next|\d{1,2}(?:st|nd|rd|th)?|(?:the|next|every|each|this|per|a|\w+) (?:weeks?|weekends?|months?|years?)|(?:(?:\d{1,2}(?:st|nd|rd|th)?|the|of|in|on|next|every|each) )(?:january|february|march|april|may|june|july|august|september|october|november|december)|(?:january|february|march|april|may|june|july|august|september|october|november|december),? \d{1,4}(?:st|nd|rd|th)?|monthly|weekly|yearly|fortnightly)$/i;

/** It asks what was said or done, at the time that it names. */
const PAST = /^(?:what|who|whom|where|which|how|why|when)\b.*\b(?:was|were|did|had|said|told|spoke|talked|asked)\b/i;

/** A wish about the clock, whether or not it says when. */
export const IS_WISH = new RegExp(String.raw`${WISH}(?:remind me|wake me|tell me that)\b`, 'i');

const numberOf = (word: string): number => {
  const at = COUNTED.indexOf(word.toLowerCase());
  return at >= 0 ? at + 1 : /^an?$/i.test(word) ? 1 : Number(word);
};
const USUAL: Readonly<Record<string, number>> = { morning: 8, noon: 12, afternoon: 15, evening: 19, night: 21 };

/** `part`: of the day, as it was said. */
function clockOf({ noon, near, hour, minute, half, late }: Groups, part: string | undefined): Clock {
  if (noon !== undefined) return { hour: 12, minute: 0 };
  if (hour === undefined) return { hour: USUAL[part ?? ''] ?? SOME_HOUR, minute: 0 };
  const named = numberOf(hour);
  const isAfternoon = /^(?:afternoon|evening|night)$/.test(late ?? part ?? '');
  const after =
    half === undefined
      ? named + (isAfternoon && named < 12 ? 12 : 0)
      : named > 12
        ? named
        : (named % 12) + (/^p/i.test(half) ? 12 : 0);
  switch (near?.toLowerCase()) {
    case 'half past':
      return { hour: after, minute: 30 };
    case 'quarter past':
      return { hour: after, minute: 15 };
    case 'quarter to':
      return { hour: after - 1, minute: 45 };
    default:
      return { hour: after, minute: Number(minute ?? 0) };
  }
}

const minutesOf = ({ many = 'a', of = '' }: Groups): number => numberOf(many) * (/^h/i.test(of) ? 60 : 1);
function spanOf({ count = '', unit = '' }: Groups): Time {
  const many = numberOf(count);
  switch (unit.charAt(0).toLowerCase()) {
    case 'm':
      return { kind: 'span', count: many, unit: 'minutes' };
    case 'h':
      return { kind: 'span', count: many, unit: 'hours' };
    case 'w':
      return { kind: 'span', count: 7 * many, unit: 'days' };
    default:
      return { kind: 'span', count: many, unit: 'days' };
  }
}
const daysOf = (word: string): Weekday | typeof WORKDAYS | 'day' =>
  /^w(?:eekday|ork)|day (?:to|through|till|until) /.test(word)
    ? WORKDAYS
    : (WEEKDAYS.find((day) => word.startsWith(day)) ?? 'day');

const saysNoHour = ({ noon, hour, part, tonight }: Groups): boolean => (noon ?? hour ?? part ?? tonight) === undefined;
/** Null: of a day that says no hour, and may be over. */
function timeOf(said: Groups): Time | null {
  const lower = (name: string) => said[name]?.toLowerCase().replace(/\s+/g, ' ');
  if (said['halfHour'] !== undefined) return { kind: 'span', count: 30, unit: 'minutes' };
  if (said['quarterHour'] !== undefined) return { kind: 'span', count: 15, unit: 'minutes' };
  if (said['count'] !== undefined) return spanOf(said);
  if (said['hourly'] !== undefined) return { kind: 'interval', minutes: 60 };
  if (said['of'] !== undefined) return { kind: 'interval', minutes: minutesOf(said) };
  const again = lower('every') ?? lower('daily') ?? lower('plural');
  const part = said['tonight'] === undefined ? (lower('part') ?? again) : 'evening';
  const clock = clockOf(said, part);
  if (again !== undefined) return { kind: 'again', days: daysOf(again), clock };
  const ahead = said['tonight'] === undefined ? lower('ahead')?.replace(/^the /, '') : 'today';
  if (ahead === 'today' && saysNoHour(said)) return null;
  const weekday =
    said['weekday'] === undefined ? null : `${said['next'] === undefined ? '' : 'next '}${lower('weekday') ?? ''}`;
  return { kind: 'clock', day: ahead ?? weekday, clock };
}

export function inEnglish(said: string): Wish | null {
  const asked = readWish(said, { timeFirst: TIME_FIRST, timeLast: TIME_LAST, notAbout: [LEFT, PAST] });
  const time = asked && timeOf(asked);
  return time ? wishOf(asked['text'] ?? said.trim(), time) : null;
}
