/**
 * The opened conversations. The newest page is loaded first, older ones on demand, and new messages
 * are added as they arrive.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId, MessageId } from '../../shared/domain/ids.ts';
import type { Doc, ForgetDoc, MessageDoc, RunDoc, SessionDoc } from '../../shared/protocol/documents.ts';
import { isCovered, isKnown } from '../../shared/protocol/documents/kinds.ts';
import { errorText, type DataWorkerPort } from './ports.ts';
import { createPages, type Pages, type Reading } from './pages.ts';
import { type RunSpan, runSpansOf, type SessionSpan, sessionSpansOf } from './live.ts';

// The loaded messages of one conversation, in order and without replaced ones. Pages are added at
// the front and new messages at the end, thousands of them. Both cost as much as they add. Only
// messages out of order cause a full sort.

const inOrder = (a: MessageDoc, b: MessageDoc): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a._id < b._id ? -1 : a._id > b._id ? 1 : 0;

/** `shown` followed by `next`, in order. Each message hides those it replaces. */
function withReplaced(shown: readonly MessageDoc[], next: readonly MessageDoc[]): MessageDoc[] {
  const all = [...shown];
  for (const message of next) {
    if (message.replaces) {
      const cut = all.findLastIndex((held) => held.messageId === message.replaces);
      if (cut >= 0) all.splice(cut);
    }
    all.push(message);
  }
  return all;
}

/** Sorted and unique, without messages that an edit or a retry has replaced. */
export const visibleMessages = (messages: Iterable<MessageDoc>): MessageDoc[] =>
  withReplaced([], [...messages].sort(inOrder));

interface MessageList {
  has(messageId: MessageId): boolean;
  /** Adds unknown messages. Returns whether there were any. */
  add(messages: readonly MessageDoc[]): boolean;
  /** Hides the message for good. Returns whether it was there. */
  withdraw(at: string): boolean;
  /** Oldest first. The same array as long as nothing changes. */
  visible(): readonly MessageDoc[];
  /** Everything from `oldest` on, hidden messages included; null: everything. */
  since(oldest: MessageDoc | null): MessageDoc[];
}

export function createMessageList(initial: readonly MessageDoc[] = []): MessageList {
  const byId = new Map<string, MessageDoc>();
  /** Ids that some message here replaces. */
  const replaced = new Set<string>();
  /** Stamps of withdrawn messages. */
  const withdrawn = new Set<string>();
  let first: MessageDoc | null = null;
  let last: MessageDoc | null = null;
  let shown: readonly MessageDoc[] = [];

  function place(fresh: readonly MessageDoc[]): readonly MessageDoc[] {
    const [oldest] = fresh;
    const newest = fresh.at(-1);
    if (!oldest || !newest) return shown;
    // Messages later than all others are appended to the existing list.
    if (last === null || inOrder(last, oldest) < 0) return withReplaced(shown, fresh);
    // Messages earlier than all others form a list of their own, unless a known message replaces
    // one of them.
    if (first !== null && inOrder(newest, first) < 0 && !fresh.some((message) => replaced.has(message.messageId)))
      return [...withReplaced([], fresh), ...shown];
    return visibleMessages(byId.values());
  }

  const list: MessageList = {
    has: (messageId) => byId.has(messageId),
    add(messages) {
      const fresh = messages.filter(({ messageId, at }) => !byId.has(messageId) && !withdrawn.has(at)).sort(inOrder);
      const [oldest] = fresh;
      const newest = fresh.at(-1);
      if (!oldest || !newest) return false;
      for (const message of fresh) {
        byId.set(message.messageId, message);
        if (message.replaces) replaced.add(message.replaces);
      }
      shown = place(fresh);
      if (first === null || inOrder(oldest, first) < 0) first = oldest;
      if (last === null || inOrder(last, newest) < 0) last = newest;
      return true;
    },
    withdraw(at) {
      withdrawn.add(at);
      const found = [...byId.values()].find((message) => message.at === at);
      if (!found) return false;
      byId.delete(found.messageId);
      shown = shown.filter((message) => message !== found);
      return true;
    },
    visible: () => shown,
    since: (from) => [...byId.values()].filter((message) => from === null || inOrder(message, from) >= 0),
  };
  list.add(initial);
  return list;
}

export const CONVERSATION_LIMITS = {
  /** Messages that are loaded when a conversation is opened. */
  firstPage: 40,
  /** Messages per page when scrolling towards the beginning. */
  olderPage: 80,
  /** Messages per page on the way to the very beginning. */
  leapPage: 400,
  /**
   * Conversations whose newest page stays in memory. Only the open one keeps everything it has
   * loaded.
   */
  kept: 6,
} as const;

export interface Conversation {
  readonly status: 'loading' | 'ready' | 'failed';
  /** Which earlier messages are being loaded. */
  readonly reading: Reading;
  readonly error: string | null;
  /** Oldest first, without replaced messages. */
  readonly messages: readonly MessageDoc[];
  readonly spans: ReadonlyMap<string, SessionSpan>;
  readonly runs: ReadonlyMap<string, RunSpan>;
  readonly read: ReadonlySet<string>;
  readonly before: string | null;
}

export interface ConversationsState {
  readonly byAgent: ReadonlyMap<string, Conversation>;
}

export interface Conversations {
  readonly store: StoreApi<ConversationsState>;
  /**
   * Loads the newest page once; later calls do nothing unless it failed. Conversations that are no
   * longer open are trimmed to their newest page.
   */
  open(agentId: AgentId): Promise<void>;
  /** Loads earlier messages of an open conversation. */
  pages(agentId: AgentId): Pages;
  /** Loads the newest page of every open conversation again. */
  refresh(): Promise<void>;
  take(docs: readonly Doc[]): void;
  /** Hides what is being forgotten. */
  conceal(): void;
  /** A forget was undone: loads every open conversation anew. */
  reread(): Promise<void>;
  /** These forgets are final: drops what they cover. */
  drop(forgets: readonly ForgetDoc[]): void;
}

interface Held {
  readonly pages: Pages;
  messages: MessageList;
  readonly sessions: Map<string, SessionDoc>;
  readonly runs: Map<string, RunDoc>;
  readonly read: Set<string>;
  /** Where the newest page began, to trim back to it; null until it is loaded. */
  newestPage: { readonly oldest: MessageDoc | null; readonly before: string | null } | null;
}

const EMPTY: Conversation = {
  status: 'loading',
  reading: 'nothing',
  error: null,
  messages: [],
  spans: new Map(),
  runs: new Map(),
  read: new Set(),
  before: null,
};

/** `isHidden`: is this document being forgotten, or forgotten? */
export function createConversations(dataWorker: DataWorkerPort, isHidden: (doc: Doc) => boolean): Conversations {
  const store = createStore<ConversationsState>()(() => ({ byAgent: new Map() }));
  /** Loaded messages by agent. The most recently opened agent is last. */
  const rowsByAgent = new Map<string, Held>();
  // Session ends that arrived before the conversation was opened.
  const sessions = new Map<string, SessionDoc>();

  const current = (agentId: AgentId) => store.getState().byAgent.get(agentId);
  const set = (agentId: AgentId, change: Partial<Conversation>) => {
    const byAgent = new Map(store.getState().byAgent);
    byAgent.set(agentId, { ...(byAgent.get(agentId) ?? EMPTY), ...change });
    store.setState({ byAgent });
  };
  const emptyRows = (agentId: AgentId): Held => ({
    pages: createPages({
      sizes: { older: CONVERSATION_LIMITS.olderPage, all: CONVERSATION_LIMITS.leapPage },
      more: () => (current(agentId)?.before ?? null) !== null,
      read: (size) => page(agentId, current(agentId)?.before ?? null, size),
      onReading: (reading) => set(agentId, { reading }),
    }),
    messages: createMessageList(),
    sessions: new Map(),
    runs: new Map(),
    read: new Set(),
    newestPage: null,
  });
  const spans = (rows: Held) => sessionSpansOf([...sessions.values(), ...rows.sessions.values()]);

  /**
   * Returns an error for people, or null. `keepBefore`: how far back is loaded already, if this
   * only fills in newer messages.
   */
  async function page(
    agentId: AgentId,
    before: string | null,
    limit: number,
    keepBefore?: string | null,
  ): Promise<string | null> {
    const rows = rowsByAgent.get(agentId);
    try {
      const got = await dataWorker.call('conversation', { agentId, before, limit });
      // Closed or trimmed while the page was loading.
      if (!rows || rowsByAgent.get(agentId) !== rows || (before !== null && current(agentId)?.before !== before))
        return null;
      const seen = got.messages.filter((message) => !isHidden(message));
      // Forgetting covers the earlier part of a conversation. Nothing visible comes before it.
      const more = seen.length < got.messages.length ? null : got.before;
      rows.messages.add(seen);
      const heard = rows.sessions.size;
      for (const session of got.sessions) rows.sessions.set(session._id, session);
      const ran = rows.runs.size;
      for (const run of got.runs) rows.runs.set(run._id, run);
      const knew = rows.read.size;
      for (const messageId of got.read) rows.read.add(messageId);
      if (before === null) rows.newestPage ??= { oldest: seen[0] ?? null, before: more };
      set(agentId, {
        messages: rows.messages.visible(),
        ...(rows.sessions.size > heard || before === null ? { spans: spans(rows) } : {}),
        ...(rows.runs.size > ran ? { runs: runSpansOf(rows.runs.values()) } : {}),
        ...(rows.read.size > knew ? { read: new Set(rows.read) } : {}),
        status: 'ready',
        error: null,
        before: keepBefore === undefined ? more : keepBefore,
      });
      return null;
    } catch (error) {
      const wrong = errorText(error);
      // Shown in place of the page, with a way to try again.
      set(agentId, { status: 'failed', error: wrong });
      return wrong;
    }
  }

  /** Back to the newest page and what was added since. */
  function cutBack(agentId: AgentId, rows: Held) {
    const conversation = current(agentId);
    rows.pages.stop();
    if (!rows.newestPage || !conversation || conversation.before === rows.newestPage.before) return;
    rows.messages = createMessageList(rows.messages.since(rows.newestPage.oldest));
    set(agentId, { status: 'ready', messages: rows.messages.visible(), before: rows.newestPage.before });
  }

  function drop(agentId: AgentId) {
    rowsByAgent.get(agentId)?.pages.stop();
    rowsByAgent.delete(agentId);
    const byAgent = new Map(store.getState().byAgent);
    byAgent.delete(agentId);
    store.setState({ byAgent });
  }

  /** `agentId` is in view now. Trims the others. */
  function makeRoom(agentId: AgentId) {
    const rows = rowsByAgent.get(agentId) ?? emptyRows(agentId);
    rowsByAgent.delete(agentId);
    for (const [other, theirs] of rowsByAgent) cutBack(other, theirs);
    rowsByAgent.set(agentId, rows);
    for (const other of [...rowsByAgent.keys()].slice(0, Math.max(0, rowsByAgent.size - CONVERSATION_LIMITS.kept)))
      drop(other);
  }

  /**
   * Keeps the messages for which `stays` is true in every open conversation. The others are the
   * earlier part.
   */
  function leave(stays: (message: MessageDoc) => boolean) {
    for (const [agentId, rows] of rowsByAgent) {
      const all = rows.messages.since(null);
      const left = all.filter(stays);
      if (left.length === all.length) continue;
      rows.pages.stop();
      rows.messages = createMessageList(left);
      rows.newestPage = { oldest: rows.messages.visible()[0] ?? null, before: null };
      set(agentId, { status: 'ready', messages: rows.messages.visible(), before: null });
    }
  }

  return {
    store,
    async open(agentId) {
      makeRoom(agentId);
      const conversation = current(agentId);
      if (conversation && conversation.status !== 'failed') return;
      set(agentId, { status: 'loading', error: null });
      await page(agentId, null, CONVERSATION_LIMITS.firstPage);
    },
    pages(agentId) {
      const reads = () => (current(agentId)?.status === 'ready' ? rowsByAgent.get(agentId)?.pages : undefined);
      return {
        older: async () => reads()?.older() ?? null,
        toBeginning: async () => reads()?.toBeginning() ?? false,
        until: async (isThere) => reads()?.until(isThere) ?? { there: false, wrong: null },
        stop: () => rowsByAgent.get(agentId)?.pages.stop(),
      };
    },
    async refresh() {
      const read = [...rowsByAgent].flatMap(([agentId, rows]) => (rows.newestPage ? [agentId] : []));
      await Promise.all(
        read.map((agentId) => page(agentId, null, CONVERSATION_LIMITS.firstPage, current(agentId)?.before)),
      );
    },
    take(docs) {
      const arrived = new Map<string, MessageDoc[]>();
      const touched = new Map<string, Partial<Conversation>>();
      const touch = (agentId: AgentId, change: Partial<Conversation>) =>
        touched.set(agentId, { ...touched.get(agentId), ...change });
      const withdrawn: { readonly agentId: AgentId; readonly of: string }[] = [];
      let heardSessions = false;
      for (const doc of docs) {
        if (!isKnown(doc)) continue;
        if (doc.type === 'message-withdrawn') {
          if (doc.of !== undefined) withdrawn.push({ agentId: doc.agentId, of: doc.of });
        } else if (doc.type === 'session') {
          if (sessions.has(doc._id)) continue;
          sessions.set(doc._id, doc);
          heardSessions = true;
        } else if (doc.type === 'run') {
          const rows = rowsByAgent.get(doc.agentId);
          if (!rows || rows.runs.has(doc._id) || isHidden(doc)) continue;
          rows.runs.set(doc._id, doc);
          touch(doc.agentId, { runs: runSpansOf(rows.runs.values()) });
        } else if (doc.type === 'message') {
          if (!rowsByAgent.has(doc.agentId) || isHidden(doc)) continue;
          const messages = arrived.get(doc.agentId);
          if (messages) messages.push(doc);
          else arrived.set(doc.agentId, [doc]);
        } else if (doc.type === 'message-read') {
          const rows = rowsByAgent.get(doc.agentId);
          if (!rows || rows.read.has(doc.messageId)) continue;
          rows.read.add(doc.messageId);
          touch(doc.agentId, { read: new Set(rows.read) });
        }
      }
      for (const { agentId, of } of withdrawn) {
        const rows = rowsByAgent.get(agentId);
        if (rows?.messages.withdraw(of)) touch(agentId, { messages: rows.messages.visible() });
      }
      for (const [agentId, messages] of arrived) {
        const rows = rowsByAgent.get(agentId);
        if (rows?.messages.add(messages)) touch(agentId, { messages: rows.messages.visible() });
      }
      if (heardSessions) for (const [agentId, rows] of rowsByAgent) touch(agentId, { spans: spans(rows) });
      for (const [agentId, change] of touched) set(agentId, change);
    },
    conceal: () => leave((message) => !isHidden(message)),
    async reread() {
      const open = [...rowsByAgent.keys()];
      for (const agentId of open) {
        rowsByAgent.get(agentId)?.pages.stop();
        rowsByAgent.set(agentId, emptyRows(agentId));
      }
      await Promise.all(open.map((agentId) => page(agentId, null, CONVERSATION_LIMITS.firstPage)));
    },
    drop(forgets) {
      leave((message) => !forgets.some((forget) => isCovered(message, forget)));
      const agents = new Set(forgets.flatMap(({ target }) => (target.kind === 'agent' ? [target.agentId] : [])));
      for (const agentId of agents) drop(agentId);
    },
  };
}
