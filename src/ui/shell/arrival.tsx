import { useEffect, type RefObject } from 'react';

/**
 * Where what had the focus is gone with the view it was in, it goes on at the head of the new one, once that is there.
 * `begun`: false until something was shown: whoever opens the page begins at its top.
 */
export function Arrival({ at, begun }: { at: string; begun: RefObject<boolean> }) {
  useEffect(() => {
    if (begun.current && document.activeElement === document.body)
      for (const head of document.querySelectorAll<HTMLElement>('#main :is(h1, h2)[tabindex]')) {
        head.focus();
        // What is out of sight takes no focus.
        if (document.activeElement === head) break;
      }
    begun.current = true;
  }, [at, begun]);
  return null;
}
