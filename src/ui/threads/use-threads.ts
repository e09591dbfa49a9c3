import { useEffect } from 'react';
import { useStore } from 'zustand';
import { threadsOf, type SeenPlaces, type Threads, type ThreadTalk, type ThreadTalkState } from '../../state/threads/index.ts';
import { useRoost } from '../context.tsx';

export const useThreads = (): Threads => threadsOf(useRoost());

export const useSeen = (): SeenPlaces => useStore(useThreads().seen.store);

/** One thread, kept up to date while this is on the page. */
export function useTalk(threadId: string): readonly [ThreadTalkState, ThreadTalk] {
  const talk = useThreads().talk(threadId);
  useEffect(() => talk.look(), [talk]);
  return [useStore(talk.store), talk];
}
