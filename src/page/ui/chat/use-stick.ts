import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { useRoost } from '../context.tsx';

/** px from the end within which a reader who comes down counts as being there. */
const NEAR_END = 64;
/**
 * ms for which a log is held where it opened, counted from when its first rows were measured: the
 * others follow.
 */
const OPENING = 2_000;

export interface Stick {
  readonly onScroll: () => void;
  /** The reader turns upwards: what comes in must not pull them back. */
  readonly onTurnUp: () => void;
  /** The reader takes hold of the log, by finger or by its scroll bar. */
  readonly onHold: () => void;
  /** The reader goes somewhere by keys: it is held no longer where it opened. */
  readonly onMove: () => void;
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
 * Keeps a log at its end while its reader is there. Where they are not, it is left alone: the list
 * itself stays with the words that are being read. `last` names the last row; `sent` what the
 * reader sent last, wherever it stands: whoever writes goes to where they are answered; `opensAt`:
 * where it opens, in px from its top, if that is not at its end; asked again while its rows are
 * measured, until the reader does anything.
 */
export function useStick(
  log: RefObject<HTMLDivElement | null>,
  last: string | undefined,
  sent: string | null,
  opensAt: (() => number | null) | null = null,
): Stick {
  const { device } = useRoost();
  const fromEnd = opensAt === null;
  const atEnd = useRef(fromEnd);
  const seen = useRef(fromEnd ? undefined : last);
  const opening = useRef(opensAt);
  const measured = useRef(false);
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

  const place = useCallback(() => {
    const top = opening.current?.();
    if (log.current && top !== undefined && top !== null) log.current.scrollTop = Math.max(0, top);
  }, [log]);
  useLayoutEffect(place, [place]);

  const toEnd = useCallback(() => {
    opening.current = null;
    atEnd.current = true;
    setNewBelow(false);
    pin();
  }, [pin]);

  const leaveEnd = useCallback(() => {
    opening.current = null;
    atEnd.current = false;
  }, []);

  const onTurnUp = useCallback(() => {
    opening.current = null;
    const box = log.current;
    if (box && box.scrollHeight > box.clientHeight) atEnd.current = false;
  }, [log]);

  const onScroll = useCallback(() => {
    const box = log.current;
    // Where so little is measured yet that all of it seems to be in sight, its end is not where the
    // reader is.
    if (!box || opening.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END;
    const moved = held.current || scrollHeight === height.current;
    if (scrollTop >= top.current) {
      if (near) atEnd.current = true;
    } else if (!near && moved) atEnd.current = false;
    // Up without anybody's doing: what is in the log shrank and grew again, and the browser kept us
    // within it.
    else if (!near && atEnd.current) pin();
    top.current = box.scrollTop;
    height.current = scrollHeight;
    if (atEnd.current) setNewBelow(false);
  }, [log, pin]);

  const onMove = useCallback(() => {
    opening.current = null;
  }, []);
  const onHold = useCallback(() => {
    opening.current = null;
    held.current = true;
  }, []);
  useReleased(held);

  const [cancels] = useState(() => new Set<() => void>());
  useEffect(() => () => cancels.forEach((cancel) => cancel()), [cancels]);
  const onResize = useCallback(() => {
    if (opening.current && !measured.current) {
      measured.current = true;
      cancels.add(
        device.after(OPENING, () => {
          opening.current = null;
          // It may be that its end is in sight.
          onScroll();
        }),
      );
    }
    // A frame later the list has moved by what changed above, as it does by itself.
    if (opening.current) requestAnimationFrame(place);
    else if (atEnd.current) pin();
  }, [pin, place, onScroll, device, cancels]);

  const onGrown = useCallback(() => {
    if (!atEnd.current) setNewBelow(true);
  }, []);

  const sentBefore = useRef(sent);
  useLayoutEffect(() => {
    if (sent !== null && sent !== sentBefore.current) toEnd();
    sentBefore.current = sent;
  }, [sent, toEnd]);
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
    else if (last !== undefined && last !== seen.current) setNewBelow(true);
    seen.current = undefined;
  }, [last, toEnd]);

  return { onScroll, onTurnUp, onHold, onMove, onResize, onGrown, newBelow, toEnd, leaveEnd };
}

/** Lets go of what is held, wherever the finger or the mouse leaves it. */
function useReleased(held: RefObject<boolean>): void {
  useEffect(() => {
    const release = () => {
      held.current = false;
    };
    const ends = ['pointerup', 'pointercancel', 'touchend', 'touchcancel'] as const;
    for (const end of ends) addEventListener(end, release);
    return () => {
      for (const end of ends) removeEventListener(end, release);
    };
  }, [held]);
}
