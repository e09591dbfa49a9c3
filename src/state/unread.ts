/** What has been said since a conversation was last looked at, and what waits to be read by somebody asleep. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { StoredEvent } from '../protocol/events.ts';
import type { Device } from './ports.ts';

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

const KEY = 'roost-unread';

/** The counts that this tab kept, a line each; what is not a count is passed over. */
function kept(text: string | null): ReadonlyMap<string, number> {
  const rows = (text ?? '').split('\n').map((line) => line.split('\t'));
  return new Map(rows.flatMap(([agentId = '', count = '']) => (/^[1-9]\d{0,5}$/.test(count) ? [[agentId, Number(count)] as const] : [])));
}

export function createUnread(tab: Device['tab']): Unread {
  const store = createStore<UnreadState>()(() => ({ counts: kept(tab.read(KEY)), inbox: new Map() }));
  store.subscribe(({ counts }, before) => {
    // Kept for a reload; without room they only live as long as the page.
    if (counts !== before.counts) tab.write(KEY, [...counts].map((row) => row.join('\t')).join('\n'));
  });
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
