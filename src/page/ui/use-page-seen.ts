import { useSyncExternalStore } from 'react';

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
