/** What a stand-in is asked to remind of, and when: "Remind me in 10 minutes to …", „Erinnere mich morgen um acht an …“. */

/** As the tool `wake_later` takes it. */
interface Moment {
  readonly delay?: string;
  readonly at?: string;
}
interface Wish {
  readonly message: string;
  readonly when: Moment;
  /** Where the day was not said, and that hour of today is over. */
  readonly otherwise?: Moment;
}

const COUNTED = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const WHEN = String.raw`(?:in\s+(?<delay>\d{1,4}\s*(?:minutes?|hours?|days?))|tomorrow(?:\s+at\s+(?<hour>\d{1,2}|${COUNTED.join('|')})(?::(?<minute>\d\d))?)?)`;
const ABOUT = String.raw`(?:\s*(?::|,|to\b|of\b|about\b|that\b)\s*`;
const WISH = String.raw`^\s*(?:please,?\s+)?(?:(?:can|could|will|would) you\s+(?:please\s+)?)?`;
const REMIND = [
  String.raw`${WISH}remind (?:me|yourself)\s+${WHEN}${ABOUT}(?<text>[\s\S]+?))?`,
  String.raw`${WISH}remind (?:me|yourself)${ABOUT}(?<text>[\s\S]+?))\s+${WHEN}`,
].map((words) => new RegExp(String.raw`${words}(?:,?\s+please)?\s*[.!?]*\s*$`, 'i'));

/** A wish about the clock, whether or not it says when. */
export const IS_WISH = new RegExp(String.raw`${WISH}(?:remind me|wake me|tell me that)\b`, 'i');

type Groups = Readonly<Record<string, string | undefined>>;
const firstOf = (patterns: readonly RegExp[], said: string): Groups | undefined =>
  patterns.map((words) => words.exec(said)).find((found) => found !== null)?.groups;

function inEnglish(said: string): Wish | null {
  const asked = firstOf(REMIND, said);
  if (!asked) return null;
  const { delay, hour = '9', minute = '00', text } = asked;
  const named = COUNTED.indexOf(hour.toLowerCase());
  const when = delay === undefined ? { at: `tomorrow ${named < 0 ? Number(hour) : named + 1}:${minute}` } : { delay };
  return { message: text ?? said.trim(), when };
}

const ZAHLEN = 'eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf'.split(' ');
const ZAHL = String.raw`\d{1,4}|eine[rmn]?|ein|${ZAHLEN.join('|')}`;
const SPAN = String.raw`in\s+(?:(?<half>einer halben stunde)|(?<quarter>einer viertelstunde)|(?<count>${ZAHL})\s*(?<unit>minuten?|min\.?|stunden?|std\.?|tag(?:en)?))`;
const PART = String.raw`(?<part>früh|morgens?|vormittags?|mittags?|nachmittags?|abends?)`;
const HOUR = String.raw`(?:um|gegen)\s+(?<to>halb\s+)?(?<hour>\d{1,2}|${ZAHLEN.join('|')}|ein)(?:[:.](?<minute>\d\d))?(?:\s*uhr(?:\s+(?<past>\d\d))?)?(?:\s+(?<late>morgens|vormittags|nachmittags|abends))?`;
const DAY = String.raw`(?<day>heute|morgen)`;
/** Each way to say a time. */
const TIMES = [SPAN, String.raw`${DAY}(?:\s+${PART})?\s+${HOUR}`, String.raw`${DAY}\s+${PART}`, '(?<day>morgen)', HOUR];
const TEXT = String.raw`(?<text>[^\s,][\s\S]*?)`;
const SUBJECT = String.raw`(?:(?<an>an)\s|daran|:|,)\s*,?\s*${TEXT}`;
const BITTE = String.raw`^\s*(?:bitte,?\s+)?`;
const ASK = String.raw`(?:kannst|könntest|würdest|magst|willst)\s+du\s+(?:mich|uns)(?:\s+bitte)?`;
const TELL = String.raw`erinnere?\s+(?:mich|uns|dich)(?:\s+bitte)?`;
const whole = (words: string) => new RegExp(String.raw`${BITTE}${words}(?:,?\s+bitte)?\s*[.!?]*\s*$`, 'iu');
/** With each time before what it is about: „Erinnere mich um acht an …“, „… daran, um acht …“, „Kannst du mich um acht an … erinnern?“ */
const TIME_FIRST = TIMES.flatMap((time) => [
  String.raw`${TELL}\s+${time}(?:\s*${SUBJECT})?`,
  String.raw`${TELL}\s+daran,?\s+${time}\s+${TEXT}`,
  String.raw`${ASK}\s+${time}\s+(?:daran\s+)?erinnern(?:\s*[:,]\s*${TEXT})?`,
  String.raw`${ASK}\s+${time}\s+(?<an>an)\s+${TEXT}\s+erinnern`,
  String.raw`${ASK}\s+daran\s+erinnern,?\s+${time}\s+${TEXT}`,
]).map(whole);
/** And behind it. */
const TIME_LAST = TIMES.flatMap((time) => [
  String.raw`${TELL}\s*${SUBJECT}\s+${time}`,
  String.raw`${ASK}\s+(?<an>an)\s+${TEXT}\s+${time}\s+erinnern`,
]).map(whole);
/** Words of a day that it cannot set, at the end of what it is about: what follows them is no time of today. */
const OTHER_DAY =
  /(?<!\p{L})(?:übermorgen|(?:am|jeden|nächsten|kommenden|diesen)\s+(?:\p{L}+tag|mittwoch|morgen|abend)|(?:am|zum)\s+\d{1,2}\.(?:\s*\p{L}+|\d{1,2}\.)?|täglich|(?:nächste|kommende|jede)\s+woche|jede[ns]?)$/iu;
const HOURS_OF: readonly (readonly [part: RegExp, hour: number])[] = [
  [/^(?:früh|morgen)/iu, 8],
  [/^vormittag/iu, 10],
  [/^mittag/iu, 12],
  [/^nachmittag/iu, 15],
  [/^abend/iu, 19],
];
/** Of nobody's day: as in English. */
const SOME_HOUR = 9;

const numberOf = (word: string): number => {
  const at = ZAHLEN.indexOf(word.toLowerCase());
  return at >= 0 ? at + 1 : /^ein/iu.test(word) ? 1 : Number(word);
};

function spanOf({ half, quarter, count = '', unit = '' }: Groups): string {
  if (half !== undefined) return '30 minutes';
  if (quarter !== undefined) return '15 minutes';
  return `${numberOf(count)} ${/^m/iu.test(unit) ? 'minutes' : /^s/iu.test(unit) ? 'hours' : 'days'}`;
}
function clockOf({ to, hour, minute, past, part, late }: Groups): string {
  const usual = HOURS_OF.find(([pattern]) => part !== undefined && pattern.test(part))?.[1] ?? SOME_HOUR;
  const named = hour === undefined ? usual : numberOf(hour);
  const after = /^(?:nachmittag|abend)/iu.test(late ?? part ?? '') && named < 12 ? named + 12 : named;
  // „Halb neun“ is half past eight.
  return to === undefined ? `${after}:${minute ?? past ?? '00'}` : `${after - 1}:30`;
}

/** „An den Tee“: what is called „Tee“ from then on. */
const named = (text: string) => text.replace(/^(?:den|die|das)\s+(?=\p{Lu})/u, '');

function inGerman(said: string): Wish | null {
  const last = firstOf(TIME_LAST, said);
  const asked = firstOf(TIME_FIRST, said) ?? (OTHER_DAY.test(last?.['text'] ?? '') ? null : last);
  if (!asked) return null;
  const { an, text, day } = asked;
  const message = text === undefined ? said.trim() : an === undefined ? text : named(text);
  if (asked['half'] !== undefined || asked['quarter'] !== undefined || asked['count'] !== undefined)
    return { message, when: { delay: spanOf(asked) } };
  const clock = clockOf(asked);
  if (day !== undefined) return { message, when: { at: `${/^heute$/iu.test(day) ? 'today' : 'tomorrow'} ${clock}` } };
  return { message, when: { at: `today ${clock}` }, otherwise: { at: `tomorrow ${clock}` } };
}

/** What these words ask to be reminded of; null where they ask for none, or do not say when. */
export const reminderIn = (said: string): Wish | null => inEnglish(said) ?? inGerman(said);
