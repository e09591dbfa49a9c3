/**
 * The texts of the page: written in English where they are used, shown in the language of the page.
 */
import { createElement, Fragment, type ReactNode } from 'react';

// Which language the page speaks, and its texts.
//
// The texts stand in the code in English. Another language is a catalogue: a JSON file beside this
// one, from each English text to its own. It must be there before the first module of the page is
// evaluated, since many keep their texts in constants; so it is kept in localStorage, the one store
// of a browser that answers at once. A browser that has none yet fetches it (see `fetch-texts.ts`)
// and opens the page once more.

/**
 * Of one text: itself, or one form for each of CLDR's plural categories that the language knows.
 */
export type Translation = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Texts = Readonly<Record<string, Translation>>;

/** Where the texts of each language are but of English, by its code of ISO 639. */
export const TEXTS: Readonly<Record<string, string>> = { de: new URL('./de.json', import.meta.url).href };
export const SOURCE = 'en';

/** Names in localStorage. */
export const STORED = {
  /** The language that the person chose; absent: the first of the browser's that there is. */
  chosen: 'roost-language',
  /** The texts, as `Spoken`. */
  texts: 'roost-language-texts',
};

/** A language as a page speaks it. */
export interface Spoken {
  readonly language: string;
  /** Where its texts came from: another build has another address. */
  readonly url: string;
  /** BCP 47, for dates and numbers. */
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  readonly texts: Texts;
}
const ENGLISH: Spoken = { language: SOURCE, url: '', locale: 'en-GB', direction: 'ltr', texts: {} };

/** null: nothing is kept, or it cannot be read; a worker and a test have none. */
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

const known = (tag: string) => tag === SOURCE || Object.hasOwn(TEXTS, tag);
const asked = typeof navigator === 'undefined' ? [] : navigator.languages.map((tag) => tag.split('-')[0] ?? '');
/** The code of the language that the page is to speak. */
export const wanted = chosenLanguage() ?? asked.find(known) ?? SOURCE;
const kept = wanted === SOURCE ? null : keptTexts();

/**
 * The language of this page, from its first word to its last: it changes by opening the page anew.
 */
export const spoken: Spoken = kept?.language === wanted ? kept : ENGLISH;

/** Does the page lack the texts of its language, or have them of another build only? */
export const lacksTexts = (): boolean =>
  Object.hasOwn(TEXTS, wanted) && (spoken.language !== wanted || spoken.url !== TEXTS[wanted]);

// What is said in English where no page is (the relay, a worker, a model's server), in the language
// of the page.

/** Before the form of such a sentence in a catalogue: see `src/shared/domain/sentence.ts`. */
export const FORM = 'said: ';

interface Form {
  readonly shape: RegExp;
  readonly text: string;
}
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const lengthOf = (key: string) => key.replace(/\{\d+\}/g, '').length;

let forms: readonly Form[] | undefined;
/** Those that say more of themselves first: a form of few words fits much. */
const allForms = (): readonly Form[] =>
  Object.entries(spoken.texts)
    .flatMap(([key, text]) => (key.startsWith(FORM) && typeof text === 'string' ? [[key, text] as const] : []))
    .sort(([one], [other]) => lengthOf(other) - lengthOf(one))
    .map(([key, text]) => {
      const pieces = key.slice(FORM.length).split(/\{\d+\}/);
      return { shape: new RegExp(`^${pieces.map(escaped).join('([^]*?)')}$`), text };
    });

/**
 * `code`: of a problem document of the relay (`about:roost/too-large`), whose text may hold the
 * relay's own words as `{0}`. What no catalogue knows stays as it was said: rather that than
 * nothing.
 */
export function retold(said: string, code?: string): string {
  if (spoken.language === SOURCE) return said;
  const byCode = code === undefined ? undefined : spoken.texts[code];
  if (typeof byCode === 'string') return byCode.replace('{0}', () => retold(said));
  forms ??= allForms();
  for (const { shape, text } of forms) {
    const found = shape.exec(said);
    // What was put in may be such a sentence itself.
    if (found) return text.replace(/\{(\d+)\}/g, (_, hole: string) => retold(found[Number(hole) + 1] ?? ''));
  }
  return said;
}

/**
 * The key of a text in a catalogue: `Wake {0}`. Braces stand for nothing else in a text of the
 * page.
 */
export const keyOf = (strings: readonly string[]): string =>
  strings.reduce((key, string, at) => `${key}{${at - 1}}${string}`);

/** A text with holes, cut where the holes are: `['Wake ', 0, '']`. */
type Cut = readonly (string | number)[];
/** By the place in the code: what is said there is looked up once, not each time it is drawn. */
const cuts = new WeakMap<readonly string[], Cut>();

function cutOf(strings: readonly string[]): Cut {
  let pieces = cuts.get(strings);
  if (!pieces) {
    const found = spoken.texts[keyOf(strings)];
    pieces =
      typeof found === 'string'
        ? found.split(/\{(\d+)\}/).map((piece, at) => (at % 2 ? Number(piece) : piece))
        : strings.flatMap((string, at) => (at === 0 ? [string] : [at - 1, string]));
    cuts.set(strings, pieces);
  }
  return pieces;
}

/** A text that is not in the catalogue is shown in English: rather that than nothing. */
function formOf(found: Translation | undefined, of: number): string | undefined {
  if (found === undefined || typeof found === 'string') return found;
  return found[plurals.select(of)] ?? found.other;
}
const plurals = new Intl.PluralRules(spoken.locale);

/**
 * A text in the language of the page: t`Wake ${name}`. What is put in may be words and numbers, and
 * then it is a string, or elements of the page: t`Press ${<kbd>Esc</kbd>} to close it`. The texts
 * in the code are the keys of the catalogue; `npm run texts` says which of them a language lacks.
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
 * A number of things: `1 message`, `12 messages`. In a catalogue it stands by both forms, `{0}
 * message|{0} messages`, with a form for each category that the language knows.
 * @param shown the number as it is read
 */
export function counted(value: number, shown: string, one: string, many: string): string {
  const form = formOf(spoken.texts[`{0} ${one}|{0} ${many}`], value) ?? `{0} ${value === 1 ? one : many}`;
  return form.replace('{0}', shown);
}

/**
 * A text that comes from elsewhere, word by word as it is in English: from the relay, or from a
 * table that others read too.
 */
export function translated(text: string): string {
  const found = spoken.texts[text];
  return typeof found === 'string' ? found : text;
}
