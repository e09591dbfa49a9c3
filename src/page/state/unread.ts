/**
 * What is new to the person, in conversations and threads, and what waits to be read by somebody
 * asleep. What is new the ledger says, from marks that are documents: so every tab and every device
 * says the same. This page moves the marks of what it shows.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { AgentId, ThreadId } from '../../shared/domain/ids.ts';
import { isNews, readMarkOf, type ReadMarks, wholeAt } from '../../shared/domain/read-marks.ts';
import { messageIdOf } from '../../shared/domain/message-id.ts';
import { isKnown } from '../../shared/protocol/documents/kinds.ts';
import type { UnreadRow } from '../../shared/protocol/worker.ts';
import type { Device, OwnerPort } from './ports.ts';
import type { Writer } from './documents.ts';

// Writes how far was read, of many conversations or threads: the first mark of one at once, further
// ones with pauses between them, so that reading along writes little.

/** ms between two marks of one conversation, while it is being read. */
export const MARK_MS = 3_000;

interface ReadMarker<Mark extends string | number> {
  /** How far was read on this page; null: it was not looked at. */
  at(key: string): Mark | null;
  /** All that was read on this page. */
  all(): ReadonlyMap<string, Mark>;
  /** It is read up to here. Answers whether that was new. */
  mark(key: string, mark: Mark): boolean;
  /** Nobody looks any more: what is not written yet is written now. */
  flush(key: string): void;
}

interface ReadMarkerDeps<Mark> {
  readonly owner: OwnerPort;
  readonly device: Pick<Device, 'after'>;
  readonly docOf: (key: string, mark: Mark) => Doc;
}

function createReadMarker<Mark extends string | number>({
  owner,
  device,
  docOf,
}: ReadMarkerDeps<Mark>): ReadMarker<Mark> {
  const read = new Map<string, Mark>();
  /** How much of that is in the ledger or on its way there. */
  const written = new Map<string, Mark>();
  /** Those whose mark was written a moment ago. */
  const resting = new Set<string>();

  const isAhead = (key: string): boolean => {
    const [here, there] = [read.get(key), written.get(key)];
    return here !== undefined && (there === undefined || here > there);
  };

  function flush(key: string): void {
    const mark = read.get(key);
    if (mark === undefined || !isAhead(key)) return;
    written.set(key, mark);
    // What could not be kept is kept with the next that is read; until then it is read on this
    // page.
    owner.call('append', [docOf(key, mark)]).catch(() => written.delete(key));
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
  /** ms between hearing of documents and asking what is new now: they come in bursts. */
  askMs: 150,
} as const;

type ThreadMarks = Pick<ReadMarks, 'since' | 'byThread'>;

export interface UnreadState {
  /** Was it asked, or can it not be said? */
  readonly known: boolean;
  /** Whose conversation is on the screen; null: none is, or nobody sees it. */
  readonly looking: AgentId | null;
  /** What others said that was not looked at yet, by agent. */
  readonly counts: ReadonlyMap<string, number>;
  /**
   * The stamp behind which new begins, by agent, where something is new; of the conversation on the
   * screen, as it was when that was opened.
   */
  readonly begins: ReadonlyMap<string, string>;
  /** How far threads are read. */
  readonly threads: ThreadMarks;
  /** Ids of the person's messages in a relay's inbox, by agent. */
  readonly inbox: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Unread {
  readonly store: StoreApi<UnreadState>;
  /** Asks the ledger what is new. */
  refresh(): Promise<void>;
  /**
   * The conversation on the screen; null where none is, or nobody sees it. What is looked at is
   * read.
   */
  look(agentId: AgentId | null): void;
  /** The conversation that was looked at is closed. */
  leave(): void;
  /** Somebody sees everything in this thread up to this place. */
  lookAtThread(threadId: ThreadId, sequence: number): void;
  /** The thread that was looked at is closed, or out of sight. */
  leaveThread(threadId: ThreadId): void;
  /** Documents that are new in the ledger. */
  hearDocuments(docs: readonly Doc[]): void;
  /**
   * A file is taken in: what it says of conversations that were not here before is not news, unless
   * it brings its own marks along. Returns what hears its documents, part by part.
   */
  takeFile(): (docs: readonly Doc[]) => void;
  /** Nothing of this agent is there to be read any more. */
  drop(agentId: AgentId): void;
}

interface Deps {
  readonly owner: OwnerPort;
  readonly writer: Pick<Writer, 'readMark' | 'readSince'>;
  readonly device: Pick<Device, 'after'>;
}

export function createUnread({ owner, writer, device }: Deps): Unread {
  const store = createStore<UnreadState>()(() => ({
    known: false,
    looking: null,
    counts: new Map(),
    begins: new Map(),
    threads: { since: null, byThread: new Map() },
    inbox: new Map(),
  }));
  /** As the ledger said last. */
  let rows: ReadonlyMap<string, UnreadRow> = new Map();
  const conversations = createReadMarker<string>({
    owner,
    device,
    docOf: (agentId, at) => writer.readMark({ kind: 'conversation', agentId, at }),
  });
  const threads = createReadMarker<number>({
    owner,
    device,
    docOf: (threadId, sequence) => writer.readMark({ kind: 'thread', threadId, sequence }),
  });
  let looking: AgentId | null = null;
  /** The conversation on the screen was opened, and what was new in it then is not known yet. */
  let opening = false;
  let opened: { readonly agentId: AgentId; readonly from: string } | null = null;
  let begun = false;
  /** Messages of the person that were read: what is fetched from elsewhere comes in any order. */
  const readThere = new Set<string>();

  /** What is new in this conversation behind what was read here; null: nothing. */
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

  /** The marks of threads as the ledger has them, and as this page moved them. */
  function showThreads(since: string | null, marks: ReadonlyMap<string, number>): void {
    const byThread = new Map(marks);
    for (const [threadId, sequence] of threads.all())
      byThread.set(threadId, Math.max(sequence, byThread.get(threadId) ?? 0));
    store.setState({ threads: { since, byThread } });
  }

  /** From the first documents on, there is a moment from which on messages are new. */
  function begin(newest: string): void {
    if (begun) return;
    begun = true;
    owner.call('append', [writer.readSince(newest)]).catch(() => {
      begun = false;
    });
  }

  async function ask(): Promise<void> {
    try {
      const { since, conversations: all, threads: marks, newest } = await owner.call('unread');
      rows = new Map(all.map((row) => [row.agentId, row]));
      showThreads(since, marks);
      if (since === null && newest !== '') begin(newest);
    } catch {
      // Asked again with the next documents; what is wrong with the ledger is told elsewhere.
    }
    store.setState({ known: true });
    show();
  }

  let asking: Promise<void> | null = null;
  let cancelAsk: (() => void) | null = null;
  function refresh(): Promise<void> {
    cancelAsk?.();
    cancelAsk = null;
    // What is under way may have been answered before the change: it is followed by another.
    const turn: Promise<void> = (asking ?? Promise.resolve()).then(ask).finally(() => {
      if (asking === turn) asking = null;
    });
    asking = turn;
    return turn;
  }

  /** What waits in inboxes, with these documents; the same map where they change nothing. */
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
    look(agentId) {
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
    lookAtThread(threadId, sequence) {
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
          // Marks come before messages in a copy.
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
