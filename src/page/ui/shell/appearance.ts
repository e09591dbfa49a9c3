/**
 * The appearance of the page: as the system says, dark, or light. The styles ask
 * `prefers-color-scheme`. A choice of the person rewrites those queries, also in styles that are
 * loaded later. It is stored in this browser. Pages whose person has chosen none never load this.
 */
import { APPEARANCE_KEY as STORED } from './window.ts';

export const APPEARANCES = ['dark', 'light'] as const;
export type Appearance = (typeof APPEARANCES)[number];

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
  for (const sheet of document.styleSheets)
    // The rules of another origin, such as an extension's, cannot be read.
    if (sheet.href === null || new URL(sheet.href).origin === location.origin) rewriteIn(sheet.cssRules, appearance);
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const query = (meta.dataset['media'] ??= meta.media);
    meta.media = appearance === null ? query : decided(query, appearance);
  }
}

/** null: as the system. */
export function chooseAppearance(appearance: Appearance | null): void {
  if (appearance === null) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, appearance);
  followAppearance();
}

let isFollowed = false;
/** Applies the choice, also to styles of parts that are loaded later, and follows other tabs. */
export function followAppearance(): void {
  apply();
  if (isFollowed) return;
  isFollowed = true;
  addEventListener('storage', ({ key }) => {
    if (key === STORED || key === null) apply();
  });
  document.head.addEventListener('load', ({ target }) => target instanceof HTMLLinkElement && apply(), true);
}
