/** Skips the rendering of elements far from the view. Their height is reserved. */
import { useEffect, useState, type RefObject } from 'react';

/** Test environments may lack it. Everything then counts as near. */
export const CAN_TELL_NEAR = typeof IntersectionObserver !== 'undefined';

interface Watching {
  /** px above and below the view that count as near. */
  readonly around: number;
  /** Selector of the scrolling element. */
  readonly wherein: string;
  readonly isWatched?: boolean;
  /** Its height in px until it is known whether it is near; null: it is rendered at first. */
  readonly atFirst?: number | null;
}

/** Has the person selected it, perhaps to copy it? */
function isMarked(element: Element): boolean {
  const mark = document.getSelection();
  return mark !== null && !mark.isCollapsed && mark.containsNode(element, true);
}

/** The height in px to reserve while the element is not rendered; null: it is near and rendered. */
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
