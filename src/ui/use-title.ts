import { useEffect } from 'react';
import { useUnread } from './context.tsx';
import { newCount } from './text/unread.ts';

/** Says in the browser's title where one is, and how much came that was not seen. Null: somebody further inside says it. */
export function useTitle(title: string | null): void {
  const unread = useUnread((state) => newCount(state.counts.values()));
  useEffect(() => {
    if (title !== null) document.title = `${unread !== '' ? `(${unread}) ` : ''}${title} · Roost`;
  }, [title, unread]);
}
