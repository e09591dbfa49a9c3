/** The language of the page, as tags and prompts name it. */

/** Whether the text is a BCP 47 tag, such as `de` or `pt-BR`. */
export function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

/**
 * The name of a language in prompts: `German` for `de` and `de-AT`.
 *
 * Returns only known names, never text from the tag. Null for English, which prompts do not
 * mention, and for languages without a known name.
 */
export function languageName(tag: string): string | null {
  if (!isLanguageTag(tag)) return null;
  const { language } = new Intl.Locale(tag);
  if (language === 'en') return null;
  return new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(language) ?? null;
}
