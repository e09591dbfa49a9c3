/**
 * Provides the page's state to every component. A component selects the slice it shows and
 * re-renders only for that.
 */
import { createContext, use, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { t } from '../language/t.ts';
import type { LiveState } from '../state/live.ts';
import type { AnswersState } from '../state/answers.ts';
import type { ConversationsState } from '../state/conversations.ts';
import type { DevicesState } from '../state/devices.ts';
import type { Outgoing } from '../state/outbox/index.ts';
import type { HouseholdState } from '../state/household.ts';
import type { RoostState } from '../state/index.ts';
import type { PendingState, RelayInfoState } from '../state/relay-info.ts';
import type { UnreadState } from '../state/unread.ts';
import type { UpkeepState } from '../state/ports.ts';
import { DesignWords, type Words } from './design/words.ts';

const Context = createContext<RoostState | null>(null);

const WORDS: Words = {
  close: t`Close`,
  keep: t`Keep it`,
  saving: t`Saving…`,
  working: t`Working…`,
  saved: t`Saved`,
  undo: t`Undo`,
};

export function RoostProvider({ state, children }: { state: RoostState; children: ReactNode }) {
  return (
    <Context value={state}>
      <DesignWords value={WORDS}>{children}</DesignWords>
    </Context>
  );
}

export function useRoost(): RoostState {
  const state = use(Context);
  if (!state) throw new Error('This component stands outside of RoostProvider');
  return state;
}

export const useActions = () => useRoost().actions;
export const useHousehold = <T,>(pick: (state: HouseholdState) => T): T => useStore(useRoost().household.store, pick);
export const useLive = <T,>(pick: (state: LiveState) => T): T => useStore(useRoost().live.store, pick);
export const useAnswers = <T,>(pick: (state: AnswersState) => T): T => useStore(useRoost().answers.store, pick);
export const useConversations = <T,>(pick: (state: ConversationsState) => T): T =>
  useStore(useRoost().conversations.store, pick);
/** The person's messages that have not arrived yet. */
export const useOutbox = <T,>(pick: (items: readonly Outgoing[]) => T): T =>
  useStore(useRoost().outbox.store, ({ items }) => pick(items));
export const useUnread = <T,>(pick: (state: UnreadState) => T): T => useStore(useRoost().unread.store, pick);
export const usePending = <T,>(pick: (state: PendingState) => T): T => useStore(useRoost().pending, pick);
export const useUpkeep = <T,>(pick: (state: UpkeepState) => T): T => useStore(useRoost().upkeep, pick);
export const useInfo = <T,>(pick: (state: RelayInfoState) => T): T => useStore(useRoost().info, pick);
export const useDevices = <T,>(pick: (state: DevicesState) => T): T => useStore(useRoost().devices.store, pick);
