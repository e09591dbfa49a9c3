/** What a page asks of the search, and what it is told. Free of the schemas' library. */
import type { AgentId, MessageId, ThreadId } from '../domain/ids.ts';

export const SEARCH_KINDS = ['message', 'thread-message', 'thread', 'soul', 'schedule'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** `text` as it was typed. Left out: everything. */
export interface SearchQuery {
  readonly text: string;
  /** Whose conversation or soul, or whose words in a thread. */
  readonly agentId?: AgentId | undefined;
  /** In which thread. */
  readonly threadId?: ThreadId | undefined;
  /** Who said it: an agent or "human". */
  readonly author?: string | undefined;
  /** One of these. */
  readonly kinds?: readonly SearchKind[] | undefined;
  /** ms since the epoch: not earlier than that. */
  readonly since?: number | undefined;
  readonly limit: number;
  /** Names whoever types: what they asked before and is not answered yet need not be. */
  readonly line?: string | undefined;
}

/** A piece of a text, and what of it was found. */
export interface Passage {
  readonly text: string;
  /** From, and up to: places in `text`, in order. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

/** What is known of a text besides its words: whose it is, and where it leads to. */
export interface SearchedText {
  readonly kind: SearchKind;
  /**
   * Whose conversation, soul or routine it is; of a thread's message, who said it; null: nobody's.
   */
  readonly agentId: AgentId | null;
  /** Who said or wrote it: an agent, "human" or "relay". */
  readonly author: string;
  /** ms since the epoch */
  readonly time: number;
  /** Of what was said in a conversation or a thread; null where it still waits to be sent. */
  readonly messageId: MessageId | null;
  readonly threadId: ThreadId | null;
}

export interface SearchHit extends SearchedText {
  /** The document's. */
  readonly id: string;
  /** Of the thread, or the name of what is planned; null: not known here. */
  readonly title: string | null;
  readonly passage: Passage;
}

/** `building`: some of what there is cannot be found yet; `unavailable`: nothing can. */
export type SearchState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'building'; readonly done: number; readonly of: number }
  | { readonly kind: 'unavailable'; readonly why: 'no-room' | 'broken' };

export interface SearchAnswer {
  /** Best first. */
  readonly hits: readonly SearchHit[];
  /** There may be more than were asked for. */
  readonly more: boolean;
  readonly state: SearchState;
}
