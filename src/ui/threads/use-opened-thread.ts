import { useEffect, useState } from 'react';
import type { ThreadTalk, ThreadTalkState } from '../../state/threads/index.ts';
import { useRoost, useUnread } from '../context.tsx';
import { useNewInThread } from './use-threads.ts';

/** Messages that are read so that a thread can be opened where new begins; with more than these behind it, it opens further down. */
const NEW_MOST = 300;

/** Null: not known yet. `newFrom`: the last place that was read when it was opened; null: nothing was new. */
export type OpenedThread = { readonly newFrom: number | null } | null;

/** Where a thread opens, as it stood then; and moves its mark to what is on the screen from then on. */
export function useOpenedThread(
  threadId: string,
  { thread, messages, more, readingEarlier }: ThreadTalkState,
  talk: ThreadTalk,
): OpenedThread {
  const { unread } = useRoost();
  const known = useUnread((state) => state.known);
  const mark = useUnread((state) => state.threads.byThread.get(threadId) ?? 0);
  const newIn = useNewInThread();
  const [opened, setOpened] = useState<OpenedThread>(null);
  const [stuck, setStuck] = useState(false);

  const news = thread !== null && newIn(thread) > 0;
  const short = news && !stuck && more && (messages[0]?.place ?? 0) > mark + 1 && messages.length < NEW_MOST;
  if (opened === null && known && thread !== null && !short) setOpened({ newFrom: news ? mark : null });
  const reads = opened === null && known && short && !readingEarlier;
  useEffect(() => {
    if (reads) void talk.earlier().then((wrong) => wrong !== null && setStuck(true));
  }, [reads, talk]);

  const last = messages.at(-1)?.place ?? 0;
  const ready = opened !== null;
  useEffect(() => {
    const look = () => {
      if (!document.hidden && ready && last > 0) unread.lookAtThread(threadId, last);
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [unread, threadId, last, ready]);
  useEffect(() => () => unread.leaveThread(threadId), [unread, threadId]);
  return opened;
}
