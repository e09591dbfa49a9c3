import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** px from the end within which a reader who comes down counts as being there. */
const NEAR_END = 64;

export interface Stick {
  readonly onScroll: () => void;
  /** The reader turns upwards: what comes in must not pull them back. */
  readonly onTurnUp: () => void;
  /** The reader takes hold of the log, by finger or by its scroll bar. */
  readonly onHold: () => void;
  /** What is in the log, or the log itself, has another size now. */
  readonly onResize: () => void;
  /** Words came in at the end. */
  readonly onGrown: () => void;
  /** There are words below that the reader has not seen. */
  readonly newBelow: boolean;
  readonly toEnd: () => void;
  readonly leaveEnd: () => void;
}

/**
 * Keeps a log at its end while its reader is there. Where they are not, it is left alone: the list itself
 * stays with the words that are being read. `last` names the last row; `mine`: the reader just wrote it, and
 * wants to see it; `fromEnd`: the log opens at its end, and not where new begins.
 */
export function useStick(
  log: RefObject<HTMLDivElement | null>,
  last: string | undefined,
  mine: boolean,
  fromEnd = true,
): Stick {
  const atEnd = useRef(fromEnd);
  const seen = useRef(fromEnd ? undefined : last);
  const top = useRef(0);
  const height = useRef(0);
  /** A finger, or the mouse on the scroll bar, holds the log. */
  const held = useRef(false);
  const [newBelow, setNewBelow] = useState(false);

  const pin = useCallback(() => {
    const box = log.current;
    if (!box) return;
    height.current = box.scrollHeight;
    box.scrollTop = height.current;
  }, [log]);

  const toEnd = useCallback(() => {
    atEnd.current = true;
    setNewBelow(false);
    pin();
  }, [pin]);

  const leaveEnd = useCallback(() => {
    atEnd.current = false;
  }, []);

  const onTurnUp = useCallback(() => {
    const box = log.current;
    if (box && box.scrollHeight > box.clientHeight) atEnd.current = false;
  }, [log]);

  const onScroll = useCallback(() => {
    const box = log.current;
    if (!box) return;
    const { scrollTop, scrollHeight, clientHeight } = box;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END;
    const moved = held.current || scrollHeight === height.current;
    if (scrollTop >= top.current) {
      if (near) atEnd.current = true;
    } else if (!near && moved) atEnd.current = false;
    // Up without anybody's doing: what is in the log shrank and grew again, and the browser kept us within it.
    else if (!near && atEnd.current) pin();
    top.current = box.scrollTop;
    height.current = scrollHeight;
    if (atEnd.current) setNewBelow(false);
  }, [log, pin]);

  const onHold = useCallback(() => {
    held.current = true;
  }, []);
  useEffect(() => {
    const release = () => {
      held.current = false;
    };
    const ends = ['pointerup', 'pointercancel', 'touchend', 'touchcancel'] as const;
    for (const end of ends) addEventListener(end, release);
    return () => {
      for (const end of ends) removeEventListener(end, release);
    };
  }, []);

  const onResize = useCallback(() => {
    if (atEnd.current) pin();
  }, [pin]);

  const onGrown = useCallback(() => {
    if (!atEnd.current) setNewBelow(true);
  }, []);

  useLayoutEffect(() => {
    if (atEnd.current || mine) toEnd();
    else if (last !== undefined && last !== seen.current) setNewBelow(true);
    seen.current = undefined;
  }, [last, mine, toEnd]);

  return { onScroll, onTurnUp, onHold, onResize, onGrown, newBelow, toEnd, leaveEnd };
}
