import { useSyncExternalStore } from 'react';

/** px, as in the style sheets: below it the team and a conversation are two views, and settings a list. */
export const TWO_VIEWS_BELOW = '(max-width: 760px)';

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
