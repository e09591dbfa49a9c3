/**
 * What tabs and the ledger's owner say to each other over a MessagePort. One owner per browser profile
 * holds the ledger and the relay's event stream; every tab is a client of it.
 *
 * Calls are at-least-once and carry an id; appending the same documents twice is harmless.
 */
import type { AgentChangeDoc, AgentIdentityDoc, Block, Doc, MessageDoc, QueuedMessageDoc, SessionDoc, SettingDoc } from './documents.ts';
import type { Snapshot, StoredEvent } from './events.ts';

/** Everything the grid is painted from. */
export interface HouseholdView {
  readonly identities: readonly AgentIdentityDoc[];
  readonly changes: readonly AgentChangeDoc[];
  readonly settings: readonly SettingDoc[];
  /** Written while nothing could take them, and not yet taken by a relay. */
  readonly queued: readonly QueuedMessageDoc[];
}

export interface ConversationPage {
  /** Oldest first. Messages hidden by an edit are left out. */
  readonly messages: readonly MessageDoc[];
  /** Starts and ends of the sessions these messages belong to. */
  readonly sessions: readonly SessionDoc[];
  /** Ids of messages that waited in an inbox and were read since. */
  readonly read: readonly string[];
  /** Pass to `before` for the page before this one; null at the beginning. */
  readonly before: string | null;
}

/** What one agent takes along when it wakes: its most recent session in which it said something. */
export interface WakeMaterial {
  readonly agentId: string;
  readonly sessionId: string | null;
  /** Oldest first; enough of the newest to fill the cap. */
  readonly messages: readonly MessageDoc[];
  /** Earlier messages of that session that were not even read. */
  readonly earlier: number;
}

export interface StorageStatus {
  /** null: the browser does not say. */
  readonly persisted: boolean | null;
  readonly usedBytes: number | null;
  readonly quotaBytes: number | null;
  readonly journalRows: number;
  readonly documents: number;
  readonly volumes: readonly { readonly name: string; readonly documents: number; readonly sealed: boolean }[];
}

/** The calls a tab may make, with what they answer. */
export interface OwnerCalls {
  household(): HouseholdView;
  /** Answers when the documents are durable. */
  append(docs: readonly Doc[]): { readonly written: number };
  conversation(request: { agentId: string; before: string | null; limit: number }): ConversationPage;
  wakeMaterial(request: { agentIds: readonly string[]; cap: number }): readonly WakeMaterial[];
  storage(): StorageStatus;
  /** Connect to the relay again now, without waiting for the next try. */
  reconnect(): null;
}
export type OwnerCallName = keyof OwnerCalls;

/** The state of the line to the relay. Only `live` lets anybody be awake. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly reason: 'unreachable' | 'silent' }
  | { readonly kind: 'locked-out' };

/** An answer that is being written. */
export interface OpenAnswer {
  readonly messageId: string;
  readonly agentId: string;
  readonly startedAt: number;
  readonly blocks: readonly Block[];
}

/** Why nothing can be written, in a form the page can explain. */
export interface StorageProblem {
  readonly kind: 'quota' | 'broken' | 'blocked' | 'unexpectedly-empty' | 'no-owner';
  readonly detail: string;
}

/** What the owner says without being asked. */
export type OwnerNews =
  /** First on every port: all there is to know of the relay now. */
  | { readonly news: 'welcome'; readonly link: LinkState; readonly snapshot: Snapshot | null; readonly answers: readonly OpenAnswer[]; readonly problem: StorageProblem | null }
  | { readonly news: 'link'; readonly link: LinkState; readonly snapshot: Snapshot | null }
  | { readonly news: 'event'; readonly stored: StoredEvent }
  /** Documents that are now in the ledger, whoever wrote them. */
  | { readonly news: 'documents'; readonly docs: readonly Doc[] }
  | { readonly news: 'problem'; readonly problem: StorageProblem | null };

export type ToOwner = { readonly call: OwnerCallName; readonly id: string; readonly args: readonly unknown[] };
export type FromOwner =
  | OwnerNews
  | { readonly reply: string; readonly ok: true; readonly value: unknown }
  | { readonly reply: string; readonly ok: false; readonly error: { readonly name: string; readonly message: string } };
