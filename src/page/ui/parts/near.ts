/** What is far from what is in sight need not be drawn. Where it stood, its room stays. */
import { useEffect, useState, type RefObject } from 'react';

/** A browser of tests has none: there, all is near. */
export const CAN_TELL_NEAR = typeof IntersectionObserver !== 'undefined';

interface Watching {
  /** px above and below what is in sight that are near. */
  readonly around: number;
  /** A selector of the element that scrolls. */
  readonly wherein: string;
  readonly isWatched?: boolean;
  /** px of its room, until it is known whether it is near; null: it is drawn at first. */
  readonly atFirst?: number | null;
}

/** Does somebody have this marked, perhaps to copy it? */
function isMarked(element: Element): boolean {
  const mark = document.getSelection();
  return mark !== null && !mark.isCollapsed && mark.containsNode(element, true);
}

/** px of the room that the element keeps while it is not drawn; null: it is near, and drawn. */
export function useRoom(
  element: RefObject<HTMLElement | null>,
  { around, wherein, isWatched = true, atFirst = null }: Watching,
): number | null {
  const [room, setRoom] = useState(atFirst);
  useEffect(() => {
    if (!isWatched || !CAN_TELL_NEAR || !element.current) return undefined;
    const watch = new IntersectionObserver(
      (seen) => {
        const last = seen.at(-1);
        if (last?.isIntersecting) setRoom(null);
        else if (last && !isMarked(last.target)) setRoom(last.boundingClientRect.height);
      },
      { root: element.current.closest(wherein), rootMargin: `${around}px 0px` },
    );
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [element, around, wherein, isWatched]);
  return isWatched && CAN_TELL_NEAR ? room : null;
}
