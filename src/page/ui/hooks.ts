/** Hooks that many components share. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import type { Query, QueryState } from '../state/query.ts';
import { waitingOf } from '../state/waiting.ts';
import { useRoost } from './context.tsx';

/**
 * As in the style sheets, in em: below this width, the team and a conversation are two views, and
 * settings a list.
 */
export const TWO_VIEWS_BELOW = '(max-width: 47.5em)';

/** Does this media query match now? */
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

/** Default interval in ms, for texts that change slowly: "Today", "12 min". */
const EVERY_MINUTE = 60_000;

const stepBefore = (time: number, every: number) => Math.floor(time / every) * every;

/**
 * The current time in ms, down to the last multiple of `every`: for "12 min" and "slept 9 h". All
 * components of a page have the same time, whenever they were mounted.
 */
export function useNow(every = EVERY_MINUTE): number {
  const { device } = useRoost();
  const [now, setNow] = useState(() => stepBefore(device.now(), every));
  useEffect(() => {
    let stop: () => void = () => undefined;
    const tick = () => {
      const time = device.now();
      setNow(stepBefore(time, every));
      stop = device.after(stepBefore(time, every) + every - time, tick);
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
 * Is the page visible? False in a background tab or a minimised window, where purely visual updates
 * pause.
 */
export const usePageSeen = (): boolean => useSyncExternalStore(watch, seen);

/** Shows a value of the relay. Subscribes as long as the component is mounted. */
export function useQuery<Value>(query: Query<Value>): QueryState<Value> {
  useEffect(() => query.subscribe(), [query]);
  return useStore(query.store);
}

/** The number of things that wait for the person, as text; '' if there are none. */
export function useWaitingCount(): string {
  return useStore(waitingOf(useRoost()), ({ waits }) => (waits.length === 0 ? '' : String(waits.length)));
}

/**
 * Sets the browser's title: the current place, and the count of what waits. null: a child sets it.
 */
export function useTitle(title: string | null): void {
  const count = useWaitingCount();
  useEffect(() => {
    if (title !== null) document.title = `${count !== '' ? `(${count}) ` : ''}${title} · Roost`;
  }, [title, count]);
}

/**
 * Runs when the page is left or reloaded, including pull to refresh. For values that are otherwise
 * stored a moment later.
 */
export function useLeaving(run: () => void): void {
  useEffect(() => {
    addEventListener('pagehide', run);
    return () => removeEventListener('pagehide', run);
  });
}
