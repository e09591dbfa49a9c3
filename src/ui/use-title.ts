import { useEffect } from 'react';
import { useUnread } from './context.tsx';

/** Says in the browser's title where one is, and how much came that was not seen. Null: somebody further inside says it. */
export function useTitle(place: string | null): void {
  const unread = useUnread((state) => [...state.counts.values()].reduce((sum, n) => sum + n, 0));
  useEffect(() => {
    if (place !== null) document.title = `${unread > 0 ? `(${unread}) ` : ''}${place} · Roost`;
  }, [place, unread]);
}
