import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { Thread } from '../../protocol/threads.ts';
import type { KeptState } from '../../state/kept.ts';
import { threadsOf, type SeenPlaces, type Threads, type ThreadTalk, type ThreadTalkState } from '../../state/threads/index.ts';
import { useRoost } from '../context.tsx';
import { useKept } from '../use-kept.ts';

export const useThreads = (): Threads => threadsOf(useRoost());

/** Every thread there is, kept up to date while this is on the page. */
export const useThreadList = (): KeptState<readonly Thread[]> => useKept(useThreads().list);

export const useSeen = (): SeenPlaces => useStore(useThreads().seen.store);

/** One thread, kept up to date while this is on the page. */
export function useTalk(threadId: string): readonly [ThreadTalkState, ThreadTalk] {
  const talk = useThreads().talk(threadId);
  useEffect(() => talk.look(), [talk]);
  return [useStore(talk.store), talk];
}
