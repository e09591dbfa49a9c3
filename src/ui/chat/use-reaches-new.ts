import { useEffect, useState } from 'react';
import { CONVERSATION_LIMITS, type Conversation } from '../../state/conversations.ts';
import { useRoost, useUnread } from '../context.tsx';

/**
 * Is so much of the conversation read that it can be opened where new begins? Reads earlier pages until then, or until there
 * are too many: it is then opened at its end.
 */
export function useReachesNew(agentId: string, conversation: Conversation | undefined): boolean {
  const { conversations } = useRoost();
  const known = useUnread((state) => state.known);
  const from = useUnread((state) => state.begins.get(agentId) ?? null);
  const loaded = conversation !== undefined && conversation.status !== 'loading' && conversation.status !== 'failed';
  const short =
    from !== null &&
    loaded &&
    conversation.before !== null &&
    (conversation.messages[0]?.at ?? '') > from &&
    conversation.messages.length < CONVERSATION_LIMITS.newMost;
  // What is open stays open, whatever comes.
  const [opened, setOpened] = useState(false);
  if (!opened && loaded && known && !short) setOpened(true);
  const reads = !opened && short && conversation.status === 'ready';
  useEffect(() => {
    if (reads) void conversations.older(agentId);
  }, [reads, conversations, agentId]);
  return opened || (loaded && known && !short);
}
