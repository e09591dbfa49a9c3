import { useEffect, useState } from 'react';
import type { Paging } from './use-pages.ts';

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
