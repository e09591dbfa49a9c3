/** Loads languages other than English on demand. */
import { SOURCE, type Spoken, STORED, TEXTS, type Texts, language } from './t.ts';

/**
 * By ISO 639 code. Agents' messages are in no catalogue: an agent answers in the language it is
 * spoken to.
 */
export const LANGUAGES: Readonly<Record<string, Pick<Spoken, 'locale' | 'direction'> & { readonly name: string }>> = {
  [SOURCE]: { name: 'English', locale: 'en-GB', direction: 'ltr' },
  de: { name: 'Deutsch', locale: 'de-DE', direction: 'ltr' },
};
/** sessionStorage key: the URL of the texts that were fetched just before the page was reloaded. */
const FETCHED = 'roost-language-fetched';

/**
 * Fetches the texts of the chosen language and stores them for the next load of the page.
 *
 * @returns whether to reload the page. Never twice in a row: a browser that stores nothing keeps
 * the texts it has.
 */
export async function fetchTexts(): Promise<boolean> {
  const info = LANGUAGES[language];
  const url = TEXTS[language];
  if (!info || url === undefined || sessionStorage.getItem(FETCHED) === url) return false;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The texts of ${info.name} could not be fetched: ${response.status}`);
  const { locale, direction } = info;
  const fetched: Spoken = { language, url, locale, direction, texts: (await response.json()) as Texts };
  localStorage.setItem(STORED.texts, JSON.stringify(fetched));
  sessionStorage.setItem(FETCHED, url);
  return true;
}

/** Switches the language by reloading the page. null: the browser's language. */
export function chooseLanguage(code: string | null): void {
  if (code === null) localStorage.removeItem(STORED.chosen);
  else localStorage.setItem(STORED.chosen, code);
  sessionStorage.removeItem(FETCHED);
  location.reload();
}
