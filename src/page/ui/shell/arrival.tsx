import { useEffect, type RefObject } from 'react';

/**
 * Where what had the focus is gone with the view it was in, it goes on at the head of the new one,
 * once that is there. `begunRef`: false until something was shown: whoever opens the page begins at
 * its top.
 */
export function Arrival({ at, begunRef }: { at: string; begunRef: RefObject<boolean> }) {
  useEffect(() => {
    if (begunRef.current && document.activeElement === document.body)
      for (const head of document.querySelectorAll<HTMLElement>('#main :is(h1, h2)[tabindex]')) {
        head.focus();
        // What is out of sight takes no focus.
        if (document.activeElement === head) break;
      }
    begunRef.current = true;
  }, [at, begunRef]);
  return null;
}
