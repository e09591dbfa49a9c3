import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { Pages, Reading } from '../../state/pages.ts';
import { useRoost } from '../context.tsx';
import type { Row } from './rows.ts';
import type { Stick } from './use-stick.ts';
import { keyOf } from '../parts/keys.ts';

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
