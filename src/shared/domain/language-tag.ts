/** The language that somebody has the page in, as tags and prompts name it. */

/** Is it a tag of BCP 47, such as `de` or `pt-BR`? */
export function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

/**
 * What a language is called in prompts: `German` for `de` and `de-AT`. Only a name that is known,
 * never words out of the tag. Null for English, which nobody has to be told of, and for what has no
 * name.
 */
export function languageName(tag: string): string | null {
  if (!isLanguageTag(tag)) return null;
  const { language } = new Intl.Locale(tag);
  if (language === 'en') return null;
  return new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(language) ?? null;
}
