/**
 * The appearance of the page: as the system says, dark, or light. The styles ask
 * `prefers-color-scheme`. A choice of the person rewrites those queries, also in styles that are
 * loaded later. It is stored in this browser.
 */
export const APPEARANCES = ['dark', 'light'] as const;
export type Appearance = (typeof APPEARANCES)[number];

const STORED = 'roost-appearance';
const QUERY = /prefers-color-scheme:\s*(dark|light)/;

/** The queries as they were written. */
const written = new WeakMap<MediaList, string>();

/** null: as the system. */
export function chosenAppearance(): Appearance | null {
  const stored = localStorage.getItem(STORED);
  return APPEARANCES.find((each) => each === stored) ?? null;
}

/** The query that holds exactly where `query` would hold with this appearance. */
export function decided(query: string, appearance: Appearance): string {
  const holds = (QUERY.exec(query)?.[1] === appearance) !== /^\s*not\b/.test(query);
  return holds ? 'all' : 'not all';
}

function rewrite(media: MediaList, appearance: Appearance | null): void {
  const query = written.get(media) ?? media.mediaText;
  if (!QUERY.test(query)) return;
  written.set(media, query);
  media.mediaText = appearance === null ? query : decided(query, appearance);
}

function rewriteIn(rules: CSSRuleList, appearance: Appearance | null): void {
  for (const rule of rules) {
    if (rule instanceof CSSMediaRule) rewrite(rule.media, appearance);
    if ('cssRules' in rule) rewriteIn(rule.cssRules as CSSRuleList, appearance);
  }
}

function apply(): void {
  const appearance = chosenAppearance();
  document.documentElement.style.colorScheme = appearance ?? '';
  for (const sheet of document.styleSheets) rewriteIn(sheet.cssRules, appearance);
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const query = (meta.dataset['media'] ??= meta.media);
    meta.media = appearance === null ? query : decided(query, appearance);
  }
}

/** null: as the system. */
export function chooseAppearance(appearance: Appearance | null): void {
  if (appearance === null) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, appearance);
  apply();
}

/** Called once, before the page is drawn. */
export function followAppearance(): void {
  if (chosenAppearance() !== null) apply();
  addEventListener('storage', ({ key }) => {
    if (key === STORED || key === null) apply();
  });
  // Styles of parts that are loaded later.
  document.head.addEventListener('load', ({ target }) => target instanceof HTMLLinkElement && apply(), true);
}
