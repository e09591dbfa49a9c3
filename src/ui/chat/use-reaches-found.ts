import { useEffect, useState } from 'react';
import { useRoost } from '../context.tsx';
import type { Paging } from './use-pages.ts';

/**
 * Is the message that is looked for among what was read? Reads as far back as it takes. True as well where nothing is looked
 * for, and where it is not there: the conversation is then opened at its end, and a note says so.
 */
export function useReachesFound(
  { pages }: Pick<Paging, 'pages'>,
  { at, loaded, isThere }: { readonly at: string | null; readonly loaded: boolean; readonly isThere: () => boolean },
): boolean {
  const { notices } = useRoost();
  const [missing, setMissing] = useState<string | null>(null);
  const there = at === null || missing === at || isThere();
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
        setMissing(at);
        if (wrong !== null) notices.error(wrong);
        else notices.info('That message is not here any more.');
      });
    return () => {
      left = true;
    };
  }, [reads, at, pages, now, notices]);
  return there;
}

/** Gives an element the focus when it first comes to stay; a dialog that closes just then would take it back. */
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
