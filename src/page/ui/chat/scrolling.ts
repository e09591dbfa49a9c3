/**
 * Scrolling of a log: staying at the end, loading earlier pages, and finding the position to open
 * at.
 */
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { LogItem } from '../../state/conversation-log.ts';
import type { Pages, Reading } from '../../state/pages.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { keyOf } from '../design/keys.ts';
import { ownStretches, type Stretch, stretchesOf } from './parts.ts';

// The rows of a log. A long item takes several rows. Pure.

export interface Row {
  readonly key: string;
  readonly item: LogItem;
  /** null: the item has no parts. */
  readonly stretch: Stretch | null;
}

function stretchesOfItem(item: LogItem, unfolded: ReadonlySet<string>): readonly Stretch[] | null {
  switch (item.kind) {
    case 'message':
    case 'said':
      return stretchesOf(item.message, unfolded.has(item.key));
    case 'queued':
      return ownStretches(item.message.text, unfolded.has(item.key));
    case 'sending':
      return ownStretches(item.sending.text, unfolded.has(item.key));
    case 'day':
    case 'new':
    case 'sleep':
    case 'run':
    case 'open':
      return null;
    default:
      return item satisfies never;
  }
}

/**
 * `unfolded`: keys of the items whose long text is expanded. The key of a row stays the same while
 * the row exists.
 */
export function rowsOf(items: readonly LogItem[], unfolded: ReadonlySet<string>): readonly Row[] {
  const rows: Row[] = [];
  for (const item of items) {
    const stretches = stretchesOfItem(item, unfolded);
    const [only] = stretches ?? [];
    if (!stretches || stretches.length === 1) rows.push({ key: item.key, item, stretch: only ?? null });
    else stretches.forEach((stretch, i) => rows.push({ key: i === 0 ? item.key : `${item.key}#${i}`, item, stretch }));
  }
  return rows;
}

/** px from the end within which a reader who scrolls down counts as being at the end. */
const NEAR_END = 64;
/**
 * ms for which a log is held at its opening position while rows are measured. Counted from the
 * first measurement.
 */
const OPENING = 2_000;

interface Stick {
  readonly onScroll: () => void;
  /** The reader scrolls up. New content must not pull them back. */
  readonly onTurnUp: () => void;
  /** The reader grabs the log, by finger or by its scroll bar. */
  readonly onHold: () => void;
  /** The reader moves by keys. The opening position is no longer held. */
  readonly onMove: () => void;
  /** The log or its content has changed its size. */
  readonly onResize: () => void;
  /** Text was appended at the end. */
  readonly onGrown: () => void;
  /** There is text below that the reader has not seen. */
  readonly newBelow: boolean;
  readonly toEnd: () => void;
  readonly leaveEnd: () => void;
}

/**
 * Keeps a log at its end while its reader is there. Elsewhere the list keeps the text in view in
 * place.
 *
 * - `last` names the last row.
 * - `sent` is the message the reader sent last, wherever it stands. Sending scrolls to the answer.
 * - `opensAt` is the opening position in px from the top, if not the end. It is asked again while
 *   rows are measured, until the reader acts.
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
  const isHeld = useRef(false);
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
    // While so little is measured that everything seems to be in view, the end is not where the
    // reader is.
    if (!box || opening.current) return;
    const { scrollTop, scrollHeight, clientHeight } = box;
    const near = scrollHeight - scrollTop - clientHeight < NEAR_END;
    const moved = isHeld.current || scrollHeight === height.current;
    if (scrollTop >= top.current) {
      if (near) atEnd.current = true;
    } else if (!near && moved) atEnd.current = false;
    // A move up without the reader: content shrank and grew again, and the browser clamped the
    // scroll position.
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
    isHeld.current = true;
  }, []);
  useReleased(isHeld);

  const [cancels] = useState(() => new Set<() => void>());
  useEffect(() => () => cancels.forEach((cancel) => cancel()), [cancels]);
  const onResize = useCallback(() => {
    if (opening.current && !measured.current) {
      measured.current = true;
      cancels.add(
        device.after(OPENING, () => {
          opening.current = null;
          // The end may already be in view.
          onScroll();
        }),
      );
    }
    // One frame later the list has compensated for the changes above.
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

/** Releases the log, wherever on the page the finger or the mouse button is lifted. */
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
 * px from the top at which earlier messages are fetched. Large enough that fast scrolling seldom
 * reaches the top.
 */
const NEAR_TOP = 3_000;
/** Elements that scroll by themselves and handle Home and End. */
const SCROLLS_ITSELF = 'pre, .md-table, input, textarea, select';

export interface Paging {
  readonly pages: Pages;
  /** Earlier messages exist. */
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
 * Loads earlier messages, on request or when scrolling nears the top. Home loads all and goes to
 * the very beginning, End goes back, Escape cancels.
 */
export function usePages(
  { pages, more, reading }: Paging,
  log: RefObject<HTMLElement | null>,
  list: RefObject<VirtualizerHandle | null>,
  { toEnd, leaveEnd, onTurnUp }: Stick,
): UsedPages {
  const { notices } = useRoost();
  const scrolled = useRef(false);
  // A page that is loading, or failed to load, is not requested again until the person asks.
  const [stuck, setStuck] = useState(false);
  const older = useCallback(() => {
    setStuck(true);
    void pages.older().then((wrong) => {
      setStuck(wrong !== null);
      if (wrong !== null) notices.error(wrong);
    });
  }, [pages, notices]);
  const loadIfNear = useCallback(() => {
    if (!stuck && more && reading === 'nothing' && scrolled.current && log.current && log.current.scrollTop < NEAR_TOP)
      older();
  }, [stuck, more, reading, log, older]);
  // One page may not have been enough.
  useEffect(loadIfNear, [loadIfNear]);
  const onScroll = useCallback(() => {
    scrolled.current = true;
    loadIfNear();
  }, [loadIfNear]);

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
            // One frame later the earliest rows are in the list.
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

/** True if earlier rows were added above. The end has not moved then. */
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
 * ms to wait for a message before reporting it as missing. A notification may arrive before the
 * message it announces.
 */
const COMES_MS = 5_000;

/**
 * True once the searched message is loaded. Loads earlier pages as far as needed. Also true where
 * no message is searched for, or where it does not exist. The conversation then opens at its end,
 * where the message appears if it is new. A little later a note says that it is missing.
 */
export function useReachesFound(
  { pages }: Pick<Paging, 'pages'>,
  { at, loaded, isThere }: { readonly at: string | null; readonly loaded: boolean; readonly isThere: () => boolean },
): boolean {
  const { notices, device } = useRoost();
  const [missing, setMissing] = useState<{ readonly at: string | null; readonly isSaid: boolean } | null>(null);
  const there = at === null || missing?.at === at || isThere();
  const reads = loaded && !there;
  // Reads the state itself, because pages arrive while this waits.
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
      if (!now.isThere()) notices.info(t`That message is gone.`);
    });
  }, [missing, at, now, notices, device]);
  return there;
}

/**
 * Focuses an element once it stays in the page. A dialog that closes at that moment would take the
 * focus back.
 */
export function createFocusOnce() {
  let isDone = false;
  return (element: HTMLElement | null) => {
    if (!element || isDone) return;
    requestAnimationFrame(() => {
      // Until the list has found its position, rows are mounted and unmounted.
      if (isDone || !element.isConnected) return;
      isDone = true;
      element.focus({ preventScroll: true });
    });
  };
}

/** Most messages that are loaded to open a conversation at the first unread one. */
const NEW_MOST = 400;

/**
 * True once the first unread message is loaded. Loads earlier pages until then, up to a limit; the
 * conversation then opens at its end. `loaded`: the newest page is there and the unread position is
 * known. `short`: the first unread message is not loaded yet.
 */
export function useReachesNew(
  { pages, more, reading }: Paging,
  { loaded, short, read }: { readonly loaded: boolean; readonly short: boolean; readonly read: number },
): boolean {
  const [stuck, setStuck] = useState(false);
  const ready = loaded && !(short && more && !stuck && read < NEW_MOST);
  // Once opened, it stays open.
  const [opened, setOpened] = useState(false);
  if (!opened && ready) setOpened(true);
  const reads = !opened && loaded && !ready && reading === 'nothing';
  useEffect(() => {
    if (reads) void pages.older().then((wrong) => setStuck(wrong !== null));
  }, [reads, pages]);
  return opened || ready;
}
