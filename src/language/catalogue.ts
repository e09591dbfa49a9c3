/**
 * Which language the page speaks, and the texts of it.
 *
 * The texts stand in the code in English. Another language is a catalogue: a JSON file beside this one, from each English text to
 * its own. It must be there before the first module of the page is evaluated, since many keep their texts in constants; so it
 * is kept in localStorage, the one store of a browser that answers at once. A browser that has none yet fetches it and opens the
 * page once more.
 */
/** Of one text: itself, or one form for each of CLDR's plural categories that the language knows. */
export type Translation = string | Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
export type Texts = Readonly<Record<string, Translation>>;

interface LanguageInfo {
  /** As its speakers call it. */
  readonly name: string;
  /** BCP 47, for dates and numbers. */
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  /** Where its texts are; null: in the code. */
  readonly url: string | null;
}

/** By their codes of ISO 639. What an agent says is in no catalogue: it answers in the language it is spoken to. */
export const LANGUAGES: Readonly<Record<string, LanguageInfo>> = {
  en: { name: 'English', locale: 'en-GB', direction: 'ltr', url: null },
  de: { name: 'Deutsch', locale: 'de-DE', direction: 'ltr', url: new URL('./de.json', import.meta.url).href },
};
const SOURCE = 'en';

/** Names in localStorage. */
export const STORED = {
  /** The language that the person chose; absent: the first of the browser's that there is. */
  chosen: 'roost-language',
  /** The texts, as `Kept`. */
  texts: 'roost-language-texts',
  /** In sessionStorage: the texts that were fetched right before this page was opened anew. */
  fetched: 'roost-language-fetched',
};

/** What is kept of a language: `url` says of which build. */
export interface Kept extends Pick<LanguageInfo, 'locale' | 'direction'> {
  readonly language: string;
  readonly url: string;
  readonly texts: Texts;
}

/** Where nothing can be kept (or nothing is: a worker, a test), the page speaks English. */
function stored(name: string): string | null {
  try {
    return typeof localStorage === 'undefined' ? null : localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keptTexts(): Kept | null {
  try {
    return JSON.parse(stored(STORED.texts) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}

/** The languages the browser asks for, each in its short and its long form. */
const asked = () => (typeof navigator === 'undefined' ? [] : navigator.languages.map((tag) => tag.split('-')[0] ?? ''));

/** The code of the language that the person chose; null: as the browser. */
export const chosenLanguage = (): string | null => stored(STORED.chosen);

const wanted = chosenLanguage() ?? asked().find((code) => Object.hasOwn(LANGUAGES, code)) ?? SOURCE;
const kept = wanted === SOURCE ? null : keptTexts();

/** The language of this page, from its first word to its last: it changes by opening the page anew. */
export const spoken: Kept =
  kept?.language === wanted ? kept : { language: SOURCE, url: '', locale: 'en-GB', direction: 'ltr', texts: {} };

/** Where the texts are of the language that is wanted here; null: this page has them. */
function lackingUrl(): string | null {
  const url = LANGUAGES[wanted]?.url ?? null;
  return spoken.language === wanted && spoken.url === url ? null : url;
}

/** Does the page lack the texts of its language, or have them of another build only? */
export const lacksTexts = (): boolean => lackingUrl() !== null;

/**
 * Fetches the texts of the wanted language where this page lacks them.
 * @returns whether the page is to be opened anew, to speak it. Not twice: a browser that keeps nothing stays with what it has.
 */
export async function fetchTexts(): Promise<boolean> {
  const info = LANGUAGES[wanted];
  const missing = lackingUrl();
  if (!info || missing === null || sessionStorage.getItem(STORED.fetched) === missing) return false;
  const response = await fetch(missing);
  if (!response.ok) throw new Error(`The texts of ${info.name} could not be fetched: ${response.status}`);
  const { locale, direction, url } = info;
  const texts = (await response.json()) as Texts;
  localStorage.setItem(
    STORED.texts,
    JSON.stringify({ language: wanted, url, locale, direction, texts } satisfies Kept),
  );
  sessionStorage.setItem(STORED.fetched, url);
  return true;
}

/** Speaks this language from now on: opens the page anew. Null: as the browser asks for. */
export function chooseLanguage(code: string | null): void {
  if (code === null) localStorage.removeItem(STORED.chosen);
  else localStorage.setItem(STORED.chosen, code);
  location.reload();
}
