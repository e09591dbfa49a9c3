/** What has been said since a conversation was last looked at, and what waits to be read by somebody asleep. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Doc } from '../protocol/documents.ts';
import { isKnown } from '../protocol/known.ts';
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
  /** The relay tells of these now; they may have waited there since before the page was opened. */
  hearTold(docs: readonly Doc[]): void;
  /**
   * Documents that are new in the ledger: what is heard again after a reload is not new. Nor is what was said before the page
   * was opened and comes from another device: it was there to be read on that one.
   */
  hearDocuments(docs: readonly Doc[]): void;
  /** These come from a file: they are not news. Returns the way to expect them no longer. */
  expect(docs: readonly Doc[]): () => void;
  /** Nothing of this agent is there to be read any more. */
  drop(agentId: string): void;
}

const KEY = 'roost-unread';

/** The counts that this tab kept, a line each; what is not a count is passed over. */
function kept(text: string | null): ReadonlyMap<string, number> {
  const rows = (text ?? '').split('\n').map((line) => line.split('\t'));
  return new Map(rows.flatMap(([agentId = '', count = '']) => (/^[1-9]\d{0,5}$/.test(count) ? [[agentId, Number(count)] as const] : [])));
}

/** `openedAt`: when the page was opened, ms since the epoch. */
export function createUnread(tab: Device['tab'], openedAt = 0): Unread {
  const store = createStore<UnreadState>()(() => ({ counts: kept(tab.read(KEY)), inbox: new Map() }));
  store.subscribe(({ counts }, before) => {
    // Kept for a reload; without room they only live as long as the page.
    if (counts !== before.counts) tab.write(KEY, [...counts].map((row) => row.join('\t')).join('\n'));
  });
  let looking: string | null = null;
  const expected = new Set<string>();
  /** From before the page was opened, and told by the relay all the same. */
  const told = new Set<string>();
  /** Messages that are read: what is fetched from elsewhere comes in any order. */
  const read = new Set<string>();

  const clear = (agentId: string) => {
    const counts = new Map(store.getState().counts);
    if (counts.delete(agentId)) store.setState({ counts });
  };

  return {
    store,
    expect(docs) {
      const ids = docs.flatMap(({ _id, type }) => (type === 'message' ? [_id] : []));
      for (const id of ids) expected.add(id);
      return () => ids.forEach((id) => expected.delete(id));
    },
    hearTold(docs) {
      for (const doc of docs) if (isKnown(doc) && doc.type === 'message' && doc.time < openedAt) told.add(doc._id);
    },
    drop(agentId) {
      clear(agentId);
      const inbox = new Map(store.getState().inbox);
      if (inbox.delete(agentId)) store.setState({ inbox });
    },
    look(agentId) {
      looking = agentId;
      if (agentId !== null) clear(agentId);
    },
    hearDocuments(docs) {
      const before = store.getState();
      const counts = new Map(before.counts);
      const inbox = new Map(before.inbox);
      for (const doc of docs) {
        if (expected.delete(doc._id) || !isKnown(doc)) continue;
        if (doc.type === 'message-read') read.add(doc.messageId);
        if (doc.type === 'message' && doc.role === 'assistant' && doc.time < openedAt && !told.delete(doc._id)) continue;
        if (doc.type === 'message' && doc.role === 'assistant' && doc.agentId !== looking) counts.set(doc.agentId, (counts.get(doc.agentId) ?? 0) + 1);
        else if (doc.type === 'message' && doc['waiting'] === true && !read.has(doc.messageId)) inbox.set(doc.agentId, new Set(inbox.get(doc.agentId)).add(doc.messageId));
        else if (doc.type === 'message-read') inbox.set(doc.agentId, new Set([...(inbox.get(doc.agentId) ?? [])].filter((messageId) => messageId !== doc.messageId)));
        else continue;
        store.setState({ counts, inbox });
      }
    },
  };
}
