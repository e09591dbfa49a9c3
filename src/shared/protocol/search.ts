/** Queries of the search and their answers. This module does not import zod. */
import type { AgentId, MessageId, ThreadId } from '../domain/ids.ts';

export const SEARCH_KINDS = ['message', 'thread-message', 'thread', 'soul', 'schedule'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** `text` is the query as typed. Filters that are left out match everything. */
export interface SearchQuery {
  readonly text: string;
  /** The agent whose conversation or soul it is, or who said it in a thread. */
  readonly agentId?: AgentId | undefined;
  /** Only in this thread. */
  readonly threadId?: ThreadId | undefined;
  /** Only by this author: an agent or "human". */
  readonly author?: string | undefined;
  /** Only these kinds. */
  readonly kinds?: readonly SearchKind[] | undefined;
  /** ms since the epoch, inclusive. */
  readonly since?: number | undefined;
  readonly limit: number;
  /** The search field that asks. A newer query of the same field supersedes its unanswered ones. */
  readonly line?: string | undefined;
}

/** An excerpt of a text, with the matches in it. */
export interface Passage {
  readonly text: string;
  /** Start and end of each match in `text`, in order. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

/** Metadata of a text: whose it is, and where it is. */
export interface SearchedText {
  readonly kind: SearchKind;
  /**
   * The agent whose conversation, soul or routine it is, or who said it in a thread. Null: none.
   */
  readonly agentId: AgentId | null;
  /** The author: an agent, "human" or "relay". */
  readonly author: string;
  /** ms since the epoch */
  readonly time: number;
  /** The message in a conversation or a thread. Null: it still waits to be sent. */
  readonly messageId: MessageId | null;
  readonly threadId: ThreadId | null;
}

export interface SearchHit extends SearchedText {
  /** Id of the document. */
  readonly id: string;
  /** Title of the thread, or name of the schedule. Null: unknown here. */
  readonly title: string | null;
  readonly passage: Passage;
}

/** `building`: some of the data cannot be found yet; `unavailable`: nothing can be found. */
export type SearchState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'building'; readonly done: number; readonly of: number }
  | { readonly kind: 'unavailable'; readonly why: 'no-room' | 'broken' };

export interface SearchAnswer {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** There may be more hits than were requested. */
  readonly more: boolean;
  readonly state: SearchState;
}
