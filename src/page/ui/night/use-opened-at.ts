import { useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { onePerPage } from '../../state/per-page.ts';
import { useRoost } from '../context.tsx';

/** ms out of view, after which returning counts as opening the page. */
const AWAY_MS = 10 * 60_000;

// Per page and not per view: what happens while the page is open is not news later.
const openedOf = onePerPage(({ device }) => createStore<{ readonly at: number }>()(() => ({ at: device.now() })));

/** When the person opened the page, or returned to it after a while; ms since the epoch. */
export function useOpenedAt(): number {
  const state = useRoost();
  const opened = openedOf(state);
  useEffect(() => {
    const { device } = state;
    let hiddenAt: number | null = null;
    const look = () => {
      if (document.hidden) {
        hiddenAt = device.now();
        return;
      }
      if (hiddenAt !== null && device.now() - hiddenAt >= AWAY_MS) opened.setState({ at: device.now() });
      hiddenAt = null;
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [state, opened]);
  return useStore(opened, ({ at }) => at);
}
