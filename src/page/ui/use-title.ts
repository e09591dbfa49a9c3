import { useEffect } from 'react';
import { useStore } from 'zustand';
import { t } from '../language/t.ts';
import { waitingOf } from '../state/waiting.ts';
import { useRoost, useUnread } from './context.tsx';
import { newCount } from './text/unread.ts';

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
