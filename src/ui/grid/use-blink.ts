import { useEffect, type RefObject } from 'react';

/** ms between two blinks of one face, and how long its eyes are shut. Ten faces draw 20 frames in that time: drawn in software, each is 1 % of a core for a second. */
const EVERY = 24_000;
const SHUT = 140;

/**
 * Lets a face blink. By a timer, not by an animation: one that never ends is worked out anew for every frame of the
 * screen, however seldom anything of it changes.
 */
export function useBlink(face: RefObject<SVGSVGElement | null>, blinks: boolean, phase: number): void {
  useEffect(() => {
    if (!blinks || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    let timer = setTimeout(shut, EVERY - (phase % EVERY));
    function set(shutNow: boolean) {
      // Nobody sees a page that is hidden.
      if (face.current && !document.hidden) face.current.dataset['blink'] = String(shutNow);
    }
    function shut() {
      set(true);
      timer = setTimeout(open, SHUT);
    }
    function open() {
      if (face.current) face.current.dataset['blink'] = 'false';
      timer = setTimeout(shut, EVERY - SHUT);
    }
    return () => clearTimeout(timer);
  }, [face, blinks, phase]);
}
