import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { ThreadId } from '../../../shared/domain/ids.ts';
import { newInThread } from '../../../shared/domain/read-marks.ts';
import type { Thread } from '../../../shared/protocol/threads.ts';
import { threadsOf, type Threads, type ThreadTalk, type ThreadTalkState } from '../../state/threads/index.ts';
import { useRoost, useUnread } from '../context.tsx';

export const useThreads = (): Threads => threadsOf(useRoost());

/** Counts the person's unread messages in a thread. */
export function useNewInThread(): (thread: Thread) => number {
  const marks = useUnread((state) => state.threads);
  return (thread) => newInThread(marks, thread);
}

/** One thread, kept up to date while this is mounted. */
export function useTalk(threadId: ThreadId): readonly [ThreadTalkState, ThreadTalk] {
  const talk = useThreads().talk(threadId);
  useEffect(() => talk.subscribe(), [talk]);
  return [useStore(talk.store), talk];
}
