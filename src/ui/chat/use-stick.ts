import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** px from the end within which a reader who comes down counts as being there. */
const NEAR_END = 64;

export interface Stick {
  readonly onScroll: () => void;
  /** The reader turns upwards: what comes in must not pull them back. */
  readonly onTurnUp: () => void;
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
 * wants to see it.
 */
export function useStick(log: RefObject<HTMLDivElement | null>, last: string | undefined, mine: boolean): Stick {
  const atEnd = useRef(true);
  const top = useRef(0);
  const [newBelow, setNewBelow] = useState(false);

  const pin = useCallback(() => {
    const box = log.current;
    if (box) box.scrollTop = box.scrollHeight;
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
    // Words that came in since we last moved must not be taken for the reader leaving the end: only moving up is.
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
    if (box.scrollTop < top.current) {
      if (!near) atEnd.current = false;
    } else if (near) atEnd.current = true;
    top.current = box.scrollTop;
    if (atEnd.current) setNewBelow(false);
  }, [log]);

  const onResize = useCallback(() => {
    if (atEnd.current) pin();
  }, [pin]);

  const onGrown = useCallback(() => {
    if (!atEnd.current) setNewBelow(true);
  }, []);

  useLayoutEffect(() => {
    if (atEnd.current || mine) toEnd();
    else if (last !== undefined) setNewBelow(true);
  }, [last, mine, toEnd]);

  return { onScroll, onTurnUp, onResize, onGrown, newBelow, toEnd, leaveEnd };
}
