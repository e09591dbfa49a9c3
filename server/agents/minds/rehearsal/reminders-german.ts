/** A wish to be reminded, in German. */
import { type Weekday, WORKDAYS } from '../../../../src/shared/domain/schedule/timing.ts';
import { readWish, SOME_HOUR, wishOf, type Clock, type Groups, type Time, type Wish } from './wish.ts';

const ZAHLEN = 'eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf'.split(' ');
const ZAHL = String.raw`\d{1,4}|eine[rmn]?|ein|${ZAHLEN.join('|')}`;
const WEEKDAY = 'montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag';
const SPAN = String.raw`in\s+(?:(?<halfHour>einer halben stunde)|(?<quarterHour>einer viertelstunde)|(?<count>${ZAHL})\s*(?<unit>minuten?|min\.?|stunden?|std\.?|tag(?:en)?|wochen?))`;
const INTERVAL = String.raw`(?:(?<halfHourly>(?:jede|alle)\s+halbe\s+stunde)|(?<hourly>stündlich|jede\s+stunde)|alle\s+(?<many>${ZAHL})\s*(?<of>minuten?|min\.?|stunden?|std\.?))`;
const PART = String.raw`(?<part>früh|morgens?|vormittags?|mittags?|nachmittags?|abends?)`;
const HOUR = String.raw`(?:um|gegen)\s+(?<to>halb\s+)?(?<hour>\d{1,2}|${ZAHLEN.join('|')}|ein)(?:[:.](?<minute>\d\d))?(?:\s*uhr(?:\s+(?<past>\d\d))?)?(?:\s+(?<late>morgens|vormittags|mittags|nachmittags|abends))?`;
const DAY = String.raw`(?:(?<ahead>heute|morgen|übermorgen)|(?:am\s+|den\s+|diesen\s+)?(?:(?<next>nächste[nr]?)\s+|kommenden\s+)?(?<weekday>${WEEKDAY}))`;
const AGAIN = String.raw`(?:(?:jede[nrs]?|immer\s+am)\s+(?<every>tag|morgen|vormittag|mittag|nachmittag|abend|werktag|arbeitstag|wochentag|${WEEKDAY})|(?<daily>täglich)|(?:immer\s+)?(?<plural>werktags|(?:von\s+)?montags?\s+bis\s+freitags?|wochentags|an\s+(?:allen\s+|den\s+)?(?:werk|wochen|arbeits)tagen|(?:${WEEKDAY})s))`;
/** Each way to say a time; what says more stands before what says less. */
const TIMES = [
  SPAN,
  INTERVAL,
  String.raw`${AGAIN}(?:\s*${PART})?,?\s+${HOUR}`,
  String.raw`${HOUR}\s+${AGAIN}`,
  String.raw`${AGAIN}(?:\s*${PART})?`,
  String.raw`${DAY}(?:\s*${PART})?,?\s+${HOUR}`,
  String.raw`${HOUR}\s+${DAY}`,
  String.raw`${DAY}\s*${PART}`,
  DAY,
  String.raw`am\s+(?<part>vormittag|mittag|nachmittag|abend)(?:,?\s+${HOUR})?`,
  HOUR,
];
const TEXT = String.raw`(?<text>[^\s,][\s\S]*?)`;
const SUBJECT = String.raw`(?:(?<an>an)\s|daran|:|,)\s*,?\s*${TEXT}`;
const BITTE = String.raw`^\s*(?:bitte,?\s+)?`;
const ASK = String.raw`(?:kannst|könntest|würdest|magst|willst)\s+du\s+(?:mich|uns)(?:\s+bitte)?`;
const TELL = String.raw`erinnere?\s+(?:mich|uns|dich)(?:\s+bitte)?`;
const whole = (words: string) => new RegExp(String.raw`${BITTE}${words}(?:,?\s+bitte)?\s*[.!?]*\s*$`, 'iu');
/**
 * With each time before what it is about: „Erinnere mich um acht an …“, „… daran, um acht …“,
 * „Kannst du mich um acht an … erinnern?“
 */
const TIME_FIRST = TIMES.flatMap((time) => [
  String.raw`${TELL}\s+${time}(?:\s*${SUBJECT})?`,
  String.raw`${TELL}\s+daran,?\s+${time}\s+${TEXT}`,
  String.raw`${ASK}\s+${time}\s+(?:daran\s+)?erinnern(?:\s*[:,]\s*${TEXT})?`,
  String.raw`${ASK}\s+${time}\s+(?<an>an)\s+${TEXT}\s+erinnern`,
  String.raw`${ASK}\s+daran\s+erinnern,?\s+${time}\s+${TEXT}`,
  String.raw`${time}\s+${TELL}\s*${SUBJECT}`,
]).map(whole);
/** And behind it. */
const TIME_LAST = TIMES.flatMap((time) => [
  String.raw`${TELL}\s*${SUBJECT}\s+${time}`,
  String.raw`${ASK}\s+(?<an>an)\s+${TEXT}\s+${time}\s+erinnern`,
]).map(whole);
/**
 * What is left at the end of the rest where a time was said that it cannot set: what follows it is
 * no whole time.
 */
const LEFT =
  /(?<!\p{L})(?:(?:am|zum|den|dem|ab|vom)\s+\d{1,2}\.(?:\s*\p{L}+|\s*\d{1,2}\.?)?(?:\s*\d{2,4})?|(?:am|jede[nrs]?|alle|nächste[nrs]?|kommende[nrs]?|diese[nrs]?|pro|einmal)(?:\s+[\p{L}\d]+){0,2}\s+(?:wochen?|wochenende|monate?|monats|jahre?|tage?)|(?:am|jede[nrs]?|alle|nächste[nrs]?|kommende[nrs]?)(?:\s+\p{L}+)?|wöchentlich|monatlich|jährlich|(?:ersten|zweiten|dritten|vierten|letzten)|und|oder|bis|vor|nach|ab|seit|für|von)$/iu;
const HOURS_OF: readonly (readonly [part: RegExp, hour: number])[] = [
  [/^(?:früh|morgen)/iu, 8],
  [/^vormittag/iu, 10],
  [/^mittag/iu, 12],
  [/^nachmittag/iu, 15],
  [/^abend/iu, 19],
];
const AHEAD: Readonly<Record<string, string>> = {
  heute: 'today',
  morgen: 'tomorrow',
  übermorgen: 'day after tomorrow',
};
const DAYS: readonly (readonly [word: RegExp, day: Weekday])[] = [
  [/^montag/iu, 'monday'],
  [/^dienstag/iu, 'tuesday'],
  [/^mittwoch/iu, 'wednesday'],
  [/^donnerstag/iu, 'thursday'],
  [/^freitag/iu, 'friday'],
  [/^(?:samstag|sonnabend)/iu, 'saturday'],
  [/^sonntag/iu, 'sunday'],
];
const dayOf = (word: string): Weekday | null => DAYS.find(([pattern]) => pattern.test(word))?.[1] ?? null;

const numberOf = (word: string): number => {
  const at = ZAHLEN.indexOf(word.toLowerCase());
  return at >= 0 ? at + 1 : /^ein/iu.test(word) ? 1 : Number(word);
};

function spanOf({ count = '', unit = '' }: Groups): Time {
  const many = numberOf(count);
  if (/^m/iu.test(unit)) return { kind: 'span', count: many, unit: 'minutes' };
  if (/^s/iu.test(unit)) return { kind: 'span', count: many, unit: 'hours' };
  return { kind: 'span', count: /^w/iu.test(unit) ? 7 * many : many, unit: 'days' };
}
/** `part`: of the day, as it was said. */
function clockOf({ to, hour, minute, past, late }: Groups, part: string | undefined): Clock {
  const usual = HOURS_OF.find(([pattern]) => part !== undefined && pattern.test(part))?.[1] ?? SOME_HOUR;
  const named = hour === undefined ? usual : numberOf(hour);
  const of = late ?? part ?? '';
  const isAfternoon = /^(?:nachmittag|abend)/iu.test(of) || (/^mittag/iu.test(of) && named < 4);
  const after = isAfternoon && named < 12 ? named + 12 : named;
  // „Halb neun“ is half past eight.
  return to === undefined ? { hour: after, minute: Number(minute ?? past ?? 0) } : { hour: after - 1, minute: 30 };
}

/** Null: of a day that says no hour, and may be over. */
function timeOf(said: Groups): Time | null {
  if (said['halfHour'] !== undefined) return { kind: 'span', count: 30, unit: 'minutes' };
  if (said['quarterHour'] !== undefined) return { kind: 'span', count: 15, unit: 'minutes' };
  if (said['count'] !== undefined) return spanOf(said);
  if (said['halfHourly'] !== undefined) return { kind: 'interval', minutes: 30 };
  if (said['hourly'] !== undefined) return { kind: 'interval', minutes: 60 };
  if (said['many'] !== undefined)
    return { kind: 'interval', minutes: numberOf(said['many']) * (/^s/iu.test(said['of'] ?? '') ? 60 : 1) };
  const again = said['every'] ?? said['daily'] ?? said['plural'];
  const clock = clockOf(said, said['part'] ?? again);
  if (again !== undefined) {
    const days = /(?:werk|arbeits|wochen)tag|\sbis\s/iu.test(again) ? WORKDAYS : (dayOf(again) ?? 'day');
    return { kind: 'again', days, clock };
  }
  const ahead = said['ahead']?.toLowerCase();
  if (ahead === 'heute' && said['hour'] === undefined && said['part'] === undefined) return null;
  const weekday = dayOf(said['weekday'] ?? '');
  const next = said['next'] === undefined ? '' : 'next ';
  return { kind: 'clock', day: AHEAD[ahead ?? ''] ?? (weekday && `${next}${weekday}`), clock };
}

/** „An den Tee“: what is called „Tee“ from then on. */
const named = (text: string) => text.replace(/^(?:den|die|das)\s+(?=\p{Lu})/u, '');

export function inGerman(said: string): Wish | null {
  const asked = readWish(said, { timeFirst: TIME_FIRST, timeLast: TIME_LAST, notAbout: [LEFT] });
  const time = asked && timeOf(asked);
  if (!time) return null;
  const { an, text } = asked;
  return wishOf(text === undefined ? said.trim() : an === undefined ? text : named(text), time);
}
