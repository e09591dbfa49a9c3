/** Conversations as far as they were opened: the newest page first, older ones on demand, live ones as they come. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { isCovered } from '../domain/forgetting.ts';
import { isKnown, type Doc, type ForgetDoc, type MessageDoc, type SessionDoc } from '../protocol/documents.ts';
import { spansOf, visibleMessages, type Sending, type SessionSpan } from './conversation-log.ts';
import type { OwnerPort } from './ports.ts';

/** Messages a page asks for at once. */
export const PAGE_SIZE = 40;

export interface Conversation {
  readonly status: 'loading' | 'ready' | 'loading-older' | 'failed';
  readonly error: string | null;
  /** Oldest first, without what was replaced. */
  readonly messages: readonly MessageDoc[];
  readonly spans: ReadonlyMap<string, SessionSpan>;
  readonly read: ReadonlySet<string>;
  readonly before: string | null;
}

export interface ConversationsState {
  readonly byAgent: ReadonlyMap<string, Conversation>;
  readonly sending: readonly Sending[];
}

export interface Conversations {
  readonly store: StoreApi<ConversationsState>;
  /** Loads the newest page once; further calls do nothing unless it failed. */
  open(agentId: string): Promise<void>;
  older(agentId: string): Promise<void>;
  /** Reads the newest page of every open conversation again. */
  refresh(): Promise<void>;
  take(docs: readonly Doc[]): void;
  /** Something is being forgotten: it is taken out of sight. */
  conceal(): void;
  /** Something is kept after all: every open conversation is read anew. */
  reread(): Promise<void>;
  /** These are final: drops what they cover. */
  drop(forgets: readonly ForgetDoc[]): void;
  sending(item: Sending): void;
  sent(clientId: string): void;
}

interface Held {
  readonly messages: Map<string, MessageDoc>;
  readonly sessions: Map<string, SessionDoc>;
  readonly read: Set<string>;
}

/** `isHidden`: is this message being forgotten, or forgotten? */
export function createConversations(owner: OwnerPort, isHidden: (doc: Doc) => boolean): Conversations {
  const store = createStore<ConversationsState>()(() => ({ byAgent: new Map(), sending: [] }));
  const held = new Map<string, Held>();
  // Ends of sessions that were heard of before the conversation was opened.
  const sessions = new Map<string, SessionDoc>();

  const set = (agentId: string, change: Partial<Conversation>) => {
    const byAgent = new Map(store.getState().byAgent);
    const current = byAgent.get(agentId) ?? { status: 'loading', error: null, messages: [], spans: new Map(), read: new Set(), before: null };
    byAgent.set(agentId, { ...current, ...change });
    store.setState({ byAgent });
  };
  const show = (agentId: string, rows: Held, change: Partial<Conversation> = {}) =>
    set(agentId, {
      messages: visibleMessages([...rows.messages.values()].filter((message) => !isHidden(message))),
      spans: spansOf([...sessions.values(), ...rows.sessions.values()]),
      read: new Set(rows.read),
      ...change,
    });

  /** `keepBefore`: how far back was read already, where this only fills in what is newer. */
  async function page(agentId: string, before: string | null, keepBefore?: string | null): Promise<void> {
    try {
      const got = await owner.call('conversation', { agentId, before, limit: PAGE_SIZE });
      const rows = held.get(agentId) ?? { messages: new Map(), sessions: new Map(), read: new Set() };
      held.set(agentId, rows);
      for (const message of got.messages) rows.messages.set(message.messageId, message);
      for (const session of got.sessions) rows.sessions.set(session._id, session);
      for (const messageId of got.read) rows.read.add(messageId);
      // What is forgotten of a conversation is its earlier part: behind it is nothing more to be seen.
      const more = got.messages.some(isHidden) ? null : got.before;
      show(agentId, rows, { status: 'ready', error: null, before: keepBefore === undefined ? more : keepBefore });
    } catch (error) {
      // Shown in place of the page, with a way to try again.
      set(agentId, { status: 'failed', error: error instanceof Error ? error.message : String(error) });
    }
  }

  return {
    store,
    async open(agentId) {
      const current = store.getState().byAgent.get(agentId);
      if (current && current.status !== 'failed') return;
      set(agentId, { status: 'loading', error: null });
      await page(agentId, null);
    },
    async older(agentId) {
      const current = store.getState().byAgent.get(agentId);
      if (current?.status !== 'ready' || current.before === null) return;
      set(agentId, { status: 'loading-older' });
      await page(agentId, current.before);
    },
    async refresh() {
      await Promise.all([...held.keys()].map((agentId) => page(agentId, null, store.getState().byAgent.get(agentId)?.before)));
    },
    take(docs) {
      const touched = new Set<string>();
      for (const doc of docs) {
        if (!isKnown(doc)) continue;
        if (doc.type === 'session') {
          if (sessions.has(doc._id)) continue;
          sessions.set(doc._id, doc);
          for (const agentId of held.keys()) touched.add(agentId);
        } else if (doc.type === 'message') {
          const rows = held.get(doc.agentId);
          if (!rows || rows.messages.has(doc.messageId)) continue;
          rows.messages.set(doc.messageId, doc);
          touched.add(doc.agentId);
        } else if (doc.type === 'message-read') {
          const rows = held.get(doc.agentId);
          if (!rows || rows.read.has(doc.messageId)) continue;
          rows.read.add(doc.messageId);
          touched.add(doc.agentId);
        }
      }
      for (const agentId of touched) {
        const rows = held.get(agentId);
        if (rows) show(agentId, rows);
      }
      const arrived = new Set(docs.flatMap((doc) => (isKnown(doc) && (doc.type === 'message' || doc.type === 'queued-message') ? [doc.clientId] : [])));
      const { sending } = store.getState();
      if (sending.some((item) => arrived.has(item.clientId))) store.setState({ sending: sending.filter((item) => !arrived.has(item.clientId)) });
    },
    conceal() {
      for (const [agentId, rows] of held) show(agentId, rows, [...rows.messages.values()].some(isHidden) ? { before: null } : {});
    },
    async reread() {
      const open = [...held.keys()];
      held.clear();
      await Promise.all(open.map((agentId) => page(agentId, null)));
    },
    drop(forgets) {
      const gone = (doc: Doc) => forgets.some((forget) => isCovered(doc, forget));
      for (const [agentId, rows] of held) {
        for (const message of rows.messages.values()) if (gone(message)) rows.messages.delete(message.messageId);
        show(agentId, rows);
      }
      const agents = new Set(forgets.flatMap(({ target }) => (target.kind === 'agent' ? [target.agentId] : [])));
      const { byAgent, sending } = store.getState();
      for (const agentId of agents) held.delete(agentId);
      store.setState({ byAgent: new Map([...byAgent].filter(([agentId]) => !agents.has(agentId))), sending: sending.filter((item) => !agents.has(item.agentId)) });
    },
    sending: (item) =>
      store.setState(({ sending }) => ({ sending: [...sending.filter((held) => held.clientId !== item.clientId), item] })),
    sent: (clientId) => store.setState(({ sending }) => ({ sending: sending.filter((item) => item.clientId !== clientId) })),
  };
}
