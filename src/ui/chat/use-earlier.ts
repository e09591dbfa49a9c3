import { useCallback, useEffect, useRef, type RefObject } from 'react';
import type { Conversation } from '../../state/conversations.ts';
import { useActions } from '../context.tsx';

/** px from the top at which earlier messages are fetched: far enough that somebody who scrolls fast seldom meets the top. */
const NEAR_TOP = 3_000;

/** Fetches earlier messages when somebody who scrolls comes near the top. Gives what to call on every scroll. */
export function useEarlier(
  agentId: string,
  { before, status }: Conversation,
  log: RefObject<HTMLElement | null>,
): () => void {
  const actions = useActions();
  const scrolled = useRef(false);
  const look = useCallback(() => {
    if (before !== null && status === 'ready' && scrolled.current && log.current && log.current.scrollTop < NEAR_TOP)
      void actions.older(agentId);
  }, [before, status, actions, agentId, log]);
  // What came in may not have been enough.
  useEffect(look, [look]);
  return useCallback(() => {
    scrolled.current = true;
    look();
  }, [look]);
}
