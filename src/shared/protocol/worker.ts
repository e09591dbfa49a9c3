/**
 * What the ledger's owner tells the tabs. One owner per browser profile holds the ledger and the
 * relay's event stream; every tab is a client of it. What tabs ask it stands in owner-rpc.ts: calls
 * are at-least-once and carry an id; appending the same documents twice is harmless.
 */
import type { SessionEnd } from '../domain/lifecycle.ts';
import type { AgentId, MessageId, SessionId } from '../domain/ids.ts';
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

/** Everything the grid is painted from. */
export interface HouseholdView {
  readonly identities: readonly AgentIdentityDoc[];
  readonly changes: readonly AgentChangeDoc[];
  readonly settings: readonly SettingDoc[];
  /**
   * Of every kind that has no place of its own here, and of which one document about each thing
   * holds: those.
   */
  readonly records: readonly Doc[];
  /** Written while nothing could take them, and not yet taken by a relay. */
  readonly queued: readonly QueuedMessageDoc[];
  /** Asked for, not undone, and not final yet: hidden already, and can be undone. */
  readonly forgetting: readonly ForgetDoc[];
  /** Agents that were forgotten for good. */
  readonly forgotten: readonly AgentId[];
  /** The greatest stamp of all that is here; '' where there is nothing. */
  readonly newest: string;
}

/** Something that the person changed. */
export interface LoggedChange {
  readonly doc: Doc;
  /** What stood there until then; null: nothing was set. */
  readonly before: Doc | null;
  /** What stands there now; `doc` itself where nothing came after it. */
  readonly holds: Doc;
}

export interface ChangeLogView {
  /** Newest first. */
  readonly changes: readonly LoggedChange[];
  /** There are older ones. */
  readonly more: boolean;
}

export interface ConversationPage {
  /** Oldest first. Messages hidden by an edit are left out. */
  readonly messages: readonly MessageDoc[];
  /** Starts and ends of the sessions these messages belong to. */
  readonly sessions: readonly SessionDoc[];
  /** Starts and ends of the runs in which these were said in no session. */
  readonly runs: readonly RunDoc[];
  /** Ids of messages that waited in an inbox and were read since. */
  readonly read: readonly string[];
  /** Pass to `before` for the page before this one; null at the beginning. */
  readonly before: string | null;
}

/**
 * What was said with an agent from one waking until it slept again: its part in a session, or in a
 * run alone.
 */
export interface Waking {
  /** Of the session or the run. */
  readonly id: string;
  /**
   * Where it was at work alone: the beginning and the end of that, as far as known; null: a
   * session.
   */
  readonly run: readonly RunDoc[] | null;
  /** The first message of it, where one begins to read. */
  readonly messageId: MessageId;
  /** ms since the epoch, of the first and of the newest message of it. */
  readonly from: number;
  readonly until: number;
  /** Messages that show. */
  readonly messages: number;
  /**
   * What the person said first, or where they said nothing there, what was said first; at most so
   * long as a line.
   */
  readonly words: { readonly author: string; readonly text: string } | null;
}

export interface WakingsPage {
  /** Newest first. */
  readonly wakings: readonly Waking[];
  /** Pass to `before` for those before these; null: there are none. */
  readonly before: string | null;
}

/** What is new to the person in one conversation. */
export interface UnreadRow {
  readonly agentId: AgentId;
  /** Stamp up to which it is read; null: nothing is known, and nothing is new. */
  readonly upTo: string | null;
  /** Messages after that which somebody else said, UNREAD_MOST of them at most. */
  readonly unread: number;
  /** Stamp of the newest of them; null where there is none. */
  readonly newest: string | null;
}

export interface UnreadView {
  /**
   * Stamp from which on messages are new where a conversation has no mark of its own; null: none
   * was ever set.
   */
  readonly since: string | null;
  readonly conversations: readonly UnreadRow[];
  /** The place of the last message that is read, by thread. */
  readonly threads: ReadonlyMap<string, number>;
  /** The greatest stamp of all that is here; '' where there is nothing. */
  readonly newest: string;
}

/** A stretch of what one agent lived through, as it is told of it when it wakes. */
export type WakeSession =
  | {
      readonly kind: 'talk';
      readonly sessionId: SessionId;
      /** Did somebody say something to the agent in it? */
      readonly addressed: boolean;
      /** Oldest first. What waited stands where it was read; what waits still is not among them. */
      readonly messages: readonly MessageDoc[];
      /** Earlier messages of it that were not even read. */
      readonly earlier: number;
    }
  /**
   * Sessions on end of nothing but greetings. `more`: not all were counted. Times are ms since the
   * epoch; `last`: the newest greeting, where it was read.
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
 * What one agent takes along when it wakes: enough of its newest sessions to fill the cap, and of
 * the last in which somebody spoke to it.
 */
export interface WakeMaterial {
  readonly agentId: AgentId;
  /** Oldest first. */
  readonly sessions: readonly WakeSession[];
  /** Messages of still earlier sessions, which were not read. */
  readonly earlier: number;
  /** How the newest of these sessions ended; left out: it runs, or its end is not here. */
  readonly ended?: SessionEnd;
}

/** One Fireproof volume, and how it stood when it was last looked at. */
export interface VolumeStatus {
  readonly name: string;
  readonly documents: number;
  /**
   * writing: the one that documents go into now; sealed: full, compacted and checked; damaged: some
   * of it cannot be read, it is kept, and what it held is in a newer volume where another copy was
   * found.
   */
  readonly state: 'writing' | 'sealed' | 'damaged';
  /** ms since the epoch of its last check, document by document; null: not checked yet. */
  readonly checkedAt: number | null;
  /** What the check found wrong, in sentences; empty where nothing is. */
  readonly faults: readonly string[];
}

/** A copy that left this device. */
export interface ExportNote {
  readonly time: number;
  readonly documents: number;
  /** Was it under a passphrase? */
  readonly sealed: boolean;
}

export interface StorageStatus {
  /** null: the browser does not say. */
  readonly persisted: boolean | null;
  readonly usedBytes: number | null;
  readonly quotaBytes: number | null;
  /** Documents that are durable in the journal and not in a volume yet. */
  readonly journalRows: number;
  readonly documents: number;
  /**
   * By kind of document, most characters first; `chars` is the length of each document as JSON, in
   * UTF-16 units.
   */
  readonly kinds: readonly { readonly type: string; readonly documents: number; readonly chars: number }[];
  readonly volumes: readonly VolumeStatus[];
  /** The last whole copy that left this device; null: none ever did. */
  readonly lastExport: ExportNote | null;
}

/**
 * A stretch of everything the ledger holds, in an order of its own that stays the same while
 * nothing is written.
 */
export interface DocumentPage {
  readonly docs: readonly Doc[];
  /** Pass to `after` for what follows; null at the end. */
  readonly after: string | null;
  /** How many documents there are in all, for progress. */
  readonly of: number;
}

/** Some of the documents about one thing. */
export interface WithinPage {
  readonly docs: readonly Doc[];
  /** Pass to `after` for what follows; null at the end. */
  readonly after: string | null;
  /** How many there are in all. */
  readonly of: number;
}

/** How documents from elsewhere compare with what is here. */
export interface Comparison {
  /** Not here yet. */
  readonly fresh: readonly string[];
  /** Here already, and the same. */
  readonly same: number;
  /** Here under the same id with other contents: what is here stays. */
  readonly different: readonly string[];
  /** Forgotten here for good: they are not taken. */
  readonly forgotten: number;
}

/** Long work of the owner, for every tab. */
export interface OwnerProgress {
  /**
   * rebuild: volumes checked and views written anew; forget: contents removed; replay: the journal
   * taken up after a crash.
   */
  readonly task: 'rebuild' | 'forget' | 'replay';
  readonly done: number;
  readonly of: number;
}

/** What a rebuild found. */
export interface RebuildReport {
  readonly documents: number;
  readonly volumes: number;
  /** Documents that a volume had lost and that were found in the views, and written again. */
  readonly repaired: number;
  /** Sentences about what could not be read anywhere; empty where nothing is lost. */
  readonly faults: readonly string[];
}

/** The state of the connection to the relay. Only `live` lets anybody be awake. */
export type LinkState =
  | { readonly kind: 'connecting' }
  /** `databaseAway`: the relay can write nothing just now, and says what is new once it can. */
  /** `held`: something between here and the relay holds the event stream back, and it is polled. */
  | { readonly kind: 'live'; readonly databaseAway?: true; readonly held?: true }
  /**
   * `database`: the relay is there, and cannot reach its database; `failed`: what it says could not
   * be read, or this page failed over it.
   */
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' | 'database' | 'failed' }
  | { readonly kind: 'locked-out' }
  /**
   * This browser’s sign-in is of a home of another household: nothing of it is shown or stored
   * here.
   */
  | { readonly kind: 'elsewhere' };

/** An answer that is being written. */
export interface OpenAnswer {
  readonly messageId: MessageId;
  readonly agentId: AgentId;
  readonly startedAt: number;
  /** The run, where it is in no session. */
  readonly aloneIn?: string;
  readonly blocks: readonly Block[];
}

/**
 * Why nothing can be written, in a form the page can explain; `damaged` alone stops nothing; what
 * is `unreadable` is brought back from where it is kept a second time.
 */
export interface StorageProblem {
  readonly kind: 'quota' | 'broken' | 'unreadable' | 'blocked' | 'no-owner' | 'unsupported' | 'damaged';
  readonly detail: string;
}

/** What the owner says without being asked. */
export type OwnerNews =
  /** First on every port: all there is to know of the relay now. */
  | {
      readonly news: 'welcome';
      readonly link: LinkState;
      readonly snapshot: Snapshot | null;
      readonly answers: readonly OpenAnswer[];
      readonly problem: StorageProblem | null;
    }
  | { readonly news: 'link'; readonly link: LinkState; readonly snapshot: Snapshot | null }
  /**
   * This browser's sign-in belongs to another home of the relay now: what is told from here on is
   * of that one.
   */
  | { readonly news: 'moved' }
  | { readonly news: 'event'; readonly stored: StoredEvent }
  /**
   * Who stands in line before the model's server; a tab that has just come hears of the next
   * change.
   */
  | { readonly news: 'waiting'; readonly waiting: Waiting }
  /** Documents that are now in the ledger, whoever wrote them. */
  | { readonly news: 'documents'; readonly docs: readonly Doc[] }
  | { readonly news: 'problem'; readonly problem: StorageProblem | null }
  /** null: the long work is over. */
  | { readonly news: 'progress'; readonly progress: OwnerProgress | null }
  /** Contents are gone from the ledger: what a tab shows of them must go too. */
  | { readonly news: 'forgotten'; readonly forgets: readonly ForgetDoc[] }
  /** How it stands with the other devices; told whenever it changes. */
  | { readonly news: 'sync'; readonly status: SyncStatus }
  /**
   * The owner ends and begins anew; where a tab's own worker was the owner, the tab is to be opened
   * anew.
   */
  | { readonly news: 'restarting'; readonly reload: boolean }
  /** What the browser had lost is here again: one tab asks what there is to tell. */
  | { readonly news: 'returned' }
  /** The mark of the team as it is to stand in localStorage; null: none. */
  | { readonly news: 'mark'; readonly text: string | null }
  /** For the tab that carries direct connections. */
  | { readonly news: 'direct'; readonly order: DirectOrder };
