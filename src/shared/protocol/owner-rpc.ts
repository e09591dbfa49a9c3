/** What a tab may ask of the ledger's owner, and what is said between them. */
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

/** Documents are parsed by the ledger. */
const documents = z.tuple([typed<readonly Doc[]>()]);

/** Of the ledger. */
export const LEDGER_METHODS = {
  household: method(none, typed<HouseholdView>()),
  /** Answers when the documents are durable. */
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
   * What an edit, named by its own id, took the place of, with all that came after it; oldest
   * first.
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
   * When an agent was awake and talked, newest first; from before the time `upTo`, in ms since the
   * epoch, where that is given.
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
   * All that was ever written about an agent after its birth, oldest first: `household` has only
   * what holds.
   */
  changes: method(z.tuple([z.object({ agentId: idOf<AgentId>(z.string()) })]), typed<readonly AgentChangeDoc[]>()),
  /** What is new to the person, the same in every tab. */
  unread: method(none, typed<UnreadView>()),
  wakeMaterial: method<[{ readonly agentIds: readonly AgentId[]; readonly cap: number }], readonly WakeMaterial[]>(
    z.tuple([z.object({ agentIds: z.array(idOf<AgentId>(z.string())), cap: z.number().min(0) })]),
    typed<readonly WakeMaterial[]>(),
  ),
  storage: method(none, typed<StorageStatus>()),
  /**
   * Everything there is, or all that belongs to one agent (its identity, changes, conversation and
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
   * The documents about one thing, page by page, by id: what was said in a thread, say. `limit` 0:
   * only how many there are.
   */
  within: method(
    z.tuple([z.object({ about: z.string(), after: z.string().nullable(), limit: z.number().int().min(0) })]),
    typed<WithinPage>(),
  ),
  /** What the person changed, the newest first. */
  changeLog: method(
    z.tuple([z.object({ limit: z.number().int().min(1).max(LIMITS.changeLog) })]),
    typed<ChangeLogView>(),
  ),
  /** The bytes of a file that came with a message, in base64; null: not all of it is here. */
  attachment: method(
    z.tuple([z.object({ attachmentId: z.string(), bytes: z.number().int().min(0).max(ATTACHMENTS.bytes) })]),
    typed<string | null>(),
  ),
  /** Writes nothing. */
  compare: method(documents, typed<Comparison>()),
  /** A whole copy has left this device. */
  noteExport: method(z.tuple([z.object({ time: z.number(), documents: z.number(), sealed: z.boolean() })]), z.null()),
  /**
   * Checks every volume, repairs what it can, and writes the views anew. Progress comes as news.
   */
  rebuild: method(none, typed<RebuildReport>()),
};
/** Of the search. */
export const SEARCH_METHODS = {
  /** What was said, wherever it was: best first. */
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
/** Of the owner's connection to the relay. */
const RELAY_METHODS = {
  /**
   * The page key, as localStorage has it, which no worker can read; told on every new line, and
   * where it changes.
   */
  takePageKey: method(z.tuple([z.object({ key: z.string().max(LIMITS.id).nullable() })]), z.null()),
  /** Connect to the relay again now, without waiting for the next try. */
  reconnect: method(none, z.null()),
  /**
   * The cookie is of another sign-in: what is open under the one before ends, and is opened again.
   */
  signInChanged: method(none, z.null()),
};
export const OWNER_METHODS = { ...LEDGER_METHODS, ...SEARCH_METHODS, ...RELAY_METHODS, ...SYNC_METHODS };

export type OwnerCalls = CallsOf<typeof OWNER_METHODS>;
export type OwnerCallName = keyof OwnerCalls;
export type ToOwner = ToServer<OwnerCallName>;
export type FromOwner = FromServer<OwnerNews>;
