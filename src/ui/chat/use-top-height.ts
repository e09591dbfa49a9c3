import { useLayoutEffect, useState, type RefObject } from 'react';

/** The height of what stands above a list, in px: the list must know where it begins. */
export function useTopHeight(top: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    if (!top.current) return undefined;
    const { current } = top;
    const look = () => setHeight(current.offsetHeight);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(current);
    return () => watch.disconnect();
  }, [top]);
  return height;
}
