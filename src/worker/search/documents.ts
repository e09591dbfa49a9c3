/** What the index stores of a document: its words, its author, and where it leads. Pure. */
import type { MessageId, ThreadId } from '../../shared/domain/ids.ts';
import { parseStamp } from '../../shared/domain/stamp.ts';
import { wrote } from '../../shared/domain/talk.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { DocumentStore } from '../../shared/protocol/documents/kind.ts';
import { isKnown, type KnownType } from '../../shared/protocol/documents/kinds.ts';
import type { SearchedText, SearchKind } from '../../shared/protocol/search.ts';

/** Where searchable documents are in the views: a store, and a prefix of their ids. */
export interface SearchSource {
  readonly type: KnownType;
  readonly store: DocumentStore;
  /** '' where everything in the store is searched. */
  readonly prefix: string;
  /** Prefix of a document's id in the index. It names the source. */
  readonly letter: string;
}
/** The largest source comes last. */
export const SEARCH_SOURCES: readonly SearchSource[] = [
  { type: 'agent-identity', store: 'identities', prefix: '', letter: 'i' },
  { type: 'agent-change', store: 'changes', prefix: '', letter: 'c' },
  { type: 'queued-message', store: 'queued', prefix: '', letter: 'q' },
  { type: 'thread', store: 'records', prefix: 'thread:', letter: 'r' },
  { type: 'schedule', store: 'records', prefix: 'schedule:', letter: 'r' },
  { type: 'thread-message', store: 'records', prefix: 'thread-message:', letter: 'r' },
  { type: 'message', store: 'messages', prefix: '', letter: 'm' },
];
const byType = new Map<string, SearchSource>(SEARCH_SOURCES.map((source) => [source.type, source]));
const storeBy = new Map(SEARCH_SOURCES.map(({ letter, store }) => [letter, store]));

export const isSearched = (type: string): boolean => byType.has(type);

/** A document's id in the index. Null: the document is not searched. */
export function rowIdOf(doc: Doc): string | null {
  const source = isKnown(doc) ? byType.get(doc.type) : undefined;
  return source ? source.letter + doc._id : null;
}
/** Where a document of the index is in the views. */
export const placeOf = (rowId: string): { readonly store: DocumentStore; readonly id: string } => ({
  store: storeBy.get(rowId.charAt(0)) ?? 'records',
  id: rowId.slice(1),
});

export interface Searchable extends SearchedText {
  readonly text: string;
  /** Number of a thread's message, from 1. */
  readonly sequence: number | null;
}

const field = (value: object, name: string): string => {
  const found: unknown = Reflect.get(value, name);
  return typeof found === 'string' ? found : '';
};
const PARTS = '\n\n';

/**
 * Null: the document has nothing to find. Its stored and its shown text may differ: see
 * `readFound`.
 */
export function searchableOf(doc: Doc): Searchable | null {
  if (!isKnown(doc)) return null;
  const none = { messageId: null, threadId: null, sequence: null };
  const time = parseStamp(doc.at)?.time ?? 0;
  switch (doc.type) {
    case 'message': {
      const { agentId, author, messageId } = doc;
      const words = doc.blocks.flatMap((block) =>
        block.kind === 'text' ? [block.text] : block.kind === 'tool' ? (wrote(block) ?? []) : [],
      );
      return { ...none, kind: 'message', agentId, author, time: doc.time, messageId, text: words.join(PARTS) };
    }
    case 'queued-message':
      return { ...none, kind: 'message', agentId: doc.agentId, author: 'human', time: doc.time, text: doc.text };
    case 'thread-message': {
      const { value, agentId = null } = doc;
      return {
        kind: 'thread-message',
        agentId,
        author: field(value, 'from') || (agentId ?? 'human'),
        time: value.time,
        messageId: field(value, 'messageId') as MessageId,
        threadId: value.threadId,
        sequence: value.sequence,
        text: field(value, 'text'),
      };
    }
    case 'thread':
      return {
        ...none,
        kind: 'thread',
        agentId: null,
        author: field(doc.value, 'createdBy') || 'human',
        time,
        threadId: doc.recordId as ThreadId,
        text: doc.value.title,
      };
    case 'schedule': {
      const { removed, schedule } = doc.value;
      if (removed) return null;
      // A routine has instructions, a reminder a message, a script the path of its file.
      const words = ['name', 'instructions', 'message', 'script'].map((name) => field(schedule, name));
      return {
        ...none,
        kind: 'schedule',
        agentId: schedule.agentId,
        author: schedule.kind === 'reminder' ? schedule.agentId : 'human',
        time,
        text: words.filter((text) => text !== '').join(PARTS),
      };
    }
    case 'agent-identity':
      return {
        ...none,
        kind: 'soul',
        agentId: doc.agentId,
        author: doc.agentId,
        time,
        text: doc.individuationArtifact,
      };
    case 'agent-change':
      return doc.change.kind === 'soul'
        ? {
            ...none,
            kind: 'soul',
            agentId: doc.agentId,
            author: doc.agentId,
            time,
            text: doc.change.individuationArtifact,
          }
        : null;
    default:
      return null;
  }
}

/** Terms that no word can be. They limit a search to one agent, thread, author or kind. */
const MARK = '\u0001';
export const conversationTerm = (agentId: string): string => `${MARK}a${agentId}`;
export const threadTerm = (threadId: string): string => `${MARK}t${threadId}`;
export const authorTerm = (author: string): string => `${MARK}f${author}`;
export const kindTerm = (kind: SearchKind): string => `${MARK}k${kind}`;

export const termsAbout = ({ agentId, author, threadId, kind }: Searchable): readonly string[] => [
  ...(agentId === null ? [] : [conversationTerm(agentId)]),
  ...(threadId === null ? [] : [threadTerm(threadId)]),
  authorTerm(author),
  kindTerm(kind),
];
