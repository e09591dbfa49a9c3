import { useSyncExternalStore } from 'react';

/**
 * As in the style sheets, in the size of the text: below it the team and a conversation are two
 * views, and settings a list.
 */
export const TWO_VIEWS_BELOW = '(max-width: 47.5em)';

/** Does this media query hold now? */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    () => matchMedia(query).matches,
  );
}
