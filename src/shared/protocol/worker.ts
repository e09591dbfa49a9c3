/**
 * What the data worker sends to the tabs. One data worker per browser profile holds the ledger and
 * the relay's event stream, and every tab is a client of it.
 *
 * `WORKER_METHODS` has the calls of tabs. They are at-least-once and carry an id. Appending the
 * same documents twice is harmless.
 */
import { z } from 'zod';
import type { SessionEnd } from '../domain/lifecycle.ts';
import type { AgentId, MessageId, SessionId, ThreadId } from '../domain/ids.ts';
import type { Forget } from '../domain/forgetting.ts';
import { ATTACHMENTS } from '../domain/attachment.ts';
import { type CallsOf, type FromServer, method, none, type ToServer, typed } from '../rpc/method.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  Block,
  Doc,
  ForgetDoc,
  MessageDoc,
  QueuedMessageDoc,
  RunDoc,
  SessionDoc,
  SettingDoc,
} from './documents.ts';
import type { Snapshot, StoredEvent } from './events.ts';
import type { Waiting } from './stream.ts';
import type { DirectOrder, SyncStatus } from './sync/page.ts';
import { idOf, LIMITS } from './limits.ts';
import type { SearchAnswer, SearchQuery } from './search.ts';
import { SYNC_METHODS } from './sync/methods.ts';

/** Everything that the grid is rendered from. */
export interface HouseholdView {
  readonly identities: readonly AgentIdentityDoc[];
  readonly changes: readonly AgentChangeDoc[];
  readonly settings: readonly SettingDoc[];
  /**
   * The winning documents of kinds that have no field of their own here and of which the newest
   * wins.
   */
  readonly records: readonly Doc[];
  /**
   * Messages that were written while no session could take them, and that no relay has taken yet.
   */
  readonly queued: readonly QueuedMessageDoc[];
  /** Requests that are neither withdrawn nor final: their data is hidden, and can be restored. */
  readonly forgetting: readonly ForgetDoc[];
  /** Agents that were forgotten for good. */
  readonly forgotten: readonly AgentId[];
  /** Requests that are final. */
  readonly forgets: readonly ForgetDoc[];
  /** The greatest stamp in the ledger. '' if it is empty. */
  readonly newest: string;
}

/** A change of the person. */
export interface LoggedChange {
  readonly doc: Doc;
  /** The previous value. Null: nothing was set. */
  readonly before: Doc | null;
  /** The current value: `doc` itself if nothing replaced it. */
  readonly holds: Doc;
}

export interface ChangeLogView {
  /** Newest first. */
  readonly changes: readonly LoggedChange[];
  /** There are older changes. */
  readonly more: boolean;
}

export interface ConversationPage {
  /** Oldest first, without messages that an edit has hidden. */
  readonly messages: readonly MessageDoc[];
  /** Starts and ends of the sessions of these messages. */
  readonly sessions: readonly SessionDoc[];
  /** Starts and ends of the runs of messages outside any session. */
  readonly runs: readonly RunDoc[];
  /** Ids of messages that waited in an inbox and have been read since. */
  readonly read: readonly string[];
  /** Pass it as `before` to get the previous page. Null: this is the first. */
  readonly before: string | null;
}

/**
 * An agent's conversation from one waking until it slept again: its part of a session, or a run
 * outside one.
 */
export interface Waking {
  /** Id of the session or the run. */
  readonly id: string;
  /** Start and end of a run outside any session, as far as known. Null: a session. */
  readonly run: readonly RunDoc[] | null;
  /** The first message, where reading begins. */
  readonly messageId: MessageId;
  /** Times of the first and the newest message, in ms since the epoch. */
  readonly from: number;
  readonly until: number;
  /** Number of visible messages. */
  readonly messages: number;
  /**
   * The person's first words, or the first words of all if the person said nothing. At most one
   * line.
   */
  readonly words: { readonly author: string; readonly text: string } | null;
  /** The product from which the conversation was imported. Left out: it was held here. */
  readonly imported?: { readonly from: string; readonly title: string; readonly isBranch: boolean };
}

export interface WakingsPage {
  /** Newest first. */
  readonly wakings: readonly Waking[];
  /** Pass it as `before` to get earlier ones. Null: there are none. */
  readonly before: string | null;
}

/** What is new to the person in one conversation. */
export interface UnreadRow {
  readonly agentId: AgentId;
  /** The stamp up to which it is read. Null: unknown, and nothing is new. */
  readonly upTo: string | null;
  /** Number of later messages that are not the person's, at most UNREAD_MOST. */
  readonly unread: number;
  /** Stamp of the newest of them. Null: there is none. */
  readonly newest: string | null;
}

export interface UnreadView {
  /**
   * The stamp from which on messages are new in a conversation without its own mark. Null: none was
   * ever set.
   */
  readonly since: string | null;
  readonly conversations: readonly UnreadRow[];
  /** By thread: the sequence number of the last message that is read. */
  readonly threads: ReadonlyMap<string, number>;
  /** The greatest stamp in the ledger. '' if it is empty. */
  readonly newest: string;
}

/** A part of an agent's history, for its transcript. */
export type WakeSession =
  | {
      readonly kind: 'talk';
      readonly sessionId: SessionId;
      /** Whether someone said something to the agent in it. */
      readonly addressed: boolean;
      /**
       * Oldest first. A message that waited is placed where it was read. Messages that still wait
       * are not included.
       */
      readonly messages: readonly MessageDoc[];
      /** Number of earlier messages that were not read from the ledger. */
      readonly earlier: number;
    }
  /**
   * Consecutive sessions with only greetings. `more`: not all were counted. Times are ms since the
   * epoch. `last`: the newest greeting, if it was read from the ledger.
   */
  | {
      readonly kind: 'greetings';
      readonly times: number;
      readonly more: boolean;
      readonly from: number;
      readonly until: number;
      readonly last: MessageDoc | null;
    };

/**
 * The context of an agent's wake: enough of its newest sessions to fill the cap, and of the last
 * session in which someone addressed it.
 */
export interface WakeContext {
  readonly agentId: AgentId;
  /** Oldest first. */
  readonly sessions: readonly WakeSession[];
  /** Number of messages in still earlier sessions that were not read from the ledger. */
  readonly earlier: number;
  /**
   * How the newest of these sessions ended. Left out: it is running, or its end is not on this
   * device.
   */
  readonly ended?: SessionEnd;
}

/** A Fireproof volume, with its state at the last check. */
export interface VolumeStatus {
  readonly name: string;
  readonly documents: number;
  /**
   * writing: receives new documents; sealed: full, compacted and checked; damaged: partly
   * unreadable. A damaged volume is kept, and its documents are in a newer volume if another copy
   * was found.
   */
  readonly state: 'writing' | 'sealed' | 'damaged';
  /** Time of its last check, document by document, in ms since the epoch. Null: not checked yet. */
  readonly checkedAt: number | null;
  /** Faults that the check found, as sentences. Empty: none. */
  readonly faults: readonly string[];
}

/** A copy that was exported from this device. */
export interface ExportNote {
  readonly time: number;
  readonly documents: number;
  /** Whether it was encrypted with a passphrase. */
  readonly sealed: boolean;
}

export interface StorageStatus {
  /** Null: the browser does not say. */
  readonly persisted: boolean | null;
  readonly usedBytes: number | null;
  readonly quotaBytes: number | null;
  /** Documents that are durable in the journal and not in a volume yet. */
  readonly journalRows: number;
  readonly documents: number;
  /**
   * By kind, most characters first. `chars` is the length of the documents as JSON, in UTF-16
   * units.
   */
  readonly kinds: readonly { readonly type: string; readonly documents: number; readonly chars: number }[];
  readonly volumes: readonly VolumeStatus[];
  /** The last complete copy that was exported from this device. Null: there is none. */
  readonly lastExport: ExportNote | null;
}

/**
 * A page of all documents in the ledger. The order is arbitrary, and stable while nothing is
 * written.
 */
export interface DocumentPage {
  readonly docs: readonly Doc[];
  /** Pass it as `after` to get the next page. Null: this is the last. */
  readonly after: string | null;
  /** Total number of documents, for progress. */
  readonly of: number;
}

/** A page of the documents about one thing. */
export interface WithinPage {
  readonly docs: readonly Doc[];
  /** Pass it as `after` to get the next page. Null: this is the last. */
  readonly after: string | null;
  /** Total number of these documents. */
  readonly of: number;
}

/** How external documents compare with the ledger. */
export interface Comparison {
  /** Ids of documents that are not here yet. */
  readonly fresh: readonly string[];
  /** Number of documents that are here and equal. */
  readonly same: number;
  /** Ids of documents that are here with other contents. The stored ones stay. */
  readonly different: readonly string[];
  /** Documents that were forgotten here for good. They are refused. */
  readonly forgotten: number;
}

/** Where a sentence stands in this browser. */
export interface SentenceHere {
  /** Documents of the ledger, by kind. */
  readonly documents: Readonly<Record<string, number>>;
  /** Documents in volumes, the files behind the ledger. */
  readonly volumes: number;
  /** Sealed entries, which the mirror and the relay have too. */
  readonly entries: number;
  /** Hits of the search. */
  readonly found: number;
}

/** What mentions words, or has answers of a tool. */
export interface Mentioned extends Covered {
  /** Ids of the messages. */
  readonly ids: readonly string[];
}

/** What a request to forget would cover. */
export interface Covered {
  readonly messages: number;
  /** Agents whose conversations have them. */
  readonly agentIds: readonly AgentId[];
  /** Summaries among them, by which agents go on. */
  readonly summaries: readonly { readonly agentId: AgentId; readonly time: number; readonly text: string }[];
}

/** A long task of the data worker, reported to every tab. */
export interface WorkerProgress {
  /**
   * rebuild: checks volumes and rebuilds views; forget: removes contents; replay: recovers the
   * journal after a crash.
   */
  readonly task: 'rebuild' | 'forget' | 'replay';
  readonly done: number;
  readonly of: number;
}

/** Result of a rebuild. */
export interface RebuildReport {
  readonly documents: number;
  readonly volumes: number;
  /** Documents that a volume had lost, and that were rewritten from the views. */
  readonly repaired: number;
  /** Sentences about what could not be read anywhere. Empty: nothing is lost. */
  readonly faults: readonly string[];
}

/** State of the connection to the relay. Agents can be awake only while it is `live`. */
export type LinkState =
  | { readonly kind: 'connecting' }
  /** `databaseAway`: the relay cannot write at the moment, and sends news once it can. */
  /** `held`: a proxy between here and the relay holds the event stream back, so it is polled. */
  | { readonly kind: 'live'; readonly databaseAway?: true; readonly held?: true }
  /**
   * `database`: the relay runs, but cannot reach its database; `failed`: an event could not be
   * read, or this page failed to process it.
   */
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' | 'database' | 'failed' }
  | { readonly kind: 'locked-out' }
  /**
   * This browser’s sign-in belongs to a home of another household. Nothing of it is shown or stored
   * here.
   */
  | { readonly kind: 'elsewhere' };

/** An answer that is being written. */
export interface OpenAnswer {
  readonly messageId: MessageId;
  readonly agentId: AgentId;
  readonly startedAt: number;
  /** The run, if it is outside any session. */
  readonly aloneIn?: string;
  readonly blocks: readonly Block[];
}

/**
 * Why nothing can be written, in a form that the page can explain. `damaged` alone stops nothing.
 * `unreadable` data is restored from its second copy.
 */
export interface StorageProblem {
  readonly kind: 'quota' | 'broken' | 'unreadable' | 'blocked' | 'no-owner' | 'unsupported' | 'damaged';
  readonly detail: string;
}

/** Why the relay did not take a queued message. */
export interface Undelivered {
  readonly clientId: string;
  readonly message: string;
  /** The type of the problem document. */
  readonly type: string;
}

/** Messages that the data worker sends unasked. */
export type WorkerNews =
  /** The first message on every port: the complete current state of the relay. */
  | {
      readonly news: 'welcome';
      readonly link: LinkState;
      readonly snapshot: Snapshot | null;
      readonly answers: readonly OpenAnswer[];
      readonly problem: StorageProblem | null;
    }
  | { readonly news: 'link'; readonly link: LinkState; readonly snapshot: Snapshot | null }
  /**
   * This browser's sign-in belongs to another home of the relay now. All later news is about that
   * home.
   */
  | { readonly news: 'moved' }
  | { readonly news: 'event'; readonly stored: StoredEvent }
  /** The queue of the model's server. A new tab receives it with the next change. */
  | { readonly news: 'waiting'; readonly waiting: Waiting }
  /** The queued messages that the relay refused. They stay queued, and are sent again later. */
  | { readonly news: 'undelivered'; readonly refusals: readonly Undelivered[] }
  /** Documents that are now in the ledger, whatever wrote them. */
  | { readonly news: 'documents'; readonly docs: readonly Doc[] }
  | { readonly news: 'problem'; readonly problem: StorageProblem | null }
  /** Null: the long task is done. */
  | { readonly news: 'progress'; readonly progress: WorkerProgress | null }
  /** Contents were deleted from the ledger. Tabs must remove what they show of them. */
  | { readonly news: 'forgotten'; readonly forgets: readonly ForgetDoc[] }
  /** The state of synchronisation, sent whenever it changes. */
  | { readonly news: 'sync'; readonly status: SyncStatus }
  /** The data worker restarts. `reload`: a tab that ran it as its own worker must reload. */
  | { readonly news: 'restarting'; readonly reload: boolean }
  /** Lost browser storage was restored. One tab asks what to report. */
  | { readonly news: 'returned' }
  /** The mark of the team to store in localStorage. Null: none. */
  | { readonly news: 'mark'; readonly text: string | null }
  /** For the tab that carries direct connections. */
  | { readonly news: 'direct'; readonly order: DirectOrder };

// The methods of the data worker that a tab can call, and their types.

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
  wakeMaterial: method<[{ readonly agentIds: readonly AgentId[]; readonly cap: number }], readonly WakeContext[]>(
    z.tuple([z.object({ agentIds: z.array(idOf<AgentId>(z.string())), cap: z.number().min(0) })]),
    typed<readonly WakeContext[]>(),
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
  /** What was said that a request to forget would cover. */
  covered: method<[Pick<Forget, 'target' | 'at'>], Covered>(
    z.tuple([z.object({ at: z.string(), target: typed<Forget['target']>() })]),
    typed<Covered>(),
  ),
  /** What was said that has these words, or answers of this tool, and the summaries of it. */
  mentioning: method(
    z.tuple([z.object({ what: z.enum(['words', 'tool']), text: z.string().min(1).max(LIMITS.searchText) })]),
    typed<Mentioned>(),
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
   * Resolves when the events that arrived until now are in the ledger. `stored` is false if they
   * cannot be stored for now.
   */
  received: method(none, typed<{ readonly stored: boolean }>()),
  /**
   * The cookie is of another sign-in now: connections of the previous one are closed and reopened.
   */
  signInChanged: method(none, z.null()),
};
/** Methods that read everything that this browser stores. */
const DEVICE_METHODS = {
  /** Where a sentence still stands in this browser. Upper and lower case are one. */
  findSentence: method(
    z.tuple([z.object({ text: z.string().min(LIMITS.sentence).max(LIMITS.searchText) })]),
    typed<SentenceHere>(),
  ),
};
export const WORKER_METHODS = {
  ...LEDGER_METHODS,
  ...SEARCH_METHODS,
  ...RELAY_METHODS,
  ...SYNC_METHODS,
  ...DEVICE_METHODS,
};

export type WorkerCalls = CallsOf<typeof WORKER_METHODS>;
export type WorkerCallName = keyof WorkerCalls;
export type ToDataWorker = ToServer<WorkerCallName>;
export type FromDataWorker = FromServer<WorkerNews>;
