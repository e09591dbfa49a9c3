import { useEffect, useState, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import type { Query, QueryState } from '../state/query.ts';
import { t } from '../language/t.ts';
import { waitingOf } from '../state/waiting.ts';
import { useRoost, useUnread } from './context.tsx';
import { newCount } from './text/reasons.ts';

/**
 * As in the style sheets, in the size of the text: below it the team and a conversation are two
 * views, and settings a list.
 */
export const TWO_VIEWS_BELOW = '(max-width: 47.5em)';

/** Does this media query hold now? */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener('change', changed);
      return () => list.removeEventListener('change', changed);
    },
    () => matchMedia(query).matches,
  );
}

/** ms between looks where nothing is shown that changes sooner: "Today", "12 min". */
const EVERY_MINUTE = 60_000;

/** The time, in ms, again every `every` ms: for "12 min" and "slept 9 h". */
export function useNow(every = EVERY_MINUTE): number {
  const { device } = useRoost();
  const [now, setNow] = useState(() => device.now());
  useEffect(() => {
    let stop: () => void = () => undefined;
    const tick = () => {
      setNow(device.now());
      stop = device.after(every, tick);
    };
    tick();
    return () => stop();
  }, [device, every]);
  return now;
}

const seen = () => !document.hidden;
const watch = (changed: () => void) => {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
};

/**
 * Can the page be seen? Not in a tab behind another, nor in a window that is put away: what only
 * moves for the eye rests then.
 */
export const usePageSeen = (): boolean => useSyncExternalStore(watch, seen);

/**
 * Shows something the relay keeps, and says that somebody looks for as long as the component is on
 * the screen.
 */
export function useQuery<Value>(query: Query<Value>): QueryState<Value> {
  useEffect(() => query.subscribe(), [query]);
  return useStore(query.store);
}

/**
 * How much waits for the person, as people read it: what was said and not seen, and what agents ask
 * for.
 */
export function useWaitingCount(): string {
  const { approvals, threads } = useStore(waitingOf(useRoost()));
  return useUnread((state) => newCount([...state.counts.values(), approvals, threads]));
}

/**
 * Says in the browser's title where one is, and how much waits. Null: somebody further inside says
 * it.
 */
export function useTitle(title: string | null): void {
  const count = useWaitingCount();
  useEffect(() => {
    if (title !== null) document.title = t`${count !== '' ? `(${count}) ` : ''}${title} · Roost`;
  }, [title, count]);
}

/**
 * Runs when the page is left or reloaded, also by the pull of a finger: for what would otherwise be
 * kept a moment later.
 */
export function useLeaving(run: () => void): void {
  useEffect(() => {
    addEventListener('pagehide', run);
    return () => removeEventListener('pagehide', run);
  });
}
