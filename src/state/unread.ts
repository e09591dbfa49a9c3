/** What has been said since a conversation was last looked at, and what waits to be read by somebody asleep. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { StoredEvent } from '../protocol/events.ts';

export interface UnreadState {
  /** Finished answers not looked at yet, by agent. */
  readonly counts: ReadonlyMap<string, number>;
  /** Ids of the person's messages in a relay's inbox, by agent. */
  readonly inbox: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Unread {
  readonly store: StoreApi<UnreadState>;
  /** The conversation on the screen; null where none is. Looking at one clears it. */
  look(agentId: string | null): void;
  hearEvent(stored: StoredEvent): void;
}

export function createUnread(): Unread {
  const store = createStore<UnreadState>()(() => ({ counts: new Map(), inbox: new Map() }));
  let looking: string | null = null;

  const clear = (agentId: string) => {
    const counts = new Map(store.getState().counts);
    if (counts.delete(agentId)) store.setState({ counts });
  };

  return {
    store,
    look(agentId) {
      looking = agentId;
      if (agentId !== null) clear(agentId);
    },
    hearEvent({ event }) {
      const { counts, inbox } = store.getState();
      if (event.kind === 'message' && event.role === 'assistant' && event.agentId !== looking)
        store.setState({ counts: new Map(counts).set(event.agentId, (counts.get(event.agentId) ?? 0) + 1) });
      else if (event.kind === 'message' && event.waiting)
        store.setState({ inbox: new Map(inbox).set(event.agentId, new Set(inbox.get(event.agentId)).add(event.messageId)) });
      else if (event.kind === 'message-read') {
        const rest = new Set(inbox.get(event.agentId));
        if (rest.delete(event.messageId)) store.setState({ inbox: new Map(inbox).set(event.agentId, rest) });
      }
    },
  };
}
