/**
 * The texts of the page. They are written in English where they are used, and shown in the language
 * of the page.
 */
import { createElement, Fragment, type ReactNode } from 'react';
import { problemTextKey } from '../../shared/protocol/problems.ts';

// Decides the language of the page and loads its texts.
//
// The source texts are English. Another language is a catalogue: a JSON file beside this module
// that maps each English text to its translation. It must be loaded before the first module of the
// page is evaluated, since many modules hold texts in constants. So it is stored in localStorage,
// the one browser storage that is synchronous. A browser without it fetches the catalogue first
// (see `fetch-texts.ts`) and then reloads the page.

/** The translation of one text, or one form for each CLDR plural category of the language. */
export type Translation = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Texts = Readonly<Record<string, Translation>>;

/** URLs of the catalogues, by ISO 639 code; English needs none. */
export const TEXTS: Readonly<Record<string, string>> = { de: new URL('./de.json', import.meta.url).href };
export const SOURCE = 'en';

/** Keys in localStorage. */
export const STORED = {
  /** The language that the person chose; absent: the first supported one of the browser's. */
  chosen: 'roost-language',
  /** The texts, as `Spoken`. */
  texts: 'roost-language-texts',
};

/** A language with its texts. */
export interface Spoken {
  readonly language: string;
  /** Where its texts came from. Another build has another URL. */
  readonly url: string;
  /** BCP 47, for dates and numbers. */
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: Texts;
}
const ENGLISH: Spoken = { language: SOURCE, url: '', locale: 'en-GB', direction: 'ltr', texts: {} };

/** null: nothing is stored, or it cannot be read. Workers and tests have no storage. */
function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keptTexts(): Spoken | null {
  try {
    return JSON.parse(stored(STORED.texts) ?? 'null') as Spoken | null;
  } catch {
    return null;
  }
}

/** The code of the language that the person chose; null: the browser's. */
export const chosenLanguage = (): string | null => stored(STORED.chosen);

const isKnown = (tag: string) => tag === SOURCE || Object.hasOwn(TEXTS, tag);
const preferred = typeof navigator === 'undefined' ? [] : navigator.languages.map((tag) => tag.split('-')[0] ?? '');
/** The code of the language that the page should have. */
export const language = chosenLanguage() ?? preferred.find(isKnown) ?? SOURCE;
const storedTexts = language === SOURCE ? null : keptTexts();

/** The language of this page. It changes only by a reload. */
export const spoken: Spoken = storedTexts?.language === language ? storedTexts : ENGLISH;

/** Does the page lack the texts of its language, or have only those of another build? */
export const lacksTexts = (): boolean =>
  Object.hasOwn(TEXTS, language) && (spoken.language !== language || spoken.url !== TEXTS[language]);

// Translates sentences that other parts (the relay, a worker, a model's server) produce in English.

/** Prefix of such a sentence's form in a catalogue: see `src/shared/domain/names.ts`. */
export const FORM = 'said: ';

interface Form {
  readonly shape: RegExp;
  readonly text: string;
}
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const lengthOf = (key: string) => key.replace(/\{\d+\}/g, '').length;

let forms: readonly Form[] | undefined;
/** The most specific forms first: a form of few words matches much. */
const allForms = (): readonly Form[] =>
  Object.entries(spoken.texts)
    .flatMap(([key, text]) => (key.startsWith(FORM) && typeof text === 'string' ? [[key, text] as const] : []))
    .sort(([one], [other]) => lengthOf(other) - lengthOf(one))
    .map(([key, text]) => {
      const pieces = key.slice(FORM.length).split(/\{\d+\}/);
      return { shape: new RegExp(`^${pieces.map(escaped).join('([^]*?)')}$`), text };
    });

/**
 * `code`: of the relay's problem document (`about:roost/too-large`), whose text may contain the
 * relay's own words as `{0}`. Text without a translation stays as it is.
 */
export function retold(said: string, code?: string): string {
  if (spoken.language === SOURCE) return said;
  const key = code === undefined ? null : problemTextKey(code);
  const byCode = key === null ? undefined : spoken.texts[key];
  if (typeof byCode === 'string') return byCode.replace('{0}', () => retold(said));
  const own = spoken.texts[said];
  if (typeof own === 'string') return own;
  forms ??= allForms();
  for (const { shape, text } of forms) {
    const found = shape.exec(said);
    // The value may be such a sentence itself.
    if (found) return text.replace(/\{(\d+)\}/g, (_, hole: string) => retold(found[Number(hole) + 1] ?? ''));
  }
  return said;
}

/**
 * The key of a text in a catalogue: `Wake {0}`. Braces have no other meaning in texts of the page.
 */
export const keyOf = (strings: readonly string[]): string =>
  strings.reduce((key, string, at) => `${key}{${at - 1}}${string}`);

/** A text with placeholders, split at them: `['Wake ', 0, '']`. */
type Cut = readonly (string | number)[];
/** By call site: its translation is looked up once, not on every render. */
const cuts = new WeakMap<readonly string[], Cut>();

function cutOf(strings: readonly string[]): Cut {
  let pieces = cuts.get(strings);
  if (!pieces) {
    const text = spoken.texts[keyOf(strings)];
    pieces =
      typeof text === 'string'
        ? text.split(/\{(\d+)\}/).map((piece, at) => (at % 2 ? Number(piece) : piece))
        : strings.flatMap((string, at) => (at === 0 ? [string] : [at - 1, string]));
    cuts.set(strings, pieces);
  }
  return pieces;
}

/** A text that is missing in the catalogue is shown in English. */
function formOf(found: Translation | undefined, of: number): string | undefined {
  if (found === undefined || typeof found === 'string') return found;
  return found[plurals.select(of)] ?? found.other;
}
const plurals = new Intl.PluralRules(spoken.locale);

/**
 * Translates a text: t`Wake ${name}`. Values are strings, which yield a string, or React elements:
 * t`Press ${<kbd>Esc</kbd>} to close it`. The English texts are the keys of the catalogue. `npm run
 * texts` lists those that a language lacks.
 */
export function t(strings: TemplateStringsArray, ...values: readonly (string | number)[]): string;
export function t(strings: TemplateStringsArray, ...values: readonly ReactNode[]): ReactNode;
export function t(strings: TemplateStringsArray, ...values: readonly ReactNode[]): ReactNode {
  const parts = cutOf(strings).map((piece) => (typeof piece === 'number' ? values[piece] : piece));
  return values.every((value) => typeof value === 'string' || typeof value === 'number')
    ? parts.join('')
    : createElement(Fragment, null, ...parts);
}

/**
 * A number of things: `1 message`, `12 messages`. Its catalogue key has both forms, `{0}
 * message|{0} messages`; its translation has a form for each plural category of the language.
 *
 * @param shown the number as it is displayed
 */
export function counted(value: number, shown: string, one: string, many: string): string {
  const form = formOf(spoken.texts[`{0} ${one}|{0} ${many}`], value) ?? `{0} ${value === 1 ? one : many}`;
  return form.replace('{0}', shown);
}

/**
 * Translates an English text from elsewhere: from the relay, or from a table with other readers.
 */
export function translated(text: string): string {
  const found = spoken.texts[text];
  return typeof found === 'string' ? found : text;
}
