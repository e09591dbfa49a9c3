import { useStore } from 'zustand';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { useRoost } from '../context.tsx';

/** How many messages wait in this agent's inbox; null: not known yet. */
export function useUnreadMessages(agentId: AgentId): number | null {
  const { unreadMessages } = useRoost();
  return useStore(unreadMessages.store, (state) => (state.kind === 'ready' ? (state.value[agentId] ?? 0) : null));
}
