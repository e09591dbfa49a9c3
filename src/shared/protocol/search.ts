/** Queries of the search and their answers. This module does not import zod. */
import { z } from 'zod';
import type { AgentId, MessageId, ThreadId } from '../domain/ids.ts';
import { common } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';

// Searches of agents. The relay asks the open pages on their event streams, and a page answers with
// a call.

const id = z.string().min(1).max(LIMITS.id);
const threadId = idOf<ThreadId>(id);

/**
 * Sent without an event id to every page of the household that said it answers searches. It is not
 * stored.
 */
export const searchAskedSchema = z.object({
  searchId: id.describe('identifies this search'),
  agentId: common.agentId.describe('the agent that asks; only what it took part in is searched'),
  text: z.string().max(LIMITS.searchText).describe('the words'),
  conversation: z
    .boolean()
    .describe(
      'also searches the agent’s conversation with the person, which includes messages that it read in its inbox',
    ),
  threads: z.array(threadId).max(LIMITS.searchedThreads).readonly().describe('also searches these threads'),
  author: id.nullable().describe('only messages of this author: "human" or an agent’s id'),
  since: common.time.nullable().describe('only messages from then on'),
  limit: z.number().int().min(1).max(LIMITS.searchPassages),
});
export type SearchAsked = z.infer<typeof searchAskedSchema>;

/** `POST /api/searches/{searchId}` */
export const searchAnsweredSchema = z.strictObject({
  state: z
    .enum(['ready', 'building', 'unavailable'])
    .describe('building: the index does not cover everything yet; unavailable: nothing can be searched'),
  passages: z
    .array(
      z.strictObject({
        author: id.describe('"human", "relay" or an agent’s id'),
        time: common.time,
        threadId: threadId.nullable().describe('null: the message is in the conversation'),
        sequence: z.number().int().positive().nullable().describe('sequence of a thread’s message'),
        text: z.string().max(LIMITS.searchPassage).describe('the words around the match'),
      }),
    )
    .max(LIMITS.searchPassages)
    .readonly()
    .describe('best match first'),
  more: z.boolean().describe('there may be more matches'),
});
export type SearchAnswered = z.infer<typeof searchAnsweredSchema>;

/** The answer of a page that cannot search at the moment. */
export const CANNOT_SEARCH: SearchAnswered = { state: 'unavailable', passages: [], more: false };

const SEARCH_KINDS = ['message', 'thread-message', 'thread', 'soul', 'schedule'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** `text` is the query as typed. Filters that are left out match everything. */
export interface SearchQuery {
  readonly text: string;
  /** The agent whose conversation or soul it is, or who said it in a thread. */
  readonly agentId?: AgentId | undefined;
  /** Searches only this thread. */
  readonly threadId?: ThreadId | undefined;
  /** Finds only text of this author: an agent or "human". */
  readonly author?: string | undefined;
  /** Finds only these kinds. */
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
