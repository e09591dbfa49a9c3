import { type KeyboardEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { Pages, Reading } from '../../state/pages.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { keyOf } from '../parts/keys.ts';
import type { Row } from './rows.ts';

/** px from the end within which a reader who comes down counts as being there. */
const NEAR_END = 64;
/**
 * ms for which a log is held where it opened, counted from when its first rows were measured: the
 * others follow.
 */
const OPENING = 2_000;

interface Stick {
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

/**
 * px from the top at which earlier messages are fetched: far enough that somebody who scrolls fast
 * seldom meets the top.
 */
const NEAR_TOP = 3_000;
/** Something that scrolls by itself, and has its own Home and End. */
const SCROLLS_ITSELF = 'pre, .md-table, input, textarea, select';

export interface Paging {
  readonly pages: Pages;
  /** Earlier messages are there. */
  readonly more: boolean;
  readonly reading: Reading;
}

interface UsedPages {
  readonly older: () => void;
  /** To be called on every scroll. */
  readonly onScroll: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * Earlier messages, as they are asked for, or as somebody who scrolls comes near the top. Home goes
 * to the very beginning, reading all of it on the way; End goes back; Escape stays.
 */
export function usePages(
  { pages, more, reading }: Paging,
  log: RefObject<HTMLElement | null>,
  list: RefObject<VirtualizerHandle | null>,
  { toEnd, leaveEnd, onTurnUp }: Stick,
): UsedPages {
  const { notices } = useRoost();
  const scrolled = useRef(false);
  // What is being read, or could not be, is not asked for again until somebody asks.
  const [stuck, setStuck] = useState(false);
  const older = useCallback(() => {
    setStuck(true);
    void pages.older().then((wrong) => {
      setStuck(wrong !== null);
      if (wrong !== null) notices.error(wrong);
    });
  }, [pages, notices]);
  const look = useCallback(() => {
    if (!stuck && more && reading === 'nothing' && scrolled.current && log.current && log.current.scrollTop < NEAR_TOP)
      older();
  }, [stuck, more, reading, log, older]);
  // What came in may not have been enough.
  useEffect(look, [look]);
  const onScroll = useCallback(() => {
    scrolled.current = true;
    look();
  }, [look]);

  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      if (
        event.altKey ||
        event.metaKey ||
        event.shiftKey ||
        (event.target instanceof Element && event.target.closest(SCROLLS_ITSELF))
      )
        return;
      switch (keyOf(event)) {
        case 'Home':
          event.preventDefault();
          leaveEnd();
          void pages.toBeginning().then((there) => {
            // A frame later the earliest rows are in the list.
            if (there) requestAnimationFrame(() => list.current?.scrollTo(0));
          });
          break;
        case 'End':
          event.preventDefault();
          pages.stop();
          toEnd();
          break;
        case 'Escape':
          pages.stop();
          break;
        case 'PageUp':
        case 'ArrowUp':
          onTurnUp();
      }
    },
    [pages, list, leaveEnd, toEnd, onTurnUp],
  );
  return { older, onScroll, onKeyDown };
}

interface Seen {
  readonly rows: readonly Row[];
  readonly prepended: boolean;
}

const same = (a: Row | undefined, b: Row | undefined) => a?.key === b?.key;

/** Did earlier rows come in above what was there? The end is then where it was. */
export function usePrepended(rows: readonly Row[]): boolean {
  const [seen, setSeen] = useState<Seen>({ rows, prepended: false });
  if (seen.rows === rows) return seen.prepended;
  const prepended =
    rows.length > seen.rows.length &&
    seen.rows.length > 0 &&
    same(rows.at(-1), seen.rows.at(-1)) &&
    !same(rows[0], seen.rows[0]);
  setSeen({ rows, prepended });
  return prepended;
}

/**
 * ms that a message is given to come in before it is said that there is none: a notification may be
 * quicker than what it tells of.
 */
const COMES_MS = 5_000;

/**
 * Is the message that is looked for among what was read? Reads as far back as it takes. True as
 * well where nothing is looked for, and where it is not there: the conversation is then opened at
 * its end, where it comes in if it is new, and a little later a note says that it did not.
 */
export function useReachesFound(
  { pages }: Pick<Paging, 'pages'>,
  { at, loaded, isThere }: { readonly at: string | null; readonly loaded: boolean; readonly isThere: () => boolean },
): boolean {
  const { notices, device } = useRoost();
  const [missing, setMissing] = useState<{ readonly at: string | null; readonly isSaid: boolean } | null>(null);
  const there = at === null || missing?.at === at || isThere();
  const reads = loaded && !there;
  // Asked of the state itself: pages come in while this waits.
  const [now] = useState(() => ({ isThere }));
  useEffect(() => {
    now.isThere = isThere;
  });
  useEffect(() => {
    if (!reads) return undefined;
    let left = false;
    void pages
      .until(() => left || now.isThere())
      .then(({ there: found, wrong }) => {
        if (left || found) return;
        setMissing({ at, isSaid: wrong !== null });
        if (wrong !== null) notices.error(wrong);
      });
    return () => {
      left = true;
    };
  }, [reads, at, pages, now, notices]);
  useEffect(() => {
    if (missing === null || missing.isSaid || missing.at !== at) return undefined;
    return device.after(COMES_MS, () => {
      if (!now.isThere()) notices.info(t`That message is not here any more.`);
    });
  }, [missing, at, now, notices, device]);
  return there;
}

/**
 * Gives an element the focus when it first comes to stay; a dialog that closes just then would take
 * it back.
 */
export function createFocusOnce() {
  let isDone = false;
  return (element: HTMLElement | null) => {
    if (!element || isDone) return;
    requestAnimationFrame(() => {
      // Until the list has found its place, its rows come and go.
      if (isDone || !element.isConnected) return;
      isDone = true;
      element.focus({ preventScroll: true });
    });
  };
}

/** Messages that are read at most to open a conversation where new begins. */
const NEW_MOST = 400;

/**
 * Is so much read that it can be opened where new begins? Reads earlier pages until then, or until
 * there are too many: it is then opened at its end. `loaded`: the newest page is there, and what is
 * new is known; `short`: what is new begins earlier.
 */
export function useReachesNew(
  { pages, more, reading }: Paging,
  { loaded, short, read }: { readonly loaded: boolean; readonly short: boolean; readonly read: number },
): boolean {
  const [stuck, setStuck] = useState(false);
  const ready = loaded && !(short && more && !stuck && read < NEW_MOST);
  // What is open stays open, whatever comes.
  const [opened, setOpened] = useState(false);
  if (!opened && ready) setOpened(true);
  const reads = !opened && loaded && !ready && reading === 'nothing';
  useEffect(() => {
    if (reads) void pages.older().then((wrong) => setStuck(wrong !== null));
  }, [reads, pages]);
  return opened || ready;
}
