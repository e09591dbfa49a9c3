import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** px from the end within which a reader counts as being there. */
const NEAR_END = 64;

interface Stick {
  readonly log: RefObject<HTMLDivElement | null>;
  readonly inside: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  /** There are words below that the reader has not seen. */
  readonly newBelow: boolean;
  readonly toEnd: () => void;
}

/**
 * Keeps a log where its reader is: at the end while they are there, else still, also when earlier messages
 * come in above. `first` and `last` name the outermost items; `writing`: the last one grows;
 * `mine`: the reader just wrote it, and wants to see it.
 */
export function useStick(first: string | undefined, last: string | undefined, writing: boolean, mine: boolean): Stick {
  const log = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const height = useRef(0);
  const top = useRef(0);
  const grows = useRef(writing);
  const seenFirst = useRef(first);
  const [newBelow, setNewBelow] = useState(false);

  const toEnd = useCallback(() => {
    const box = log.current;
    if (!box) return;
    box.scrollTop = box.scrollHeight;
    atEnd.current = true;
    setNewBelow(false);
  }, []);

  const onScroll = useCallback(() => {
    const box = log.current;
    if (!box) return;
    // Words that came in since we last moved must not be taken for the reader leaving the end: only moving up is.
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
    if (near) atEnd.current = true;
    else if (box.scrollTop < top.current) atEnd.current = false;
    top.current = box.scrollTop;
    if (atEnd.current) setNewBelow(false);
  }, []);

  // Earlier messages came in above: stay with the words that were being read.
  useLayoutEffect(() => {
    const box = log.current;
    if (!box) return;
    if (seenFirst.current !== first && seenFirst.current !== undefined && !atEnd.current) box.scrollTop += box.scrollHeight - height.current;
    seenFirst.current = first;
    height.current = box.scrollHeight;
  });

  useLayoutEffect(() => {
    if (atEnd.current || mine) toEnd();
    else if (last !== undefined) setNewBelow(true);
  }, [last, mine, toEnd]);

  useEffect(() => {
    grows.current = writing;
  }, [writing]);

  // Words stream in, pictures of the page load, the window changes: the end moves.
  useEffect(() => {
    const box = log.current;
    if (!box || !inside.current || typeof ResizeObserver === 'undefined') return undefined;
    const watch = new ResizeObserver(() => {
      if (atEnd.current) box.scrollTop = box.scrollHeight;
      else if (grows.current && box.scrollHeight > height.current) setNewBelow(true);
      height.current = box.scrollHeight;
    });
    watch.observe(inside.current);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);

  return { log, inside, onScroll, newBelow, toEnd };
}
