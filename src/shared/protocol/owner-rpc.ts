/** The methods of the data worker that a tab can call, and their types. */
import { z } from 'zod';
import { ATTACHMENTS } from '../domain/attachment.ts';
import type { AgentId, MessageId, ThreadId } from '../domain/ids.ts';
import type { AgentChangeDoc, Doc, MessageDoc } from './documents.ts';
import { LIMITS } from './limits.ts';
import { method, none, typed, type CallsOf, type FromServer, type ToServer } from '../rpc/method.ts';
import type { SearchAnswer, SearchQuery } from './search.ts';
import { SYNC_METHODS } from './sync/methods.ts';
import type {
  ChangeLogView,
  Comparison,
  ConversationPage,
  DocumentPage,
  HouseholdView,
  OwnerNews,
  RebuildReport,
  StorageStatus,
  UnreadView,
  WakeMaterial,
  WakingsPage,
  WithinPage,
} from './worker.ts';
import { idOf } from './ids.ts';

/** The ledger validates the documents. */
const documents = z.tuple([typed<readonly Doc[]>()]);

/** Methods of the ledger. */
export const LEDGER_METHODS = {
  household: method(none, typed<HouseholdView>()),
  /** Resolves when the documents are durable. */
  append: method(documents, typed<{ readonly written: number }>()),
  conversation: method(
    z.tuple([
      z.object({
        agentId: idOf<AgentId>(z.string()),
        before: z.string().nullable(),
        limit: z.number().int().min(1).max(1_000),
      }),
    ]),
    typed<ConversationPage>(),
  ),
  /**
   * The messages that an edit, named by its own id, has replaced, including all that came after;
   * oldest first.
   */
  replaced: method(
    z.tuple([
      z.object({
        agentId: idOf<AgentId>(z.string()),
        messageId: idOf<MessageId>(z.string()),
        limit: z.number().int().min(1).max(1_000),
      }),
    ]),
    typed<readonly MessageDoc[]>(),
  ),
  /**
   * Periods in which an agent was awake and talked, newest first. `upTo` limits them to those
   * before a time, in ms since the epoch.
   */
  wakings: method(
    z.tuple([
      z.object({
        agentId: idOf<AgentId>(z.string()),
        before: z.string().nullable(),
        upTo: z.number().int().min(0).nullable(),
        limit: z.number().int().min(1).max(200),
      }),
    ]),
    typed<WakingsPage>(),
  ),
  /**
   * All changes of an agent since its birth, oldest first. `household` contains only those that
   * win.
   */
  changes: method(z.tuple([z.object({ agentId: idOf<AgentId>(z.string()) })]), typed<readonly AgentChangeDoc[]>()),
  /** What is new to the person. The same in every tab. */
  unread: method(none, typed<UnreadView>()),
  wakeMaterial: method<[{ readonly agentIds: readonly AgentId[]; readonly cap: number }], readonly WakeMaterial[]>(
    z.tuple([z.object({ agentIds: z.array(idOf<AgentId>(z.string())), cap: z.number().min(0) })]),
    typed<readonly WakeMaterial[]>(),
  ),
  storage: method(none, typed<StorageStatus>()),
  /**
   * All documents, or all that belong to one agent (its identity, changes, conversation and
   * sessions), page by page.
   */
  documents: method(
    z.tuple([
      z.object({
        after: z.string().nullable(),
        limit: z.number().int().min(1).max(5_000),
        agentId: idOf<AgentId>(z.string()).nullable(),
      }),
    ]),
    typed<DocumentPage>(),
  ),
  /**
   * The documents about one thing, such as a thread's messages, page by page, by id. `limit` 0
   * returns only their number.
   */
  within: method(
    z.tuple([z.object({ about: z.string(), after: z.string().nullable(), limit: z.number().int().min(0) })]),
    typed<WithinPage>(),
  ),
  /** The person's changes, newest first. */
  changeLog: method(
    z.tuple([z.object({ limit: z.number().int().min(1).max(LIMITS.changeLog) })]),
    typed<ChangeLogView>(),
  ),
  /** The bytes of an attachment, in base64. Null: it is not complete on this device. */
  attachment: method(
    z.tuple([z.object({ attachmentId: z.string(), bytes: z.number().int().min(0).max(ATTACHMENTS.bytes) })]),
    typed<string | null>(),
  ),
  /** Compares documents with the ledger. Writes nothing. */
  compare: method(documents, typed<Comparison>()),
  /** Notes that a complete copy was exported from this device. */
  noteExport: method(z.tuple([z.object({ time: z.number(), documents: z.number(), sealed: z.boolean() })]), z.null()),
  /**
   * Checks every volume, repairs what it can, and rebuilds the views. Progress is announced as
   * news.
   */
  rebuild: method(none, typed<RebuildReport>()),
};
/** Methods of the search. */
export const SEARCH_METHODS = {
  /** Searches everything that was said. Best hits first. */
  search: method<[SearchQuery], SearchAnswer>(
    z.tuple([
      z.object({
        text: z.string().max(LIMITS.searchText),
        agentId: idOf<AgentId>(z.string()).optional(),
        threadId: idOf<ThreadId>(z.string()).optional(),
        author: z.string().optional(),
        since: z.number().min(0).optional(),
        limit: z.number().int().min(1).max(LIMITS.searchAnswers),
        line: z.string().max(LIMITS.id).optional(),
      }),
    ]),
    typed<SearchAnswer>(),
  ),
};
/** Methods of the data worker's connection to the relay. */
const RELAY_METHODS = {
  /**
   * Passes the page key from localStorage, which no worker can read. A tab calls it whenever it
   * connects, and when the key changes.
   */
  takePageKey: method(z.tuple([z.object({ key: z.string().max(LIMITS.id).nullable() })]), z.null()),
  /** Reconnects to the relay at once, without waiting for the next attempt. */
  reconnect: method(none, z.null()),
  /**
   * The cookie is of another sign-in now: connections of the previous one are closed and reopened.
   */
  signInChanged: method(none, z.null()),
};
export const OWNER_METHODS = { ...LEDGER_METHODS, ...SEARCH_METHODS, ...RELAY_METHODS, ...SYNC_METHODS };

export type OwnerCalls = CallsOf<typeof OWNER_METHODS>;
export type OwnerCallName = keyof OwnerCalls;
export type ToOwner = ToServer<OwnerCallName>;
export type FromOwner = FromServer<OwnerNews>;
