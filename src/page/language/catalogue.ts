/**
 * Which language the page speaks, and its texts.
 *
 * The texts stand in the code in English. Another language is a catalogue: a JSON file beside this
 * one, from each English text to its own. It must be there before the first module of the page is
 * evaluated, since many keep their texts in constants; so it is kept in localStorage, the one store
 * of a browser that answers at once. A browser that has none yet fetches it (see `fetch-texts.ts`)
 * and opens the page once more.
 */

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
