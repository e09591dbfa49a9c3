/** Recognises what the person asks for, by the words of a language's table alone. */
import type { Language } from './english.ts';
import { LANGUAGES, type Reading } from './reading.ts';

/** In lower case, without stops and apostrophes, one space between words. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
export function hasOne(text: string, phrases: readonly string[]): boolean {
  const said = ` ${plain(text)} `;
  return phrases.some((phrase) => said.includes(` ${phrase} `));
}
export function beginsWithOne(text: string, phrases: readonly string[]): boolean {
  const said = `${plain(text)} `;
  return phrases.some((phrase) => said.startsWith(`${phrase} `));
}
export const isOne = (text: string, phrases: readonly string[]) => phrases.includes(plain(text));

/** The language of this text, by its frequent words. In doubt, the language of the page. */
export function languageOfWords({ language }: Pick<Reading, 'language'>, said: string): Language {
  const all = plain(said).split(' ');
  const hits = ({ common }: Language) => all.filter((word) => common.includes(word)).length;
  return LANGUAGES.reduce((best, each) => (hits(each) > hits(best) ? each : best), language);
}

const withoutLead = (said: string, { polite }: Language): string => {
  const lead = new RegExp(String.raw`^\s*(?:(?:${polite.join('|')})[\s,]+)+`, 'iu');
  return said.trim().replace(lead, '');
};
/** The sentence without its final stop, and without "please" at either end. */
export const bare = (said: string, language: Language): string => {
  const trail = new RegExp(String.raw`(?:[\s,]+(?:${language.polite.join('|')}))*[\s.!?]*$`, 'iu');
  return withoutLead(said, language).replace(trail, '');
};
const isQuestion = (said: string) => /\?\s*$/.test(said);
export const asks = (said: string, { commands }: Language): boolean =>
  isQuestion(said) || beginsWithOne(said, commands.asks);

/**
 * Whether the text asks to remember something, even after a question: "Shall we begin? Remember
 * that …".
 */
export const isToKeep = (said: string, language: Language): boolean =>
  !isQuestion(said) &&
  said.split(/[.!?…]\s/u).some((sentence) => beginsWithOne(withoutLead(sentence, language), language.commands.keep));

/** "Tell Lyra that …". Null: it names no agent within reach, or has no message. */
export function addressed(
  { team }: Pick<Reading, 'team'>,
  said: string,
  language: Language,
  verbs: readonly string[],
): { readonly to: string; readonly message: string } | null {
  const text = withoutLead(said, language);
  const behind = (from: string, start: string) =>
    from.slice(0, start.length).toLowerCase() === start ? from.slice(start.length) : null;
  for (const verb of verbs) {
    const rest = behind(text, `${verb} `)?.trimStart();
    if (rest === undefined) continue;
    for (const name of team)
      for (const link of language.commands.links) {
        const message = behind(behind(rest, name)?.trimStart() ?? '', link)?.trim();
        if (message) return { to: rest.slice(0, name.length), message };
      }
  }
  return null;
}

/** The new name that the agent is asked to take; null: none. */
export function newName(said: string, language: Language): string | null {
  const text = bare(said, language);
  const phrase = language.commands.rename.find((each) => text.toLowerCase().startsWith(`${each} `));
  if (phrase === undefined || isQuestion(said)) return null;
  return text
    .slice(phrase.length)
    .replace(/["“”„]/g, '')
    .trim();
}

export const isCommand = (said: string, language: Language, phrases: readonly string[]): boolean =>
  !isQuestion(said) && isOne(bare(said, language), phrases);
export const asksForSoul = (said: string, language: Language): boolean =>
  !isQuestion(said) && beginsWithOne(bare(said, language), language.commands.soul);

/** A reminder, in the form that the tool `wake_later` takes. */
export interface Wish {
  readonly message: string;
  readonly when: { readonly delay: string } | { readonly at: string };
  /** Used if the wish names no day and that hour of today is over. */
  readonly otherwise?: { readonly at: string };
}
/** The hour for a day without one. */
const USUAL = '9:00';

interface Span {
  /** Number of words that it takes. */
  readonly length: number;
  readonly wish: Omit<Wish, 'message'>;
}

/** Reads times from the words of a wish. */
function clockReader(words: readonly string[], { reminders }: Language) {
  const { numbers, units, days, oclock } = reminders;
  const word = (at: number) => plain(words[at] ?? '');
  const numberAt = (at: number): number | null => {
    const said = word(at);
    if (/^\d{1,4}$/.test(said)) return Number(said);
    const index = numbers.findIndex((ways) => ways.includes(said));
    return index < 0 ? null : index + 1;
  };
  /** `8`, `8:30`, `acht Uhr`, `3 pm`, `3pm` */
  const clockAt = (at: number) => {
    const joined = /^(\d{1,2})(?:[:.](\d\d))?(am|pm)?[.,:;!?]*$/i.exec(words[at] ?? '');
    const named = joined ? Number(joined[1]) : numberAt(at);
    if (named === null) return null;
    const next = word(at + 1);
    const half = joined?.[3]?.toLowerCase() ?? (['am', 'pm'].includes(next) ? next : null);
    const hour = half === null || named > 12 ? named : (named % 12) + (half === 'pm' ? 12 : 0);
    const minute = Number(joined?.[2] ?? 0);
    const length = oclock.includes(next) ? 2 : 1;
    return hour > 23 || minute > 59 ? null : { length, text: `${hour}:${String(minute).padStart(2, '0')}` };
  };
  const hourAt = (at: number) => {
    const clock = reminders.at.includes(word(at)) ? clockAt(at + 1) : null;
    return clock && { length: clock.length + 1, text: clock.text };
  };
  const dayAt = (at: number) => {
    const skipped = reminders.on.includes(word(at)) ? 1 : 0;
    const day = days[word(at + skipped)];
    return day === undefined ? null : { length: skipped + 1, day };
  };
  const spanAt = (at: number): Span | null => {
    if (word(at) !== reminders.in) return null;
    const count = numberAt(at + 1);
    const unit = (['minutes', 'hours', 'days'] as const).find((each) => units[each].includes(word(at + 2)));
    return count === null || unit === undefined ? null : { length: 3, wish: { when: { delay: `${count} ${unit}` } } };
  };
  const momentAt = (at: number): Span | null => {
    const first = dayAt(at);
    const hour = hourAt(at + (first?.length ?? 0));
    const day = first ?? (hour ? dayAt(at + hour.length) : null);
    const length = (day?.length ?? 0) + (hour?.length ?? 0);
    if (day?.day === 'today' && !hour) return null;
    if (day) return { length, wish: { when: { at: `${day.day} ${hour?.text ?? USUAL}` } } };
    if (!hour) return null;
    return { length, wish: { when: { at: `today ${hour.text}` }, otherwise: { at: `tomorrow ${hour.text}` } } };
  };
  return { at: (at: number) => spanAt(at) ?? momentAt(at), isDay: (at: number) => days[word(at)] !== undefined };
}

/**
 * The reminder that these words ask for. Null: they ask for none, or part of the time was not
 * understood. The demo never sets a time other than the one meant.
 */
export function reminderIn(said: string, language: Language): Wish | null {
  const { asks: ways, about, beyond } = language.reminders;
  const text = bare(said, language);
  const way = ways.find(
    (each) => beginsWithOne(text, [each.begins]) && (each.has === undefined || hasOne(text, [each.has])),
  );
  if (!way || hasOne(text, beyond)) return null;
  const words = text.split(/\s+/).slice(way.begins.split(' ').length);
  const rest = words.filter((word) => plain(word) !== way.has);
  const clock = clockReader(rest, language);
  const isAbout = (word: string) => about.includes(plain(word));
  const start = rest.findIndex((word) => !isAbout(word));
  for (const [at] of rest.entries()) {
    const span = clock.at(at);
    if (!span || (at !== start && at + span.length !== rest.length)) continue;
    if (rest.some((_, i) => (i < at || i >= at + span.length) && clock.isDay(i))) return null;
    const left = [...rest.slice(0, at), ...rest.slice(at + span.length)];
    while (left[0] !== undefined && isAbout(left[0])) left.shift();
    // A number at either end may belong to a time that was not understood: "on the 3rd at 9".
    if ([left[0], left.at(-1)].some((word) => word !== undefined && /\d/.test(word))) return null;
    const message = left.join(' ').replace(/^[:,\s]+|[,\s]+$/g, '');
    return { message: message === '' ? said.trim() : message, ...span.wish };
  }
  return null;
}
