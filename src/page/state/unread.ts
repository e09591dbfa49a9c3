/**
 * Unread messages in conversations and threads, and messages that wait for a sleeping agent. The
 * ledger counts them from read marks, which are documents, so every tab and device shows the same.
 * This page moves the marks of what it shows.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { AgentId, ThreadId } from '../../shared/domain/ids.ts';
import { isNews, readMarkOf, type ReadMarks, wholeAt } from '../../shared/domain/read-marks.ts';
import { messageIdOf } from '../../shared/domain/message-id.ts';
import { isKnown } from '../../shared/protocol/documents/kinds.ts';
import type { UnreadRow } from '../../shared/protocol/worker.ts';
import type { Device, DataWorkerPort } from './ports.ts';
import type { Writer } from './documents.ts';

// Writes read marks of many conversations or threads. The first mark of one is written at once,
// later ones at intervals, so that following a conversation writes little.

/** ms between two marks of one conversation while it is being read. */
export const MARK_MS = 3_000;

interface ReadMarker<Mark extends string | number> {
  /** How far this page has read; null: not opened. */
  at(key: string): Mark | null;
  /** All read marks of this page. */
  all(): ReadonlyMap<string, Mark>;
  /** Marks the conversation as read up to here. Returns whether the mark was new. */
  mark(key: string, mark: Mark): boolean;
  /** The view is closed: writes a pending mark now. */
  flush(key: string): void;
}

interface ReadMarkerDeps<Mark> {
  readonly dataWorker: DataWorkerPort;
  readonly device: Pick<Device, 'after'>;
  readonly docOf: (key: string, mark: Mark) => Doc;
}

function createReadMarker<Mark extends string | number>({
  dataWorker,
  device,
  docOf,
}: ReadMarkerDeps<Mark>): ReadMarker<Mark> {
  const read = new Map<string, Mark>();
  /** The mark that is in the ledger or on its way there. */
  const written = new Map<string, Mark>();
  /** Keys whose mark was written a moment ago. */
  const resting = new Set<string>();

  const isAhead = (key: string): boolean => {
    const [here, there] = [read.get(key), written.get(key)];
    return here !== undefined && (there === undefined || here > there);
  };

  function flush(key: string): void {
    const mark = read.get(key);
    if (mark === undefined || !isAhead(key)) return;
    written.set(key, mark);
    // A mark that could not be stored is stored with the next one. Until then it holds on this page
    // only.
    dataWorker.call('append', [docOf(key, mark)]).catch(() => written.delete(key));
  }

  function flushAndRest(key: string): void {
    flush(key);
    resting.add(key);
    device.after(MARK_MS, () => {
      resting.delete(key);
      if (isAhead(key)) flushAndRest(key);
    });
  }

  return {
    at: (key) => read.get(key) ?? null,
    all: () => read,
    mark(key, mark) {
      const before = read.get(key);
      if (before !== undefined && mark <= before) return false;
      read.set(key, mark);
      if (!resting.has(key)) flushAndRest(key);
      return true;
    },
    flush,
  };
}

export const UNREAD = {
  /** ms between new documents and the next count: documents come in bursts. */
  askMs: 150,
} as const;

type ThreadMarks = Pick<ReadMarks, 'since' | 'byThread'>;

export interface UnreadState {
  /** Counted once, or counting failed. */
  readonly known: boolean;
  /** The conversation on screen; null: none, or the page is hidden. */
  readonly looking: AgentId | null;
  /** Number of unread messages by agent. */
  readonly counts: ReadonlyMap<string, number>;
  /**
   * The stamp after which messages are new, by agent. For the conversation on screen, as it was
   * when opened.
   */
  readonly begins: ReadonlyMap<string, string>;
  /** How far threads are read. */
  readonly threads: ThreadMarks;
  /** Ids of the person's messages in a relay's inbox, by agent. */
  readonly inbox: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Unread {
  readonly store: StoreApi<UnreadState>;
  /** Counts unread messages in the ledger. */
  refresh(): Promise<void>;
  /**
   * The conversation on screen; null: none, or the page is hidden. A conversation on screen counts
   * as read.
   */
  view(agentId: AgentId | null): void;
  /** The conversation on screen is closed. */
  leave(): void;
  /**
   * The newest `count` messages of the agent are on screen elsewhere, up to this stamp. They count
   * as read, unless an earlier one is unread.
   */
  seen(agentId: AgentId, upTo: string, count: number): void;
  /** The person sees this thread up to this sequence. */
  viewThread(threadId: ThreadId, sequence: number): void;
  /** The thread is closed or out of view. */
  leaveThread(threadId: ThreadId): void;
  /** Documents that are new in the ledger. */
  hearDocuments(docs: readonly Doc[]): void;
  /**
   * A file is being imported. Conversations that are new here count as read, unless the file has
   * read marks for them. Returns a function that receives the documents, batch by batch.
   */
  takeFile(): (docs: readonly Doc[]) => void;
  /** Forgets the counts of this agent, whose messages are gone. */
  drop(agentId: AgentId): void;
}

interface Deps {
  readonly dataWorker: DataWorkerPort;
  readonly writer: Pick<Writer, 'readMark' | 'readSince'>;
  readonly device: Pick<Device, 'after'>;
}

export function createUnread({ dataWorker, writer, device }: Deps): Unread {
  const store = createStore<UnreadState>()(() => ({
    known: false,
    looking: null,
    counts: new Map(),
    begins: new Map(),
    threads: { since: null, byThread: new Map() },
    inbox: new Map(),
  }));
  /** The rows of the ledger's last count. */
  let rows: ReadonlyMap<string, UnreadRow> = new Map();
  const conversations = createReadMarker<string>({
    dataWorker,
    device,
    docOf: (agentId, at) => writer.readMark({ kind: 'conversation', agentId, at }),
  });
  const threads = createReadMarker<number>({
    dataWorker,
    device,
    docOf: (threadId, sequence) => writer.readMark({ kind: 'thread', threadId, sequence }),
  });
  let looking: AgentId | null = null;
  /** The conversation on screen was opened, and its unread position is not known yet. */
  let opening = false;
  let opened: { readonly agentId: AgentId; readonly from: string } | null = null;
  let begun = false;
  /** What was on screen elsewhere. The ledger may not have counted it yet. */
  const seenElsewhere = new Map<AgentId, { readonly upTo: string; readonly count: number }>();
  /** Messages of the person that agents have read. Documents from elsewhere arrive in any order. */
  const readThere = new Set<string>();

  /** What is unread in this conversation beyond this page's mark; null: nothing. */
  function newIn(agentId: AgentId): { readonly count: number; readonly from: string; readonly newest: string } | null {
    const row = rows.get(agentId);
    if (!row || row.newest === null || row.upTo === null) return null;
    const here = conversations.at(agentId) ?? '';
    return here >= row.newest
      ? null
      : { count: row.unread, from: here > row.upTo ? here : row.upTo, newest: row.newest };
  }

  function show(): void {
    const here = looking === null ? null : newIn(looking);
    if (looking !== null && opening && store.getState().known) {
      opening = false;
      if (here) opened = { agentId: looking, from: here.from };
    }
    if (looking !== null && here) conversations.mark(looking, here.newest);
    for (const [agentId, { upTo, count }] of seenElsewhere) {
      const news = newIn(agentId);
      if (news && news.newest === upTo && news.count <= count) conversations.mark(agentId, upTo);
    }
    const counts = new Map<string, number>();
    const begins = new Map<string, string>();
    if (opened) begins.set(opened.agentId, opened.from);
    for (const agentId of rows.keys()) {
      const news = newIn(agentId);
      if (!news) continue;
      counts.set(agentId, news.count);
      begins.set(agentId, news.from);
    }
    store.setState({ counts, begins });
  }

  /** Merges the ledger's thread marks with those of this page. */
  function showThreads(since: string | null, marks: ReadonlyMap<string, number>): void {
    const byThread = new Map(marks);
    for (const [threadId, sequence] of threads.all())
      byThread.set(threadId, Math.max(sequence, byThread.get(threadId) ?? 0));
    store.setState({ threads: { since, byThread } });
  }

  /** The first documents set the stamp from which on messages count as new. */
  function begin(newest: string): void {
    if (begun) return;
    begun = true;
    dataWorker.call('append', [writer.readSince(newest)]).catch(() => {
      begun = false;
    });
  }

  async function ask(): Promise<void> {
    try {
      const { since, conversations: all, threads: marks, newest } = await dataWorker.call('unread');
      rows = new Map(all.map((row) => [row.agentId, row]));
      showThreads(since, marks);
      if (since === null && newest !== '') begin(newest);
    } catch {
      // Repeated with the next documents. Ledger errors are reported elsewhere.
    }
    store.setState({ known: true });
    show();
  }

  let asking: Promise<void> | null = null;
  let cancelAsk: (() => void) | null = null;
  function refresh(): Promise<void> {
    cancelAsk?.();
    cancelAsk = null;
    // The running count may be older than the change, so another one follows.
    const turn: Promise<void> = (asking ?? Promise.resolve()).then(ask).finally(() => {
      if (asking === turn) asking = null;
    });
    asking = turn;
    return turn;
  }

  /** Inboxes after these documents; the same map if nothing changes. */
  function inboxWith(docs: readonly Doc[]): UnreadState['inbox'] {
    const { inbox } = store.getState();
    const next = new Map(inbox);
    let changed = false;
    for (const doc of docs) {
      if (!isKnown(doc)) continue;
      if (doc.type === 'message-read') {
        readThere.add(doc.messageId);
        next.set(
          doc.agentId,
          new Set([...(next.get(doc.agentId) ?? [])].filter((messageId) => messageId !== doc.messageId)),
        );
      } else if (doc.type === 'message-withdrawn') {
        const messageId = messageIdOf(doc.clientId);
        readThere.add(messageId);
        next.set(doc.agentId, new Set([...(next.get(doc.agentId) ?? [])].filter((id) => id !== messageId)));
      } else if (doc.type === 'message' && doc['waiting'] === true && !readThere.has(doc.messageId))
        next.set(doc.agentId, new Set(next.get(doc.agentId)).add(doc.messageId));
      else continue;
      changed = true;
    }
    return changed ? next : inbox;
  }

  return {
    store,
    refresh,
    view(agentId) {
      if (looking !== null && looking !== agentId) conversations.flush(looking);
      if (agentId !== null && agentId !== looking) {
        opening = true;
        if (opened?.agentId !== agentId) opened = null;
      }
      looking = agentId;
      store.setState({ looking });
      show();
    },
    leave() {
      opened = null;
      show();
    },
    seen(agentId, upTo, count) {
      seenElsewhere.set(agentId, { upTo, count });
      show();
    },
    viewThread(threadId, sequence) {
      if (!threads.mark(threadId, sequence)) return;
      const { since, byThread } = store.getState().threads;
      showThreads(since, byThread);
    },
    leaveThread: (threadId) => threads.flush(threadId),
    hearDocuments(docs) {
      store.setState({ inbox: inboxWith(docs) });
      if (docs.length > 0) cancelAsk ??= device.after(UNREAD.askMs, () => void refresh());
    },
    takeFile() {
      const before = new Set(rows.keys());
      let marked = false;
      return (docs) => {
        const newest = new Map<string, string>();
        for (const doc of docs) {
          if (!isKnown(doc)) continue;
          // In a copy, marks come before messages.
          if (doc.type === 'setting') marked ||= (readMarkOf(doc)?.kind ?? 'thread') !== 'thread';
          else if (
            !marked &&
            doc.type === 'message' &&
            isNews(doc) &&
            !before.has(doc.agentId) &&
            wholeAt(doc) > (newest.get(doc.agentId) ?? '')
          )
            newest.set(doc.agentId, wholeAt(doc));
        }
        for (const [agentId, upTo] of newest) conversations.mark(agentId, upTo);
        show();
      };
    },
    drop(agentId) {
      rows = new Map([...rows].filter(([other]) => other !== agentId));
      const inbox = new Map(store.getState().inbox);
      if (inbox.delete(agentId)) store.setState({ inbox });
      show();
    },
  };
}
