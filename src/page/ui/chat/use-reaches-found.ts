import { useEffect, useState } from 'react';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import type { Paging } from './use-pages.ts';

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
