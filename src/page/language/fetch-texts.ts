/** Other languages than the page's own: fetched when one is wanted. */
import { SOURCE, type Spoken, STORED, TEXTS, type Texts, wanted } from './t.ts';

/**
 * By their codes of ISO 639. What an agent says is in no catalogue: it answers in the language it
 * is spoken to.
 */
export const LANGUAGES: Readonly<Record<string, Pick<Spoken, 'locale' | 'direction'> & { readonly name: string }>> = {
  [SOURCE]: { name: 'English', locale: 'en-GB', direction: 'ltr' },
  de: { name: 'Deutsch', locale: 'de-DE', direction: 'ltr' },
};
/**
 * In sessionStorage: where the texts came from that were fetched right before the page was opened
 * anew.
 */
const FETCHED = 'roost-language-fetched';

/**
 * Fetches the texts of the wanted language, and keeps them for the next time the page is opened.
 * @returns whether it is to be opened anew. Not twice: a browser that keeps nothing stays with what
 *   it has.
 */
export async function fetchTexts(): Promise<boolean> {
  const info = LANGUAGES[wanted];
  const url = TEXTS[wanted];
  if (!info || url === undefined || sessionStorage.getItem(FETCHED) === url) return false;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The texts of ${info.name} could not be fetched: ${response.status}`);
  const { locale, direction } = info;
  const fetched: Spoken = { language: wanted, url, locale, direction, texts: (await response.json()) as Texts };
  localStorage.setItem(STORED.texts, JSON.stringify(fetched));
  sessionStorage.setItem(FETCHED, url);
  return true;
}

/** Speaks this language from now on, by opening the page anew. Null: the browser's. */
export function chooseLanguage(code: string | null): void {
  if (code === null) localStorage.removeItem(STORED.chosen);
  else localStorage.setItem(STORED.chosen, code);
  sessionStorage.removeItem(FETCHED);
  location.reload();
}
